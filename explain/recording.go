package explain

import (
	"context"

	"autoshard/ir"
	"autoshard/propagate"
	"autoshard/propagate/reshard"
	"autoshard/subaxis"
	"autoshard/trace"
)

// Recording is a propagation as viewers need it: the program, every step, and words for both.
type Recording struct {
	Module *ir.Module   // propagated; it must not be changed
	Mesh   ir.MeshID    // that the propagation is about
	Trace  *trace.Trace // all steps
	Given  []trace.Given
	e      *Explainer
}

// Recording returns how the propagation went.
func (e *Explainer) Recording() *Recording {
	return &Recording{Module: e.m, Mesh: e.mesh, Trace: e.trace, Given: e.origin.list(), e: e}
}

// Names gives the steps words.
func (r *Recording) Names() trace.Names { return r.e.names }

// Label names a value, "" for one that is in no text.
func (r *Recording) Label(v ir.ValueID) string { return r.e.names.label(v) }

// Results names the results of the main function.
func (r *Recording) Results() []string { return r.e.names.resultNames }

// Place returns how the trace calls a dimension of a value, false for values that have no sharding.
func (r *Recording) Place(v ir.ValueID, dim int) (trace.Place, bool) {
	return r.e.relations.Place(v, dim)
}

// Giver says in words who gave a dimension its axes, and where that is written.
func (r *Recording) Giver(p trace.Place) (by, at string) { return r.e.origin.describe(p, r.e.names) }

// Causes returns for each step the earlier ones that brought the axes to where it takes them from, none where they were given.
func (r *Recording) Causes() [][]int32 { return r.e.history.Causes() }

// Change says what would have to be otherwise for a refusal not to happen, "" for other steps.
func (r *Recording) Change(e *trace.Event) string {
	if e.Kind != trace.Refusal {
		return ""
	}
	return r.e.change(e, r.Names().Axes(e.Mesh, r.Trace.Axes(e.Axes)))
}

// Gathered is what a device would have to gather of a value, in bytes.
type Gathered struct {
	Value ir.ValueID
	Bytes int64
}

// Gathered returns what each device would have to gather of which values if propagation had ended with these axes: by how much blocks
// become larger where a reshard brings them to the sharding that an op needs. Errors are those of inserting explicit reshards
// (propagate/reshard), or the context's.
func (r *Recording) Gathered(ctx context.Context, axes func(trace.Place) []subaxis.Ref) ([]Gathered, error) {
	m := r.Module.Clone()
	place := func(id ir.ShardingID, rank int, at func(dim int) (trace.Place, bool)) ir.ShardingID {
		if id == 0 {
			return 0
		}
		s := m.ShardingOf(id).Clone()
		for d := range min(rank, len(s.Dims)) {
			s.Dims[d] = ir.DimSharding{Closed: true, Priority: ir.NoPriority}
			if p, ok := at(d); ok {
				s.Dims[d].Axes = axes(p)
			}
		}
		s.Replicated = nil
		return m.InternSharding(s)
	}
	for v := ir.ValueID(1); int(v) < m.NumValues(); v++ {
		m.SetSharding(v, place(m.Sharding(v), len(m.Shape(v)), func(d int) (trace.Place, bool) { return r.Place(v, d) }))
	}
	f := m.MainFunc()
	for i, id := range f.ResultShardings {
		f.ResultShardings[i] = place(id, len(m.TypeOf(f.ResultTypes[i]).Dims), func(d int) (trace.Place, bool) {
			return trace.Place{Value: ^int32(i), Dim: int32(d)}, true
		})
	}
	propagate.ConstraintsToReshards(m)
	if err := reshard.Insert(m, reshard.Options{Full: true}); err != nil {
		return nil, err
	}
	return gathers(m), ctx.Err()
}

// gathers adds up by how much reshards enlarge blocks, by the value that they move, in the order of the program.
func gathers(m *ir.Module) (out []Gathered) {
	at := map[ir.ValueID]int{}
	m.Walk(m.MainFunc().Body, func(op ir.OpID) {
		if m.Kind(op) != ir.OpSdyReshard {
			return
		}
		from, to := m.Operand(op, 0), m.Result(op, 0)
		more := blockBytes(m, to) - blockBytes(m, from)
		if more <= 0 {
			return
		}
		if i, ok := at[from]; ok {
			out[i].Bytes += more
			return
		}
		at[from] = len(out)
		out = append(out, Gathered{from, more})
	})
	return out
}

// blockBytes returns the bytes of a device's block of a value.
func blockBytes(m *ir.Module, v ir.ValueID) int64 {
	t := *m.ValueType(v)
	if id := m.Sharding(v); id != 0 {
		t.Dims = m.ShardingOf(id).LocalDims(t.Dims)
	}
	return t.Bytes()
}
