package mlir

import (
	"autoshard/ir"
)

// valueName is the name of a value: a number, or a base name with an optional suffix. Results that share a name are
// told apart by #member.
type valueName struct {
	base   uint8
	member int32 // of a pack with several values, otherwise -1
	number int32 // the number, or the suffix; -1 for a base without one
}

// The base names.
const (
	baseNumber uint8 = iota
	baseArg
	baseC
	baseCst
	baseIterArg
	baseInput
	baseCarry
	baseValues
	baseIndices
	baseOutputState
	baseOutput
	baseBatchMean
	baseBatchVar
	baseGradOperand
	baseGradScale
	baseGradOffset
)

var baseNames = [...]string{baseArg: "arg", baseC: "c", baseCst: "cst", baseIterArg: "iterArg", baseInput: "input", baseCarry: "carry",
	baseValues: "values", baseIndices: "indices", baseOutputState: "output_state", baseOutput: "output", baseBatchMean: "batch_mean",
	baseBatchVar: "batch_var", baseGradOperand: "grad_operand", baseGradScale: "grad_scale", baseGradOffset: "grad_offset"}

// resultBases are the ops that name each of their results.
var resultBases = map[ir.Kind][]uint8{
	ir.OpChloTopK:          {baseValues, baseIndices},
	ir.OpRngBitGenerator:   {baseOutputState, baseOutput},
	ir.OpBatchNormTraining: {baseOutput, baseBatchMean, baseBatchVar},
	ir.OpBatchNormGrad:     {baseGradOperand, baseGradScale, baseGradOffset},
}

// counters are what naming goes on with inside a region (specification: stablehlo.md section 1.8). The counters never
// run backwards on the way into a region, so that a name with a suffix is new by itself and only the bases have to
// be remembered.
type counters struct {
	value, arg, conflict int32
	used                 uint32 // bases that are taken, by bit
}

func (c *counters) unique(base uint8) valueName {
	n := valueName{base: base, member: -1, number: -1}
	if c.used&(1<<base) != 0 {
		n.number = c.conflict
		c.conflict++
	}
	c.used |= 1 << base
	return n
}

// numberModule names the values of the module's own block.
func (pr *printer) numberModule(b ir.BlockID) {
	c := counters{}
	pr.numberOps(b, &c)
	pr.numberNested(b, c)
}

// numberRegion names the values in region i of an op.
func (pr *printer) numberRegion(op ir.OpID, i int, c counters) {
	m := pr.m
	if k := m.Kind(op); k == ir.OpFunc || k == ir.OpModule {
		c = counters{}
	}
	blocks := m.Blocks(m.Region(op, i))
	for n, b := range blocks {
		args := m.BlockArgs(b)
		for j, v := range args {
			pr.names[v] = pr.argName(op, n, j, &c)
		}
		pr.numberOps(b, &c)
	}
	for _, b := range blocks {
		pr.numberNested(b, c)
	}
}

func (pr *printer) argName(op ir.OpID, block, i int, c *counters) valueName {
	if block == 0 {
		switch pr.m.Kind(op) {
		case ir.OpWhile:
			return c.unique(baseIterArg)
		case ir.OpChloScan:
			if i < scanInputs(pr.m, op) {
				return c.unique(baseInput)
			}
			return c.unique(baseCarry)
		}
		c.arg++
		return valueName{base: baseArg, member: -1, number: c.arg - 1}
	}
	c.value++
	return valueName{member: -1, number: c.value - 1}
}

func (pr *printer) numberOps(b ir.BlockID, c *counters) {
	m := pr.m
	for op := range m.Ops(b) {
		if n := m.NumResults(op); n > 0 {
			pr.nameResults(op, n, c)
		}
	}
}

func (pr *printer) nameResults(op ir.OpID, n int, c *counters) {
	m := pr.m
	first := m.Result(op, 0)
	k := m.Kind(op)
	if k == ir.OpConstant && n == 1 {
		pr.names[first] = c.unique(constantBase(m.ValueType(first)))
		return
	}
	if bases := resultBases[k]; len(bases) == n {
		for i, base := range bases {
			pr.names[m.Result(op, i)] = c.unique(base)
		}
		return
	}
	name := valueName{member: -1, number: c.value}
	c.value++
	if n == 1 {
		pr.names[first] = name
		return
	}
	for i := range n {
		name.member = int32(i)
		pr.names[m.Result(op, i)] = name
	}
}

func constantBase(t *ir.Type) uint8 {
	if t.Quant == 0 && isInteger(t) {
		return baseC
	}
	return baseCst
}

func (pr *printer) numberNested(b ir.BlockID, c counters) {
	m := pr.m
	for op := range m.Ops(b) {
		for i := range m.NumRegions(op) {
			pr.numberRegion(op, i, c)
		}
	}
}

// value prints the name of a value where it is used.
func (pr *printer) value(v ir.ValueID) {
	n := pr.names[v]
	pr.name(n)
	if n.member >= 0 {
		pr.byte('#')
		pr.int(int64(n.member))
	}
}

func (pr *printer) name(n valueName) {
	pr.byte('%')
	pr.str(baseNames[n.base])
	if n.base != baseNumber && n.base != baseArg {
		if n.number < 0 {
			return
		}
		pr.byte('_')
	}
	pr.int(int64(n.number))
}

// results prints the names of the results and the equals sign.
func (pr *printer) results(op ir.OpID) {
	m := pr.m
	n := m.NumResults(op)
	if n == 0 {
		return
	}
	for i := 0; i < n; i++ {
		name := pr.names[m.Result(op, i)]
		if i > 0 {
			pr.str(", ")
		}
		pr.name(name)
		if name.member >= 0 {
			pr.byte(':')
			pr.int(int64(n))
			break
		}
	}
	pr.str(" = ")
}
