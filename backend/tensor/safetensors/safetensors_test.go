package safetensors_test

import (
	"encoding/binary"
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"autoshard/backend/tensor/safetensors"
	"autoshard/internal/diag"
)

// file returns a file with a header and elements.
func file(header, elements string) []byte {
	return append(binary.LittleEndian.AppendUint64(nil, uint64(len(header))), header+elements...)
}

// What the library of the format writes is read, in the order of the elements.
func TestPeer(t *testing.T) {
	data, err := os.ReadFile("testdata/peer.safetensors")
	if err != nil {
		t.Fatal(err)
	}
	arrays, err := safetensors.Read(data)
	if err != nil {
		t.Fatal(err)
	}
	got := map[string]string{}
	for _, a := range arrays {
		got[a.Name] = fmt.Sprint(a.Tensor.DType, a.Tensor.Shape, a.Tensor.Floats())
	}
	want := map[string]string{"layer.weight": "f32 [2 3] [0 0.25 0.5 0.75 1 1.25]", "layer.bias": "f16 [2] [-1 0.5]", "steps": "i64 [] [7]",
		"mask": "i1 [3] [1 0 1]", "empty": "ui8 [0 4] []"}
	if d := cmp.Diff(want, got); d != "" {
		t.Error(d)
	}
}

// Elements that are not where the header says, or that no tensor has, are errors that name the array.
func TestErrors(t *testing.T) {
	u8 := func(name string, shape, from, to int) string {
		return fmt.Sprintf(`"%s": {"dtype": "U8", "shape": [%d], "data_offsets": [%d, %d]}`, name, shape, from, to)
	}
	for name, test := range map[string]struct{ header, elements, want string }{
		"nothing":     {"", "", "the header is not JSON"},
		"cut":         {"{" + u8("a", 2, 0, 2) + "}", "\x00", `array "a" is at bytes 0 to 2; bytes 0 to 1 are left`},
		"hole":        {"{" + u8("a", 1, 1, 2) + "}", "\x00\x00", "bytes 0 to 2 are left"},
		"overlap":     {"{" + u8("a", 2, 0, 2) + "," + u8("b", 1, 1, 2) + "}", "\x00\x00", `array "b" is at bytes 1 to 2; bytes 2 to 2 are left`},
		"more":        {"{" + u8("a", 1, 0, 1) + "}", "\x00\x00", "1 bytes follow the arrays"},
		"size":        {"{" + u8("a", 2, 0, 1) + "}", "\x00", "array a: tensor ui8[2] needs 2 bytes, got 1"},
		"negative":    {"{" + u8("a", -1, 0, 0) + "}", "", "array a: dimension 0 has negative size -1"},
		"type":        {`{"a": {"dtype": "F4", "shape": [2], "data_offsets": [0, 1]}}`, "\x00", `array a: elements of type "F4" are not known`},
		"not numbers": {`{"a": {"dtype": "U8", "shape": "x", "data_offsets": [0, 0]}}`, "", `array "a": json`},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := safetensors.Read(file(test.header, test.elements))
			if err == nil || !strings.Contains(err.Error(), test.want) {
				t.Errorf("%v, want %q", err, test.want)
			}
		})
	}
	for _, data := range []string{"", "\x00", "\xff\xff\xff\xff\xff\xff\xff\xff{}", "\x03\x00\x00\x00\x00\x00\x00\x00{}"} {
		if _, err := safetensors.Read([]byte(data)); diag.ExitCode(err) != diag.ExitInvalid {
			t.Errorf("%q: %v", data, err)
		}
	}
}

func FuzzRead(f *testing.F) {
	f.Add(file(`{"__metadata__": {"a": "b"}, "a": {"dtype": "BF16", "shape": [1, 2], "data_offsets": [0, 4]}}`, "\x80\x3f\x00\x40"))
	f.Fuzz(func(t *testing.T, data []byte) {
		arrays, err := safetensors.Read(data)
		total := 0
		for i := range arrays {
			total += len(arrays[i].Tensor.Data)
		}
		if err == nil && total > len(data) {
			t.Fatalf("%d bytes of %d", total, len(data))
		}
	})
}
