package ir

import (
	"slices"
	"strconv"
	"strings"
)

// raggedDims are the dimension numbers of chlo.ragged_dot.
type raggedDims struct {
	dot             DotDims
	ragged, groupOf []int64 // lhs_ragged_dimensions, rhs_group_dimensions
}

// raggedAttr is how the attribute's text begins; readers keep it as text in canonical form.
const raggedAttr = "#chlo.ragged_dot<"

// parseRagged reads #chlo.ragged_dot<name = [1, 2], …> in canonical form.
func parseRagged(text string) (d raggedDims, ok bool) {
	body, ok := strings.CutPrefix(text, raggedAttr)
	if !ok {
		return d, false
	}
	lists := map[string]*[]int64{"lhs_batching_dimensions": &d.dot.LhsBatch, "rhs_batching_dimensions": &d.dot.RhsBatch,
		"lhs_contracting_dimensions": &d.dot.LhsContract, "rhs_contracting_dimensions": &d.dot.RhsContract,
		"lhs_ragged_dimensions": &d.ragged, "rhs_group_dimensions": &d.groupOf}
	for _, field := range strings.SplitAfter(strings.TrimSuffix(body, ">"), "]") {
		name, list, found := strings.Cut(strings.TrimPrefix(field, ", "), " = [")
		if !found {
			continue
		}
		if lists[name] == nil {
			return d, false
		}
		for _, n := range strings.Split(strings.TrimSuffix(list, "]"), ", ") {
			v, err := strconv.ParseInt(n, 10, 64)
			if err != nil {
				return d, false
			}
			*lists[name] = append(*lists[name], v)
		}
	}
	return d, true
}

// inferRaggedDot checks a product of which one operand's dimension is cut into groups of given sizes.
func inferRaggedDot(f *inference) error {
	text, _ := f.attrs.Get("ragged_dot_dimension_numbers").(OpaqueAttr)
	d, ok := parseRagged(string(text))
	if !ok {
		return missing("ragged_dot_dimension_numbers")
	}
	lhs, rhs, sizes := f.operand(0), f.operand(1), f.operand(2)
	if err := raggedLists(&d, lhs, rhs); err != nil {
		return err
	}
	if classOf(sizes)&intElem == 0 || sizes.Rank() == 0 {
		return badType("group_sizes must be a tensor of integers, but got '%s'", f.text(2))
	}
	groups := sizes.Dims[sizes.Rank()-1]
	ragged := d.ragged[0]
	dims := dotShape(&DotDims{LhsBatch: d.dot.LhsBatch, RhsBatch: append(slices.Clone(d.dot.RhsBatch), d.groupOf...),
		LhsContract: d.dot.LhsContract, RhsContract: d.dot.RhsContract}, lhs, rhs)
	contracting, batching := slices.Contains(d.dot.LhsContract, ragged), slices.Contains(d.dot.LhsBatch, ragged)
	switch free := !contracting && !batching; {
	case free && len(d.groupOf) != 1:
		return badAttr("there must be exactly one rhs group dimension when the ragged dimension is neither batching nor contracting")
	case !free && len(d.groupOf) != 0:
		return badAttr("there must be zero group dimensions in the rhs when the ragged dimension is batching or contracting")
	case free && !agree(rhs.Dims[d.groupOf[0]], groups):
		return badType("rhs group dimension is expected to have size %d, but got %d", groups, rhs.Dims[d.groupOf[0]])
	case contracting:
		dims = append([]int64{groups}, dims...)
	}
	return f.sized(f.operand(0), dims)
}

// raggedLists checks the lists of dimensions against both operands.
func raggedLists(d *raggedDims, lhs, rhs *Type) error {
	if len(d.ragged) != 1 {
		return badAttr("there must be exactly one ragged dimension in the lhs, but got %d", len(d.ragged))
	}
	if len(d.dot.LhsBatch) != len(d.dot.RhsBatch) || len(d.dot.LhsContract) != len(d.dot.RhsContract) {
		return badAttr("lhs and rhs should have the same number of batching and of contracting dimensions")
	}
	left := append(slices.Clone(d.dot.LhsBatch), d.dot.LhsContract...)
	right := slices.Concat(d.dot.RhsBatch, d.dot.RhsContract, d.groupOf)
	switch {
	case !unique(left) || !unique(right):
		return badAttr("has duplicated dimension from batching, contracting and group dimensions: lhs %v, rhs %v", left, right)
	case !within(left, lhs.Rank()) || !within(d.ragged, lhs.Rank()) || !within(right, rhs.Rank()):
		return badAttr("dimension is out of range: lhs %v and %v of rank %d, rhs %v of rank %d", left, d.ragged, lhs.Rank(), right, rhs.Rank())
	}
	for i, l := range left {
		if !agree(lhs.Dims[l], rhs.Dims[right[i]]) {
			return badType("batching and contracting dimension sizes must match for lhs/rhs: %d vs %d", lhs.Dims[l], rhs.Dims[right[i]])
		}
	}
	return nil
}
