package ir_test

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/rogpeppe/go-internal/txtar"
	"pgregory.net/rapid"

	"autoshard/backend/tensor"
	"autoshard/ir"
	"autoshard/ir/dtype"
	"autoshard/ir/mlir"
)

// said are the kinds of ops whose result types the text says: they do not follow from operands and attributes.
var said = []ir.Kind{ir.OpUnregistered, ir.OpFunc, ir.OpMesh, ir.OpModule, ir.OpCall, ir.OpComposite, ir.OpCustomCall, ir.OpConstant,
	ir.OpIota, ir.OpReshape, ir.OpBroadcastInDim, ir.OpConvert, ir.OpBitcastConvert, ir.OpUniformQuantize, ir.OpUniformDequantize,
	ir.OpRng, ir.OpRngBitGenerator, ir.OpDynamicReshape, ir.OpDynamicBroadcastInDim, ir.OpDynamicIota, ir.OpDynamicPad, ir.OpDynamicConv,
	ir.OpRealDynamicSlice, ir.OpTuple, ir.OpAfterAll, ir.OpCreateToken, ir.OpInfeed, ir.OpOutfeed, ir.OpSend, ir.OpRecv, ir.OpAsyncStart,
	ir.OpAsyncDone, ir.OpEinsum, ir.OpUnaryEinsum, ir.OpTorchIndexSelect, ir.OpInterpreterRunParallel, ir.OpInterpreterProbe,
	ir.OpChloConstant, ir.OpSdyConstant, ir.OpSdyManualComputation, ir.OpSdyNamedComputation}

// chosen are the kinds of ops that may choose the elements of their results.
var chosen = []ir.Kind{ir.OpDot, ir.OpDotGeneral, ir.OpConvolution, ir.OpChloRaggedDot, ir.OpScatter, ir.OpSelectAndScatter, ir.OpAllReduce,
	ir.OpReduceScatter}

// families are kinds of every family of rules; the corpora have ops of all of them.
var families = map[string][]ir.Kind{
	"elementwise":  {ir.OpAdd, ir.OpAbs, ir.OpCompare, ir.OpComplex, ir.OpClamp, ir.OpSelect, ir.OpReducePrecision},
	"shape":        {ir.OpTranspose, ir.OpReverse, ir.OpSlice, ir.OpDynamicSlice, ir.OpDynamicUpdateSlice, ir.OpPad, ir.OpConcatenate},
	"index":        {ir.OpGather, ir.OpScatter},
	"contraction":  {ir.OpDotGeneral, ir.OpConvolution, ir.OpFft, ir.OpCholesky, ir.OpTriangularSolve},
	"reduction":    {ir.OpReduce, ir.OpReduceWindow, ir.OpSelectAndScatter, ir.OpSort, ir.OpMap},
	"control":      {ir.OpWhile, ir.OpCase, ir.OpOptimizationBarrier},
	"collective":   {ir.OpAllGather, ir.OpAllReduce, ir.OpAllToAll, ir.OpReduceScatter, ir.OpCollectivePermute, ir.OpCollectiveBroadcast},
	"chlo and sdy": {ir.OpChloTopK, ir.OpSdyAllGather, ir.OpSdyReshard, ir.OpSdyShardingConstraint},
}

// TestInfer: Infer gives every op of the recorded models, of StableHLO's self-checking programs and of Shardy's vectors
// exactly the types that the text says, where they follow.
func TestInfer(t *testing.T) {
	shared := os.Getenv("AUTOSHARD_SHARED")
	if shared == "" {
		t.Skip("AUTOSHARD_SHARED says where the programs are")
	}
	count := map[ir.Kind]int{}
	for _, pattern := range []string{"models/*.mlir", "conformance/stablehlo_dev.tar.gz", "conformance/shardy/*.txtar"} {
		files, err := filepath.Glob(filepath.Join(shared, pattern))
		if err != nil || len(files) == 0 {
			t.Fatal(pattern, err)
		}
		for _, file := range files {
			for name, src := range programs(t, file) {
				inferAll(t, filepath.Base(file)+"/"+name, src, count)
			}
		}
	}
	for family, kinds := range families {
		for _, k := range kinds {
			if count[k] == 0 {
				t.Errorf("%s: no %s in any program", family, k)
			}
		}
	}
}

// programs returns the programs of a file or archive by name.
func programs(t *testing.T, file string) map[string][]byte {
	data, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	out := map[string][]byte{}
	switch filepath.Ext(file) {
	case ".mlir":
		out["main"] = data
	case ".txtar":
		for _, part := range txtar.Parse(data).Files {
			if strings.HasSuffix(part.Name, ".mlir") {
				out[part.Name] = part.Data
			}
		}
	case ".gz":
		unpacked, err := gzip.NewReader(bytes.NewReader(data))
		if err != nil {
			t.Fatal(err)
		}
		archive := tar.NewReader(unpacked)
		for header, err := archive.Next(); !errors.Is(err, io.EOF); header, err = archive.Next() {
			if err != nil {
				t.Fatal(err)
			}
			if strings.HasSuffix(header.Name, ".mlir") {
				if out[header.Name], err = io.ReadAll(archive); err != nil {
					t.Fatal(err)
				}
			}
		}
	}
	return out
}

// inferAll infers the types of all ops of a program, if it is one, and counts the kinds.
func inferAll(t *testing.T, name string, src []byte, count map[ir.Kind]int) {
	t.Helper()
	m, err := mlir.Parse(t.Context(), src, mlir.Options{File: name})
	if err != nil || ir.Verify(t.Context(), m) != nil {
		return
	}
	m.Walk(m.Body(), func(op ir.OpID) {
		k := m.Kind(op)
		if slices.Contains(said, k) || m.NumResults(op) == 0 {
			return
		}
		count[k]++
		types, err := ir.Infer(m, k, m.Operands(op), m.OpAttrs(op), bodies(m, op)...)
		if err != nil || len(types) != m.NumResults(op) {
			t.Errorf("%s: %v: %s: inferred %d types of %d, %v", name, m.OpPos(op), k, len(types), m.NumResults(op), err)
			return
		}
		for i, v := range m.Results(op) {
			if want, have := m.Type(v), types[i]; !same(m, k, want, have) {
				t.Errorf("%s: %v: %s: inferred %s, the text says %s", name, m.OpPos(op), k, m.FormatType(have), m.FormatType(want))
			}
		}
	})
}

// same says whether an inferred type is the one of the text, but for elements that the op may choose, and sizes that the
// operands do not tell.
func same(m *ir.Module, k ir.Kind, want, have ir.TypeID) bool {
	x, y := *m.TypeOf(want), *m.TypeOf(have)
	if slices.Contains(chosen, k) || x.Quant != 0 || y.Quant != 0 {
		x.DType, x.Quant = y.DType, y.Quant
	}
	if x.Kind != ir.TensorKind || !slices.Contains(x.Dims, ir.Dynamic) && !slices.Contains(y.Dims, ir.Dynamic) {
		return m.InternType(x) == have
	}
	agree := func(a, b int64) bool { return a == b || a == ir.Dynamic || b == ir.Dynamic }
	return x.DType == y.DType && slices.EqualFunc(x.Dims, y.Dims, agree)
}

func bodies(m *ir.Module, op ir.OpID) []ir.BlockID {
	var out []ir.BlockID
	for i := range m.NumRegions(op) {
		out = append(out, m.RegionBlock(op, i))
	}
	return out
}

// TestInferWindows: a reduction over windows has as many results as the kernel computes, whatever strides, dilations and
// padding are.
func TestInferWindows(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		draw := func(name string, low, high int64) int64 { return rapid.Int64Range(low, high).Draw(t, name) }
		n, size, stride := draw("size", 0, 9), draw("window", 1, 4), draw("stride", 1, 3)
		base, dilation, low, high := draw("base", 1, 3), draw("dilation", 1, 3), draw("low", -2, 3), draw("high", -2, 3)
		m := ir.NewModule()
		f := m.AddFunc(ir.FuncSpec{Name: "f"})
		arg := func(dims ...int64) ir.ValueID { return m.AddBlockArg(m.Func(f).Body, m.TensorType(dtype.F32, dims...)) }
		padding := binary.LittleEndian.AppendUint64(binary.LittleEndian.AppendUint64(nil, uint64(low)), uint64(high))
		types, err := ir.Infer(m, ir.OpReduceWindow, []ir.ValueID{arg(n), arg()}, ir.MakeAttrs(
			ir.NamedAttr{Name: "window_dimensions", Value: ir.Ints{size}}, ir.NamedAttr{Name: "window_strides", Value: ir.Ints{stride}},
			ir.NamedAttr{Name: "base_dilations", Value: ir.Ints{base}}, ir.NamedAttr{Name: "window_dilations", Value: ir.Ints{dilation}},
			ir.NamedAttr{Name: "padding", Value: &ir.Dense{Type: m.TensorType(dtype.I64, 1, 2), Data: padding}}))
		if err != nil {
			t.Fatal(err)
		}
		w := tensor.Window{Size: []int64{size}, Stride: []int64{stride}, BaseDilation: []int64{base}, WindowDilation: []int64{dilation},
			Padding: [][2]int64{{low, high}}}
		out, err := tensor.ReduceWindow([]tensor.Tensor{tensor.New(dtype.F32, []int64{n})}, []tensor.Tensor{tensor.New(dtype.F32, nil)}, w,
			tensor.Combiner{Monoid: tensor.MonoidAdd})
		if err != nil {
			t.Fatal(err)
		}
		if want, have := out[0].Shape, m.TypeOf(types[0]).Dims; !slices.Equal(want, have) {
			t.Errorf("the kernel makes %v, inferred %v", want, have)
		}
	})
}

// TestInferRefuses: operands and attributes that do not fit are errors that say so, also where no text says a type.
func TestInferRefuses(t *testing.T) {
	m := ir.NewModule()
	f := m.AddFunc(ir.FuncSpec{Name: "f"})
	arg := func(dims ...int64) ir.ValueID { return m.AddBlockArg(m.Func(f).Body, m.TensorType(dtype.F32, dims...)) }
	x, y := arg(4, 8), arg(8)
	for _, c := range []struct {
		kind     ir.Kind
		operands []ir.ValueID
		attrs    ir.Attrs
		want     string
	}{
		{ir.OpAdd, []ir.ValueID{x}, nil, "expected 2 operands, but found 1"},
		{ir.OpAdd, []ir.ValueID{x, y}, nil,
			"requires compatible types for all operands and results: operand #0 is 'tensor<4x8xf32>', operand #1 is 'tensor<8xf32>'"},
		{ir.OpTranspose, []ir.ValueID{x}, nil, "requires attribute 'permutation'"},
		{ir.OpBroadcast, []ir.ValueID{x}, ir.MakeAttrs(ir.NamedAttr{Name: "broadcast_sizes", Value: ir.Ints{1 << 60}}),
			"result is larger than 2^56 bytes"},
	} {
		_, err := ir.Infer(m, c.kind, c.operands, c.attrs)
		if err == nil || err.Error() != c.want {
			t.Errorf("%s: %v, not %s", c.kind, err, c.want)
		}
	}
}

// The type of a transposed matrix follows from the permutation, that of a reshaped one does not.
func ExampleInfer() {
	m := ir.NewModule()
	f := m.AddFunc(ir.FuncSpec{Name: "f"})
	x := m.AddBlockArg(m.Func(f).Body, m.TensorType(dtype.F32, 4, 8))
	types, err := ir.Infer(m, ir.OpTranspose, []ir.ValueID{x}, ir.MakeAttrs(ir.NamedAttr{Name: "permutation", Value: ir.Ints{1, 0}}))
	fmt.Println(m.FormatType(types[0]), err)
	types, err = ir.Infer(m, ir.OpReshape, []ir.ValueID{x}, nil)
	fmt.Println(types, err)
	// Output:
	// tensor<8x4xf32> <nil>
	// [] <nil>
}
