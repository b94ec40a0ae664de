package pricing_test

import (
	"errors"
	"math"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"autoshard/cost"
	"autoshard/internal/diag"
	"autoshard/pricing"
	"autoshard/subaxis"
)

func setting(t testing.TB, hardware, sizes string, axes ...subaxis.Axis) pricing.Setting {
	t.Helper()
	hw, err := cost.Lookup(hardware)
	if err != nil {
		t.Fatal(err)
	}
	return pricing.Setting{Mesh: axes, Hardware: hw, Sizes: sizes, Book: true}
}

func axis(name string, size int64) subaxis.Axis { return subaxis.Axis{Name: name, Size: size} }

func near(got, want float64) bool { return math.Abs(got-want) <= 0.005*want }

// The sixth problem of the chapter: three products on v5e, 4 x 4, and what bounds each.
func TestMatmul(t *testing.T) {
	s := setting(t, "tpu-v5e", "I=8192,J=8192,K=8192", axis("X", 4), axis("Y", 4))
	for text, want := range map[string]struct {
		seconds     float64
		bound, step string
	}{
		"A[I_X, J_Y] · B[J_Y, K] -> C[I_X, K]":   {1118.5e-6, "network", "all_reduce C over Y"},
		"A[I_X, J] · B[J_X, K_Y] -> C[I_X, K_Y]": {559.2e-6, "network", "all_gather B over X"},
		"A[I_X, J] · B[J, K_Y] -> C[I_X, K_Y]":   {348.8e-6, "compute", ""},
	} {
		a, err := pricing.Matmul(&pricing.MatmulRequest{Setting: s, Product: text})
		if err != nil {
			t.Fatal(err)
		}
		best, step := a.Strategies[0], ""
		for _, m := range best.Steps {
			step += m.Kind + " " + m.Array + " over " + m.Axes
		}
		if !near(best.Seconds, want.seconds) || best.Bound != want.bound || step != want.step || best.Result != text[strings.Index(text, "C"):] {
			t.Errorf("%s: %v s, %s bound, %q, %s", text, best.Seconds, best.Bound, step, best.Result)
		}
		if best.Ours == nil || *best.Ours < best.Seconds {
			t.Errorf("%s: %v s by the book, ours %v", text, best.Seconds, best.Ours)
		}
	}
}

// A result that no row of the table has is brought where it was asked for, and any will do where none was.
func TestMatmulResult(t *testing.T) {
	s := setting(t, "tpu-v5p", "I=512,J=1024,K=2048", axis("X", 4))
	a, err := pricing.Matmul(&pricing.MatmulRequest{Setting: s, Product: "A[I_X, J] · B[J, K_X] -> C[I, K]"})
	if err != nil {
		t.Fatal(err)
	}
	if len(a.Strategies) != 4 || len(a.Others) != 0 || a.Strategies[0].Result != "C[I, K]" {
		t.Errorf("strategies %+v, others %+v", a.Strategies, a.Others)
	}
	if a, err = pricing.Matmul(&pricing.MatmulRequest{Setting: s, Product: "A[I_X, J] · B[J, K_X]"}); err != nil {
		t.Fatal(err)
	}
	if best := a.Strategies[0]; best.Name != "X 4a" || best.Result != "C[I, K_X]" || len(a.Others) != 0 {
		t.Errorf("the fastest is %+v", best)
	}
}

// A batch of products of several dimensions each is one product of all of them together.
func TestMatmulDimensions(t *testing.T) {
	s := setting(t, "tpu-v5p", "B=8,T=16,N=4,H=32,D=64", axis("X", 2))
	a, err := pricing.Matmul(&pricing.MatmulRequest{Setting: s, Product: "A[B_X, T, D] * W[D, N, H] -> Q[B_X, T, N, H]"})
	if err != nil || a.FLOPs != 2*8*16*4*32*64 || a.Strategies[0].FLOPs != a.FLOPs/2 {
		t.Errorf("%+v %v", a, err)
	}
	a, err = pricing.Matmul(&pricing.MatmulRequest{Setting: s, Product: "int8[B_X, T, H] * bf16[B_X, H, N] -> f32[B_X, T, N]"})
	if err != nil || a.FLOPs != 2*8*16*4*32 || a.Strategies[0].Name != "X batch" {
		t.Errorf("%+v %v", a, err)
	}
}

func TestMatmulErrors(t *testing.T) {
	s := setting(t, "tpu-v5e", "I=8,J=8,K=8", axis("X", 4))
	for text, want := range map[string]string{
		"A[I_X, J] · B[J, K_X] -> C[I_X, K_X]": "PRODUCT:1:36: axis \"X\" is used twice",
		"A[I, J] · B[J, K] -> C[I, L]":         "dimension \"K\" is in one operand alone",
		"A[I, J] · B[J, K] -> C[I, K, L]":      "dimension \"L\" of the result is in no operand",
		"A[8, J] · B[J, K]":                    "the dimensions of a product need names",
		"A[I, J] · B[J, M] -> C[I, M]":         "PRODUCT:1:17: dimension \"M\" has no size: say it with --dims M=1024",
		"A[I, J]{U_X} · B[J, K] -> C[I, K]":    "must be reduced first",
		"A[I_X, J] · B[J, K] -> C[I, K]{U_X}":  "only where both operands are cut there",
		"A[I, J] + B[J, K]":                    "PRODUCT:1:9: a product such as",
	} {
		if _, err := pricing.Matmul(&pricing.MatmulRequest{Setting: s, Product: text}); !errors.Is(err, diag.ErrInvalid) ||
			!strings.Contains(err.Error(), want) {
			t.Errorf("%s: error %v, want %s", text, err, want)
		}
	}
	s.DType = "bf61"
	_, err := pricing.Matmul(&pricing.MatmulRequest{Setting: s})
	if err == nil || !strings.Contains(err.Error(), "\"bf61\" is no element type") {
		t.Errorf("error %v", err)
	}
}

// The second quiz of the chapter, and what goes through switches.
func TestCollective(t *testing.T) {
	v5e := setting(t, "tpu-v5e", "E=2048,F=8192", axis("X", 8), axis("Y", 4))
	h100 := setting(t, "h100", "", axis("X", 8))
	for _, c := range []struct {
		request   pricing.CollectiveRequest
		v         int64
		seconds   float64
		bound     string
		levels    int
		sentBytes int64
	}{
		{pricing.CollectiveRequest{Setting: v5e, Kind: "all_gather", Array: "bf16[E_Y, F]", Over: "Y"}, 33554432, 559.2e-6, "bandwidth", 0,
			8 * 3 * 33554432},
		{pricing.CollectiveRequest{Setting: v5e, Kind: "all_gather", Array: "bf16[256_Y, 256]", Over: "Y"}, 131072, 3e-6, "latency", 0,
			8 * 3 * 131072},
		{pricing.CollectiveRequest{Setting: v5e, Kind: "shift", Array: "bf16[E_Y, F]", Over: "Y", Shift: 1}, 8388608, 186.4e-6, "bandwidth", 0,
			32 * 8388608},
		{pricing.CollectiveRequest{Setting: h100, Kind: "all_reduce", Array: "int8[1000000000]{U_X}", Over: "X"}, 1e9, 4.444e-3, "bandwidth", 3,
			14e9},
	} {
		a, err := pricing.Collective(&c.request)
		if err != nil {
			t.Fatal(err)
		}
		if a.Bytes != c.v || !near(a.Seconds, c.seconds) || a.Bound != c.bound || len(a.Levels) != c.levels || a.SentBytes != c.sentBytes {
			t.Errorf("%s of %s: %+v", c.request.Kind, c.request.Array, a)
		}
	}
}

// The fifth question on TPUs: 16.8 MB from one corner of a 4 x 4 slice to the other.
func TestSend(t *testing.T) {
	s := setting(t, "tpu-v5e", "", axis("X", 4), axis("Y", 4))
	a, err := pricing.Collective(&pricing.CollectiveRequest{Setting: s, Kind: "send", Array: "bf16[8,128,8192]", To: 15})
	if err != nil || !near(a.Bandwidth, 186.4e-6) || a.Hops != 6 || !near(a.Latency, 6e-6) || a.SentBytes != 16777216 {
		t.Errorf("%+v %v", a, err)
	}
}

func TestCollectiveErrors(t *testing.T) {
	s := setting(t, "tpu-v5e", "E=2048", axis("X", 8), axis("Y", 4))
	for want, r := range map[string]pricing.CollectiveRequest{
		"unknown collective \"allgather\", did you mean `all_gather`?": {Kind: "allgather", Array: "A[E]", Over: "X"},
		"all_gather over X needs an array that X cuts":                 {Kind: "all_gather", Array: "A[E_Y]", Over: "X"},
		"but X cuts A[E_X]": {Kind: "all_reduce", Array: "A[E_X]", Over: "X"},
		"a send goes between two of the devices 0 to 31": {Kind: "send", Array: "A[E]", To: 32},
		"a shift goes along one axis: --over X":          {Kind: "shift", Array: "A[E]", Over: "XY"},
		"--over:1:1: an axis of the mesh is missing":     {Kind: "all_reduce", Array: "A[E]"},
		"ARRAY:1:3: dimension \"F\" has no size":         {Kind: "all_reduce", Array: "A[F]", Over: "X"},
	} {
		r.Setting = s
		if _, err := pricing.Collective(&r); !errors.Is(err, diag.ErrInvalid) || !strings.Contains(err.Error(), want) {
			t.Errorf("error %v, want %s", err, want)
		}
	}
	if kinds := pricing.Kinds(); !slices.Contains(kinds, "all_to_all") || !slices.Contains(kinds, "send") {
		t.Errorf("kinds %v", kinds)
	}
}

// The first quiz of the chapter.
func TestArray(t *testing.T) {
	s := setting(t, "tpu-v5e", "I=128,J=2048", axis("X", 2), axis("Y", 8), axis("Z", 2))
	a, err := pricing.Array(&pricing.ArrayRequest{Setting: s, Array: "int8[I_XY, J]"})
	if err != nil || a.Block != "i8[8,2048]" || a.DeviceBytes != 16384 || a.FleetBytes != 524288 || a.Copies != 2 || a.Fits.Devices != 1 {
		t.Errorf("%+v %v", a, err)
	}
	if _, err := pricing.Array(&pricing.ArrayRequest{Setting: s, Array: "f32[4194304, 4194304]"}); !errors.Is(err, diag.ErrTooLarge) {
		t.Errorf("error %v", err)
	}
}

// A question in the book's notation is that of package resharding.
func TestReshard(t *testing.T) {
	s := setting(t, "tpu-v5e", "I=64,J=64", axis("X", 4), axis("Y", 2))
	a, err := pricing.Reshard(t.Context(), &pricing.ReshardRequest{Setting: s, Move: "f32[I_XY, J] -> f32[I, J_X]{U_Y}"})
	if a != nil || err == nil || !strings.Contains(err.Error(), "unreduced along \"Y\"") {
		t.Errorf("%+v %v", a, err)
	}
	a, err = pricing.Reshard(t.Context(), &pricing.ReshardRequest{Setting: s, Move: "f32[I_X, J]{U_Y} -> f32[I_Y, J_X]"})
	if err != nil || a.From.Spec != "P('X', None, unreduced={'Y'})" || a.To.Spec != "P('Y', 'X')" || a.Collectives != 2 ||
		a.Ours == nil || a.Ours.Seconds <= a.Seconds {
		t.Errorf("%+v %v", a, err)
	}
	_, err = pricing.Reshard(t.Context(), &pricing.ReshardRequest{Setting: s, Move: "A[I, J] -> A[J, I]"})
	if !errors.Is(err, diag.ErrInvalid) {
		t.Errorf("error %v", err)
	}
}

// The time of a strategy lies between that of the slowest resource and the sum, more overlap never makes it longer, and faster links and
// units never make the fastest slower.
func TestMatmulLaws(t *testing.T) {
	products := []string{"A[I_X, J_Y] · B[J_Y, K] -> C[I_X, K]", "A[I, J_X] · B[J, K_Y]", "A[I_X, J] · B[J_Y, K_X] -> C[I, K]",
		"A[I, J] · B[J, K] -> C[I_XY, K]"}
	rapid.Check(t, func(t *rapid.T) {
		hw, err := cost.Lookup(rapid.SampledFrom([]string{"tpu-v5e", "tpu-v5p", "h100", "cpu"}).Draw(t, "hardware"))
		if err != nil {
			t.Fatal(err)
		}
		r := &pricing.MatmulRequest{Product: rapid.SampledFrom(products).Draw(t, "product")}
		r.Setting = pricing.Setting{Mesh: []subaxis.Axis{axis("X", 4), axis("Y", 2)}, Hardware: hw, Book: rapid.Bool().Draw(t, "book"),
			Sizes: rapid.SampledFrom([]string{"I=256,J=4096,K=1024", "I=8192,J=8192,K=8192", "I=100,J=33,K=7"}).Draw(t, "sizes")}
		a, err := pricing.Matmul(r)
		if err != nil {
			t.Fatal(err)
		}
		for _, s := range a.Strategies {
			if s.Seconds < s.Lower || s.Seconds > s.Upper || s.Upper > 2*s.Lower+1e-15 || s.Seconds < a.Strategies[0].Seconds {
				t.Errorf("%s takes %v s, between %v and %v", s.Name, s.Seconds, s.Lower, s.Upper)
			}
		}
		r.Hardware.Matrix.BF16 *= 2
		if hw.Torus != nil {
			r.Hardware.Torus.Link *= 2
		}
		if faster, err := pricing.Matmul(r); err != nil || faster.Strategies[0].Seconds > a.Strategies[0].Seconds {
			t.Errorf("%v s with faster units and links, %v with slower ones, %v", faster.Strategies[0].Seconds, a.Strategies[0].Seconds, err)
		}
	})
}
