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

// ParseTensor reads what Format writes, of static sizes: f32[2,8]. It is false for any other text.
func ParseTensor(text string) (t Type, dims []int64, ok bool) {
	name, rest, found := strings.Cut(text, "[")
	list, closed := strings.CutSuffix(rest, "]")
	t, known := Parse(name)
	if !found || !closed || !known {
		return 0, nil, false
	}
	if list == "" {
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
