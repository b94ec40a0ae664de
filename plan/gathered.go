package plan

import (
	"context"

	"autoshard/answer"
	"autoshard/collectives"
	"autoshard/internal/diag"
	"autoshard/internal/lint"
)

// gatheredKey is what gathered operands of equal layers have in common.
type gatheredKey struct {
	op, typ, axes, why string
	operand, dim       int
}

// gathered notes the operands that are brought to every device as a whole because their ops cannot be computed on blocks. Those of equal
// layers are one finding, at the first of them.
func (f *findings) gathered(ctx context.Context, chosen *lowered) error {
	m, mesh := f.Module, &chosen.program.Mesh
	all, err := collectives.FindGathered(ctx, chosen.annotated, chosen.assignment)
	places, bytes := newTally[gatheredKey](), map[gatheredKey]int64{}
	for _, g := range all {
		t := m.ValueType(m.Operand(g.Op, g.Operand))
		key := gatheredKey{called(m, g.Op), answer.FormatType(t, t.Dims), mesh.FormatList(g.Axes), g.Why, g.Operand, g.Dim}
		places.note(key, g.Op)
		bytes[key] += g.Bytes * g.Times
	}
	for _, k := range places.keys {
		times, first := "", places.first[k]
		if n := places.count[k]; n > 1 {
			times = " in " + diag.Count(n, "place", "places")
		}
		f.Add(lint.GatheredOperand, first, f.Place(m.Operand(first, k.operand)).Name,
			"dimension %d of operand %d of %s, %s, is gathered along %s%s, %s a step to every device: %s",
			k.dim, k.operand, k.op, k.typ, k.axes, times, diag.Bytes(bytes[k]), k.why)
	}
	return err
}
