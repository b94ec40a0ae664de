package autoshard

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"autoshard/internal/diag"
	"autoshard/specialize"
)

// WithSizes returns the model with sizes for its symbolic and dynamic dimensions, and for one of its platforms. A size is
// NAME=SIZE, several are separated by commas; the name is that of a dimension variable of jax.export, or of a dimension
// of an argument:
//
//	b=64,n=128
//	arg0[1]=64
//
// The platform is a name or an index; for "" it is the first that calls nothing of other hardware, and a
// finding says so.
// Sizes that are not given have to follow from the others. Errors are of class diag.ErrInvalid; they say which sizes are
// missing, and what the model asserts of them. A model that has nothing to choose stays as it is.
func (m *Model) WithSizes(ctx context.Context, sizes []string, platform string) (out *Model, err error) {
	defer diag.Recover("sizes", &err)
	o := specialize.Options{Platform: platform, Platforms: m.platforms()}
	for _, text := range sizes {
		list, err := parseSizes(text)
		if err != nil {
			return nil, err
		}
		o.Sizes = append(o.Sizes, list...)
	}
	if !specialize.Needed(m.module) && len(sizes) == 0 && platform == "" {
		return m, nil
	}
	c := m.module.Clone()
	index, err := specialize.Run(ctx, c, o)
	if err != nil {
		return nil, err
	}
	out = m.with(c)
	out.sized = true
	out.given.Sizes, out.given.Platform = append(slices.Clip(out.given.Sizes), sizes...), cmp.Or(platform, out.given.Platform)
	if index >= 0 && platform == "" {
		out.platform = fmt.Sprintf("number %d, counted from 0", index)
		if index < len(o.Platforms) {
			out.platform = o.Platforms[index]
		}
	}
	return out, nil
}

// parseSizes reads b=64,arg0[1]=128. Commas inside brackets belong to names.
func parseSizes(text string) ([]specialize.Size, error) {
	var out []specialize.Size
	depth, start := 0, 0
	for i := 0; i <= len(text); i++ {
		if i < len(text) && (text[i] != ',' || depth > 0) {
			depth += strings.Count("[", text[i:i+1]) - strings.Count("]", text[i:i+1])
			continue
		}
		part := text[start:i]
		at := strings.LastIndexByte(part, '=')
		n, err := strconv.ParseInt(strings.TrimSpace(part[at+1:]), 10, 64)
		if name := strings.TrimSpace(part[:max(at, 0)]); name != "" && err == nil {
			out = append(out, specialize.Size{Name: name, Value: n})
		} else {
			return nil, diag.Invalid(diag.BadOption, diag.Position{File: "dim", Line: 1, Col: start + 1},
				"%q is not the size of a dimension, such as b=64", part)
		}
		start = i + 1
	}
	return out, nil
}
