package dtype

import (
	"slices"
	"strconv"
	"strings"

	"autoshard/internal/diag"
)

// MaxBytes is the largest tensor that Size accepts: 1 TiB.
const MaxBytes = 1 << 40

// Size returns the number of elements and bytes of a tensor type. It returns a diag.ErrTooLarge for more than
// MaxBytes and a diag.ErrInvalid for a negative size.
func Size(dt Type, shape []int64) (elements, bytes int64, err error) {
	width, n := int64(dt.Bytes()), int64(1)
	for d, size := range shape {
		if size < 0 {
			return 0, 0, diag.Invalid(diag.TypeMismatch, diag.Position{}, "dimension %d has negative size %d", d, size)
		}
	}
	if slices.Contains(shape, 0) {
		return 0, 0, nil
	}
	for _, size := range shape {
		if n > MaxBytes/width/size {
			return 0, 0, diag.TooLarge(diag.InputTooLarge, diag.Position{}, "tensor %s%v takes more than %s", dt, shape, diag.Bytes(MaxBytes))
		}
		n *= size
	}
	return n, n * width, nil
}

// Format returns a tensor type in its short form, such as f32[2,?]: a negative size is one that is not known.
func Format(t Type, dims []int64) string {
	sizes := make([]string, len(dims))
	for i, d := range dims {
		sizes[i] = "?"
		if d >= 0 {
			sizes[i] = strconv.FormatInt(d, 10)
		}
	}
	return t.String() + "[" + strings.Join(sizes, ",") + "]"
}

// ParseTensor reads what Format writes, of static sizes, and what MLIR does: f32[2,8], 2x8xf32, tensor<2x8xf32>. It is false for any other
// text.
func ParseTensor(text string) (t Type, dims []int64, ok bool) {
	if inner, mlir := strings.CutPrefix(text, "tensor<"); mlir {
		inner, mlir = strings.CutSuffix(inner, ">")
		t, dims, ok = parseSizes(inner)
		return t, dims, ok && mlir
	}
	name, rest, found := strings.Cut(text, "[")
	list, closed := strings.CutSuffix(rest, "]")
	t, known := Parse(name)
	switch {
	case !found:
		t, dims, ok = parseSizes(text)
		return t, dims, ok && len(dims) > 0
	case !closed || !known:
		return 0, nil, false
	case list == "":
		return t, nil, true
	}
	for size := range strings.SplitSeq(list, ",") {
		n, err := strconv.ParseUint(strings.TrimSpace(size), 10, 62)
		if err != nil {
			return 0, nil, false
		}
		dims = append(dims, int64(n))
	}
	return t, dims, true
}

// parseSizes reads an element type behind sizes: 2x8xf32.
func parseSizes(text string) (t Type, dims []int64, ok bool) {
	for {
		size, rest, found := strings.Cut(text, "x")
		n, err := strconv.ParseUint(size, 10, 62)
		if !found || err != nil {
			break
		}
		dims, text = append(dims, int64(n)), rest
	}
	t, ok = Parse(text)
	return t, dims, ok
}
