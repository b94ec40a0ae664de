package typed

import (
	"maps"
	"math/bits"
	"slices"
	"strings"

	"autoshard/internal/diag"
	"autoshard/internal/lists"
	"autoshard/ir"
	"autoshard/subaxis"
)

// MaxAxes is how many axes the mesh of a program may have.
const MaxAxes = 32

// AxisSet is a set of axes of a program's mesh: bit k stands for axis k.
type AxisSet uint32

// Has says whether axis k is in the set.
func (s AxisSet) Has(k int) bool { return s>>k&1 != 0 }

// In says whether every axis of the set is in another one.
func (s AxisSet) In(o AxisSet) bool { return s&^o == 0 }

// Len returns the number of axes.
func (s AxisSet) Len() int { return bits.OnesCount32(uint32(s)) }

// Axes returns the axes in mesh order.
func (s AxisSet) Axes() []int {
	var out []int
	for ; s != 0; s &= s - 1 {
		out = append(out, bits.TrailingZeros32(uint32(s)))
	}
	return out
}

// Variance is how a value differs between devices: three disjoint sets of axes. Along an axis in none of them the
// blocks of all devices are equal bit for bit (specification: shardmap.md section 3.1).
type Variance struct {
	V    AxisSet      // varying: blocks may differ
	U    AxisSet      // unreduced: blocks are terms of the value
	R    AxisSet      // reduced: blocks are equal, cotangents are unreduced
	Kind ir.Reduction // how the terms along U combine
}

// Program is a shard_map program. The body is a function of the module that takes one block per parameter and returns
// one block per result.
type Program struct {
	Name    string
	Mesh    subaxis.Mesh // whose device ids say which device is at a place where that is not in order
	Manual  AxisSet      // axes that specs and body may name; along the others everything is replicated
	Check   bool         // whether variance is tracked; without it casts mean nothing and outputs are taken on trust
	Params  []Param
	Results []Result
	Module  *ir.Module
	Func    ir.FuncID

	// Variance holds the type of every value of the body by ValueID, and is nil for a body that has not been
	// elaborated. All entries are zero where Check is off.
	Variance []Variance
	// Names holds the names of values for text and messages; values without one are numbered.
	Names map[ir.ValueID]string
}

// Param is an argument of the whole program: a global array and how it is split.
type Param struct {
	Name    string
	Type    ir.TypeID // of the global array
	Spec    Spec
	Donated bool // the caller gives up its buffers, so that outputs may take them
}

// Result is an output of the whole program. Its block is the operand of the body's return at the same place.
type Result struct {
	Spec Spec
}

// Body returns the block of the body.
func (p *Program) Body() ir.BlockID { return p.Module.Func(p.Func).Body }

// Return returns the op that ends the body.
func (p *Program) Return() ir.OpID { return p.Module.LastOp(p.Body()) }

// VarianceOf returns the variance of a value of the body.
func (p *Program) VarianceOf(v ir.ValueID) Variance {
	if int(v) < len(p.Variance) {
		return p.Variance[v]
	}
	return Variance{}
}

// SetVariance records the variance of a value of the body.
func (p *Program) SetVariance(v ir.ValueID, t Variance) {
	for len(p.Variance) <= int(v) {
		p.Variance = append(p.Variance, Variance{})
	}
	p.Variance[v] = t
}

// Clone returns an independent copy with the same ids.
func (p *Program) Clone() *Program {
	c := *p
	c.Module = p.Module.Clone()
	c.Params, c.Results, c.Variance, c.Names = slices.Clone(p.Params), slices.Clone(p.Results), slices.Clone(p.Variance), maps.Clone(p.Names)
	return &c
}

// Replace puts a value in the place of another one, whose name it takes.
func (p *Program) Replace(old, v ir.ValueID) {
	if name, ok := p.Names[old]; ok {
		delete(p.Names, old)
		p.Names[v] = name
	}
	p.Module.ReplaceUses(old, v)
}

// Bypass puts the only operand of an op in the place of its only result, which loses its name, and erases the op.
func (p *Program) Bypass(op ir.OpID) {
	p.Module.ReplaceUses(p.Module.Result(op, 0), p.Module.Operand(op, 0))
	p.Erase(op)
}

// Erase removes an op of the body, with the names of its results and of the values inside it.
func (p *Program) Erase(op ir.OpID) {
	m := p.Module
	forget := func(values []ir.ValueID) {
		for _, v := range values {
			delete(p.Names, v)
		}
	}
	forget(m.ResultValues(op))
	for b := range m.InnerBlocks(op) {
		forget(m.BlockArgs(b))
		m.Walk(b, func(inner ir.OpID) { forget(m.ResultValues(inner)) })
	}
	m.Erase(op)
}

// axisNumber returns the number of the axis of that name, -1 if the mesh has none.
func axisNumber(mesh *subaxis.Mesh, name string) int {
	if r, ok := mesh.Lookup(name); ok {
		return int(r.Axis)
	}
	return -1
}

// GroupSize returns the number of devices along a list of axes.
func (p *Program) GroupSize(axes []int) int64 {
	n := int64(1)
	for _, a := range axes {
		n *= p.Mesh.Axes[a].Size
	}
	return n
}

// FormatAxes returns a set as {i,j}, in mesh order.
func (p *Program) FormatAxes(s AxisSet) string { return "{" + p.axisNames(s.Axes(), ",") + "}" }

func (p *Program) axisNames(axes []int, separator string) string {
	return strings.Join(lists.Map(axes, func(a int) string { return p.Mesh.Axes[a].Name }), separator)
}

// tuple returns a list of axes as it is written in Python: ('i', 'j') or ('i',).
func (p *Program) tuple(axes []int) string {
	return pyTuple(lists.Map(axes, func(a int) string { return quoteName(p.Mesh.Axes[a].Name) }))
}

// FormatVariance returns the braces of a type: {i,j}, or {i, U:j} with axes that are not just varying.
func (p *Program) FormatVariance(t Variance) string {
	var parts []string
	if t.V != 0 {
		parts = append(parts, p.axisNames(t.V.Axes(), ","))
	}
	if t.U != 0 {
		mark := "U"
		if t.Kind != ir.ReduceSum {
			mark += t.Kind.String()
		}
		parts = append(parts, mark+":"+p.axisNames(t.U.Axes(), ","))
	}
	if t.R != 0 {
		parts = append(parts, "R:"+p.axisNames(t.R.Axes(), ","))
	}
	return "{" + strings.Join(parts, ", ") + "}"
}

// FormatValue returns a value with its type, such as x:f32[2,3]{i}.
func (p *Program) FormatValue(v ir.ValueID) string { return p.NameOf(v) + ":" + p.FormatTypeOf(v) }

// FormatTypeOf returns the type of a value, such as f32[2,3]{i}; without braces where variance is not tracked.
func (p *Program) FormatTypeOf(v ir.ValueID) string {
	s := formatType(p.Module.ValueType(v))
	if p.Check && p.Variance != nil {
		s += p.FormatVariance(p.VarianceOf(v))
	}
	return s
}

// NameOf returns the name of a value, or its number behind an underscore.
func (p *Program) NameOf(v ir.ValueID) string {
	if name, ok := p.Names[v]; ok {
		return name
	}
	return "_" + itoa(int64(v))
}

// where returns the place of an op in the text that the program was read from.
func (p *Program) where(op ir.OpID) diag.Position { return p.Module.OpPos(op) }
