// Package everyop draws small programs of every op, element type and attribute that package ir has in its tables, for comparison of what
// runs them:
//
//	p := everyop.Draw(t)
//	text := mlir.Print(p.Module, mlir.PrintOptions{}) // a main of one to four ops, which takes p.Inputs
//
// Only what all systems compute alike, bit for bit, is an operand of further ops; what an op rounds is returned, perhaps after ops that
// move it. So an output differs by no more than one op of the program allows, which p.Rounded names.
package everyop

import (
	"maps"
	"slices"

	"pgregory.net/rapid"

	"autoshard/backend/tensor"
	"autoshard/ir"
	"autoshard/ir/dtype"
)

// Program is a module with a function main, its inputs, and by output what rounds it.
type Program struct {
	Module  *ir.Module
	Kinds   []ir.Kind // around which its ops were drawn
	Inputs  []*tensor.Tensor
	Rounded []Rounding
}

// Rounding is the op that rounds a value, the element type of what it rounds, and how many roundings an element has: of a sum, one for
// each term. The zero Rounding is that of a value which all systems compute alike.
type Rounding struct {
	By    ir.Kind
	Of    dtype.Type
	Terms int64
}

// Draw draws a program of one to four ops, and those that bring them operands.
func Draw(t *rapid.T) *Program {
	kinds := rapid.SliceOfN(rapid.SampledFrom(Kinds()), 1, 4).Draw(t, "ops")
	return Of(t, kinds...)
}

// Of draws a program of ops of some kinds, which [Kinds] lists.
func Of(t *rapid.T, kinds ...ir.Kind) *Program {
	d := begin(t)
	for _, k := range kinds {
		d.op(k)
	}
	return d.end(kinds)
}

// begin begins a program.
func begin(t *rapid.T) *drawing {
	m := ir.NewModule()
	m.Name = "m"
	main := m.Func(m.AddFunc(ir.FuncSpec{Name: "main", Visibility: "public"}))
	return &drawing{t: t, m: m, main: main.Body, b: m.BuilderAtEnd(main.Body), rounded: map[ir.ValueID]Rounding{}}
}

// end returns what was drawn as a program.
func (d *drawing) end(kinds []ir.Kind) *Program {
	m, results := d.m, d.results()
	p := &Program{Module: m, Kinds: kinds, Inputs: d.inputs}
	for _, v := range results {
		p.Rounded = append(p.Rounded, d.rounded[v])
	}
	d.b.Op(ir.OpReturn, nil, nil, results...)
	f := m.MainFunc() // functions that were added may have moved it
	f.ArgAttrs = make([]ir.Attrs, len(d.inputs))
	f.ResultTypes = m.TypesOf(results)
	f.ResultAttrs, f.ResultShardings = make([]ir.Attrs, len(results)), make([]ir.ShardingID, len(results))
	return p
}

// Kinds returns the kinds of ops that programs are drawn around: all in the tables of package ir but those of [Undrawn].
func Kinds() (all []ir.Kind) {
	for k := ir.OpUnregistered + 1; k < ir.NumKinds; k++ {
		if Undrawn(k) == "" {
			all = append(all, k)
		}
	}
	return all
}

// Undrawn says why an op is not drawn, "" of one that is.
func Undrawn(k ir.Kind) string {
	switch k.Dialect() {
	case "sdy":
		return "it says how devices hold values: Shardy is the peer of it"
	case "shard_map":
		return "it stands in typed programs of devices only, which become StableHLO"
	case "check", "interpreter":
		return "it belongs to an interpreter and its tests: the self-checking programs of StableHLO have it"
	case "builtin", "func":
		if k != ir.OpCall {
			return "it holds the program"
		}
	}
	if k.Communicates() || k.Transfers() {
		return "it takes several devices or a host: the programs of backend/conformance and backend/mesh have it"
	}
	return undrawn[k]
}

// undrawn are the reasons of single ops.
var undrawn = map[ir.Kind]string{
	ir.OpBranch:            "no peer runs blocks that branch to each other",
	ir.OpCondBranch:        "no peer runs blocks that branch to each other",
	ir.OpStablehloReturn:   "it ends the regions of others",
	ir.OpAfterAll:          "it orders what takes a host",
	ir.OpCreateToken:       "it orders what takes a host",
	ir.OpAsyncStart:        "it starts what takes several devices",
	ir.OpAsyncDone:         "it ends what takes several devices",
	ir.OpCustomCall:        "what it means is up to its target: tests of backend/interp have those that are known",
	ir.OpRng:               "it may give any numbers",
	ir.OpUniformQuantize:   "jaxlib has no quantized types: the self-checking programs of StableHLO have it",
	ir.OpUniformDequantize: "jaxlib has no quantized types: the self-checking programs of StableHLO have it",
	ir.OpSetDimensionSize:  "its result has a size that only the run knows, which peers return in ways of their own",

	ir.OpChloMinimumBroadcastShapes: "nothing runs it: its shapes are values of another dialect",
}

// drawing is a program that is being drawn.
type drawing struct {
	t       *rapid.T
	m       *ir.Module
	main    ir.BlockID
	b       *ir.Builder
	inputs  []*tensor.Tensor
	values  []ir.ValueID            // that ops made
	rounded map[ir.ValueID]Rounding // those among them that are rounded
}

// family has the recipes of ops that are drawn alike. They are told which of them to draw.
type family map[ir.Kind]func(*drawing, ir.Kind)

// recipes are those of all families. They come together when the program starts, as some draw other ops.
var recipes = family{}

func init() {
	for _, f := range []family{elementwiseOps, moveOps, dynamicOps, indexOps, windowOps, reductionOps, productOps, solverOps, controlOps} {
		maps.Copy(recipes, f)
	}
}

// op draws an op.
func (d *drawing) op(k ir.Kind) {
	switch draw := recipes[k]; {
	case draw != nil:
		draw(d, k)
	case k.IsUnary() || k.IsBinary():
		d.elementwise(k)
	case k.IsBroadcasting():
		d.broadcasting(k)
	default:
		d.t.Fatalf("nothing draws %s", k)
	}
}

// results returns what the function returns: all values that no op reads, and some others.
func (d *drawing) results() []ir.ValueID {
	return slices.DeleteFunc(slices.Clone(d.values), func(v ir.ValueID) bool {
		return d.m.ValueType(v).Kind != ir.TensorKind || d.m.HasUses(v) && d.odds("read and returned", 2)
	})
}
