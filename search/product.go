package search

import (
	"slices"

	"autoshard/internal/parallel"
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
			lightestSums(p.sum.v[i*width:][:width], p.best[i*width:][:width], half, rows)
		}
	})
	return p
}

// lightestSums finds for every column of a matrix the first row c of least half[c] + rows[c][column] and that sum, where that is below the
// one that is there.
func lightestSums(least []int64, best []int32, half, rows []int64) {
	n, c := len(least), 0
	best = best[:n]
	for ; c+4 <= len(half); c += 4 {
		h0, h1, h2, h3 := half[c], half[c+1], half[c+2], half[c+3]
		r0, r1, r2, r3 := rows[c*n:][:n], rows[(c+1)*n:][:n], rows[(c+2)*n:][:n], rows[(c+3)*n:][:n]
		for b, old := range least {
			s0, s1, s2, s3 := r0[b]+h0, r1[b]+h1, r2[b]+h2, r3[b]+h3
			s := min(s0, s1, s2, s3)
			if s >= old {
				continue
			}
			least[b] = s
			switch s {
			case s0:
				best[b] = int32(c)
			case s1:
				best[b] = int32(c + 1)
			case s2:
				best[b] = int32(c + 2)
			default:
				best[b] = int32(c + 3)
			}
		}
	}
	for ; c < len(half); c++ {
		for b, cost := range rows[c*n:][:n] {
			if s := cost + half[c]; s < least[b] {
				least[b], best[b] = s, int32(c)
			}
		}
	}
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
