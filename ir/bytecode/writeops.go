package bytecode

import (
	"slices"
	"strings"

	"autoshard/ir"
	"autoshard/ir/mlir"
	"autoshard/ir/vhlo"
)

// opBuffer is a part of the IR section that is being written.
type opBuffer struct {
	*writer
	out []byte
}

func (b *opBuffer) int(n int) { b.out = appendVarint(b.out, uint64(n)) }

// topLevel writes the IR section: the module.
func (w *writer) topLevel() []byte {
	b := &opBuffer{writer: w, out: appendFlagged(nil, 1, false)}
	g := w.dis.Module()
	b.header(&g, maskRegions)
	b.isolated(w.m.BlockRegion(w.m.Body()))
	return b.out
}

// isolated writes the only region of an op in which value numbers begin anew.
func (b *opBuffer) isolated(r ir.RegionID) {
	b.out = appendFlagged(b.out, 1, true)
	if b.version < versionLazyRegions {
		b.region(r, 0)
		return
	}
	inner := &opBuffer{writer: b.writer}
	inner.region(r, 0)
	b.out = append(b.out, byte(sectionIR))
	b.int(len(inner.out))
	b.out = append(b.out, inner.out...)
}

// header writes the name of an op, what follows by its mask, its location, attributes and properties.
func (b *opBuffer) header(g *mlir.GenericOp, mask byte) {
	dialect := builtin
	if strings.HasPrefix(g.Name, vhloDialect+".") {
		dialect = vhloDialect
	}
	n := b.opName(g.Name)
	attrs, entry := b.attrsOf(g, b.ops[n].registered, dialect)
	if entry != nil {
		mask |= maskProperties
	}
	if len(attrs) > 0 {
		mask |= maskAttributes
	}
	b.int(n)
	b.out = append(b.out, mask)
	b.int(b.attr(ir.LocAttr(g.Loc), builtin))
	if len(attrs) > 0 {
		b.int(b.dictionary(attrs, dialect))
	}
	if entry != nil {
		b.int(b.properties.add(string(entry)))
	}
}

// attrsOf returns what the dictionary of an op has, and the entry of its properties, nil for none. Old versions have all
// in the dictionary; an op that is not registered has its properties in a dictionary of their own.
func (w *writer) attrsOf(g *mlir.GenericOp, registered bool, dialect string) (attrs ir.Attrs, entry []byte) {
	attrs = g.Attrs
	slots, known := slotsOf(g.Name)
	switch {
	case w.version < versionProperties || !registered && known:
		return ir.MakeAttrs(slices.Concat(g.Properties, g.Attrs)...), nil
	case registered && len(slots) > 0:
		return attrs, w.propertyEntry(slots, g.Properties, dialect)
	case !registered && len(g.Properties) > 0:
		return attrs, appendVarint(nil, uint64(w.attr(ir.DictAttr(g.Properties), builtin)))
	}
	return attrs, nil
}

// dictionary returns the index of the dictionary of an op: a builtin one, whose values are in the terms of a dialect.
func (w *writer) dictionary(attrs ir.Attrs, dialect string) int {
	e := &encoder{writer: w, dialect: builtin, out: appendVarint(nil, 1)}
	e.index(len(attrs))
	for _, a := range attrs {
		e.index(w.attr(ir.StringAttr(a.Name), builtin))
		e.index(w.attr(w.valueOf(a), dialect))
	}
	return w.attrs.add(writtenEntry{w.dialects.add(builtin), true, e.out, nil})
}

// valueOf returns the value of an attribute as its op has it.
func (w *writer) valueOf(a ir.NamedAttr) ir.Attr {
	if v, ok := a.Value.(*ir.AxesAttr); ok && a.Name == "manual_axes" {
		return manualAxes{v}
	}
	return a.Value
}

// propertyEntry writes properties into the slots of a registered op.
func (w *writer) propertyEntry(slots []slot, properties ir.Attrs, dialect string) []byte {
	e := &encoder{writer: w, dialect: dialect}
	native := func(name string) bool {
		return w.version >= versionSegments && (name == operandSegments || name == resultSegments)
	}
	for _, s := range slots {
		if native(s.name) {
			continue
		}
		v := any(nil)
		if a := properties.Get(s.name); a != nil {
			v = w.valueOf(ir.NamedAttr{Name: s.name, Value: a})
		}
		switch {
		case !s.required:
			e.optional(&v)
		case v == nil:
			w.refuse("attribute %s is missing", s.name)
		default:
			e.ref(&v)
		}
	}
	for _, name := range []string{operandSegments, resultSegments} {
		if a, ok := properties.Get(name).(*ir.DenseArray); ok && native(name) {
			e.segments(a)
		}
	}
	if e.out == nil {
		e.out = []byte{}
	}
	return e.out
}

// segments writes how operands or results are grouped, all the numbers.
func (e *encoder) segments(a *ir.DenseArray) {
	n := len(a.Data) / 4
	e.out = appendFlagged(e.out, uint64(n), false)
	for i := range n {
		b := a.Data[4*i:]
		e.index(int(b[0]) | int(b[1])<<8 | int(b[2])<<16 | int(b[3])<<24)
	}
}

// registeredDialects are those whose ops have slots of their own for properties.
var registeredDialects = map[string]bool{builtin: true, "func": true, "stablehlo": true, "chlo": true, sdy: true, vhloDialect: true,
	"cf": true, "arith": true}

// opName returns the number of an op's name.
func (w *writer) opName(name string) int {
	if i, ok := w.opIndex[name]; ok {
		return i
	}
	dialect, rest, _ := strings.Cut(name, ".")
	_, known := slotsOf(name)
	w.ops = append(w.ops, writtenName{w.dialects.add(dialect), w.strings.add(rest), registeredDialects[dialect] && (known || name == castOp)})
	w.opIndex[name] = len(w.ops) - 1
	return len(w.ops) - 1
}

type writtenName struct {
	dialect, name int
	registered    bool
}

// op writes an op of a block. Next is the number of the next value that regions inside may use.
func (b *opBuffer) op(op ir.OpID, next int) {
	m := b.m
	b.at = op
	foreign := b.isForeign(op)
	operands := b.casts(op, foreign)
	g := b.dis.Op(op)
	if b.isArtifact && !foreign {
		b.toVHLO(op, &g)
	}
	b.header(&g, b.mask(op))
	if n := m.NumResults(op); n > 0 {
		b.int(n)
		for _, v := range m.Results(op) {
			b.int(b.typ(m.Type(v), b.dialectOf(foreign)))
		}
	}
	if len(operands) > 0 {
		b.int(len(operands))
		for _, n := range operands {
			b.int(n)
		}
	}
	b.successors(op)
	b.regions(op, next)
	b.at = op
	for _, v := range m.Results(op) {
		b.castBack(v, m.OpLoc(op))
	}
}

// mask says which parts of an op follow its attributes.
func (w *writer) mask(op ir.OpID) (mask byte) {
	if w.m.NumResults(op) > 0 {
		mask |= maskResults
	}
	if w.m.NumOperands(op) > 0 {
		mask |= maskOperands
	}
	if len(w.m.Successors(op)) > 0 {
		mask |= maskSuccessors
	}
	if w.m.NumRegions(op) > 0 {
		mask |= maskRegions
	}
	return mask
}

func (b *opBuffer) successors(op ir.OpID) {
	list := b.m.Successors(op)
	if len(list) == 0 {
		return
	}
	b.int(len(list))
	for _, to := range list {
		for i, block := range b.m.Blocks(b.m.BlockRegion(to)) {
			if block == to {
				b.int(i)
			}
		}
	}
}

func (b *opBuffer) regions(op ir.OpID, next int) {
	m := b.m
	switch k := m.Kind(op); {
	case m.NumRegions(op) == 0:
	case k == ir.OpFunc || k == ir.OpModule:
		b.isolated(m.Region(op, 0))
	default:
		b.out = appendFlagged(b.out, uint64(m.NumRegions(op)), false)
		for _, r := range m.Regions(op) {
			b.region(r, next)
		}
	}
}

// region writes a region whose values have the numbers from next on.
func (b *opBuffer) region(r ir.RegionID, next int) {
	m := b.m
	blocks := m.Blocks(r)
	b.int(len(blocks))
	if len(blocks) == 0 {
		return
	}
	end := next
	counts := make([]int, len(blocks))
	for i, block := range blocks {
		end, counts[i] = b.number(block, end)
	}
	b.int(end - next)
	for i, block := range blocks {
		args := m.BlockArgs(block)
		b.out = appendFlagged(b.out, uint64(counts[i]), len(args) > 0)
		b.args(args)
		for _, v := range args {
			b.castBack(v, m.ArgLoc(v))
		}
		for op := range m.Ops(block) {
			b.op(op, end)
		}
	}
}

func (b *opBuffer) args(args []ir.ValueID) {
	if len(args) == 0 {
		return
	}
	b.int(len(args))
	for _, v := range args {
		t, loc := b.typ(b.m.Type(v), b.dialectOf(b.isForeignValue(v))), b.m.ArgLoc(v)
		if b.version < versionElidedLocs {
			b.int(t)
			b.int(b.attr(ir.LocAttr(loc), builtin))
			continue
		}
		b.out = appendFlagged(b.out, uint64(t), loc != 0)
		if loc != 0 {
			b.int(b.attr(ir.LocAttr(loc), builtin))
		}
	}
	if b.version >= versionUseLists {
		b.out = append(b.out, 0)
	}
}

// number numbers the values of a block from next on, and counts its ops; both with the casts of mixed artifacts.
func (b *opBuffer) number(block ir.BlockID, next int) (end, ops int) {
	m := b.m
	define := func(values []ir.ValueID) {
		for _, v := range values {
			b.numbers[v] = int32(next)
			next++
		}
		for _, v := range values {
			if b.needsCastBack(v) {
				b.castNumbers[v] = int32(next)
				next++
				ops++
			}
		}
	}
	define(m.BlockArgs(block))
	for op := range m.Ops(block) {
		if b.isForeign(op) {
			for _, v := range m.Operands(op) {
				if !b.isForeignValue(v) {
					if b.firstCast[op] == 0 {
						b.firstCast[op] = int32(next)
					}
					next++
					ops++
				}
			}
		}
		define(m.ResultValues(op))
		ops++
	}
	return next, ops
}

// isForeign says whether an op is not converted to the dialect of artifacts.
func (w *writer) isForeign(op ir.OpID) bool { return w.isArtifact && vhlo.IsForeign(w.m, op) }

// isForeignValue says whether a value has a type of the program in an artifact, not one of the artifact's dialect.
func (w *writer) isForeignValue(v ir.ValueID) bool {
	op := w.m.DefiningOp(v)
	if op == 0 {
		op = w.m.BlockOp(w.m.ArgBlock(v))
	}
	return w.isForeign(op)
}

func (w *writer) dialectOf(foreign bool) string {
	if w.isArtifact && !foreign {
		return vhloDialect
	}
	return builtin
}

// needsCastBack says whether an op of the artifact's dialect uses a value that has a type of the program.
func (w *writer) needsCastBack(v ir.ValueID) bool {
	if !w.isForeignValue(v) {
		return false
	}
	for use := range w.m.Uses(v) {
		if !w.isForeign(use.Op) {
			return true
		}
	}
	return false
}

// casts writes the casts of an op's operands to the types that it takes, and returns the numbers of its operands.
func (b *opBuffer) casts(op ir.OpID, foreign bool) []int {
	m := b.m
	out := make([]int, m.NumOperands(op))
	next := int(b.firstCast[op])
	for i := range out {
		v := m.Operand(op, i)
		switch {
		case foreign == b.isForeignValue(v):
			out[i] = int(b.numbers[v])
		case foreign:
			b.cast(v, int(b.numbers[v]), builtin, m.OpLoc(op))
			out[i] = next
			next++
		default:
			out[i] = int(b.castNumbers[v])
		}
	}
	return out
}

// castBack writes the cast of a value to a type of the artifact's dialect, if one is needed.
func (b *opBuffer) castBack(v ir.ValueID, loc ir.LocID) {
	if b.needsCastBack(v) {
		b.cast(v, int(b.numbers[v]), vhloDialect, loc)
	}
}

func (b *opBuffer) cast(v ir.ValueID, from int, dialect string, loc ir.LocID) {
	b.header(&mlir.GenericOp{Name: castOp, Loc: loc}, maskResults|maskOperands)
	b.int(1)
	b.int(b.typ(b.m.Type(v), dialect))
	b.int(1)
	b.int(from)
}

// toVHLO gives an op its name in the artifact's dialect and its fields.
func (w *writer) toVHLO(op ir.OpID, g *mlir.GenericOp) {
	name, fields, err := w.vhlo.FromStableHLO(op, g.Properties)
	if err != nil {
		w.refuse("%v", err)
		return
	}
	known, _ := vhlo.Lookup(name)
	g.Name, g.Properties = vhloDialect+"."+name, nil
	for _, field := range known.Fields {
		g.Properties = append(g.Properties, ir.NamedAttr{Name: field, Value: fields.Get(field)})
		fields = fields.Without(field)
	}
	if len(fields) > 0 { // what the dialect has no field for, such as no_inline
		g.Attrs = ir.MakeAttrs(slices.Concat(fields, g.Attrs)...)
	}
}
