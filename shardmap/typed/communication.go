package typed

import (
	"autoshard/ir"
)

// Communication is one collective of the body that moves data.
type Communication struct {
	Op   ir.OpID
	Kind ir.Kind // ir.OpShardMapPsum, ...
	Axes []int   // in written order
	Type ir.TypeID
}

// Communications lists the ops of the body that move data, in program order; one in a loop is listed once. Type is
// that of the operand.
func (p *Program) Communications() []Communication {
	var out []Communication
	p.Module.Walk(p.Body(), func(op ir.OpID) {
		if c, err := p.Collective(op); err == nil && c.Kind.Communicates() {
			out = append(out, Communication{Op: op, Kind: c.Kind, Axes: c.Axes, Type: p.Module.Type(p.Module.Operand(op, 0))})
		}
	})
	return out
}

// Format returns the collective with its axes, such as psum(i,j).
func (c *Communication) Format(p *Program) string {
	return c.Kind.ShardMapName() + "(" + p.axisNames(c.Axes, ",") + ")"
}
