package search

import (
	"slices"

	"autoshard/internal/parallel"
	"autoshard/search/minplus"
)

// operands are what the min-plus product of two matrices through a node depends on. Value c of the node, or class of values, costs
// least[c]; it has row one[c] in the first matrix and row two[c] in the second. All are offsets in the matrices.
type operands struct {
	first, second []int64
	one, two      []int
	left, right   []int // columns of the product's rows and columns
	least         []int64
}

// product is the cheapest value of the node for every row and column: its cost and which it is.
type product struct {
	of   *operands
	sum  *matrix
	best []int32
}

// products remembers products by their operands: the layers of a model are alike. Used for look-ups only.
type products map[uint64][]*product

// multiply returns the product of f.
func (w *work) multiply(f *operands) *product {
	h := f.hash()
	for _, p := range w.products[h] {
		if p.of.equal(f) {
			return p
		}
	}
	w.spent += int64(len(f.left) * len(f.right) * len(f.one))
	p := f.product()
	if w.products == nil {
		w.products = products{}
	}
	w.products[h] = append(w.products[h], p)
	return p
}

// rowWork is how many entries a core visits at a time.
const rowWork = 1 << 15

func (f *operands) product() *product {
	width := len(f.right)
	n := len(f.left) * width
	p := &product{of: f, sum: &matrix{int32(width), slices.Repeat([]int64{Inf}, n)}, best: make([]int32, n)}
	rows := make([]int64, 0, len(f.two)*width)
	for _, row := range f.two {
		for _, right := range f.right {
			rows = append(rows, f.second[row+right])
		}
	}
	parallel.Ranges(len(f.left), 1+rowWork/len(rows), func(from, to int) {
		half := make([]int64, len(f.one))
		for i := from; i < to; i++ {
			for c, row := range f.one {
				half[c] = addCost(f.first[row+f.left[i]], f.least[c])
			}
			minplus.Sums(p.sum.v[i*width:][:width], p.best[i*width:][:width], half, rows)
		}
	})
	return p
}

func (f *operands) equal(g *operands) bool {
	return &f.first[0] == &g.first[0] && &f.second[0] == &g.second[0] && slices.Equal(f.one, g.one) && slices.Equal(f.two, g.two) &&
		slices.Equal(f.left, g.left) && slices.Equal(f.right, g.right) && slices.Equal(f.least, g.least)
}

func (f *operands) hash() uint64 {
	h := mix(uint64(len(f.left))<<32 | uint64(len(f.right)))
	for _, offsets := range [][]int{f.one, f.two, f.left, f.right} {
		for _, at := range offsets {
			h = mix(h ^ uint64(at))
		}
	}
	for _, cost := range f.least {
		h = mix(h ^ uint64(cost))
	}
	return h
}
