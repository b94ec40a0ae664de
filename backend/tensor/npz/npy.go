// Package npz reads and writes arrays in NumPy's formats: .npy for one array and .npz, a zip archive of them, for
// several with names.
//
//	err := npz.Write(w, []npz.Array{{Name: "arg0", Tensor: x}})
//	arrays, err := npz.Read(r, size, npz.DefaultLimits) // arg0
//
// NumPy has no number formats below 16 bits and no bf16. Written, such floats become f32, which holds them
// exactly, and i2, i4, ui2 and ui4 become i8 and ui8. Read, the raw two-byte elements that NumPy makes of bf16
// become bf16 again, and the raw bytes that it makes of floats and integers of at most 8 bits ui8: who knows their
// format takes their bits. The same arrays give the same bytes.
package npz

import (
	"encoding/binary"
	"fmt"
	"io"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"autoshard/backend/tensor"
	"autoshard/internal/diag"
	"autoshard/internal/lists"
	"autoshard/ir/dtype"
)

const magic = "\x93NUMPY"

// maxHeader is far above what an array of NumPy's 64 dimensions needs.
const maxHeader = 1 << 16

var descriptions = map[string]dtype.Type{
	"b1": dtype.I1, "i1": dtype.I8, "i2": dtype.I16, "i4": dtype.I32, "i8": dtype.I64,
	"u1": dtype.UI8, "u2": dtype.UI16, "u4": dtype.UI32, "u8": dtype.UI64,
	"f2": dtype.F16, "f4": dtype.F32, "f8": dtype.F64, "c8": dtype.C64, "c16": dtype.C128,
}

// raws are the descriptions of elements that NumPy has no name for, as JAX's arrays are written.
var raws = map[string]dtype.Type{"V2": dtype.BF16, "V1": dtype.UI8, "f1": dtype.F8E5M2}

// describe returns the type that an array is written in and NumPy's name of it.
func describe(t dtype.Type) (dtype.Type, string) {
	switch {
	case t.Kind() == dtype.Float && t.Bits() < 32 && t != dtype.F16:
		t = dtype.F32
	case t == dtype.I2 || t == dtype.I4:
		t = dtype.I8
	case t == dtype.UI2 || t == dtype.UI4:
		t = dtype.UI8
	}
	for name, described := range descriptions {
		if described == t {
			if t.Bytes() == 1 {
				return t, "|" + name
			}
			return t, "<" + name
		}
	}
	panic("npz: no description of " + t.String())
}

func badFile(format string, args ...any) error {
	return diag.Invalid(diag.BadFile, diag.Position{}, format, args...)
}

// WriteNpy writes one array in .npy format version 1.0, in row-major order.
func WriteNpy(w io.Writer, t tensor.Tensor) error {
	dt, name := describe(t.DType)
	sizes := lists.Map(t.Shape, func(n int64) string { return strconv.FormatInt(n, 10) })
	shape := strings.Join(sizes, ", ")
	if len(sizes) == 1 {
		shape += ","
	}
	header := fmt.Sprintf("{'descr': '%s', 'fortran_order': False, 'shape': (%s), }", name, shape)
	const prefix = len(magic) + 4
	header += strings.Repeat(" ", 63-(prefix+len(header))%64) + "\n"
	head := binary.LittleEndian.AppendUint16([]byte(magic+"\x01\x00"), uint16(len(header)))
	if _, err := w.Write(append(head, header...)); err != nil {
		return err
	}
	_, err := w.Write(tensor.Convert(t, dt).Data)
	return err
}

// ReadNpy reads one array of at most maxBytes bytes in .npy format. Arrays in Fortran order and big-endian ones
// are turned around. The errors are diag.ErrInvalid for what is no such file, diag.ErrUnsupported for element types
// without counterpart, diag.ErrTooLarge, and those of r.
func ReadNpy(r io.Reader, maxBytes int64) (tensor.Tensor, error) {
	head, err := readHeader(r)
	if err != nil {
		return tensor.Tensor{}, err
	}
	shape := head.shape
	if head.fortran {
		slices.Reverse(shape)
	}
	_, bytes, err := dtype.Size(head.dtype, shape)
	if err != nil {
		return tensor.Tensor{}, err
	}
	if bytes > maxBytes {
		return tensor.Tensor{}, diag.TooLarge(diag.InputTooLarge, diag.Position{}, "array of %s, the limit is %s",
			diag.Bytes(bytes), diag.Bytes(maxBytes))
	}
	data, err := readExactly(r, bytes)
	if err != nil {
		return tensor.Tensor{}, err
	}
	if head.bigEndian {
		swapBytes(data, head.dtype)
	}
	if head.dtype == dtype.I1 {
		for i, v := range data {
			data[i] = min(v, 1)
		}
	}
	t, err := tensor.FromBytes(head.dtype, shape, data)
	if err != nil || !head.fortran {
		return t, err
	}
	perm := make([]int64, len(shape))
	for i := range perm {
		perm[i] = int64(len(perm) - 1 - i)
	}
	return tensor.Transpose(t, perm), nil
}

type header struct {
	dtype              dtype.Type
	bigEndian, fortran bool
	shape              []int64
}

var headerText = regexp.MustCompile(`^\{'descr': ('[^']*'|\[.*\]), 'fortran_order': (True|False), 'shape': \(([0-9, ]*)\),? *\}\s*$`)

func readHeader(r io.Reader) (header, error) {
	var start [len(magic) + 2]byte
	if _, err := io.ReadFull(r, start[:]); err != nil || string(start[:len(magic)]) != magic {
		return header{}, badFile("not a .npy array: it does not begin with %q", magic)
	}
	length := make([]byte, 2)
	if start[len(magic)] > 1 {
		length = make([]byte, 4)
	}
	if _, err := io.ReadFull(r, length); err != nil {
		return header{}, badFile(".npy header is cut short")
	}
	size := binary.LittleEndian.Uint32(append(length, 0, 0)[:4])
	if size > maxHeader {
		return header{}, badFile(".npy header of %d bytes, the limit is %d", size, maxHeader)
	}
	text := make([]byte, size)
	if _, err := io.ReadFull(r, text); err != nil {
		return header{}, badFile(".npy header is cut short")
	}
	return parseHeader(string(text))
}

func parseHeader(text string) (header, error) {
	fields := headerText.FindStringSubmatch(text)
	if fields == nil {
		return header{}, badFile(".npy header %.100q is not the dictionary that NumPy writes", text)
	}
	name := strings.Trim(fields[1], "'")
	h := header{fortran: fields[2] == "True", bigEndian: strings.HasPrefix(name, ">")}
	known := false
	if h.dtype, known = descriptions[strings.TrimLeft(name, "<>|=")]; !known {
		h.dtype, known = raws[strings.TrimLeft(name, "<>|=")]
	}
	if !known {
		return header{}, diag.Unsupported(diag.NotSupported, diag.Position{}, "array of NumPy type %.100q: convert it to a number type", name)
	}
	for _, size := range strings.Split(fields[3], ",") {
		size = strings.TrimSpace(size)
		if size == "" {
			continue
		}
		n, err := strconv.ParseInt(size, 10, 64)
		if err != nil {
			return header{}, badFile(".npy shape (%.100s) has a size that is no number", fields[3])
		}
		h.shape = append(h.shape, n)
	}
	if len(h.shape) > 64 {
		return header{}, badFile(".npy array has %d dimensions, NumPy's limit is 64", len(h.shape))
	}
	return h, nil
}

// readExactly reads n bytes. Memory grows with what really arrives, not with what a header claims.
func readExactly(r io.Reader, n int64) ([]byte, error) {
	const step = 1 << 24
	data := make([]byte, 0, min(n, step))
	for int64(len(data)) < n {
		have := len(data)
		data = slices.Grow(data, int(min(n-int64(have), step)))[:min(n, int64(have)+step)]
		if _, err := io.ReadFull(r, data[have:]); err != nil {
			return nil, badFile("array of %d bytes is cut short: %v", n, err)
		}
	}
	return data, nil
}

// swapBytes turns big-endian numbers, or parts of complex ones, around.
func swapBytes(data []byte, t dtype.Type) {
	width := t.Bytes()
	if t.Kind() == dtype.Complex {
		width /= 2
	}
	for at := 0; at < len(data); at += width {
		slices.Reverse(data[at : at+width])
	}
}
