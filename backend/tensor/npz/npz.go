package npz

import (
	"archive/zip"
	"compress/flate"
	"errors"
	"io"
	"strings"

	"autoshard/backend/tensor"
	"autoshard/internal/diag"
)

// Array is a named array of an .npz archive; the name comes without ".npy".
type Array struct {
	Name   string
	Tensor tensor.Tensor
}

// Limits bound what Read accepts: the number of arrays and the bytes of all of them together, uncompressed.
type Limits struct {
	Arrays int
	Bytes  int64
}

// DefaultLimits are 100,000 arrays and 64 GiB.
var DefaultLimits = Limits{Arrays: 100_000, Bytes: 64 << 30}

// Write writes an .npz archive, uncompressed as numpy.savez does it, in the given order.
func Write(w io.Writer, arrays []Array) error {
	archive := zip.NewWriter(w)
	for _, a := range arrays {
		file, err := archive.CreateHeader(&zip.FileHeader{Name: a.Name + ".npy", Method: zip.Store})
		if err != nil {
			return err
		}
		if err := WriteNpy(file, a.Tensor); err != nil {
			return err
		}
	}
	return archive.Close()
}

// Read reads an .npz archive of size bytes, the arrays in the order of the archive. The errors are those of ReadNpy,
// with the array's name.
func Read(r io.ReaderAt, size int64, limits Limits) ([]Array, error) {
	archive, err := zip.NewReader(r, size)
	if err != nil {
		return nil, badFile("not an .npz archive: %v", err)
	}
	if len(archive.File) > limits.Arrays {
		return nil, diag.TooLarge(diag.InputTooLarge, diag.Position{}, "archive of %d arrays, the limit is %d", len(archive.File), limits.Arrays)
	}
	left := limits.Bytes
	seen := map[string]bool{}
	var arrays []Array
	for _, file := range archive.File {
		name := strings.TrimSuffix(file.Name, ".npy")
		if seen[name] {
			return nil, badFile("array %.100q occurs twice", name)
		}
		seen[name] = true
		t, err := readFile(file, left)
		if err != nil {
			return nil, diag.About(err, "array "+name)
		}
		left -= int64(len(t.Data))
		arrays = append(arrays, Array{name, t})
	}
	return arrays, nil
}

func readFile(file *zip.File, maxBytes int64) (tensor.Tensor, error) {
	r, err := file.Open()
	if err != nil {
		return tensor.Tensor{}, badFile("%v", err)
	}
	defer r.Close()
	t, err := ReadNpy(r, maxBytes)
	if err != nil {
		return tensor.Tensor{}, err
	}
	// Reading to the end checks the checksum.
	switch n, err := r.Read(make([]byte, 1)); {
	case n > 0:
		return tensor.Tensor{}, badFile("bytes follow the array")
	case errors.Is(err, zip.ErrChecksum), errors.As(err, new(flate.CorruptInputError)), errors.Is(err, io.ErrUnexpectedEOF):
		return tensor.Tensor{}, badFile("%v", err)
	}
	return t, nil
}
