package typed

import (
	"slices"
	"strings"

	"autoshard/internal/diag"
	"autoshard/ir"
)

// maxBlocksShown bounds how many inputs the notes of an error describe.
const maxBlocksShown = 4

// showBlocks adds to an error at an equation the shapes that it works on: the equation with the types of its operands,
// and the blocks of the inputs that these are made of, with the specs that cut them; for an error about variance those
// that vary.
//
//	z = add x:f32[8] y:f32[7]: ... requires compatible types
//	note: x is a block f32[8] of f32[32] with spec P('i')
func (p *Program) showBlocks(err error) error {
	e, ok := err.(*diag.Error)
	if !ok {
		return err
	}
	op := p.opAt(e.Diagnostics[0].Pos)
	if op == 0 {
		return err
	}
	if d := &e.Diagnostics[0]; !strings.HasPrefix(d.Message, p.equation(op)) {
		d.Message = p.equation(op) + ": " + d.Message
	}
	shown := 0
	_, inputs := p.causes(operandsOf(p.Module, op))
	for _, i := range inputs {
		param := p.Params[i]
		if shown == maxBlocksShown || e.Diagnostics[0].Code == diag.BadVariance && p.SpecVariance(param.Spec) == (Variance{}) {
			continue
		}
		shown++
		e.WithNote(diag.Position{}, "%s is a block %s of %s with spec %s", param.Name,
			formatType(p.Module.ValueType(p.Module.BlockArgs(p.Body())[i])), formatType(p.Module.TypeOf(param.Type)), param.Spec)
	}
	return e
}

// opAt returns the op of the body that begins at a place of the text, 0 if none does.
func (p *Program) opAt(at diag.Position) ir.OpID {
	if at.Line == 0 {
		return 0
	}
	for op := range p.Module.Within(p.Body()) {
		if p.where(op) == at {
			return op
		}
	}
	return 0
}

// causes returns the ops on which values depend, and the numbers of the inputs, in order.
func (p *Program) causes(values []ir.ValueID) (ops []ir.OpID, inputs []int) {
	m := p.Module
	seen := map[ir.OpID]bool{}
	var visit func(values []ir.ValueID)
	visit = func(values []ir.ValueID) {
		for _, v := range values {
			op := m.OpOf(v)
			switch {
			case m.Kind(op) == ir.OpFunc:
				inputs = append(inputs, m.Index(v))
				continue
			case seen[op]:
				continue
			}
			seen[op] = true
			ops = append(ops, op)
			visit(operandsOf(m, op))
			for b := range m.InnerBlocks(op) {
				if last := m.LastOp(b); last != 0 {
					visit(m.Operands(last))
				}
			}
		}
	}
	visit(values)
	slices.Sort(inputs)
	return ops, slices.Compact(inputs)
}

// inDefinition gives an error about a value the place where the value is defined.
func (p *Program) inDefinition(v ir.ValueID, e *diag.Error) error {
	return p.placed(p.Module.OpOf(v), e)
}
