package peer_test

import (
	"encoding/binary"
	"math"
	"slices"
	"strings"
	"testing"

	"autoshard/internal/testkit/peer"
	"autoshard/ir/dtype"
)

// text returns a module whose main gives what an op makes of its argument.
func text(op, from, to string) string {
	return "module @m {\n  func.func public @main(%x: " + from + ") -> " + to + " {\n    %y = " + op + "\n    return %y : " + to + "\n  }\n}"
}

// Both peers run programs and give back what they compute, in its own type.
func TestPeersRunPrograms(t *testing.T) {
	python := peer.Python(t)
	two := binary.LittleEndian.AppendUint32(nil, math.Float32bits(2))
	programs := []peer.Program{
		{text("stablehlo.negate %x : tensor<f32>", "tensor<f32>", "tensor<f32>"), []peer.Array{{dtype.F32, nil, two}}},
		{text("stablehlo.not %x : tensor<2xi4>", "tensor<2xi4>", "tensor<2xi4>"), []peer.Array{{dtype.I4, []int64{2}, []byte{0, 0xFE}}}},
		{text("stablehlo.abs %x : tensor<f32>", "tensor<i8>", "tensor<f32>"), []peer.Array{{dtype.I8, nil, []byte{1}}}},
		{text("stablehlo.complex %x, %x : tensor<complex<f32>>", "tensor<f32>", "tensor<complex<f32>>"), []peer.Array{{dtype.F32, nil, two}}},
	}
	for _, name := range []peer.Name{peer.XLA, peer.Evaluator} {
		replies, err := peer.Ask(t.Context(), python, name, programs)
		if err != nil {
			t.Fatal(err)
		}
		if got := replies[0].Results[0].Data; !slices.Equal(got, binary.LittleEndian.AppendUint32(nil, math.Float32bits(-2))) {
			t.Errorf("%s: -2 is %x", name, got)
		}
		if got := replies[1].Results[0].Data; !slices.Equal(got, []byte{0xFF, 1}) {
			t.Errorf("%s: not is %x", name, got)
		}
		if !strings.Contains(replies[2].Refusal, "expects different type") {
			t.Errorf("%s does not refuse a wrong type: %q", name, replies[2].Refusal)
		}
		if got := replies[3].Results[0]; got.Type != dtype.C64 || !slices.Equal(got.Data, slices.Concat(two, two)) {
			t.Errorf("%s: 2+2i is %v", name, got)
		}
	}
}

// A program that ends a peer is refused, and the others are run.
func TestPeersThatCrash(t *testing.T) {
	python := peer.Python(t)
	identity := text("stablehlo.reverse %x, dims = [] : tensor<1x1xf32>", "tensor<1x1xf32>", "tensor<1x1xf32>")
	crash := text("stablehlo.cholesky %x : tensor<1x1xf32>", "tensor<1x1xf32>", "tensor<1x1xf32>")
	args := []peer.Array{{dtype.F32, []int64{1, 1}, make([]byte, 4)}}
	replies, err := peer.Ask(t.Context(), python, peer.Evaluator, []peer.Program{{crash, args}, {identity, args}})
	if err != nil || len(replies) != 2 || !strings.HasPrefix(replies[0].Refusal, "crashed: LLVM ERROR") || len(replies[1].Results) != 1 {
		t.Errorf("%v %v", replies, err)
	}
}
