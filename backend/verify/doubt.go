package verify

import (
	"slices"

	"autoshard/backend/run"
	"autoshard/internal/diag"
	"autoshard/ir"
)

// Doubt is a result of a manual computation of the user of which devices hold different copies, as they do when the computation runs by
// itself: a shard_map whose check is off may return what differs and say that it is equal. The copy of the first device counts, and what is
// made of the others is not judged.
type Doubt struct {
	Pos           diag.Position // of the computation, in the model, or in the partitioned program where that is not known
	Result        int
	First, Second int64 // devices
}

// differ notes a result of a manual computation that differs between devices when it runs by itself.
func (c *checker) differ(op ir.OpID, d run.Difference) {
	v := c.whole.Result(op, d.Output)
	if c.doubted[v] {
		return
	}
	c.result.Doubts = append(c.result.Doubts, Doubt{Pos: c.pos(op), Result: d.Output, First: d.First, Second: d.Second})
	c.doubt([]ir.ValueID{v})
}

// doubt marks values and all that is made of them. Of an op with regions that is everything in and behind them.
func (c *checker) doubt(values []ir.ValueID) {
	m := c.whole
	for len(values) > 0 {
		v := values[len(values)-1]
		values = values[:len(values)-1]
		if c.doubted[v] {
			continue
		}
		c.doubted[v] = true
		for use := range m.Uses(v) {
			op := use.Op
			if m.Kind(op).IsTerminator() {
				op = m.ParentOp(op)
			}
			if m.Kind(op) != ir.OpFunc {
				values = slices.AppendSeq(values, m.ValuesWithin(op))
			}
		}
	}
}
