package propagate

import (
	"context"
	"slices"

	"autoshard/ir"
	"autoshard/trace"
)

// Relations says which dimensions of a module are tied by the factors of ops, by data-flow edges, by results of the
// main function and by sharding groups: those between which propagation could move axes. Places are those of the
// trace. It is for looking at a module that has its edges, before or after propagation.
type Relations struct {
	t    *tables
	ops  map[slot][]ir.OpID // that have a slot among their tensors
	tied map[slot][]slot
	slot map[int32]slot                // by the name that the trace gives it
	next map[trace.Place][]trace.Place // what Related answered
}

// NewRelations returns the relations of a module, as propagation with CompleteRules sees them. The only error is the context's.
func NewRelations(ctx context.Context, m *ir.Module) (*Relations, error) {
	r := &Relations{t: newTables(ctx, m, Options{CompleteRules: true}), ops: map[slot][]ir.OpID{}, tied: map[slot][]slot{},
		slot: map[int32]slot{}, next: map[trace.Place][]trace.Place{}}
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	for op := range r.t.rows {
		row := &r.t.rows[op]
		if row.plan == 0 || m.OpBlock(ir.OpID(op)) == 0 {
			continue
		}
		for _, s := range r.t.slots[row.first : row.first+row.n] {
			if list := r.ops[s]; s != 0 && (len(list) == 0 || list[len(list)-1] != ir.OpID(op)) {
				r.ops[s] = append(list, ir.OpID(op))
			}
		}
	}
	for s, name := range r.t.names {
		if name != 0 {
			r.slot[name] = slot(s)
		}
	}
	r.tieResults()
	return r, nil
}

func (r *Relations) tieResults() {
	m := r.t.m
	if len(r.t.results) == 0 || m.IsDeclaration(r.t.results[0].f) {
		return
	}
	main := r.t.results[0]
	last := m.LastOp(m.Func(main.f).Body)
	if last == 0 || !m.Kind(last).IsTerminator() {
		return
	}
	for i := range min(m.NumOperands(last), len(m.Func(main.f).ResultShardings)) {
		result, value := main.first+slot(i), r.t.home[m.Operand(last, i)]
		r.tied[result] = append(r.tied[result], value)
		r.tied[value] = append(r.tied[value], result)
	}
}

// Place returns how the trace calls a dimension of a value: where its sharding lives, by the value that owns it. It
// returns false for values that have no place for a sharding.
func (r *Relations) Place(v ir.ValueID, dim int) (trace.Place, bool) {
	s := r.t.home[v]
	return trace.Place{Value: r.name(s), Dim: int32(dim)}, s != 0
}

func (r *Relations) name(s slot) int32 {
	if n := r.t.names[s]; n != 0 {
		return n
	}
	return s
}

// Related returns the dimensions next to one, in program order of what ties them.
func (r *Relations) Related(p trace.Place) []trace.Place {
	if list, known := r.next[p]; known {
		return list
	}
	s, named := r.slot[p.Value]
	if !named {
		s = slot(p.Value)
	}
	var out []trace.Place
	add := func(s slot, dim int32) {
		q := trace.Place{Value: r.name(s), Dim: dim}
		if s != 0 && q != p && !slices.Contains(out, q) {
			out = append(out, q)
		}
	}
	for _, op := range r.ops[s] {
		r.relatedBy(op, s, p.Dim, add)
	}
	for _, other := range r.tied[s] {
		add(other, p.Dim)
	}
	if g, ok := r.t.groupOf[s]; ok {
		for _, member := range r.t.groups[g] {
			add(member, p.Dim)
		}
	}
	r.next[p] = out
	return out
}

// relatedBy adds the dimensions of an op's tensors that share a factor with a dimension.
func (r *Relations) relatedBy(op ir.OpID, s slot, dim int32, add func(slot, int32)) {
	row := &r.t.rows[op]
	rule := r.t.plans[row.plan].rule
	slots := r.t.slots[row.first : row.first+row.n]
	dims := slices.Concat(rule.Operands, rule.Results)
	for t, factors := range dims {
		if slots[t] != s || int(dim) >= len(factors) || dim < 0 {
			continue
		}
		for u := range dims {
			for d, other := range dims[u] {
				if slices.ContainsFunc(other, func(f int32) bool { return slices.Contains(factors[dim], f) }) {
					add(slots[u], int32(d))
				}
			}
		}
	}
}
