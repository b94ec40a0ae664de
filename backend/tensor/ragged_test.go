package tensor

import (
	"slices"
	"testing"

	"pgregory.net/rapid"

	"autoshard/internal/lists"
	"autoshard/ir/dtype"
)

// raggedShapes are forms of products, with the sizes of dimensions by letter: b batching, m and o of lhs alone, k and j contracting, n of
// rhs alone, g groups.
var raggedShapes = []struct {
	name     string
	lhs, rhs string
	ragged   byte
	out      string
}{
	{"rows", "mk", "gkn", 'm', "mn"},
	{"rows with the group last", "mk", "nkg", 'm', "mn"},
	{"batched rows", "bmk", "gbkn", 'm', "bmn"},
	{"rows of rows", "omk", "kgn", 'm', "omn"},
	{"contracting", "mk", "kn", 'k', "gmn"},
	{"batched contracting", "kbm", "bnk", 'k', "gbmn"},
	{"contracting two", "mjk", "kjn", 'k', "gmn"},
	{"batching", "bmk", "bkn", 'b', "bmn"},
}

// A product with groups is the sums of its definition, in every mode, with one list of sizes and with many.
func TestRaggedDotAgainstDefinition(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		form := rapid.SampledFrom(raggedShapes).Draw(t, "form")
		size := map[byte]int64{}
		for _, letter := range []byte("bmokjng") {
			size[letter] = rapid.Int64Range(1, 5).Draw(t, string(letter))
		}
		of := func(letters string) []int64 { return lists.Map([]byte(letters), func(l byte) int64 { return size[l] }) }
		lhs, rhs := drawTensor(t, of(form.lhs)), drawTensor(t, of(form.rhs))
		at := func(letters, wanted string) (dims []int64) {
			for _, l := range []byte(wanted) {
				if i := slices.Index([]byte(letters), l); i >= 0 {
					dims = append(dims, int64(i))
				}
			}
			return dims
		}
		contract := string(lists.Filter([]byte(form.lhs), func(l byte) bool { return l == 'k' || l == 'j' }))
		d := RaggedDims{Ragged: at(form.lhs, string(form.ragged))[0], Group: -1, DotDims: DotDims{
			LHSBatch: at(form.lhs, "b"), RHSBatch: at(form.rhs, "b"), LHSContract: at(form.lhs, contract), RHSContract: at(form.rhs, contract)}}
		if group := at(form.rhs, "g"); group != nil {
			d.Group = group[0]
		}
		prefix := lists.Map(d.Prefix(lhs.Rank()), func(dim int64) byte { return form.lhs[dim] })
		if rapid.Bool().Draw(t, "one list") {
			prefix = nil
		}
		counts := append(of(string(prefix)), size['g'])
		n := int(lists.Product(counts))
		sizes := FromInts(dtype.I32, counts, rapid.SliceOfN(rapid.Int64Range(0, 3), n, n).Draw(t, "sizes")...)
		want := raggedSums(lhs, rhs, sizes, form.lhs, form.rhs, form.out, string(prefix), form.ragged, of(form.out))
		if got := RaggedDot(lhs, rhs, sizes, d, dtype.I32); !got.Equal(want) {
			t.Fatalf("%s: %v, want %v", form.name, got, want)
		}
	})
}

// raggedSums adds up the products of all pairs of elements whose indices agree, and whose group is that of the place.
func raggedSums(lhs, rhs, sizes Tensor, left, right, out, prefix string, ragged byte, shape []int64) Tensor {
	sums := make([]int64, lists.Product(shape))
	index := map[byte]int64{}
	for x := newCounter(lhs.Shape); ; {
		for i, l := range []byte(left) {
			index[l] = x.index[i]
		}
		row := int64(0)
		for i, l := range []byte(prefix) {
			row = row*sizes.Shape[i] + index[l]
		}
		groups := sizes.Shape[len(prefix)]
		group, end := int64(-1), int64(0)
		for g := range groups {
			if end += sizes.Ints()[row*groups+g]; group < 0 && index[ragged] < end {
				group = g
			}
		}
		for y := newCounter(rhs.Shape); ; {
			agree := group >= 0 || ragged == 'b'
			for i, l := range []byte(right) {
				if l == 'n' {
					index['n'] = y.index[i]
				} else {
					agree = agree && y.index[i] == map[bool]int64{true: group, false: index[l]}[l == 'g']
				}
			}
			place := int64(0)
			for i, l := range []byte(out) {
				place = place*shape[i] + map[bool]int64{true: group, false: index[l]}[l == 'g']
			}
			if agree {
				sums[place] += lhs.Ints()[x.dot(strides(lhs.Shape))] * rhs.Ints()[y.dot(strides(rhs.Shape))]
			}
			if !y.next() {
				break
			}
		}
		if !x.next() {
			return FromInts(dtype.I32, shape, sums...)
		}
	}
}
