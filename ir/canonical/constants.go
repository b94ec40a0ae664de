package canonical

import (
	"bytes"

	"autoshard/ir"
)

// mergeConstants moves stablehlo.constant to the start of the function or computation around it and keeps one of several
// equal ones there, whatever else is attached to them. sdy.constant, which stands for one use, stays as it is.
func (r *rewriter) mergeConstants() {
	all := r.m.OpsOf(r.m.Body(), ir.OpConstant)
	known := map[constantKey][]ir.OpID{}
	kept := map[ir.OpID]bool{}
	for _, op := range all {
		dense, ok := r.m.Attr(op, "value").(*ir.Dense)
		home := r.isolated(op)
		if !ok || home == 0 {
			continue
		}
		k := keyOf(home, dense)
		if same := r.sameConstant(known[k], dense); same != 0 {
			r.m.SetLoc(same, 0)
			r.replace(op, r.m.Result(same, 0))
			continue
		}
		prev := r.m.PrevOp(op)
		if r.m.OpBlock(op) != home || prev != 0 && !kept[prev] {
			r.m.MoveBefore(op, r.m.FirstOp(home))
			r.m.SetLoc(op, 0)
		}
		known[k], kept[op] = append(known[k], op), true
	}
}

// isolated returns the first block of the innermost op around an op whose regions see nothing outside.
func (r *rewriter) isolated(op ir.OpID) ir.BlockID {
	for op = r.m.ParentOp(op); op != 0; op = r.m.ParentOp(op) {
		switch r.m.Kind(op) {
		case ir.OpFunc, ir.OpSdyManualComputation, ir.OpSdyNamedComputation:
			return r.m.RegionBlock(op, 0)
		}
	}
	return 0
}

// constantKey is equal for equal constants, and seldom for others.
type constantKey struct {
	home        ir.BlockID
	typ         ir.TypeID
	n           int
	first, last string
}

func keyOf(home ir.BlockID, d *ir.Dense) constantKey {
	const some = 64 // bytes
	n := len(d.Data)
	return constantKey{home, d.Type, n, string(d.Data[:min(n, some)]), string(d.Data[max(n-some, 0):])}
}

// sameConstant returns the one of several constants that is equal to another one, 0 if there is none.
func (r *rewriter) sameConstant(list []ir.OpID, d *ir.Dense) ir.OpID {
	for _, op := range list {
		o, _ := r.m.Attr(op, "value").(*ir.Dense)
		if o.Type == d.Type && o.Splat == d.Splat && o.Resource == d.Resource && bytes.Equal(o.Data, d.Data) {
			return op
		}
	}
	return 0
}
