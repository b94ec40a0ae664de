package dtype

import (
	"crypto/sha256"
	"errors"
	"math"
	"math/rand/v2"
	"strings"
	"testing"

	"autoshard/internal/diag"
)

func TestAppendFloatAllBitPatterns(t *testing.T) {
	for dt, want := range golden(t) {
		h := sha256.New()
		for code := range uint64(1) << dt.Bits() {
			h.Write(append(AppendFloat(nil, dt, code), '\n'))
		}
		if got := sum(h); got != want[2] {
			t.Errorf("%s: texts differ from those of MLIR", dt)
		}
	}
}

func TestAppendFloat(t *testing.T) {
	for _, c := range []struct {
		t    Type
		v    float64
		want string
	}{
		{F32, 0, "0.000000e+00"},
		{F32, math.Copysign(0, -1), "-0.000000e+00"},
		{F32, 1, "1.000000e+00"},
		{F32, 1.0 / 3, "0.333333343"},
		{F32, math.MaxFloat32, "3.40282347E+38"},
		{F32, 16777216, "0x4B800000"},
		{F32, math.Inf(1), "0x7F800000"},
		{F32, math.Inf(-1), "0xFF800000"},
		{F32, 4.471500e-02, "4.471500e-02"},
		{F32, 0.797884583, "0.797884583"},
		{F64, 0.1, "1.000000e-01"},
		{F64, 1e-60, "9.9999999999999997E-61"},
		{F64, 5e-324, "4.940660e-324"},
		{F64, 999999.9999, "999999.99990000005"},
		{F64, math.Inf(1), "0x7FF0000000000000"},
		{F16, 0.1, "9.997550e-02"},
		{BF16, 0.1, "1.000980e-01"},
		{BF16, math.Inf(1), "0x7F80"},
		{F8E4M3FN, math.NaN(), "0x7F"},
	} {
		if got := string(AppendFloat(nil, c.t, Encode(c.t, c.v))); got != c.want {
			t.Errorf("%v in %s prints %s, want %s", c.v, c.t, got, c.want)
		}
	}
}

func TestAppendFloatReadsBack(t *testing.T) {
	r := rand.New(rand.NewPCG(7, 11))
	for range 20000 {
		for dt, bits := range map[Type]uint64{F32: uint64(r.Uint32()), F64: r.Uint64(), TF32: uint64(r.Uint32() >> 13)} {
			text := string(AppendFloat(nil, dt, bits))
			if got, err := ParseFloat(dt, text); err != nil || got != bits {
				t.Fatalf("%s %#x prints %q, which reads as %#x, %v", dt, bits, text, got, err)
			}
		}
	}
}

func TestParseFloatRoundsOnce(t *testing.T) {
	for _, c := range []struct {
		t    Type
		text string
		want uint64
	}{
		{BF16, "1.00390625", 0x3F80},                    // the midpoint: to even
		{BF16, "1.003906250000000000000000001", 0x3F81}, // above it, but not in f64
		{BF16, "1.01171874999999999999999999", 0x3F81},
		{F16, "1.00048828125", 0x3C00},
		{F16, "1.0004882812500000000000000000001", 0x3C01},
		{F16, "65519.9999999999999999999", 0x7BFF},
		{F16, "65520.0", 0x7C00},
		{F8E4M3FN, "464.0", 0x7E},
		{F8E4M3FN, "464.0000000000000000000001", 0x7F},
		{F8E4M3FN, "-464.0000000000000000000001", 0xFF},
		{F8E4M3FN, "1.0e400", 0x7F},
		{F32, "1.0e40", 0x7F800000},
		{F64, "1.0e400", 0x7FF0000000000000},
		{F64, "1.0e-400", 0},
		{F32, "1.", 0x3F800000},
		{F32, "-0.0", 0x80000000},
		{F32, "0x7FC0", 0x7FC0},
		{F4E2M1FN, "0xF", 0xF},
	} {
		if got, err := ParseFloat(c.t, c.text); err != nil || got != c.want {
			t.Errorf("%q in %s reads as %#x, %v, want %#x", c.text, c.t, got, err, c.want)
		}
	}
}

func TestParseFloatRejects(t *testing.T) {
	for _, text := range []string{"", "1", "1e10", ".5", "1.0e", "1.0e+", "inf", "nan", "0x", "0x1FFFFFFFF", "--1.0", "1_0.0", "1.0f", "-0x1",
		"0x1p3", " 1.0"} {
		if _, err := ParseFloat(F32, text); !errors.Is(err, diag.ErrInvalid) {
			t.Errorf("%q: error %v, want ErrInvalid", text, err)
		}
	}
	if _, err := ParseFloat(I32, "1.0"); !errors.Is(err, diag.ErrInvalid) {
		t.Errorf("i32: error %v, want ErrInvalid", err)
	}
}

func FuzzParseFloat(f *testing.F) {
	for _, text := range []string{"1.0", "-1.5e-3", "0x7FC0", "1.00390625000000001", "9.9e999999999"} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		if strings.Count(text, "0") > 1000 {
			return
		}
		for _, dt := range []Type{F64, F32, BF16, F8E4M3FN} {
			bits, err := ParseFloat(dt, text)
			if err != nil {
				continue
			}
			printed := string(AppendFloat(nil, dt, bits))
			if back, err := ParseFloat(dt, printed); err != nil || back != bits {
				t.Fatalf("%q reads as %s %#x, prints %q, reads back as %#x, %v", text, dt, bits, printed, back, err)
			}
		}
	})
}
