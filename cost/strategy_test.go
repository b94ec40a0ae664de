package cost_test

import (
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"autoshard/collectives"
	"autoshard/cost"
)

// Axes that lie and move alike cost the same as one set and as two: what is of one kind is sent together.
func TestCutsThatMoveAlikeAreOne(t *testing.T) {
	sides := []cost.Side{cost.Nowhere, cost.OnI, cost.OnJ, cost.OnK}
	rapid.Check(t, func(t *rapid.T) {
		f := on(rapid.SampledFrom([]string{"tpu-v5p", "tpu-v5e", "h100"}).Draw(t, "hardware"), "X4 Y4", cost.Planning())
		a, b := rapid.SampledFrom(sides).Draw(t, "a"), rapid.SampledFrom(sides).Draw(t, "b")
		size := rapid.SampledFrom([]int64{256, 1024, 4096})
		m := cost.Matmul{I: size.Draw(t, "i"), J: size.Draw(t, "j"), K: size.Draw(t, "k"), SizeA: 2, SizeB: 2, SizeC: 4}
		whole, err := f.options(m, "XY", a, b)
		if err != nil {
			return
		}
		apart, err := f.MatmulOptions(m, []cost.Cut{{Axes: f.axes("X"), A: a, B: b}, {Axes: f.axes("Y"), A: a, B: b}})
		if err != nil {
			t.Fatal(err)
		}
		for i, want := range whole {
			got := apart[i*len(whole)+i]
			exchanges := slices.ContainsFunc(want.Moves, func(m cost.Move) bool { return m.Kind == collectives.AllToAll })
			if exchanges || strings.Join(got.Names, " ") != want.Names[0]+" "+want.Names[0] {
				continue
			}
			if !near(got.Upper, want.Upper, 1e-9) || got.FLOPs != want.FLOPs || len(got.Moves) != len(want.Moves) {
				t.Errorf("%s on %v and %v: %v s apart, %v s together", want.Names[0], a, b, got.Upper, want.Upper)
			}
		}
	})
}

// A[I_X,J_Y] B[J_X,K_Y]: gathering A over Y and B over X sends blocks that the other axis still cuts.
func TestTwoCuts(t *testing.T) {
	f := on("tpu-v5p", "X4 Y2", cost.Book())
	m := cost.Matmul{I: 512, J: 1024, K: 2048, SizeA: 2, SizeB: 2, SizeC: 2}
	options, err := f.MatmulOptions(m, []cost.Cut{
		{Axes: f.axes("X"), A: cost.OnI, B: cost.OnJ}, {Axes: f.axes("Y"), A: cost.OnJ, B: cost.OnK}})
	if err != nil {
		t.Fatal(err)
	}
	o := options[0]
	if !slices.Equal(o.Names, []string{"fsdp gather B", "megatron gather A"}) || !slices.Equal(o.Result, []cost.Side{cost.OnI, cost.OnK}) {
		t.Fatalf("the first option is %v with the result on %v", o.Names, o.Result)
	}
	if len(o.Moves) != 2 || o.Moves[0].V != m.BytesA()/4 || o.Moves[1].V != m.BytesB()/2 || o.FLOPs != m.FLOPs()/8 {
		t.Errorf("moves %+v, %v operations", o.Moves, o.FLOPs)
	}
}

// Bringing the result of case 4 together costs a gather more, and what is there already costs nothing.
func TestTo(t *testing.T) {
	f := on("tpu-v5p", "X4", cost.Book())
	m := cost.Matmul{I: 512, J: 1024, K: 2048, SizeA: 2, SizeB: 2, SizeC: 2}
	cuts := []cost.Cut{{Axes: f.axes("X"), A: cost.OnI, B: cost.OnK}}
	options, err := f.MatmulOptions(m, cuts)
	if err != nil {
		t.Fatal(err)
	}
	whole := f.To(m, cuts, options[0], []cost.Side{cost.Nowhere})
	gather := f.seconds(collectives.AllGather, "X", m.BytesC())
	if !near(whole.Net, options[0].Net+gather, 1e-12) || len(whole.Moves) != 2 || len(options[0].Moves) != 1 {
		t.Errorf("%v s, want %v and %v", whole.Net, options[0].Net, gather)
	}
	if same := f.To(m, cuts, whole, []cost.Side{cost.Nowhere}); same.Net != whole.Net {
		t.Errorf("%v s, then %v", whole.Net, same.Net)
	}
}
