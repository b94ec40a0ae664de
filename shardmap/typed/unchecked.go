package typed

import (
	"autoshard/ir"
)

// plainKinds are the collectives that an op with a meaning for types alone is where the check is off.
var plainKinds = map[ir.Kind]ir.Kind{
	ir.OpShardMapAllGatherInvariant: ir.OpShardMapAllGather, ir.OpShardMapAllGatherReduced: ir.OpShardMapAllGather,
	ir.OpShardMapUnreducedPsum: ir.OpShardMapPsum, ir.OpShardMapUnreducedPmax: ir.OpShardMapPmax,
	ir.OpShardMapUnreducedPmin: ir.OpShardMapPmin, ir.OpShardMapUnreducedPsumScatter: ir.OpShardMapPsumScatter,
}

// Unchecked returns the program with its check off, as check_vma=False makes it in JAX: nothing is known about copies, so there are no
// casts, and collectives that differ in their types alone are one. It computes the same; its derivatives may communicate more, since they
// cannot tell which values are equal on all devices. The error is of class diag.ErrInvalid for specs that need the check (E_UR_SPEC).
func (p *Program) Unchecked() (*Program, error) {
	q := p.Clone()
	q.Check, q.Variance = false, nil
	m := q.Module
	for _, op := range m.OpsWhere(q.Body(), ir.Kind.IsShardMap) {
		if m.Kind(op) == ir.OpShardMapScan {
			continue
		}
		c, err := q.Collective(op)
		if err != nil {
			return nil, err
		}
		if c.IsCast() {
			q.Bypass(op)
		} else if kind, ok := plainKinds[c.Kind]; ok {
			c.Kind = kind
			m.SetKind(op, kind)
			m.SetAttrs(op, q.attrs(&c))
		}
	}
	_, err := q.Elaborate(Options{})
	return q, err
}
