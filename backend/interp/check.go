package interp

import (
	"encoding/binary"
	"fmt"
	"math"
	"strings"

	"autoshard/backend/tensor"
	"autoshard/internal/diag"
	"autoshard/ir"
	"autoshard/ir/dtype"
)

// checkOps are the ops of self-checking programs (stablehlo.md section 6).
var checkOps = map[ir.Kind]builder{
	ir.OpCheckExpectEq:            func(c *compiler, _ ir.OpID, i *instr) error { return buildCheck(i, equal) },
	ir.OpCheckExpectEqConst:       func(c *compiler, op ir.OpID, i *instr) error { return buildCheckConst(c, op, i, equal) },
	ir.OpCheckExpectAlmostEq:      buildAlmostEq,
	ir.OpCheckExpectAlmostEqConst: buildAlmostEq,
	ir.OpCheckExpectClose:         buildClose,
	ir.OpCheckExpectSerializedEq:  buildSerializedEq,
	ir.OpInterpreterProbe:         buildProbe,
	ir.OpInterpreterPrint:         buildNothing,
}

// comparison says whether element k of two tensors of one real type agrees, and how far they are apart.
type comparison func(x, y tensor.Tensor, k int) (ok bool, distance string)

func buildCheck(i *instr, agree comparison) error {
	if len(i.in) != 2 {
		return diag.Invalid(diag.BadOp, diag.Position{}, "a check compares two values")
	}
	i.kernel = func(f *frame, _ *instr, in []tensor.Tensor) ([]tensor.Tensor, error) {
		return nil, f.p.expect(in[0], in[1], agree)
	}
	return nil
}

func buildCheckConst(c *compiler, op ir.OpID, i *instr, agree comparison) error {
	want, err := c.constant(c.m.Attr(op, "value"))
	if err != nil {
		return err
	}
	dims := c.m.TypeOf(c.m.Attr(op, "value").(*ir.Dense).Type).Dims
	i.kernel = func(f *frame, _ *instr, in []tensor.Tensor) ([]tensor.Tensor, error) {
		y := want
		if y.Rank() != len(dims) {
			y = tensor.BroadcastInDim(want, nil, dims)
		}
		return nil, f.p.expect(in[0], y, agree)
	}
	return nil
}

func buildAlmostEq(c *compiler, op ir.OpID, i *instr) error {
	agree := almostEqual(c.attrs(op).float("tolerance", 1e-4))
	if c.m.Kind(op) == ir.OpCheckExpectAlmostEqConst {
		return buildCheckConst(c, op, i, agree)
	}
	return buildCheck(i, agree)
}

func buildClose(c *compiler, op ir.OpID, i *instr) error {
	r := c.attrs(op)
	return buildCheck(i, ulpsBetween(uint64(r.int("min_ulp_difference", 0)), uint64(r.int("max_ulp_difference", 3))))
}

// buildProbe remembers what it sees for expect_serialized_eq.
func buildProbe(c *compiler, op ir.OpID, i *instr) error {
	id := c.attrs(op).str("probe_id")
	i.kernel = func(f *frame, _ *instr, in []tensor.Tensor) ([]tensor.Tensor, error) {
		if f.p.probes == nil {
			f.p.probes = map[string][]tensor.Tensor{}
		}
		f.p.probes[id] = append(f.p.probes[id], in[0].Clone())
		return in, nil
	}
	return nil
}

func buildSerializedEq(c *compiler, op ir.OpID, i *instr) error {
	r := c.attrs(op)
	id, iter := r.str("probe_id"), r.int("iteration", 0)
	i.kernel = func(f *frame, _ *instr, in []tensor.Tensor) ([]tensor.Tensor, error) {
		seen := f.p.probes[id]
		if iter < 0 || iter >= int64(len(seen)) {
			return nil, diag.Finding(diag.Mismatch, diag.Position{}, "probe %q saw %d values, number %d is expected", id, len(seen), iter)
		}
		return nil, f.p.expect(in[0], seen[iter], equal)
	}
	return nil
}

// expect is a check that counts.
func (p *process) expect(got, want tensor.Tensor, agree comparison) error {
	p.checks++
	return expect(got, want, agree)
}

// expect compares all elements; complex numbers by parts.
func expect(got, want tensor.Tensor, agree comparison) error {
	if got.DType != want.DType || got.Len() != want.Len() {
		return diag.Finding(diag.Mismatch, diag.Position{}, "types %s and %s differ",
			dtype.Format(got.DType, got.Shape), dtype.Format(want.DType, want.Shape))
	}
	shape, width := got.Shape, 1
	if got.DType.Kind() == dtype.Complex {
		part, n := got.DType.Part(), int64(2*got.Len())
		got, want, width = tensor.Tensor{DType: part, Shape: []int64{n}, Data: got.Data},
			tensor.Tensor{DType: part, Shape: []int64{n}, Data: want.Data}, 2
	}
	wrong, first, distance := 0, 0, ""
	for k := range got.Len() {
		if ok, d := agree(got, want, k); !ok {
			if wrong == 0 {
				first, distance = k, d
			}
			wrong++
		}
	}
	if wrong == 0 {
		return nil
	}
	return diag.Finding(diag.Mismatch, diag.Position{}, "%d of %d elements differ, first at %s: %s and %s%s",
		wrong, got.Len(), strings.ReplaceAll(fmt.Sprint(tensor.Unravel(int64(first/width), shape)), " ", ", "), elementText(got, first),
		elementText(want, first), distance)
}

// bits returns the raw bits of element k.
func bits(x tensor.Tensor, k int) uint64 {
	var raw [8]byte
	w := x.DType.Bytes()
	copy(raw[:], x.Data[k*w:(k+1)*w])
	return binary.LittleEndian.Uint64(raw[:])
}

func isFloat(x tensor.Tensor) bool { return x.DType.Kind() == dtype.Float }

func floatAt(x tensor.Tensor, k int) float64 { return dtype.Decode(x.DType, bits(x, k)) }

func elementText(x tensor.Tensor, k int) string {
	if isFloat(x) {
		return fmt.Sprint(floatAt(x, k))
	}
	if x.DType == dtype.UI64 {
		return fmt.Sprint(bits(x, k))
	}
	return fmt.Sprint(dtype.Wrap(x.DType, int64(bits(x, k))))
}

func equal(x, y tensor.Tensor, k int) (bool, string) {
	if !isFloat(x) {
		return bits(x, k) == bits(y, k), ""
	}
	a, b := floatAt(x, k), floatAt(y, k)
	return a == b || a != a && b != b, ""
}

func almostEqual(tolerance float64) comparison {
	return func(x, y tensor.Tensor, k int) (bool, string) {
		if ok, _ := equal(x, y, k); ok || !isFloat(x) {
			return ok, ""
		}
		d := math.Abs(floatAt(x, k) - floatAt(y, k))
		return d <= tolerance, fmt.Sprintf(" (%g apart, limit %g)", d, tolerance)
	}
}

// ulpsBetween accepts floats whose distance in units in the last place lies in a range.
func ulpsBetween(least, most uint64) comparison {
	return func(x, y tensor.Tensor, k int) (bool, string) {
		if !isFloat(x) {
			return equal(x, y, k)
		}
		a, b := floatAt(x, k), floatAt(y, k)
		if a != a && b != b {
			return least == 0, ""
		}
		if a != a || b != b || math.IsInf(a, 0) || math.IsInf(b, 0) {
			return a == b && least == 0, ""
		}
		p, q := signMagnitude(x, k), signMagnitude(y, k)
		d := uint64(max(p, q) - min(p, q))
		return least <= d && d <= most, fmt.Sprintf(" (%d ulp, limit %d)", d, most)
	}
}

// signMagnitude returns the bits of a float as an integer in the order of the numbers.
func signMagnitude(x tensor.Tensor, k int) int64 {
	sign := uint64(1) << (x.DType.Bits() - 1)
	b := bits(x, k)
	if b&sign != 0 {
		return -int64(b &^ sign)
	}
	return int64(b)
}
