package typed_test

import (
	"strings"
	"testing"

	"autoshard/backend/run"
	"autoshard/backend/tensor"
	"autoshard/internal/diag"
	"autoshard/ir/dtype"
	"autoshard/ir/mlir"
	"autoshard/shardmap/typed"
)

// ordered adds the number of a place to what its neighbour along i has, on devices in another order than their places.
const ordered = `shard_map @f mesh=(i=2, j=2) manual=(i, j) check=true
  in_specs=(P('i', 'j'),)
  out_specs=(P('i', 'j'),)
  device_ids=(3, 1, 2, 0)
lambda arg0:i32[1,2]{i,j}
  v0:i32[1,2]{i} = psum[axes=(j,)] arg0
  v1:i32[1,2]{i} = ppermute[axes=(i,), perm=((0, 1), (1, 0))] v0
  v2:i32[]{i,j} = axis_index[axes=(i, j)]
  v3:i32[1,2]{i,j} = broadcast_in_dim[broadcast_dimensions=()] v2
  c1:i32[1,2]{i,j} = pvary[axes=(j,)] v1
  v4:i32[1,2]{i,j} = add c1 v3
  return v4
`

// The order of the devices is in the text, in the mesh of Shardy and in the groups of a device's program. It says who computes a block, not
// what comes out.
func TestDeviceOrder(t *testing.T) {
	read := func(text string) *typed.Program {
		t.Helper()
		p, err := typed.Parse(text, "")
		if err == nil {
			err = p.Typecheck(typed.Options{})
		}
		if err != nil {
			t.Fatal(err)
		}
		return p
	}
	p := read(ordered)
	roundTrip(t, p)
	if p.String() != ordered {
		t.Errorf("the program is printed as\n%s", p)
	}
	sdy := string(mlir.Print(p.Export(), mlir.PrintOptions{}))
	if !strings.Contains(sdy, `<["i"=2, "j"=2], device_ids=[3, 1, 2, 0]>`) {
		t.Errorf("the mesh has no device ids in\n%s", sdy)
	}
	m, err := mlir.Parse(t.Context(), []byte(sdy), mlir.Options{})
	if err != nil {
		t.Fatal(err)
	}
	back, err := typed.Import(t.Context(), m, typed.ImportOptions{})
	if err != nil || back.String() != ordered {
		t.Errorf("%v, and of Shardy's text becomes\n%s", err, back)
	}
	device := string(mlir.Print(p.Lower().Module, mlir.PrintOptions{}))
	if !strings.Contains(device, "dense<[[3, 1], [2, 0]]>") {
		t.Errorf("sums are not over the devices of a row:\n%s", device)
	}
	x := tensor.FromInts(dtype.I32, []int64{2, 4}, 1, 2, 3, 4, 10, 20, 30, 40)
	inOrder := strings.Replace(ordered, "  device_ids=(3, 1, 2, 0)\n", "", 1)
	for text, want := range map[string]string{ordered: "i32[1,2] [[40, 60]]", inOrder: "i32[1,2] [[7, 9]]"} {
		result, err := run.Typed(t.Context(), read(text), []*tensor.Tensor{&x}, run.Options{})
		if err != nil {
			t.Fatal(err)
		}
		if got := result.Outputs[0].String(); got != "i32[2,4] [[40, 60, 41, 61], [6, 8, 7, 9]]" {
			t.Errorf("the output is %s", got)
		}
		if got := result.Blocks[3][0].String(); got != want {
			t.Errorf("device 3 has %s, want %s", got, want)
		}
	}
}

// Devices in order need no list; one that is no permutation is refused where it stands.
func TestDeviceOrderInHeader(t *testing.T) {
	p, err := typed.Parse(strings.Replace(ordered, "3, 1, 2, 0", "0, 1, 2, 3", 1), "")
	if err != nil || strings.Contains(p.String(), "device_ids") {
		t.Errorf("%v, %v", p, err)
	}
	for ids, want := range map[string]string{
		"(3, 1, 2, 2)": "device ids must be a permutation of 0 to 3, got 2", "(1, 0)": "must match total number of device ids, got: 4 and 2",
		"(3, 1, two, 0)": `expected a number, found "two"`, "3": "expected a list in parentheses",
	} {
		_, err := typed.Parse(strings.Replace(ordered, "(3, 1, 2, 0)", ids, 1), "f.shardmap")
		if err == nil || !strings.Contains(err.Error(), want) || diag.Diagnostics(err)[0].Pos.Line != 4 {
			t.Errorf("%s: %v", ids, err)
		}
	}
}
