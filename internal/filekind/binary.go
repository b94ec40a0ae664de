package filekind

import (
	"bytes"
	"encoding/binary"
	"unicode/utf8"

	"autoshard/ir/bytecode"
	"autoshard/ir/jaxexport"
)

// magic are the first bytes of binary files.
var magic = []struct {
	prefix string
	found
}{
	{npy, found{Arrays, "one array (.npy)", ""}},
	{"\x89HDF", found{Other, "an HDF5 file", "weights hold no program; " + fromJAX}},
	{"\x7fELF", found{Other, "an executable", fromJAX}},
	{"\x89PNG", found{Other, "a picture", fromJAX}},
	{"%PDF", found{Other, "a PDF document", fromJAX}},
	{"SQLite", found{Other, "a database", fromJAX}},
	{"\x28\xb5\x2f\xfd", found{Other, "a zstd archive", "unpack it first; only gzip is unpacked here"}},
	{"\xfd7zXZ", found{Other, "an xz archive", "unpack it first; only gzip is unpacked here"}},
	{"BZh", found{Other, "a bzip2 archive", "unpack it first; only gzip is unpacked here"}},
}

// binaryFile says which binary file it is.
func binaryFile(src []byte) found {
	for _, m := range magic {
		if bytes.HasPrefix(src, []byte(m.prefix)) {
			return m.found
		}
	}
	switch {
	case bytecode.Is(src):
		return found{MLIR, "a model in MLIR bytecode", ""}
	case jaxexport.Is(src):
		return found{MLIR, "a model that JAX exported", ""}
	case bytes.HasPrefix(src, []byte("PK\x03\x04")):
		return zipped(src)
	case len(src) > 2 && src[0] == 0x80 && src[1] >= 2 && src[1] <= 5:
		return found{Other, "a Python pickle", "pickles are never loaded; " + fromJAX}
	case IsSafetensors(src):
		return found{Arrays, "a safetensors file", "weights hold no program: they go to `--inputs`; " + fromJAX}
	case len(src) > 257+5 && string(src[257:262]) == "ustar":
		return found{Other, "a tar archive", "unpack it first"}
	}
	return protobuf(src)
}

// zipped tells arrays from the checkpoints of PyTorch and others.
func zipped(src []byte) found {
	name := entryName(src)
	switch {
	case bytes.HasSuffix(name, []byte(".npy")):
		return found{Arrays, "an .npz file of arrays", ""}
	case bytes.HasSuffix(name, []byte("data.pkl")) || bytes.HasSuffix(name, []byte(".format_version")):
		return found{Other, "a PyTorch file", "weights hold no program; export StableHLO from PyTorch with torch_xla, or from JAX"}
	}
	return found{Other, "a zip archive", "unpack it first"}
}

// entryName returns the name of the first entry of a zip archive.
func entryName(src []byte) []byte {
	const header = 30
	if len(src) < header {
		return nil
	}
	n := int(binary.LittleEndian.Uint16(src[26:]))
	return src[header:min(len(src), header+n)]
}

// npy are the first bytes of one array of NumPy's.
const npy = "\x93NUMPY"

// IsNpy says whether a file is one array of NumPy's.
func IsNpy(src []byte) bool { return bytes.HasPrefix(src, []byte(npy)) }

// IsSafetensors says whether a header of JSON follows its own length.
func IsSafetensors(src []byte) bool {
	if len(src) < 10 || src[8] != '{' {
		return false
	}
	n := binary.LittleEndian.Uint64(src)
	return n >= 2 && n <= uint64(len(src)-8) && src[7+n] == '}' || n > uint64(len(src)) && n < 1<<32 && src[9] == '"'
}

// protobuf recognises the messages in which compilers keep programs by their first fields.
func protobuf(src []byte) found {
	if !hasControl(src[:min(len(src), 512)]) {
		return found{} // a text can begin like one: with a line end
	}
	first, rest, ok := field(src, 1)
	if !ok {
		return found{}
	}
	if name, _, ok := field(first, 1); ok && isName(name) {
		return found{Other, "a TensorFlow graph", "convert it to StableHLO; " + fromJAX}
	}
	if entry, _, ok := field(rest, 2); ok && isName(first) && isName(entry) {
		return found{Other, "a module of HLO", "HLO comes after shardings are chosen; " + fromJAX}
	}
	return found{}
}

// hasControl says whether bytes hold one that no text has.
func hasControl(b []byte) bool {
	return bytes.ContainsFunc(b, func(r rune) bool { return r < '\t' || r > '\r' && r < ' ' })
}

// field reads a field of bytes with a number below 16.
func field(src []byte, number byte) (content, rest []byte, ok bool) {
	if len(src) < 2 || src[0] != number<<3|2 {
		return nil, nil, false
	}
	n, used := binary.Uvarint(src[1:])
	if used <= 0 || n > uint64(len(src)-1-used) {
		return nil, nil, false
	}
	at := 1 + used
	return src[at : at+int(n)], src[at+int(n):], true
}

// isName says whether bytes are a word that prints.
func isName(b []byte) bool {
	if len(b) == 0 || len(b) > 1024 || !utf8.Valid(b) {
		return false
	}
	return bytes.IndexFunc(b, func(r rune) bool { return r <= ' ' || r == utf8.RuneError || r == 0x7f }) < 0
}
