package bytecode

import (
	"errors"
	"testing"

	"autoshard/internal/diag"
)

// section appends a section without alignment.
func appendSection(b []byte, id sectionID, data []byte) []byte {
	return append(appendVarint(append(b, byte(id)), uint64(len(data))), data...)
}

// varints appends numbers.
func varints(b []byte, list ...uint64) []byte {
	for _, v := range list {
		b = appendVarint(b, v)
	}
	return b
}

// hostileFile returns a file of version 0 with a module whose only attribute refers to the last of the types given.
func hostileFile(types [][]byte, ir []byte) []byte {
	strings := []string{"builtin", "module", "a"}
	var stringData []byte
	lengths := varints(nil, uint64(len(strings)))
	for i := len(strings) - 1; i >= 0; i-- {
		lengths = varints(lengths, uint64(len(strings[i])+1))
	}
	for _, s := range strings {
		stringData = append(append(stringData, s...), 0)
	}
	attrs := [][]byte{
		varints(nil, 15),                      // 0: unknown location
		varints(nil, 2, 2),                    // 1: "a"
		varints(nil, 6, uint64(len(types)-1)), // 2: the last type
		varints(nil, 1, 1, 1, 2),              // 3: {a = type}
	}
	offsets := varints(nil, uint64(len(attrs)), uint64(len(types)))
	var entries []byte
	for _, group := range [][][]byte{attrs, types} {
		offsets = varints(offsets, 0, uint64(len(group)))
		for _, e := range group {
			offsets = appendFlagged(offsets, uint64(len(e)), true)
			entries = append(entries, e...)
		}
	}
	b := append([]byte(Magic), 1)
	b = append(b, "test\x00"...)
	b = appendSection(b, sectionStrings, append(lengths, stringData...))
	b = appendSection(b, sectionDialects, varints(nil, 1, 0, 0, 1, 1))
	b = appendSection(b, sectionOffsets, offsets)
	b = appendSection(b, sectionEntries, entries)
	return appendSection(b, sectionIR, ir)
}

// moduleOp is a module with the dictionary and the region given.
func moduleOp(region ...byte) []byte {
	b := appendFlagged(nil, 1, false)
	b = append(varints(b, 0), maskAttributes|maskRegions)
	b = varints(b, 0, 3)
	return append(appendFlagged(b, 1, false), region...)
}

func TestEveryFieldOfASmallFile(t *testing.T) {
	types := [][]byte{varints(nil, 0, 32<<2)}
	m, err := Read(t.Context(), hostileFile(types, moduleOp(varints(nil, 0)...)), Options{})
	if err != nil || m.Attrs.Get("a") == nil {
		t.Fatalf("%v, attributes %v", err, m)
	}
}

// A type of a few bytes can have 2^60 parts, each of which is the one before twice.
func TestSharedTypes(t *testing.T) {
	types := [][]byte{varints(nil, 0, 32<<2)}
	for i := range 60 {
		types = append(types, varints(nil, 15, 2, uint64(i), uint64(i)))
	}
	_, err := Read(t.Context(), hostileFile(types, moduleOp(varints(nil, 0)...)), Options{})
	wantClass(t, err, diag.ErrTooLarge)
}

func TestTypeInItself(t *testing.T) {
	types := [][]byte{varints(nil, 15, 1, 1), varints(nil, 15, 1, 0)}
	_, err := Read(t.Context(), hostileFile(types, moduleOp(varints(nil, 0)...)), Options{})
	wantClass(t, err, diag.ErrInvalid)
}

func TestDeepTypes(t *testing.T) {
	types := [][]byte{varints(nil, 0, 32<<2)}
	for i := range 5000 {
		types = append(types, varints(nil, 15, 1, uint64(i)))
	}
	_, err := Read(t.Context(), hostileFile(types, moduleOp(varints(nil, 0)...)), Options{})
	wantClass(t, err, diag.ErrTooLarge)
}

// A module in a module in a module; each says that it has as many values as the file has bytes.
func TestDeepRegions(t *testing.T) {
	for _, values := range []uint64{0, 4000} {
		inner := varints(nil, 0)
		for range 3000 {
			op := append(varints(nil, 0), maskRegions)
			op = append(appendFlagged(varints(op, 0), 1, false), inner...)
			inner = append(appendFlagged(varints(nil, 1, values), 1, false), op...)
		}
		_, err := Read(t.Context(), hostileFile([][]byte{varints(nil, 1)}, moduleOp(inner...)), Options{})
		wantClass(t, err, diag.ErrTooLarge)
	}
}

func wantClass(t *testing.T, err, class error) {
	t.Helper()
	var located *diag.Error
	if !errors.Is(err, class) || !errors.As(err, &located) || !located.Diagnostics[0].Pos.Binary {
		t.Errorf("%v, want a located error of class %v", err, class)
	}
}
