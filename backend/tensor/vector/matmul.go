package vector

import (
	"sync"
	"unsafe"
)

// Matrix is a matrix in a slice: element i, j is Data[i*Row+j*Column].
type Matrix[T any] struct {
	Data        []T
	Row, Column int
}

// number lists the elements of products.
type number interface{ float32 | float64 | int32 }

// The sizes of the tile of a result that is computed at a time.
const (
	tileRows = 6
	tileCols = 16
)

// Matmul fills c, of m rows of n elements one after the other, with the product of a, m by k, and b, k by n. Each element is the sum of its
// k products in order, rounded after each of them.
func Matmul[T number](c []T, a, b Matrix[T], m, k, n int) {
	if m == 0 || n == 0 {
		return
	}
	if !wide || k == 0 {
		plainMatmul(c, a, b, m, k, n)
		return
	}
	g := gemm[T]{c: c, a: a, m: m, k: k, n: n}
	defer g.giveBack()
	for j := 0; j < n; j += tileCols {
		at := j
		if n >= tileCols { // the last columns are computed again, rather than fewer
			at = min(j, n-tileCols)
		}
		g.columns(b, at)
	}
}

// gemm is a product that is computed by tiles.
type gemm[T number] struct {
	c       []T
	a       Matrix[T]
	m, k, n int
	scratch *[]uint64
	panel   []T // columns of b
	tile    []T // a tile that lies partly outside of c
}

// scratches are memory of products that have ended.
var scratches = sync.Pool{New: func() any { return new([]uint64) }}

// takeScratch makes the panel and the tile.
func (g *gemm[T]) takeScratch() {
	if g.scratch != nil {
		return
	}
	g.scratch = scratches.Get().(*[]uint64)
	panel, tile := g.k*tileCols, (g.m+tileRows)*tileCols
	if len(*g.scratch) < panel+tile {
		*g.scratch = make([]uint64, panel+tile) // of which elements of 32 bits take half
	}
	all := unsafe.Slice((*T)(unsafe.Pointer(unsafe.SliceData(*g.scratch))), panel+tile)
	g.panel, g.tile = all[:panel], all[panel:]
}

func (g *gemm[T]) giveBack() {
	if g.scratch != nil {
		scratches.Put(g.scratch)
	}
}

// columns computes the columns of the result from j on that a tile has.
func (g *gemm[T]) columns(b Matrix[T], j int) {
	width := min(tileCols, g.n-j)
	from, step := b.Data[j*b.Column:], b.Row
	if b.Column != 1 || width < tileCols || g.m >= 8*tileRows && b.Row > 256 {
		from, step = g.pack(from, b, width), tileCols
	}
	c, row := g.c[j:], g.n
	if width < tileCols {
		g.takeScratch()
		c, row = g.tile, tileCols
	}
	i := 0
	for ; i+tileRows <= g.m; i += tileRows {
		tile6(g.k, g.a.Data[i*g.a.Row:], g.a.Row, g.a.Column, from, step, c[i*row:], row)
	}
	switch rest := g.m - i; {
	case rest >= 3 && g.m >= tileRows:
		i = g.m - tileRows
		tile6(g.k, g.a.Data[i*g.a.Row:], g.a.Row, g.a.Column, from, step, c[i*row:], row)
	default:
		for ; i < g.m; i++ {
			tile1(g.k, g.a.Data[i*g.a.Row:], g.a.Column, from, step, c[i*row:])
		}
	}
	if width < tileCols {
		for i := range g.m {
			copy(g.c[i*g.n+j:][:width], g.tile[i*tileCols:])
		}
	}
}

// pack returns columns of b one row after the other, with zeros behind the last of them.
func (g *gemm[T]) pack(from []T, b Matrix[T], width int) []T {
	g.takeScratch()
	for p := range g.k {
		row := g.panel[p*tileCols:][:tileCols]
		clear(row[width:])
		row = row[:width]
		if b.Column == 1 {
			copy(row, from[p*b.Row:])
			continue
		}
		at := p * b.Row
		for j := range row {
			row[j] = from[at]
			at += b.Column
		}
	}
	return g.panel
}

// plainMatmul is Matmul in Go.
func plainMatmul[T number](c []T, a, b Matrix[T], m, k, n int) {
	for i := range m {
		row := c[i*n:][:n]
		clear(row)
		for p := range k {
			x := a.Data[i*a.Row+p*a.Column]
			at := p * b.Row
			for j := range row {
				row[j] += T(x * b.Data[at]) // the conversion keeps the product from being fused with the sum
				at += b.Column
			}
		}
	}
}
