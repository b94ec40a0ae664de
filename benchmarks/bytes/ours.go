package main

import (
	"context"

	"autoshard"
	"autoshard/benchmarks/experts"
	"autoshard/cost"
	"autoshard/ir"
	"autoshard/ir/dtype"
	"autoshard/program"
	"autoshard/shardmap"
)

// compare returns a row for each plan of a model, or for the shardings that it has itself.
func compare(ctx context.Context, m *experts.Model, peer records, hw cost.Hardware) ([]row, error) {
	text, err := m.Text()
	if err != nil {
		return nil, err
	}
	if m.Annotated {
		r, err := newRow(ctx, m, nil, peer, text, hw)
		return []row{r}, err
	}
	var rows []row
	for i := range m.Plans {
		annotated, err := m.Plans[i].Annotate(ctx, text)
		if err != nil {
			return nil, err
		}
		r, err := newRow(ctx, m, &m.Plans[i], peer, annotated, hw)
		if err != nil {
			return nil, err
		}
		rows = append(rows, r)
	}
	return rows, nil
}

func newRow(ctx context.Context, m *experts.Model, plan *experts.Plan, peer records, text []byte, hw cost.Hardware) (row, error) {
	r := row{model: m.Name, plan: label(plan), peer: peer[m.Name][label(plan)]}
	var err error
	r.ours, err = lowered(ctx, m.Name, text, hw)
	return r, err
}

// lowered returns what a device sends in the program of a model's annotations.
func lowered(ctx context.Context, name string, text []byte, hw cost.Hardware) (traffic, error) {
	model, err := autoshard.ReadModel(ctx, name, text)
	if err != nil {
		return nil, err
	}
	plan, err := autoshard.PlanAsAnnotated(ctx, model, autoshard.PlanOptions{Hardware: hw, Memory: 1 << 62})
	if err != nil {
		return nil, err
	}
	whole, mesh, err := program.Parse(ctx, plan.Program)
	if err != nil {
		return nil, err
	}
	device, err := shardmap.Lower(ctx, whole.Clone(), mesh)
	if err != nil {
		return nil, err
	}
	var out traffic
	devices := float64(device.Mesh.Devices())
	for i := range device.Collectives {
		c := &device.Collectives[i]
		bytes := float64(c.TotalBytes()) / devices * widening(device.Module.ValueType(device.Module.Operand(c.Op, 0)).DType)
		out = append(out, flow{newWay(c.Kind.String(), c.Size), purpose(whole, c.From), bytes})
	}
	return out, nil
}

// widening is by how much wider the elements are that XLA for CPU sends of a type: it computes 16-bit floats in 32 bits.
func widening(e dtype.Type) float64 {
	if e.Kind() == dtype.Float && e.Bytes() == 2 {
		return 2
	}
	return 1
}

// purpose returns the op of the partitioned program for which it communicates: which makes the partial values, moves elements between
// blocks itself, or reads what is communicated first.
func purpose(m *ir.Module, op ir.OpID) string {
	switch {
	case op == 0:
		return "the user"
	case !m.Kind(op).Communicates():
		return m.Kind(op).String()
	case m.Kind(op) == ir.OpSdyAllReduce || m.Kind(op) == ir.OpSdyReduceScatter:
		return maker(m, m.Operand(op, 0))
	}
	return reader(m, m.Result(op, 0))
}

// maker returns the op that makes a value, behind communication.
func maker(m *ir.Module, v ir.ValueID) string {
	op := m.DefiningOp(v)
	for op != 0 && m.Kind(op).Communicates() {
		op = m.DefiningOp(m.Operand(op, 0))
	}
	if op == 0 {
		return "an argument"
	}
	return m.Kind(op).String()
}

// reader returns the first op that reads a value, behind communication.
func reader(m *ir.Module, v ir.ValueID) string {
	for use := range m.Uses(v) {
		if op := use.Op; m.Kind(op).Communicates() {
			return reader(m, m.Result(op, 0))
		} else if m.Kind(op).IsTerminator() {
			return "a result, of " + maker(m, v)
		} else {
			return m.Kind(op).String()
		}
	}
	return "nothing"
}
