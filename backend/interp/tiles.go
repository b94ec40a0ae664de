package interp

import (
	"slices"

	"autoshard/backend/tensor"
	"autoshard/internal/lists"
)

// mostTile is how many elements a tile has at most, unless those that are folded into one are more. Tests have less.
var mostTile = int64(16384)

// tiling cuts elements that lie in row-major order into tiles: some rows along one dimension, with all of the dimensions behind it.
type tiling struct {
	space  []int64
	along  int
	rows   int64 // of a tile
	last   int64 // rows of the last tile along the dimension
	ranges int64 // tiles along it
	tiles  int64
	shapes [2][]int64 // of a tile, and of one with the last rows
}

// newTiling cuts a space, but for dimensions from a given one on.
func newTiling(space []int64, uncut int) tiling {
	t := tiling{space: space}
	behind := lists.Product(space[1:])
	for t.along < uncut-1 && behind > mostTile {
		t.along++
		behind /= space[t.along]
	}
	n := space[t.along]
	t.rows = min(n, max(1, mostTile/behind))
	t.ranges = (n + t.rows - 1) / t.rows
	t.last = n - (t.ranges-1)*t.rows
	t.tiles = lists.Product(space[:t.along]) * t.ranges
	t.shapes = t.view(space, lists.Range[int64](len(space))).shapes
	return t
}

// tile is one of a tiling.
type tile struct {
	from  []int64 // where it begins along the dimensions up to that which is cut
	short int     // 1 where it has the last rows
	shape []int64
}

// at makes a tile the n-th of a tiling.
func (t *tiling) at(n int64, out *tile) {
	out.from = append(out.from[:0], t.space[:t.along+1]...)
	out.from[t.along], n = n%t.ranges*t.rows, n/t.ranges
	for d := t.along - 1; d >= 0; d-- {
		out.from[d], n = n%t.space[d], n/t.space[d]
	}
	out.short = 0
	if out.from[t.along]+t.rows > t.space[t.along] {
		out.short = 1
	}
	out.shape = t.shapes[out.short]
}

// view says what of a tensor belongs to a tile: elements that lie one behind the other.
type view struct {
	step   []int64 // elements from one to the next along each dimension of the space up to that which is cut
	shapes [2][]int64
}

// view returns the view of a tensor whose dimensions are some of those of the space, in order. It may have one row where the space has
// more.
func (t *tiling) view(shape, at []int64) view {
	v := view{make([]int64, t.along+1), [2][]int64{slices.Clone(shape), slices.Clone(shape)}}
	stride := int64(1)
	for k, d := range slices.Backward(at) {
		if d := int(d); d <= t.along && shape[k] == t.space[d] {
			v.step[d] = stride
			v.shapes[0][k], v.shapes[1][k] = 1, 1
			if d == t.along {
				v.shapes[0][k], v.shapes[1][k] = t.rows, t.last
			}
		}
		stride *= shape[k]
	}
	return v
}

// of returns what of a tensor belongs to a tile.
func (v *view) of(x tensor.Tensor, t *tile) tensor.Tensor {
	from := int64(0)
	for d, step := range v.step {
		from += step * t.from[d]
	}
	x.Shape = v.shapes[t.short]
	width := int64(x.DType.Bytes())
	to := from + lists.Product(x.Shape)
	x.Data = x.Data[from*width : to*width : to*width]
	return x
}
