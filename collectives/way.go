package collectives

import (
	"slices"

	"autoshard/ir"
	"autoshard/subaxis"
)

// Way is a cheapest way between two layouts; the zero Way stays where it is.
type Way struct {
	legs    [2]leg
	resized int64 // picoseconds to pad the tensor before, and to take the padding off it afterwards
}

// leg is a way in one graph.
type leg struct {
	aim
	start     int32
	reduction ir.Reduction
}

func (l *leg) length() int64 { return l.lengths[l.at(l.start, l.goal)] }

// price returns what the steps cost together, which the length says unless one of them counts as less in it.
func (l *leg) price() (total int64) {
	if length := l.length(); length < lengthOf(dearest) {
		return length >> stepBits
	}
	for _, p := range l.passages(nil) {
		total += p.price
	}
	return total
}

// Price returns the price in picoseconds.
func (w *Way) Price() int64 {
	total := w.resized
	for i := range w.legs {
		if l := &w.legs[i]; l.bundle != nil {
			total += l.price()
		}
	}
	return total
}

// Hop is what a step of a way costs, and between which sizes of blocks.
type Hop struct {
	Kind          Kind
	Axes          []subaxis.Ref
	Dim           int   // that is cut or joined; of an all-to-all the one that is joined
	Price         int64 // picoseconds
	Before, After int64 // bytes of a device
	Joined        bool  // a slice that another one follows: programs slice once
}

// Back calls visit with the steps from the last to the first.
func (w *Way) Back(visit func(h Hop)) {
	sliced := false // by the step told before, which comes after
	for i := len(w.legs) - 1; i >= 0; i-- {
		l := &w.legs[i]
		if l.bundle == nil {
			continue
		}
		bytes := l.tensor.bytes
		var some [8]passage
		for _, p := range slices.Backward(l.passages(some[:0])) {
			v, move := l.graph.vertices, &l.graph.moves[p.arc.move]
			slice := move.kind == AllSlice
			visit(Hop{move.kind, move.axes, int(p.arc.dim), p.price, bytes / move.shards, bytes / v[p.arc.to].shards, slice && sliced})
			sliced = slice
		}
	}
}

// passage is a step that a leg takes.
type passage struct {
	arc   *arc
	price int64
}

// passages appends the steps from the start to the goal.
func (l *leg) passages(list []passage) []passage {
	for at := l.start; at != l.goals[l.goal]; {
		r := l.after(at, l.goal)
		arc := &l.graph.vertices[at].arcs[r.arc]
		list = append(list, passage{arc, l.table.price(arc.move)})
		at = r.to
	}
	return list
}

// Steps returns the steps.
func (w *Way) Steps() []Step {
	var steps []Step
	for i := range w.legs {
		if l := &w.legs[i]; l.bundle != nil {
			steps = append(steps, l.steps()...)
		}
	}
	joinSlices(steps)
	return steps
}

func (l *leg) steps() []Step {
	var steps []Step
	for _, p := range l.passages(nil) {
		m, after := &l.graph.moves[p.arc.move], l.graph.layout(p.arc.to)
		after.Reduction = l.reduction
		steps = append(steps, Step{Kind: m.kind, Axes: m.axes, Dim: int(p.arc.dim), To: int(p.arc.end), After: after})
	}
	return steps
}

// joinSlices makes one op of slices that follow one another along different dimensions.
func joinSlices(steps []Step) {
	var sliced []int // the dimensions of the slices before
	for i := range steps {
		steps[i].Joint = steps[i].Kind == AllSlice && len(sliced) > 0 && !slices.Contains(sliced, steps[i].Dim)
		if !steps[i].Joint {
			sliced = nil
		}
		if steps[i].Kind == AllSlice {
			sliced = append(sliced, steps[i].Dim)
		}
	}
}
