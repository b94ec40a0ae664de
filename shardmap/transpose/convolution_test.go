package transpose_test

import (
	"fmt"
	"testing"

	"autoshard/ir"
	"autoshard/ir/dtype"
	"autoshard/shardmap/typed"
	"autoshard/subaxis"
)

// grouped convolves 4 images of 4 features with kernels of 3 places and 4 results, in groups of features or of images.
func grouped(b *typed.Builder, image, kernel ir.ValueID, features, batches int64) ir.ValueID {
	m := b.Program().Module
	i64 := func(n int64) ir.IntAttr {
		return ir.IntAttr{Value: n, Type: m.ScalarType(dtype.I64)}
	}
	d := &ir.ConvDims{InBatch: 1, InSpatial: []int64{2}, InFeature: 0, KernelSpatial: []int64{0}, KernelIn: 2, KernelOut: 1,
		OutBatch: 0, OutFeature: 2, OutSpatial: []int64{1}}
	return b.Op(ir.OpConvolution, m.TensorType(dtype.F64, 4/batches, 3, 4), attrs(attr("dimension_numbers", d),
		attr("window_strides", ir.Ints{2}),
		attr("lhs_dilation", ir.Ints{2}), attr("rhs_dilation", ir.Ints{1}), attr("padding", padding(b, 1, 0)),
		attr("feature_group_count", i64(features)), attr("batch_group_count", i64(batches))), image, kernel)
}

// Convolutions in groups transpose by their images and by their kernels.
func TestGroupedConvolutions(t *testing.T) {
	for _, groups := range [][2]int64{{2, 1}, {4, 1}, {1, 2}, {1, 4}} {
		for _, byKernel := range []bool{false, true} {
			t.Run(fmt.Sprint(groups, byKernel), func(t *testing.T) {
				b := typed.NewBuilder("f", subaxis.Mesh{Axes: []subaxis.Axis{{Name: "i", Size: 2}}}, typed.Setup{})
				image, kernel := []int64{4, 4, 4}, []int64{3, 4, 4 / groups[0]}
				var x, k ir.ValueID
				if byKernel {
					k = b.Param("k", dtype.F64, kernel, typed.P())
					x = b.Param("x", dtype.F64, []int64{8, 4, 4}, typed.P("i"))
				} else {
					x = b.Param("x", dtype.F64, []int64{8, 4, 4}, typed.P("i"))
					k = b.Param("k", dtype.F64, kernel, typed.P())
				}
				if got := b.Program().Module.Shape(x); fmt.Sprint(got) != fmt.Sprint(image) {
					t.Fatalf("blocks of %v, want %v", got, image)
				}
				b.Result(grouped(b, x, k, groups[0], groups[1]), typed.P("i"))
				p, err := b.Finish()
				if err != nil {
					t.Fatal(err)
				}
				if _, err := p.Elaborate(typed.Options{}); err != nil {
					t.Fatal(err)
				}
				lawful(t, p, 1)
			})
		}
	}
}
