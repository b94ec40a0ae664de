package npz

import (
	"bytes"
	"errors"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/sbinet/npyio/npy"
	peer "github.com/sbinet/npyio/npz"

	"autoshard/backend/tensor"
	"autoshard/internal/diag"
	"autoshard/ir/dtype"
)

func write(t *testing.T, arrays ...Array) []byte {
	t.Helper()
	var b bytes.Buffer
	if err := Write(&b, arrays); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

// Arrays of all types and shapes are read as they were written.
func TestRoundTrip(t *testing.T) {
	for _, dt := range []dtype.Type{
		dtype.I1, dtype.I8, dtype.I16, dtype.I32, dtype.I64, dtype.UI8, dtype.UI16, dtype.UI32, dtype.UI64, dtype.F16, dtype.F32, dtype.F64,
		dtype.C64, dtype.C128,
	} {
		for _, shape := range [][]int64{{}, {3}, {2, 3}, {2, 0, 3}, {1, 2, 1, 3}} {
			n := int64(1)
			for _, size := range shape {
				n *= size
			}
			x := tensor.Reshape(tensor.Iota(dt, []int64{n}, 0), shape)
			file := write(t, Array{"arg0", x}, Array{"a/b", tensor.Negate(tensor.Convert(x, dtype.F32))})
			got, err := Read(bytes.NewReader(file), int64(len(file)), DefaultLimits)
			if err != nil {
				t.Fatal(err)
			}
			if len(got) != 2 || got[0].Name != "arg0" || got[1].Name != "a/b" || !got[0].Tensor.Equal(x) {
				t.Errorf("%v %v reads back as %v", dt, x, got)
			}
			if again := write(t, got...); !bytes.Equal(again, file) {
				t.Errorf("%v: two files of the same arrays differ", dt)
			}
		}
	}
}

// Types that NumPy has not are written as the next wider one that it has.
func TestNarrowTypesAreWrittenWider(t *testing.T) {
	for from, to := range map[dtype.Type]dtype.Type{
		dtype.BF16: dtype.F32, dtype.F8E4M3FN: dtype.F32, dtype.F4E2M1FN: dtype.F32, dtype.I4: dtype.I8, dtype.UI2: dtype.UI8,
	} {
		x := tensor.FromFloats(from, []int64{3}, 0, 1, 1.5)
		var b bytes.Buffer
		if err := WriteNpy(&b, x); err != nil {
			t.Fatal(err)
		}
		got, err := ReadNpy(&b, 100)
		if err != nil || !got.Equal(tensor.Convert(x, to)) {
			t.Errorf("%v reads back as %v, %v", x, got, err)
		}
	}
}

// array returns an .npy file with the given header and data.
func array(head, data string) string {
	head += "\n"
	return magic + "\x01\x00" + string([]byte{byte(len(head)), byte(len(head) >> 8)}) + head + data
}

// Headers of all versions, byte orders and orders of dimensions are read, and raw bytes as the types that they are likely to be.
func TestReadsWhatNumPyWrites(t *testing.T) {
	for _, c := range []struct{ file, want string }{
		{array("{'descr': '|V2', 'fortran_order': False, 'shape': (2,), }", "\x80\x3f\x00\xc0"), "bf16[2] [1, -2]"},
		{array("{'descr': '<V2', 'fortran_order': False, 'shape': (), }", "\x80\x3f"), "bf16[] 1"},
		{array("{'descr': '|V1', 'fortran_order': False, 'shape': (2,), }", "\x38\xff"), "ui8[2] [56, 255]"},
		{array("{'descr': '<f1', 'fortran_order': False, 'shape': (2,), }", "\x3c\xc0"), "f8E5M2[2] [1, -2]"},
		{array("{'descr': '>i2', 'fortran_order': False, 'shape': (2,), }", "\x00\x01\xff\xfe"), "i16[2] [1, -2]"},
		{array("{'descr': '|u1', 'fortran_order': True, 'shape': (2, 3), }", "\x01\x04\x02\x05\x03\x06"), "ui8[2,3] [[1, 2, 3], [4, 5, 6]]"},
		{array("{'descr': '|b1', 'fortran_order': False, 'shape': (3,), }", "\x00\x01\x07"), "i1[3] [false, true, true]"},
		{magic + "\x02\x00" + "\x3b\x00\x00\x00" + "{'descr': '|i1', 'fortran_order': False, 'shape': (1,), } \n" + "\xff", "i8[1] [-1]"},
	} {
		got, err := ReadNpy(strings.NewReader(c.file), 100)
		if err != nil || got.String() != c.want {
			t.Errorf("%q reads as %v, %v, want %s", c.file, got, err, c.want)
		}
	}
}

// A file that is no array, is too large or has objects is refused by class.
func TestReadRejects(t *testing.T) {
	for _, c := range []struct {
		file  string
		class error
	}{
		{"", diag.ErrInvalid},
		{"hello, world", diag.ErrInvalid},
		{magic, diag.ErrInvalid},
		{magic + "\x01\x00\xff\xff{", diag.ErrInvalid},
		{magic + "\x02\x00\xff\xff\xff\xff", diag.ErrInvalid},
		{array("", ""), diag.ErrInvalid},
		{array("{'descr': '<f4', 'fortran_order': False, 'shape': (2,), }", "\x00"), diag.ErrInvalid},
		{array("{'descr': '<f4', 'fortran_order': False, 'shape': (99999999999999999999,), }", ""), diag.ErrInvalid},
		{array("{'descr': '<f4', 'fortran_order': False, 'shape': (1 2,), }", ""), diag.ErrInvalid},
		{array("{'descr': '<f4', 'fortran_order': False, 'shape': (9999999999, 9999999999), }", ""), diag.ErrTooLarge},
		{array("{'descr': '<f4', 'fortran_order': False, 'shape': (1000000,), }", ""), diag.ErrTooLarge},
		{array("{'descr': '|V3', 'fortran_order': False, 'shape': (2,), }", "abcdef"), diag.ErrUnsupported},
		{array("{'descr': '|O', 'fortran_order': False, 'shape': (2,), }", "ab"), diag.ErrUnsupported},
		{array("{'descr': [('a', '<f4')], 'fortran_order': False, 'shape': (2,), }", "ab"), diag.ErrUnsupported},
	} {
		if _, err := ReadNpy(strings.NewReader(c.file), 1000); !errors.Is(err, c.class) {
			t.Errorf("%q: error %v, want class %v", c.file, err, c.class)
		}
	}
}

// Archives have limits of arrays and bytes, names that occur once, and checksums.
func TestReadLimitsArchives(t *testing.T) {
	x := tensor.FromFloats(dtype.F32, []int64{10}, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10)
	file := write(t, Array{"a", x}, Array{"b", x})
	for _, limits := range []Limits{{Arrays: 1, Bytes: 1000}, {Arrays: 2, Bytes: 79}} {
		if _, err := Read(bytes.NewReader(file), int64(len(file)), limits); !errors.Is(err, diag.ErrTooLarge) {
			t.Errorf("%v: error %v, want ErrTooLarge", limits, err)
		}
	}
	if _, err := Read(bytes.NewReader(file), int64(len(file)), Limits{Arrays: 2, Bytes: 80}); err != nil {
		t.Error(err)
	}
	twice := write(t, Array{"a", x}, Array{"a", x})
	if _, err := Read(bytes.NewReader(twice), int64(len(twice)), DefaultLimits); err == nil || !strings.Contains(err.Error(), "twice") {
		t.Errorf("a name given twice: error %v", err)
	}
	broken := bytes.Replace(file, []byte("\x00\x00\x80\x3f"), []byte("\x01\x00\x80\x3f"), 1)
	if _, err := Read(bytes.NewReader(broken), int64(len(broken)), DefaultLimits); err == nil {
		t.Error("a flipped bit was not noticed")
	}
}

// Another library reads what is written here, and the other way round.
func TestAgreesWithNpyio(t *testing.T) {
	x := tensor.Of(dtype.F64, []int64{2, 3}, 1, 2, 3, 4, 5, math.Inf(1))
	file := write(t, Array{"arg0", x})
	r, err := peer.NewReader(bytes.NewReader(file), int64(len(file)))
	if err != nil {
		t.Fatal(err)
	}
	var values []float64
	if err := r.Read("arg0.npy", &values); err != nil {
		t.Fatal(err)
	}
	if !tensor.Of(dtype.F64, x.Shape, values...).Equal(x) {
		t.Errorf("npyio reads %v", values)
	}
	var b bytes.Buffer
	if err := npy.Write(&b, []float32{1, 2, 3}); err != nil {
		t.Fatal(err)
	}
	if got, err := ReadNpy(&b, 100); err != nil || got.String() != "f32[3] [1, 2, 3]" {
		t.Errorf("what npyio writes reads as %v, %v", got, err)
	}
}

// The recorded inputs and outputs of all models are read.
func TestReadsModels(t *testing.T) {
	shared := os.Getenv("AUTOSHARD_SHARED")
	if shared == "" {
		t.Skip("set AUTOSHARD_SHARED to the shared folder to read the recorded inputs of models")
	}
	files, err := filepath.Glob(filepath.Join(shared, "models", "*.npz"))
	if err != nil || len(files) == 0 {
		t.Fatalf("no archives in %s: %v", shared, err)
	}
	for _, path := range files {
		data, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		arrays, err := Read(bytes.NewReader(data), int64(len(data)), DefaultLimits)
		if err != nil || len(arrays) == 0 {
			t.Errorf("%s: %d arrays, %v", filepath.Base(path), len(arrays), err)
		}
	}
}

func FuzzReadNpy(f *testing.F) {
	f.Add([]byte(array("{'descr': '<f4', 'fortran_order': False, 'shape': (1,), }", "\x00\x00\x80\x3f")))
	f.Add([]byte(array("{'descr': '>c8', 'fortran_order': True, 'shape': (1, 2), }", strings.Repeat("\x01", 16))))
	f.Fuzz(func(t *testing.T, data []byte) {
		x, err := ReadNpy(bytes.NewReader(data), 1<<16)
		if err != nil {
			return
		}
		var b bytes.Buffer
		if err := WriteNpy(&b, x); err != nil {
			t.Fatal(err)
		}
		y, err := ReadNpy(&b, 1<<20)
		if err != nil || x.DType != dtype.BF16 && !x.Equal(y) {
			t.Fatalf("%v reads back as %v, %v", x, y, err)
		}
	})
}

func FuzzRead(f *testing.F) {
	var b bytes.Buffer
	if err := Write(&b, []Array{{"a", tensor.FromFloats(dtype.F32, []int64{1}, 1)}}); err != nil {
		f.Fatal(err)
	}
	f.Add(b.Bytes())
	f.Fuzz(func(_ *testing.T, data []byte) {
		arrays, err := Read(bytes.NewReader(data), int64(len(data)), Limits{Arrays: 10, Bytes: 1 << 16})
		if err == nil && len(arrays) > 10 {
			panic("more arrays than allowed")
		}
	})
}
