package ir

import (
	"slices"
	"strings"

	"autoshard/internal/lists"
)

func inferDotGeneral(f *inference) error {
	d := f.attrs.Get("dot_dimension_numbers").(*DotDims)
	lhs, rhs := f.operand(0), f.operand(1)
	if len(d.LhsBatch) != len(d.RhsBatch) {
		return badAttr("lhs and rhs should have the same number of batching dimensions")
	}
	if len(d.LhsContract) != len(d.RhsContract) {
		return badAttr("lhs and rhs should have the same number of contracting dimensions")
	}
	for _, s := range []struct {
		name            string
		batch, contract []int64
		rank            int
	}{{"lhs", d.LhsBatch, d.LhsContract, lhs.Rank()}, {"rhs", d.RhsBatch, d.RhsContract, rhs.Rank()}} {
		all := append(slices.Clone(s.batch), s.contract...)
		if !unique(all) {
			return badAttr("has duplicated dimension from %s_batching_dimensions and %s_contracting_dimensions: %v", s.name, s.name, all)
		}
		if !within(all, s.rank) {
			return badAttr("%s_batching_dimensions or %s_contracting_dimensions value is out of range: %v of rank %d", s.name, s.name, all, s.rank)
		}
	}
	for i := range d.LhsBatch {
		if !agree(lhs.Dims[d.LhsBatch[i]], rhs.Dims[d.RhsBatch[i]]) {
			return badType("batching dimension sizes must match for lhs/rhs: '%s' vs '%s'", f.text(0), f.text(1))
		}
	}
	for i := range d.LhsContract {
		if !agree(lhs.Dims[d.LhsContract[i]], rhs.Dims[d.RhsContract[i]]) {
			return badType("contracting dimension sizes must match for lhs/rhs: size %d of dimension %d of '%s' vs size %d of dimension %d of '%s'",
				lhs.Dims[d.LhsContract[i]], d.LhsContract[i], f.text(0), rhs.Dims[d.RhsContract[i]], d.RhsContract[i], f.text(1))
		}
	}
	if err := f.precision(); err != nil {
		return err
	}
	if a, ok := f.attrs.Get("algorithm").(*DotAlgorithm); ok && !f.knownAlgorithm(a) {
		return badAttr("dot algorithm not known to be supported on any hardware: %s x %s to %s with %d x %d components in %d operations, "+
			"imprecise %t",
			f.m.FormatType(a.LhsType), f.m.FormatType(a.RhsType), f.m.FormatType(a.AccumulationType), a.LhsCount, a.RhsCount,
			a.Operations, a.AllowImprecise)
	}
	return f.sized(f.operand(0), dotShape(d, lhs, rhs))
}

// dotAlgorithms are the products that some hardware has, with the numbers of operations that they may be made of.
var dotAlgorithms = map[[3]string][]int64{
	{"f16", "f16", "f16"}: {1}, {"f16", "f16", "f32"}: {1}, {"bf16", "bf16", "bf16"}: {1}, {"bf16", "bf16", "f32"}: {1, 3, 6, 9},
	{"tf32", "tf32", "f32"}: {1, 3}, {"f32", "f32", "f32"}: {1}, {"f64", "f64", "f64"}: {1},
}

// knownAlgorithm says whether some hardware has an algorithm: one of the table, or a product of two numbers of 8 bits,
// which may also be imprecise.
func (f *inference) knownAlgorithm(a *DotAlgorithm) bool {
	lhs, rhs, sum := f.m.FormatType(a.LhsType), f.m.FormatType(a.RhsType), f.m.FormatType(a.AccumulationType)
	if a.LhsCount != 1 || a.RhsCount != 1 {
		return false
	}
	if isSmallFloat(lhs) && isSmallFloat(rhs) {
		return sum == "f32" && a.Operations == 1
	}
	return !a.AllowImprecise && slices.Contains(dotAlgorithms[[3]string{lhs, rhs, sum}], a.Operations)
}

// isSmallFloat says whether a type is a float of 8 bits with a sign.
func isSmallFloat(name string) bool { return strings.HasPrefix(name, "f8") && name != "f8E8M0FNU" }

// dotShape returns batch, free lhs and free rhs dimensions in order.
func dotShape(d *DotDims, lhs, rhs *Type) []int64 {
	dims := lists.Pick(lhs.Dims, d.LhsBatch)
	for _, s := range []struct {
		t               *Type
		batch, contract []int64
	}{{lhs, d.LhsBatch, d.LhsContract}, {rhs, d.RhsBatch, d.RhsContract}} {
		for i, n := range s.t.Dims {
			if !slices.Contains(s.batch, int64(i)) && !slices.Contains(s.contract, int64(i)) {
				dims = append(dims, n)
			}
		}
	}
	return dims
}

func (f *inference) precision() error {
	list, ok := f.attrs.Get("precision_config").(ArrayAttr)
	if ok && len(list) > 2 {
		return badAttr("expects precision config to be empty or have <= 2 elements")
	}
	return nil
}

func inferDot(f *inference) error {
	lhs, rhs := f.operand(0), f.operand(1)
	if lhs.Rank() < 1 || lhs.Rank() > 2 || rhs.Rank() < 1 || rhs.Rank() > 2 {
		return badType("expected both lhs/rhs ranks to be either 1 or 2, but got '%s' and '%s'", f.text(0), f.text(1))
	}
	d := &DotDims{LhsContract: []int64{int64(lhs.Rank() - 1)}, RhsContract: []int64{0}}
	if !agree(lhs.Dims[lhs.Rank()-1], rhs.Dims[0]) {
		return badType("contracting dimension sizes must match for lhs/rhs: '%s' vs '%s'", f.text(0), f.text(1))
	}
	return f.sized(f.operand(0), dotShape(d, lhs, rhs))
}
