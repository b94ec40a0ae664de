package propagate

import (
	"slices"

	"autoshard/ir"
	"autoshard/priority"
	"autoshard/subaxis"
	"autoshard/trace"
)

// waitingDim is a dimension whose user priority has not come yet: as its user gave it, without the priority.
type waitingDim struct {
	dim      int32
	priority int32
	given    ir.DimSharding
}

// userPriorities runs one round for each user priority. Until its round, a dimension is empty and closed, and its
// axes are reserved on its tensor (source: shardy.md section 4.7).
func (e *engine) userPriorities() {
	rounds := priority.Rounds(e.m)
	e.reserveAxes()
	for _, round := range rounds {
		if e.options.Limited && int(round) > max(e.options.MaxPriority, 0) {
			return
		}
		if round > 0 {
			e.begin(round, 0)
			e.activate(round)
		}
		e.opPriorities(round)
	}
}

// reserveAxes rewrites all shardings to what counts in round 0.
func (e *engine) reserveAxes() {
	for i, id := range e.shardings {
		if id == 0 || !slices.ContainsFunc(e.m.ShardingOf(id).Dims, hasPriority) {
			continue
		}
		s := e.m.ShardingOf(id).Clone()
		for d := range s.Dims {
			dim := &s.Dims[d]
			level := dim.Priority
			dim.Priority = ir.NoPriority
			if level <= 0 {
				continue
			}
			e.reserve.waiting[slot(i)] = append(e.reserve.waiting[slot(i)], waitingDim{int32(d), level, *dim})
			s.Replicated = append(s.Replicated, dim.Axes...)
			*dim = ir.DimSharding{Closed: true, Priority: ir.NoPriority}
		}
		slices.SortFunc(s.Replicated, subaxis.Compare)
		e.shardings[i] = e.m.InternSharding(s)
	}
}

func hasPriority(d ir.DimSharding) bool { return d.Priority != ir.NoPriority }

// activate lets the dimensions of a user priority take part.
func (e *engine) activate(round int32) {
	for i, id := range e.shardings {
		dims := e.reserve.waiting[slot(i)]
		if !slices.ContainsFunc(dims, func(w waitingDim) bool { return w.priority == round }) {
			continue
		}
		s := e.m.ShardingOf(id).Clone()
		for _, w := range dims {
			if w.priority != round {
				continue
			}
			s.Dims[w.dim] = w.given
			s.Replicated = slices.DeleteFunc(s.Replicated, func(r subaxis.Ref) bool { return slices.Contains(w.given.Axes, r) })
			e.trace.Add(trace.Event{Kind: trace.Activate, Factor: trace.NoFactor, Mesh: int32(s.Mesh),
				Axes: e.trace.Intern(w.given.Axes), To: trace.Place{Value: e.binder.name(slot(i)), Dim: w.dim}})
		}
		e.shardings[i] = e.m.InternSharding(s)
	}
}

// reserve says which dimensions and axes are kept for later rounds of user priorities.
type reserve struct {
	waiting map[slot][]waitingDim
	trace   *trace.Trace
}

// holds says whether, at a round, a dimension or axes of a slot are kept for a later one.
func (r *reserve) holds(s slot, dim int32, axes trace.AxesID, round int32) bool {
	for _, w := range r.waiting[s] {
		if w.priority <= round {
			continue
		}
		if w.dim == dim {
			return true
		}
		for _, a := range r.trace.Axes(axes) {
			if _, overlap := subaxis.Overlapping(w.given.Axes, a); overlap {
				return true
			}
		}
	}
	return false
}
