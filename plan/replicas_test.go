package plan

import "testing"

// Programs in blocks leave the smallest arrays of the state whole: those that are a twenty-fifth of it together.
func TestBlocksLeaveSmallArraysWhole(t *testing.T) {
	p, s := planning(t, "examples/mlp_train.mlir", "2,4", "tpu-v5p")
	b, err := p.blocks(t.Context(), s.Planner(), p.axes(), zeros[len(zeros)-1])
	if err != nil {
		t.Fatal(err)
	}
	layouts := inputLayouts(b.settled)
	var all, whole int64
	var most, least int64 // of bytes of an array that is whole, and of one that is not
	for _, arg := range p.state {
		if arg < 0 {
			continue
		}
		v := p.args()[arg]
		bytes := p.module.ValueType(v).Bytes()
		all += bytes
		if layouts[arg].Shards() == 1 {
			whole, most = whole+bytes, max(most, bytes)
		} else if least == 0 || bytes < least {
			least = bytes
		}
	}
	if whole == 0 || whole > all/smallPart || most >= least {
		t.Errorf("%d of %d bytes are whole, arrays of up to %d, others from %d", whole, all, most, least)
	}
}
