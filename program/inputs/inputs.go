// Package inputs makes the arrays that programs run with: those of files, in the types of the program, or random ones.
//
//	list, err := inputs.Read("in.npz", data, "arg", program.Inputs)
//	list, err := inputs.Random(program.Inputs, 1)
package inputs

import (
	"bytes"
	"cmp"
	"fmt"
	"slices"

	"autoshard/answer"
	"autoshard/backend/tensor"
	"autoshard/backend/tensor/npz"
	"autoshard/backend/tensor/safetensors"
	"autoshard/internal/diag"
	"autoshard/internal/filekind"
	"autoshard/ir/dtype"
)

// Read returns the arrays of a file in the types of the program: those of [Arrays], as [Match] takes them. File names it in errors, which
// are of class diag.ErrInvalid, diag.ErrUnsupported or diag.ErrTooLarge.
func Read(file string, data []byte, prefix string, tensors []answer.Tensor) ([]*tensor.Tensor, error) {
	found, err := arrays(file, data, npz.Limits{Arrays: npz.DefaultLimits.Arrays, Bytes: room(tensors)})
	if err != nil {
		return nil, err
	}
	return Match(found, file, prefix, tensors)
}

// Size returns the bytes of arrays of these types. Errors are of class diag.ErrTooLarge for types that no array has.
func Size(tensors []answer.Tensor) (bytes int64, err error) {
	for i := range tensors {
		dt, shape, ok := tensors[i].Shape()
		if !ok {
			continue // has no elements
		}
		_, size, err := dtype.Size(dt, shape)
		if err != nil {
			return 0, err
		}
		bytes += size
	}
	return bytes, nil
}

// room returns the bytes of arrays that can be of these types, in whatever number format, and some more, so that arrays that are too many
// are said to be that. A compressed file may say a thousand times of what it is large.
func room(tensors []answer.Tensor) int64 {
	const widest, more = 16, 1 << 20
	out := int64(more)
	for i := range tensors {
		if dt, shape, ok := tensors[i].Shape(); ok {
			if n, _, err := dtype.Size(dt, shape); err == nil && n < npz.DefaultLimits.Bytes {
				out += widest * n
			}
		}
	}
	return min(out, npz.DefaultLimits.Bytes)
}

// Arrays returns the arrays of a file: NumPy's .npz, its .npy, whose one array has no name, or safetensors. Errors are those of [Read].
func Arrays(file string, data []byte) (found []npz.Array, err error) {
	return arrays(file, data, npz.DefaultLimits)
}

func arrays(file string, data []byte, limits npz.Limits) (found []npz.Array, err error) {
	if err := filekind.Check(file, data, filekind.Arrays); err != nil {
		return nil, err
	}
	switch {
	case filekind.IsNpy(data):
		var one tensor.Tensor
		one, err = npz.ReadNpy(bytes.NewReader(data), limits.Bytes)
		found = []npz.Array{{Tensor: one}}
	case filekind.IsSafetensors(data):
		found, err = safetensors.Read(data)
	default:
		found, err = npz.Read(bytes.NewReader(data), int64(len(data)), limits)
	}
	if err != nil {
		return nil, diag.InFile(err, file)
	}
	return found, nil
}

// Match returns the arrays prefix0, prefix1, … of a file, or those with the program's own names, such as params['w'], in the types of the
// program, converting floats and integers, which NumPy has not all. One array without a name is the only one that is wanted. Errors are of
// class diag.ErrInvalid.
func Match(found []npz.Array, file, prefix string, tensors []answer.Tensor) (out []*tensor.Tensor, err error) {
	byName := map[string]*tensor.Tensor{}
	for i := range found {
		byName[found[i].Name] = &found[i].Tensor
	}
	pos := diag.Position{File: file}
	out = make([]*tensor.Tensor, len(tensors))
	for i := range tensors {
		key := fmt.Sprintf("%s%d", prefix, i)
		t := cmp.Or(byName[key], byName[tensors[i].Name])
		if t == nil && len(tensors) == 1 {
			t = byName[""]
		}
		if t == nil {
			return nil, diag.Invalid(diag.BadInputs, pos, "array `%s` is missing; the program has %d, `%s0` to `%s%d`",
				key, len(tensors), prefix, prefix, len(tensors)-1)
		}
		if out[i], err = fit(t, &tensors[i]); err != nil {
			return nil, diag.Invalid(diag.BadInputs, pos, "array `%s`: %v", key, err)
		}
	}
	if len(found) > len(tensors) {
		return nil, diag.Invalid(diag.BadInputs, pos, "file has %d arrays, the program takes %d", len(found), len(tensors))
	}
	return out, nil
}

// fit converts an array to the type of the program where only the number format differs.
func fit(t *tensor.Tensor, want *answer.Tensor) (*tensor.Tensor, error) {
	dt, shape, ok := want.Shape()
	if !ok {
		return nil, fmt.Errorf("%s is not a tensor", want.Type)
	}
	if !slices.Equal(t.Shape, shape) || !convertible(t.DType, dt) {
		return nil, fmt.Errorf("type is %s, must be %s", dtype.Format(t.DType, t.Shape), want.Type)
	}
	if t.DType == dt {
		return t, nil
	}
	if isRaw(t.DType, dt) {
		taken, err := tensor.FromBytes(dt, t.Shape, t.Data)
		return &taken, err
	}
	converted := tensor.Convert(*t, dt)
	return &converted, nil
}

// isRaw says whether an array holds the bits of floats that NumPy has no format for.
func isRaw(from, to dtype.Type) bool {
	return from == dtype.UI8 && to.Kind() == dtype.Float && to.Bits() <= 8
}

func convertible(from, to dtype.Type) bool {
	integer := func(t dtype.Type) bool { return t.Kind() == dtype.Signed || t.Kind() == dtype.Unsigned }
	return from == to || isRaw(from, to) || from.Kind() == dtype.Float && to.Kind() == dtype.Float ||
		integer(from) && integer(to) && to.Bits() < 8
}
