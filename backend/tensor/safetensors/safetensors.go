// Package safetensors reads arrays in the format in which weights are published: the length of a header of JSON, the header, which has
// type, shape and place of each array by its name, and the elements, little-endian and in row-major order.
//
//	arrays, err := safetensors.Read(data) // in the order of their elements
//
// Specification: https://huggingface.co/docs/safetensors, section Format.
package safetensors

import (
	"bytes"
	"cmp"
	"encoding/binary"
	"encoding/json"
	"slices"

	"autoshard/backend/tensor"
	"autoshard/backend/tensor/npz"
	"autoshard/internal/diag"
	"autoshard/ir/dtype"
)

// maxHeader is the limit that the format gives its header.
const maxHeader = 100_000_000

// metadata is the name in the header that no array has.
const metadata = "__metadata__"

var types = map[string]dtype.Type{
	"BOOL": dtype.I1, "I8": dtype.I8, "I16": dtype.I16, "I32": dtype.I32, "I64": dtype.I64,
	"U8": dtype.UI8, "U16": dtype.UI16, "U32": dtype.UI32, "U64": dtype.UI64,
	"F8_E4M3": dtype.F8E4M3FN, "F8_E5M2": dtype.F8E5M2, "F16": dtype.F16, "BF16": dtype.BF16, "F32": dtype.F32, "F64": dtype.F64,
	"C64": dtype.C64,
}

// entry is what the header says of an array. Its elements are at bytes Offsets[0] to Offsets[1] behind the header.
type entry struct {
	DType   string   `json:"dtype"`
	Shape   []int64  `json:"shape"`
	Offsets [2]int64 `json:"data_offsets"`
}

// Read reads a file. Errors are of class diag.ErrInvalid for what is no such file, among them arrays that overlap or leave bytes out, as
// the format forbids, and diag.ErrUnsupported for types of elements that no tensor has.
func Read(data []byte) ([]npz.Array, error) {
	header, elements, err := split(data)
	if err != nil {
		return nil, err
	}
	var raw map[string]json.RawMessage
	if err := json.Unmarshal(header, &raw); err != nil {
		return nil, badFile("the header is not JSON: %v", err)
	}
	entries := map[string]*entry{}
	var names []string
	for name, text := range raw {
		if name == metadata {
			continue
		}
		e := &entry{}
		if err := json.Unmarshal(text, e); err != nil {
			return nil, badFile("array %.100q: %v", name, err)
		}
		entries[name], names = e, append(names, name)
	}
	slices.SortFunc(names, func(a, b string) int {
		x, y := entries[a].Offsets, entries[b].Offsets
		return cmp.Or(cmp.Compare(x[0], y[0]), cmp.Compare(x[1], y[1]), cmp.Compare(a, b))
	})
	arrays, next := make([]npz.Array, len(names)), int64(0)
	for i, name := range names {
		e := entries[name]
		if e.Offsets[0] != next || e.Offsets[1] < next || e.Offsets[1] > int64(len(elements)) {
			return nil, badFile("array %.100q is at bytes %d to %d; bytes %d to %d are left", name, e.Offsets[0], e.Offsets[1], next,
				len(elements))
		}
		t, err := e.read(elements[next:e.Offsets[1]])
		if err != nil {
			return nil, diag.About(err, "array "+name)
		}
		arrays[i], next = npz.Array{Name: name, Tensor: t}, e.Offsets[1]
	}
	if next != int64(len(elements)) {
		return nil, badFile("%d bytes follow the arrays", int64(len(elements))-next)
	}
	return arrays, nil
}

// split returns the header and the elements.
func split(data []byte) (header, elements []byte, err error) {
	if len(data) < 8 {
		return nil, nil, badFile("a safetensors file has 8 bytes at least, this has %d", len(data))
	}
	n := binary.LittleEndian.Uint64(data)
	if n > maxHeader || n > uint64(len(data)-8) {
		return nil, nil, badFile("the header is said to have %d bytes, %d are there", n, len(data)-8)
	}
	return data[8 : 8+n], data[8+n:], nil
}

// read returns the array with those elements.
func (e *entry) read(elements []byte) (tensor.Tensor, error) {
	dt, ok := types[e.DType]
	if !ok {
		return tensor.Tensor{}, diag.Unsupported(diag.NotSupported, diag.Position{}, "elements of type %.100q are not known", e.DType)
	}
	if dt == dtype.I1 {
		elements = bytes.Clone(elements)
		for i, v := range elements {
			elements[i] = min(v, 1)
		}
	}
	return tensor.FromBytes(dt, e.Shape, elements)
}

func badFile(format string, args ...any) error {
	return diag.Invalid(diag.BadFile, diag.Position{}, format, args...)
}
