package dtype

import (
	"bufio"
	"crypto/sha256"
	"encoding/binary"
	"fmt"
	"hash"
	"math"
	"math/rand/v2"
	"os"
	"strings"
	"testing"
)

// golden reads testdata/golden.txt, made by ml_dtypes and MLIR: type, and hashes of all values, of the roundings
// of 4 million f32, and of all texts.
func golden(t *testing.T) map[Type][3]string {
	t.Helper()
	file, err := os.Open("testdata/golden.txt")
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	hashes := map[Type][3]string{}
	for lines := bufio.NewScanner(file); lines.Scan(); {
		f := strings.Fields(lines.Text())
		dt, ok := Parse(f[0])
		if !ok {
			t.Fatalf("unknown type %q", f[0])
		}
		hashes[dt] = [3]string(f[1:])
	}
	if len(hashes) != 13 {
		t.Fatalf("golden.txt has %d formats", len(hashes))
	}
	return hashes
}

func sum(h hash.Hash) string { return fmt.Sprintf("%x", h.Sum(nil))[:16] }

func TestDecodeAllBitPatterns(t *testing.T) {
	for dt, want := range golden(t) {
		h := sha256.New()
		for code := range uint64(1) << dt.Bits() {
			v := Decode(dt, code)
			if v != v {
				v = math.Float64frombits(0x7FF8000000000000)
			}
			binary.Write(h, binary.LittleEndian, v)
		}
		if got := sum(h); got != want[0] {
			t.Errorf("%s: values differ from those of ml_dtypes", dt)
		}
	}
}

func TestEncodeRoundsAsMLDtypes(t *testing.T) {
	for dt, want := range golden(t) {
		var out []byte
		for high := range uint32(1 << 20) {
			for _, low := range []uint32{0, 1, 0x800, 0xFFF} {
				v := math.Float32frombits(high<<12 | low)
				if v != v || dt == F8E8M0FNU && math.Abs(float64(v)) < 0x1p-126 {
					continue // ml_dtypes rounds 1.25 * 2^-127, a subnormal f32, up to 2^-126
				}
				code := Encode(dt, float64(v))
				if dt.Bits() == 16 {
					out = binary.LittleEndian.AppendUint16(out, uint16(code))
					continue
				}
				out = append(out, byte(code))
			}
		}
		h := sha256.New()
		h.Write(out)
		if got := sum(h); got != want[1] {
			t.Errorf("%s: roundings differ from those of ml_dtypes", dt)
		}
	}
}

func TestEncodeDecodeRoundTrip(t *testing.T) {
	for dt := Invalid + 1; dt < numTypes; dt++ {
		if dt.Kind() != Float || dt.Bits() > 19 {
			continue
		}
		for code := range uint64(1) << dt.Bits() {
			v := Decode(dt, code)
			if got := Encode(dt, v); v == v && got != code {
				t.Fatalf("%s: %#x is %v, which encodes as %#x", dt, code, v, got)
			}
		}
	}
}

func TestEncodeNaN(t *testing.T) {
	for dt, want := range map[Type]uint64{
		F4E2M1FN: 0x8, F6E2M3FN: 0x20, F8E3M4: 0x78, F8E4M3: 0x7C, F8E4M3FN: 0x7F, F8E4M3FNUZ: 0x80, F8E5M2: 0x7E,
		F8E8M0FNU: 0xFF, BF16: 0x7FC0, F16: 0x7E00, TF32: 0x3FE00,
	} {
		if got := Encode(dt, math.NaN()); got != want {
			t.Errorf("%s: NaN encodes as %#x, want %#x", dt, got, want)
		}
	}
}

func TestFastHalvesAgreeWithEncode(t *testing.T) {
	check := func(v float32) {
		if got, want := uint64(BF16FromFloat32(v)), Encode(BF16, float64(v)); got != want {
			t.Fatalf("bf16 of %v: %#x, want %#x", v, got, want)
		}
		if got, want := uint64(F16FromFloat32(v)), Encode(F16, float64(v)); got != want {
			t.Fatalf("f16 of %v: %#x, want %#x", v, got, want)
		}
	}
	for high := range uint32(1 << 17) {
		for _, low := range []uint32{0, 1, 0x1000, 0x1001, 0x3FFF, 0x4000} {
			check(math.Float32frombits(high<<15 | low))
		}
	}
	for code := range uint32(1 << 16) {
		c := uint16(code)
		if got, want := float64(BF16ToFloat32(c)), Decode(BF16, uint64(c)); got != want && want == want {
			t.Fatalf("bf16 %#x: %v, want %v", c, got, want)
		}
		if got, want := float64(F16ToFloat32(c)), Decode(F16, uint64(c)); got != want && want == want {
			t.Fatalf("f16 %#x: %v, want %v", c, got, want)
		}
	}
}

func TestEncodeRoundsOnceFromFloat64(t *testing.T) {
	// Just above the midpoint of two f16: through f32 it would become the midpoint and round to even, down.
	v := 1 + 0x1p-11 + 0x1p-40
	if got := Encode(F16, v); got != 0x3C01 {
		t.Errorf("f16 of %v: %#x, want 0x3c01", v, got)
	}
}

func TestIntRangeAndWrap(t *testing.T) {
	for _, c := range []struct {
		t  Type
		lo int64
		hi uint64
	}{
		{I1, 0, 1}, {I2, -2, 1}, {I4, -8, 7}, {I8, -128, 127}, {I64, math.MinInt64, math.MaxInt64},
		{UI2, 0, 3}, {UI4, 0, 15}, {UI32, 0, math.MaxUint32}, {UI64, 0, math.MaxUint64},
	} {
		lo, hi := IntRange(c.t)
		if lo != c.lo || hi != c.hi {
			t.Errorf("%s: %d to %d, want %d to %d", c.t, lo, hi, c.lo, c.hi)
		}
		if got := Wrap(c.t, int64(hi)+1); got != lo {
			t.Errorf("%s: one above the largest wraps to %d, want %d", c.t, got, lo)
		}
		if got := Wrap(c.t, int64(hi)); uint64(got) != hi {
			t.Errorf("%s: the largest wraps to %d", c.t, got)
		}
	}
}

func BenchmarkEncodeF8(b *testing.B) {
	values := make([]float64, 1024)
	r := rand.New(rand.NewPCG(1, 2))
	for i := range values {
		values[i] = r.NormFloat64()
	}
	for b.Loop() {
		for _, v := range values {
			Encode(F8E4M3FN, v)
		}
	}
}
