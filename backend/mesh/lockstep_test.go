package mesh_test

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"autoshard/backend/interp"
	"autoshard/backend/mesh"
	"autoshard/backend/tensor"
	"autoshard/backend/tensor/memory"
	"autoshard/ir"
	"autoshard/ir/dtype"

	"github.com/google/go-cmp/cmp"
)

// unread measures nothing. Devices that are measured are goroutines that send messages.
type unread struct{}

func (unread) Begin(ir.OpID)      {}
func (unread) End(ir.OpID, int64) {}
func (unread) Wait(int)           {}
func (unread) Resume()            {}

// places cuts four devices into a mesh of 2 x 2: %i and %j are where a device is.
const places = `
  %id = stablehlo.partition_id : tensor<ui32>
  %rows = stablehlo.constant dense<[0, 0, 1, 1]> : tensor<4xi32>
  %columns = stablehlo.constant dense<[0, 1, 0, 1]> : tensor<4xi32>
  %i0 = stablehlo.dynamic_slice %rows, %id, sizes = [1] : (tensor<4xi32>, tensor<ui32>) -> tensor<1xi32>
  %i = stablehlo.reshape %i0 : (tensor<1xi32>) -> tensor<i32>
  %j0 = stablehlo.dynamic_slice %columns, %id, sizes = [1] : (tensor<4xi32>, tensor<ui32>) -> tensor<1xi32>
  %j = stablehlo.reshape %j0 : (tensor<1xi32>) -> tensor<i32>
  %zero = stablehlo.constant dense<0> : tensor<i32>
  %one = stablehlo.constant dense<1> : tensor<i32>
  %init = stablehlo.constant dense<0.0> : tensor<f32>
`

// rowSum adds a value over the devices of a row.
const rowSum = `"stablehlo.all_reduce"(%s) <{channel_handle = #stablehlo.channel_handle<handle = 1, type = 1>, replica_groups = dense<[[0, 1], [2, 3]]> : tensor<2x2xi64>, use_global_device_ids}> ({
  ^bb0(%%a: tensor<f32>, %%b: tensor<f32>):
    %%sum = stablehlo.add %%a, %%b : tensor<f32>
    stablehlo.return %%sum : tensor<f32>
  }) : (tensor<%[2]s>) -> tensor<%[2]s>`

// steps are bodies of programs that take %x, the same on the devices of a row, %y, the same on those of a column, and %z, which all have.
var steps = map[string]string{
	"elementwise": `%0 = stablehlo.add %x, %y : tensor<4x6xf32>
  %1 = stablehlo.multiply %0, %z : tensor<4x6xf32>
  %2 = stablehlo.convert %i : (tensor<i32>) -> tensor<f32>
  %3 = stablehlo.broadcast_in_dim %2, dims = [] : (tensor<f32>) -> tensor<4x6xf32>
  %4 = stablehlo.compare GT, %x, %3 : (tensor<4x6xf32>, tensor<4x6xf32>) -> tensor<4x6xi1>
  %5 = stablehlo.select %4, %1, %3 : tensor<4x6xi1>, tensor<4x6xf32>
  %out = stablehlo.clamp %2, %5, %init : (tensor<f32>, tensor<4x6xf32>, tensor<f32>) -> tensor<4x6xf32>`,
	"moved": `%0 = stablehlo.transpose %x, dims = [1, 0] : (tensor<4x6xf32>) -> tensor<6x4xf32>
  %1 = stablehlo.slice %0 [1:6:2, 0:3] : (tensor<6x4xf32>) -> tensor<3x3xf32>
  %2 = stablehlo.pad %1, %init, low = [1, -1], high = [0, 1], interior = [0, 1] : (tensor<3x3xf32>, tensor<f32>) -> tensor<4x5xf32>
  %3 = stablehlo.reverse %2, dims = [1] : tensor<4x5xf32>
  %4 = stablehlo.slice %y [0:4, 2:3] : (tensor<4x6xf32>) -> tensor<4x1xf32>
  %out = stablehlo.concatenate %3, %4, dim = 1 : (tensor<4x5xf32>, tensor<4x1xf32>) -> tensor<4x6xf32>`,
	"products": `%0 = stablehlo.dot_general %x, %z, contracting_dims = [1] x [1] : (tensor<4x6xf32>, tensor<4x6xf32>) -> tensor<4x4xf32>
  %1 = stablehlo.dot_general %y, %0, contracting_dims = [0] x [1] : (tensor<4x6xf32>, tensor<4x4xf32>) -> tensor<6x4xf32>
  %2 = stablehlo.dot_general %z, %y, batching_dims = [0] x [0], contracting_dims = [1] x [1] : (tensor<4x6xf32>, tensor<4x6xf32>) -> tensor<4xf32>
  %3 = stablehlo.broadcast_in_dim %2, dims = [1] : (tensor<4xf32>) -> tensor<6x4xf32>
  %4 = stablehlo.subtract %1, %3 : tensor<6x4xf32>
  %out = stablehlo.transpose %4, dims = [1, 0] : (tensor<6x4xf32>) -> tensor<4x6xf32>`,
	"reductions": `%0 = stablehlo.reduce(%x init: %init) applies stablehlo.add across dimensions = [1] : (tensor<4x6xf32>, tensor<f32>) -> tensor<4xf32>
  %1 = stablehlo.reduce(%y init: %init) applies stablehlo.maximum across dimensions = [0, 1] : (tensor<4x6xf32>, tensor<f32>) -> tensor<f32>
  %2 = stablehlo.broadcast_in_dim %0, dims = [0] : (tensor<4xf32>) -> tensor<4x6xf32>
  %3 = stablehlo.broadcast_in_dim %1, dims = [] : (tensor<f32>) -> tensor<4x6xf32>
  %out = stablehlo.subtract %2, %3 : tensor<4x6xf32>`,
	"windows": `%0 = "stablehlo.reduce_window"(%x, %init) <{window_dimensions = array<i64: 4, 1>, padding = dense<[[3, 0], [0, 0]]> : tensor<2x2xi64>}> ({
  ^bb0(%a: tensor<f32>, %b: tensor<f32>):
    %sum = stablehlo.add %a, %b : tensor<f32>
    stablehlo.return %sum : tensor<f32>
  }) : (tensor<4x6xf32>, tensor<f32>) -> tensor<4x6xf32>
  %1 = "stablehlo.reduce_window"(%y, %init) <{window_dimensions = array<i64: 1, 1>}> ({
  ^bb0(%a: tensor<f32>, %b: tensor<f32>):
    %most = stablehlo.maximum %a, %b : tensor<f32>
    stablehlo.return %most : tensor<f32>
  }) : (tensor<4x6xf32>, tensor<f32>) -> tensor<4x6xf32>
  %2 = "stablehlo.reduce_window"(%y, %init) <{window_dimensions = array<i64: 1, 3>, window_dilations = array<i64: 1, 2>, padding = dense<[[0, 0], [2, 2]]> : tensor<2x2xi64>}> ({
  ^bb0(%a: tensor<f32>, %b: tensor<f32>):
    %twice = stablehlo.add %a, %a : tensor<f32>
    %less = stablehlo.subtract %twice, %b : tensor<f32>
    stablehlo.return %less : tensor<f32>
  }) : (tensor<4x6xf32>, tensor<f32>) -> tensor<4x6xf32>
  %3 = stablehlo.add %0, %1 : tensor<4x6xf32>
  %out = stablehlo.add %2, %3 : tensor<4x6xf32>`,
	"updates": `%0 = stablehlo.dynamic_slice %x, %i, %j, sizes = [1, 2] : (tensor<4x6xf32>, tensor<i32>, tensor<i32>) -> tensor<1x2xf32>
  %1 = stablehlo.dynamic_slice %y, %one, %zero, sizes = [1, 2] : (tensor<4x6xf32>, tensor<i32>, tensor<i32>) -> tensor<1x2xf32>
  %2 = stablehlo.negate %z : tensor<4x6xf32>
  %3 = stablehlo.dynamic_update_slice %2, %0, %j, %one : (tensor<4x6xf32>, tensor<1x2xf32>, tensor<i32>, tensor<i32>) -> tensor<4x6xf32>
  %out = stablehlo.dynamic_update_slice %3, %1, %one, %one : (tensor<4x6xf32>, tensor<1x2xf32>, tensor<i32>, tensor<i32>) -> tensor<4x6xf32>`,
	"indices": `%0 = stablehlo.reshape %j : (tensor<i32>) -> tensor<1xi32>
  %1 = stablehlo.concatenate %0, %j0, dim = 0 : (tensor<1xi32>, tensor<1xi32>) -> tensor<2xi32>
  %2 = "stablehlo.gather"(%z, %1) <{dimension_numbers = #stablehlo.gather<offset_dims = [1], collapsed_slice_dims = [0], start_index_map = [0], index_vector_dim = 1>, slice_sizes = array<i64: 1, 6>}> : (tensor<4x6xf32>, tensor<2xi32>) -> tensor<2x6xf32>
  %3 = "stablehlo.gather"(%x, %1) <{dimension_numbers = #stablehlo.gather<offset_dims = [1], collapsed_slice_dims = [0], start_index_map = [0], index_vector_dim = 1>, slice_sizes = array<i64: 1, 6>}> : (tensor<4x6xf32>, tensor<2xi32>) -> tensor<2x6xf32>
  %4 = stablehlo.add %2, %3 : tensor<2x6xf32>
  %5 = stablehlo.negate %z : tensor<4x6xf32>
  %out = "stablehlo.scatter"(%5, %1, %4) <{scatter_dimension_numbers = #stablehlo.scatter<update_window_dims = [1], inserted_window_dims = [0], scatter_dims_to_operand_dims = [0], index_vector_dim = 1>}> ({
  ^bb0(%a: tensor<f32>, %b: tensor<f32>):
    %sum = stablehlo.add %a, %b : tensor<f32>
    stablehlo.return %sum : tensor<f32>
  }) : (tensor<4x6xf32>, tensor<2xi32>, tensor<2x6xf32>) -> tensor<4x6xf32>`,
	"sorted": `%out:2 = "stablehlo.sort"(%x, %y) <{dimension = 1 : i64, is_stable = true}> ({
  ^bb0(%a: tensor<f32>, %b: tensor<f32>, %c: tensor<f32>, %d: tensor<f32>):
    %less = stablehlo.compare LT, %c, %d : (tensor<f32>, tensor<f32>) -> tensor<i1>
    stablehlo.return %less : tensor<i1>
  }) : (tensor<4x6xf32>, tensor<4x6xf32>) -> (tensor<4x6xf32>, tensor<4x6xf32>)`,
	"summed": `%0 = stablehlo.multiply %x, %y : tensor<4x6xf32>
  %out = ` + fmt.Sprintf(rowSum, "%0", "4x6xf32"),
	"images": `%0 = stablehlo.reshape %x : (tensor<4x6xf32>) -> tensor<2x2x3x2xf32>
  %1 = stablehlo.reshape %z : (tensor<4x6xf32>) -> tensor<2x3x2x2xf32>
  %2 = stablehlo.convolution(%0, %1) dim_numbers = [b, 0, 1, f]x[0, 1, i, o]->[b, 0, 1, f], window = {pad = [[0, 1], [1, 1]]} {batch_group_count = 1 : i64, feature_group_count = 1 : i64} : (tensor<2x2x3x2xf32>, tensor<2x3x2x2xf32>) -> tensor<2x2x3x2xf32>
  %3 = stablehlo.reshape %y : (tensor<4x6xf32>) -> tensor<2x3x2x2xf32>
  %4 = stablehlo.convolution(%2, %3) dim_numbers = [b, 0, 1, f]x[0, 1, i, o]->[b, 0, 1, f], window = {pad = [[0, 1], [1, 1]]} {batch_group_count = 1 : i64, feature_group_count = 1 : i64} : (tensor<2x2x3x2xf32>, tensor<2x3x2x2xf32>) -> tensor<2x2x3x2xf32>
  %out = stablehlo.reshape %4 : (tensor<2x2x3x2xf32>) -> tensor<4x6xf32>`,
	"largest": `%0, %1 = chlo.top_k(%x, k = 2) : tensor<4x6xf32> -> (tensor<4x2xf32>, tensor<4x2xi32>)
  %numbers = stablehlo.iota dim = 1 : tensor<4x6xi32>
  %2:2 = "stablehlo.reduce"(%y, %numbers, %init, %zero) <{dimensions = array<i64: 1>}> ({
  ^bb0(%a: tensor<f32>, %b: tensor<i32>, %c: tensor<f32>, %d: tensor<i32>):
    %more = stablehlo.compare GT, %a, %c : (tensor<f32>, tensor<f32>) -> tensor<i1>
    %e = stablehlo.select %more, %a, %c : tensor<i1>, tensor<f32>
    %f = stablehlo.select %more, %b, %d : tensor<i1>, tensor<i32>
    stablehlo.return %e, %f : tensor<f32>, tensor<i32>
  }) : (tensor<4x6xf32>, tensor<4x6xi32>, tensor<f32>, tensor<i32>) -> (tensor<4xf32>, tensor<4xi32>)
  %3 = stablehlo.convert %1 : (tensor<4x2xi32>) -> tensor<4x2xf32>
  %4 = stablehlo.convert %2#1 : (tensor<4xi32>) -> tensor<4xf32>
  %5 = stablehlo.reshape %4 : (tensor<4xf32>) -> tensor<4x1xf32>
  %6 = stablehlo.reshape %2#0 : (tensor<4xf32>) -> tensor<4x1xf32>
  %out = stablehlo.concatenate %0, %3, %5, %6, dim = 1 : (tensor<4x2xf32>, tensor<4x2xf32>, tensor<4x1xf32>, tensor<4x1xf32>) -> tensor<4x6xf32>`,
	"loop": `%0:3 = stablehlo.while(%n = %zero, %v = %z, %w = %init) : tensor<i32>, tensor<4x6xf32>, tensor<f32>
  cond {
    %two = stablehlo.constant dense<2> : tensor<i32>
    %more = stablehlo.compare LT, %n, %two : (tensor<i32>, tensor<i32>) -> tensor<i1>
    stablehlo.return %more : tensor<i1>
  } do {
    %m = stablehlo.add %n, %one : tensor<i32>
    %w1 = stablehlo.reduce(%v init: %init) applies stablehlo.add across dimensions = [0, 1] : (tensor<4x6xf32>, tensor<f32>) -> tensor<f32>
    %w2 = stablehlo.broadcast_in_dim %w, dims = [] : (tensor<f32>) -> tensor<4x6xf32>
    %v1 = stablehlo.add %v, %x : tensor<4x6xf32>
    %v2 = stablehlo.subtract %v1, %w2 : tensor<4x6xf32>
    stablehlo.return %m, %v2, %w1 : tensor<i32>, tensor<4x6xf32>, tensor<f32>
  }
  %out = stablehlo.negate %0#1 : tensor<4x6xf32>`,
	"branches": `%same = stablehlo.compare EQ, %one, %one : (tensor<i32>, tensor<i32>) -> tensor<i1>
  %0 = "stablehlo.if"(%same) ({
    %1 = stablehlo.negate %z : tensor<4x6xf32>
    stablehlo.return %1 : tensor<4x6xf32>
  }, {
    stablehlo.return %y : tensor<4x6xf32>
  }) : (tensor<i1>) -> tensor<4x6xf32>
  %out = stablehlo.add %0, %0 : tensor<4x6xf32>`,
	"ways": `%first = stablehlo.compare EQ, %j, %one : (tensor<i32>, tensor<i32>) -> tensor<i1>
  %out = "stablehlo.if"(%first) ({
    %1 = stablehlo.negate %x : tensor<4x6xf32>
    stablehlo.return %1 : tensor<4x6xf32>
  }, {
    stablehlo.return %y : tensor<4x6xf32>
  }) : (tensor<i1>) -> tensor<4x6xf32>`,
}

// Devices that run in lockstep give the bits, send the bytes and hold the memory of devices that send messages, again and again, and leave
// their arguments as they are.
func TestLockstep(t *testing.T) {
	for name, body := range steps {
		t.Run(name, func(t *testing.T) {
			m, fn := parse(t, "func.func @main(%x: tensor<4x6xf32>, %y: tensor<4x6xf32>, %z: tensor<4x6xf32>) -> tensor<4x6xf32> {"+places+
				"  "+body+"\n  return %out"+map[string]string{"sorted": "#0"}[name]+" : tensor<4x6xf32>\n}")
			args := spreadArguments()
			messages, err := mesh.New(m, fn, 4, mesh.Options{Meter: func(int) mesh.Meter { return unread{} }})
			if err != nil {
				t.Fatal(err)
			}
			want, wantTraffic, err := messages.Run(t.Context(), args)
			if err != nil {
				t.Fatal(err)
			}
			machine, err := mesh.New(m, fn, 4, mesh.Options{})
			if err != nil {
				t.Fatal(err)
			}
			w := memory.Watch(255)
			for range 3 {
				got, traffic, err := machine.Run(t.Context(), args)
				if err != nil {
					t.Fatal(err)
				}
				for d := range want {
					if !got[d][0].Equal(*want[d][0]) {
						t.Errorf("device %d has %v, want %v", d, got[d][0], want[d][0])
					}
				}
				if diff := cmp.Diff(wantTraffic, traffic); diff != "" {
					t.Errorf("traffic differs:\n%s", diff)
				}
			}
			if machine.Apart() != (name == "ways") {
				t.Errorf("devices run apart: %t", machine.Apart())
			}
			if err := w.Stop(); err != nil {
				t.Error(err)
			}
			if diff := cmp.Diff(spreadArguments(), args); diff != "" {
				t.Errorf("arguments were written to:\n%s", diff)
			}
		})
	}
}

// spreadArguments returns arguments of four devices: those of rows, of columns and of all are the same.
func spreadArguments() [][]*tensor.Tensor {
	r := rand.New(rand.NewPCG(1, 2))
	var distinct [5]*tensor.Tensor
	for k := range distinct {
		values := make([]float64, 24)
		for i := range values {
			values[i] = r.NormFloat64()
		}
		x := tensor.FromFloats(dtype.F32, []int64{4, 6}, values...)
		distinct[k] = &x
	}
	args := make([][]*tensor.Tensor, 4)
	for d := range args {
		args[d] = []*tensor.Tensor{distinct[d/2], distinct[2+d%2], distinct[4]}
	}
	return args
}

// Arguments whose blocks lie one behind the other are those of devices, in lockstep and where devices send messages.
func TestRunBlocks(t *testing.T) {
	m, fn := parse(t, "func.func @main(%x: tensor<2xf32>) -> tensor<2xf32> {\n  %out = "+fmt.Sprintf(rowSum, "%x", "2xf32")+
		"\n  return %out : tensor<2xf32>\n}")
	x := tensor.FromFloats(dtype.F32, []int64{4}, 1, 2, 3, 4)
	x.Shape = []int64{2}
	args := []interp.Blocks{{Block: x, Spread: interp.NewSpread([]int{0, 1, 1, 1})}}
	for _, meter := range []func(int) mesh.Meter{nil, func(int) mesh.Meter { return unread{} }} {
		machine, err := mesh.New(m, fn, 4, mesh.Options{Meter: meter})
		if err != nil {
			t.Fatal(err)
		}
		got, _, err := machine.RunBlocks(t.Context(), args)
		if err != nil {
			t.Fatal(err)
		}
		if (got.Together != nil) != (meter == nil) || meter == nil && got.Together[0].Block.Len() != 4 {
			t.Errorf("results lie together as %v", got.Together)
		}
		for d, want := range []string{"[4 6]", "[4 6]", "[6 8]", "[6 8]"} {
			if text := fmt.Sprint(got.Devices[d][0].Floats()); text != want {
				t.Errorf("device %d has %s, want %s", d, text, want)
			}
		}
	}
}

// Nothing is cut into parts and added up as anything is: tensors without elements.
func TestScatterOfNothing(t *testing.T) {
	m, fn := parse(t, `func.func @main(%x: tensor<0x4xf32>) -> tensor<0x2xf32> {
  %out = "stablehlo.reduce_scatter"(%x) <{channel_handle = #stablehlo.channel_handle<handle = 1, type = 1>, replica_groups = dense<[[0, 1]]> : tensor<1x2xi64>, scatter_dimension = 1 : i64, use_global_device_ids}> ({
  ^bb0(%a: tensor<f32>, %b: tensor<f32>):
    %sum = stablehlo.add %a, %b : tensor<f32>
    stablehlo.return %sum : tensor<f32>
  }) : (tensor<0x4xf32>) -> tensor<0x2xf32>
  return %out : tensor<0x2xf32>
}`)
	x, y := tensor.New(dtype.F32, []int64{0, 4}), tensor.New(dtype.F32, []int64{0, 4})
	for _, meter := range []func(int) mesh.Meter{nil, func(int) mesh.Meter { return unread{} }} {
		got, _, err := mesh.Run(t.Context(), m, fn, 2, [][]*tensor.Tensor{{&x}, {&y}}, mesh.Options{Meter: meter})
		if err != nil {
			t.Fatal(err)
		}
		if text := got[1][0].String(); text != "f32[0,2] []" {
			t.Errorf("got %s", text)
		}
	}
}
