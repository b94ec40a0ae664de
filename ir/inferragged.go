package ir

import "slices"

// inferRaggedDot checks a product of which one operand's dimension is cut into groups of given sizes.
func inferRaggedDot(f *inference) error {
	d, ok := f.attrs.Get("ragged_dot_dimension_numbers").(*RaggedDims)
	if !ok {
		return missing("ragged_dot_dimension_numbers")
	}
	lhs, rhs, sizes := f.operand(0), f.operand(1), f.operand(2)
	if err := raggedLists(d, lhs, rhs); err != nil {
		return err
	}
	if classOf(sizes)&intElem == 0 || sizes.Rank() == 0 {
		return badType("group_sizes must be a tensor of integers, but got '%s'", f.text(2))
	}
	groups := sizes.Dims[sizes.Rank()-1]
	ragged := d.Ragged[0]
	dims := dotShape(&DotDims{LhsBatch: d.Dot.LhsBatch, RhsBatch: append(slices.Clone(d.Dot.RhsBatch), d.Group...),
		LhsContract: d.Dot.LhsContract, RhsContract: d.Dot.RhsContract}, lhs, rhs)
	contracting, batching := slices.Contains(d.Dot.LhsContract, ragged), slices.Contains(d.Dot.LhsBatch, ragged)
	switch free := !contracting && !batching; {
	case free && len(d.Group) != 1:
		return badAttr("there must be exactly one rhs group dimension when the ragged dimension is neither batching nor contracting")
	case !free && len(d.Group) != 0:
		return badAttr("there must be zero group dimensions in the rhs when the ragged dimension is batching or contracting")
	case free && !agree(rhs.Dims[d.Group[0]], groups):
		return badType("rhs group dimension is expected to have size %d, but got %d", groups, rhs.Dims[d.Group[0]])
	case contracting:
		dims = append([]int64{groups}, dims...)
	}
	return f.sized(f.operand(0), dims)
}

// raggedLists checks the lists of dimensions against both operands.
func raggedLists(d *RaggedDims, lhs, rhs *Type) error {
	if len(d.Ragged) != 1 {
		return badAttr("there must be exactly one ragged dimension in the lhs, but got %d", len(d.Ragged))
	}
	if len(d.Dot.LhsBatch) != len(d.Dot.RhsBatch) || len(d.Dot.LhsContract) != len(d.Dot.RhsContract) {
		return badAttr("lhs and rhs should have the same number of batching and of contracting dimensions")
	}
	left := append(slices.Clone(d.Dot.LhsBatch), d.Dot.LhsContract...)
	right := slices.Concat(d.Dot.RhsBatch, d.Dot.RhsContract, d.Group)
	switch {
	case !unique(left) || !unique(right):
		return badAttr("has duplicated dimension from batching, contracting and group dimensions: lhs %v, rhs %v", left, right)
	case !within(left, lhs.Rank()) || !within(d.Ragged, lhs.Rank()) || !within(right, rhs.Rank()):
		return badAttr("dimension is out of range: lhs %v and %v of rank %d, rhs %v of rank %d", left, d.Ragged, lhs.Rank(), right, rhs.Rank())
	}
	for i, l := range left {
		if !agree(lhs.Dims[l], rhs.Dims[right[i]]) {
			return badType("batching and contracting dimension sizes must match for lhs/rhs: %d vs %d", lhs.Dims[l], rhs.Dims[right[i]])
		}
	}
	return nil
}
