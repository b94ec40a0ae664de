package verify

import (
	"bytes"
	"math"
	"slices"
	"unsafe"

	"autoshard/backend/tensor"
	"autoshard/ir/dtype"
)

// difference is two tensors of one type, as numbers. A complex number is two elements.
type difference struct {
	dtype     dtype.Type
	shape     []int64
	got, want []float64
	parts     int // numbers of an element: 2 of complex ones
	exact     func(i int) bool
}

func newDifference(got, want tensor.Tensor) *difference {
	d := &difference{dtype: want.DType, shape: want.Shape, parts: 1}
	if want.DType.Kind() == dtype.Complex {
		d.parts = 2
	}
	d.got, d.want = numbers(got), numbers(want)
	width := want.DType.Bytes()
	d.exact = func(i int) bool { // integers of 64 bits are more than float64 tells apart
		k := i / d.parts * width
		return string(got.Data[k:k+width]) == string(want.Data[k:k+width])
	}
	return d
}

// distance returns how far number i of one lies from that of the other: 0 for two zeros or two NaN, +Inf for a NaN or an
// infinity on one side only, and for any difference of what has no roundings.
func (d *difference) distance(i int) float64 {
	a, b := d.got[i], d.want[i]
	switch {
	case !isFloating(d.dtype):
		if d.exact(i) {
			return 0
		}
		return math.Inf(1)
	case a == b || a != a && b != b:
		return 0
	case a != a || b != b || math.IsInf(a, 0) || math.IsInf(b, 0):
		return math.Inf(1)
	}
	return math.Abs(a - b)
}

// size is the distance of number i, but at least 1 and at most finite for different numbers of what has no roundings.
func (d *difference) size(i int) float64 {
	far := d.distance(i)
	if far > 0 && !isFloating(d.dtype) {
		return math.Max(1, math.Abs(d.got[i]-d.want[i]))
	}
	return far
}

// none says whether no element differs.
func (d *difference) none() bool {
	for i := range d.got {
		if d.distance(i) != 0 {
			return false
		}
	}
	return true
}

// over returns how many numbers lie further apart than their element's limit allows, the first of them, and the largest
// distance as a share of the limit. A nil limit allows nothing.
func (d *difference) over(limit []float64) (wrong, first int, share float64) {
	for i := range d.got {
		far := d.distance(i)
		if far == 0 {
			continue
		}
		allowed := 0.0
		if limit != nil {
			allowed = limit[i/d.parts]
		}
		if !(far <= allowed) {
			if wrong == 0 {
				first = i
			}
			wrong++
			continue
		}
		share = max(share, far/allowed)
	}
	return wrong, first, share
}

func (d *difference) within(limit []float64) bool {
	wrong, _, _ := d.over(limit)
	return wrong == 0
}

func isFloating(t dtype.Type) bool { return t.Kind() == dtype.Float || t.Kind() == dtype.Complex }

// reals views a tensor of complex numbers as one of their parts; others stay as they are.
func reals(t tensor.Tensor) tensor.Tensor {
	if t.DType.Kind() != dtype.Complex {
		return t
	}
	return tensor.Tensor{DType: t.DType.Part(), Shape: []int64{2 * int64(t.Len())}, Data: t.Data}
}

// numbers returns the elements as float64, of complex ones both parts.
func numbers(t tensor.Tensor) []float64 { return reals(t).Floats() }

// magnitudes returns the absolute values of the elements.
func magnitudes(t tensor.Tensor) []float64 {
	if t.DType.Kind() == dtype.Bool || !isFloating(t.DType) {
		return make([]float64, t.Len())
	}
	return tensor.Abs(t).Floats()
}

// sameNumbers says whether two tensors of one type hold the same numbers; all NaN are alike.
func sameNumbers(a, b tensor.Tensor) bool {
	return string(a.Data) == string(b.Data) || a.Rank() == b.Rank() && isFloating(a.DType) && newDifference(a, b).none()
}

// bytesOf views numbers as the data of a tensor of f64.
func bytesOf(x []float64) []byte {
	return unsafe.Slice((*byte)(unsafe.Pointer(unsafe.SliceData(x))), len(x)*8)
}

// Over returns the elements of a tensor that lie further from those of another than a function of the wanted number, and
// of its place among all numbers, allows; nil if there are none. The first in the result is the worst of them: the one that is
// the most times over what is allowed, or where nothing is allowed, the one that is furthest off.
func Over(got, want *tensor.Tensor, limit func(want float64, k int) float64) *Fault {
	if got.DType != want.DType || !slices.Equal(got.Shape, want.Shape) {
		return &Fault{Type: dtype.Format(got.DType, got.Shape), Elements: got.Len(), Index: []int64{}, Got: math.NaN(), Want: math.NaN()}
	}
	if bytes.Equal(got.Data, want.Data) {
		return nil
	}
	d := newDifference(*got, *want)
	var worst *Fault
	excess, furthest := 0.0, 0.0
	for i := range d.got {
		far, allowed := d.size(i), limit(d.want[i], i)
		if far == 0 || far <= allowed {
			continue
		}
		if worst == nil {
			worst = &Fault{Type: dtype.Format(d.dtype, d.shape)}
		}
		worst.Elements++
		if over := far / allowed; over > excess || over == excess && far > furthest {
			excess, furthest = over, far
			worst.Index, worst.Got, worst.Want, worst.Allowed = tensor.Unravel(int64(i/d.parts), d.shape), d.got[i], d.want[i], allowed
		}
	}
	return worst
}

// RelativeError returns the largest difference of two tensors relative to the largest magnitude of the second, or to
// least where that is larger; math.MaxFloat64 where one has a number that the other has not, or another shape.
func RelativeError(got, want *tensor.Tensor, least float64) float64 {
	if got.DType != want.DType || got.Len() != want.Len() {
		return math.MaxFloat64
	}
	d := newDifference(*got, *want)
	difference := 0.0
	for i := range d.want {
		difference = max(difference, d.size(i))
	}
	if difference == 0 {
		return 0
	}
	return min(difference/max(Largest(want), least, math.SmallestNonzeroFloat64), math.MaxFloat64)
}

// Largest returns the largest finite magnitude of a tensor.
func Largest(t *tensor.Tensor) float64 { return largest(numbers(*t)) }

// Summed returns the magnitude of numbers of a type whose rounding is the largest finite noise.
func Summed(t dtype.Type, noise []float64) float64 {
	if !isFloating(t) {
		return 0
	}
	return largest(noise) / unit(t)
}

// largest returns the largest finite magnitude.
func largest(values []float64) float64 {
	most := 0.0
	for _, v := range values {
		if v = math.Abs(v); v <= math.MaxFloat64 {
			most = max(most, v)
		}
	}
	return most
}
