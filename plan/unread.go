package plan

import (
	"autoshard/internal/lint"
	"autoshard/ir"
	"autoshard/propagate"
)

// unread removes what nothing reads from a module, and notes constraints that decide nothing for that, and collectives. Other constraints
// that nothing reads count for the values that they are on.
func (f *findings) unread() {
	m := f.Module
	for _, op := range propagate.ApplyUnreadConstraints(m) {
		f.Add(lint.UnreadOp, op, "", "nothing reads this constraint, and the value that it is on has another sharding")
	}
	written := m.OpsWhere(m.Body(), ir.Kind.Communicates)
	ir.EraseDead(m)
	for _, op := range written {
		if m.OpBlock(op) == 0 {
			f.Add(lint.UnreadOp, op, "", "nothing reads what this %s makes: it is not run", m.Kind(op))
		}
	}
}
