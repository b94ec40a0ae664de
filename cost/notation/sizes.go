package notation

import (
	"strconv"
	"strings"

	"autoshard/internal/diag"
)

// Sizes are the sizes of dimensions by name.
type Sizes map[string]int64

// ParseSizes reads sizes of dimensions, such as I=8192,J=1024.
func ParseSizes(file, text string) (Sizes, error) {
	out, at := Sizes{}, 0
	p := parser{file: file, text: text}
	if text == "" {
		return out, nil
	}
	for part := range strings.SplitSeq(text, ",") {
		name, value, found := strings.Cut(part, "=")
		name = strings.TrimSpace(name)
		n, err := strconv.ParseInt(strings.TrimSpace(value), 10, 64)
		switch {
		case !found || name == "":
			return nil, p.failAt(at, diag.BadOption, "size %q must have the form I=8192", part)
		case err != nil || n < 1 || n > maxSize:
			return nil, p.failAt(at+strings.IndexByte(part, '=')+1, diag.BadOption, "size of %q must be a whole number from 1 to %d, not %q", name,
				int64(maxSize), value)
		case out[name] != 0:
			return nil, p.failAt(at, diag.BadOption, "the size of %q is given twice", name)
		}
		out[name] = n
		at += len(part) + 1
	}
	return out, nil
}

// Shape returns the sizes of an array's dimensions. The error for one that has none is of class diag.ErrInvalid.
func (s Sizes) Shape(file, text string, a *Array) ([]int64, error) {
	shape := make([]int64, len(a.Dims))
	for i, d := range a.Dims {
		shape[i] = d.Size
		if d.Size == 0 {
			shape[i] = s[d.Name]
		}
		if shape[i] == 0 {
			p := parser{file: file, text: text}
			return nil, p.failAt(d.col, diag.MissingSize, "dimension %q has no size: say it with --dims %s=1024", d.Name, d.Name)
		}
	}
	return shape, nil
}
