// Package blocks says which device holds which block of a sharded tensor, and how large the blocks are, from a sharding in the form of any
// system that package ir/specfmt reads:
//
//	a, err := blocks.Show(&blocks.Request{Text: `[{"x"}, {"y":(2)2}] : f32[4,8]`, Mesh: axes})
//	a.Place.Blocks[0].Holders() // 0,2
package blocks

import (
	"slices"
	"strconv"
	"strings"

	"autoshard/internal/lists"
	"autoshard/ir"
	"autoshard/ir/dtype"
	"autoshard/ir/specfmt"
	"autoshard/subaxis"
)

// Place is where the blocks of a tensor lie.
type Place struct {
	Spec   string  `json:"spec"`   // in autoshard's notation
	Block  string  `json:"block"`  // the type of a block
	Shards []int64 `json:"shards"` // into how many parts each dimension is cut
	Blocks []Block `json:"blocks"` // in row-major order
}

// Block is a part of a tensor, and who holds it.
type Block struct {
	Ranges [][2]int64 `json:"ranges"` // per dimension the first index, and the one behind the last
	// Copies are the devices that hold it. Each is one device, or several that hold summands.
	Copies [][]int64 `json:"copies"`
}

// Of returns where the blocks of a tensor lie. Where axes do not divide a dimension, its last blocks have fewer elements than others, or
// none.
func Of(mesh *ir.MeshDecl, s *ir.Sharding, element dtype.Type, shape []int64) Place {
	local := s.LocalDims(shape)
	p := Place{Spec: notation(mesh, s), Block: dtype.Format(element, local)}
	p.Shards = lists.Of(len(s.Dims), s.Shards)
	p.Blocks = make([]Block, lists.Product(p.Shards))
	for _, devices := range mesh.Groups(s.Unreduced) {
		at := blockOf(&mesh.Mesh, s, devices[0])
		b := &p.Blocks[at]
		b.Ranges = rangesOf(&mesh.Mesh, s, shape, local, devices[0])
		b.Copies = append(b.Copies, lists.Map(devices, mesh.DeviceID))
	}
	return p
}

func notation(mesh *ir.MeshDecl, s *ir.Sharding) string {
	m := ir.NewModule()
	of := *s
	of.Mesh = m.AddMesh(mesh.Name, mesh.Mesh, nil, 0)
	return specfmt.Notation(m, m.InternSharding(of))
}

// blockOf returns the number of the block of a device, in row-major order.
func blockOf(mesh *subaxis.Mesh, s *ir.Sharding, device int64) int64 {
	at := int64(0)
	for _, d := range s.Dims {
		at = at*subaxis.Product(d.Axes) + mesh.ShardIndex(device, d.Axes)
	}
	return at
}

// rangesOf returns what of each dimension is in the block of a device.
func rangesOf(mesh *subaxis.Mesh, s *ir.Sharding, shape, local []int64, device int64) [][2]int64 {
	return lists.Of(len(shape), func(d int) [2]int64 {
		if d >= len(s.Dims) { // a mesh that stands for one device, which holds all
			return [2]int64{0, shape[d]}
		}
		i := mesh.ShardIndex(device, s.Dims[d].Axes)
		return [2]int64{min(i*local[d], shape[d]), min((i+1)*local[d], shape[d])}
	})
}

// Cut returns the dimensions that are cut.
func (p *Place) Cut() (dims []int) {
	for d, n := range p.Shards {
		if n > 1 {
			dims = append(dims, d)
		}
	}
	return dims
}

// Panel is the part of a picture in which blocks differ in two dimensions at most.
type Panel struct {
	Rows [][]Block // blocks of one row are neighbours along the dimension Column
	// Row and Column are the dimensions along which blocks are neighbours, -1 where they are not cut; Others are the dimensions that are cut
	// besides, all blocks of the panel are at the same place of.
	Row, Column int
	Others      []int
}

// Panels returns the blocks as people draw them: a grid of the last two dimensions that are cut, one for each place in the others.
// Where only one is cut, blocks stand side by side if it is the last of the tensor, otherwise below each other.
func (p *Place) Panels() []Panel {
	one := Panel{Row: -1, Column: -1}
	switch cut := p.Cut(); {
	case len(cut) >= 2:
		one.Others, one.Row, one.Column = cut[:len(cut)-2], cut[len(cut)-2], cut[len(cut)-1]
	case len(cut) == 1 && cut[0] == len(p.Shards)-1:
		one.Column = cut[0]
	case len(cut) == 1:
		one.Row = cut[0]
	}
	columns, rows := p.places(one.Column), p.places(one.Row)
	var panels []Panel
	for grid := range slices.Chunk(p.Blocks, rows*columns) {
		panel := one
		panel.Rows = slices.Collect(slices.Chunk(grid, columns))
		panels = append(panels, panel)
	}
	return panels
}

// places returns into how many parts a dimension is cut, 1 where there is none.
func (p *Place) places(dim int) int {
	if dim < 0 {
		return 1
	}
	return int(p.Shards[dim])
}

// mostHolders bounds the devices that are named for one block.
const mostHolders = 16

// Holders names the devices that hold a block: 0-3 of four copies, 0+4 of two devices whose summands make one.
func (b *Block) Holders() string {
	if len(b.Copies[0]) == 1 {
		holders := lists.Map(b.Copies, func(c []int64) int { return int(c[0]) })
		slices.Sort(holders)
		return lists.Runs(holders, mostHolders)
	}
	sum := func(c []int64) string {
		return strings.Join(lists.Map(c, func(d int64) string { return strconv.FormatInt(d, 10) }), "+")
	}
	return strings.Join(lists.Map(b.Copies, sum), ",")
}

// Span returns what of a dimension is in the block, as Python slices: 2:4.
func (b *Block) Span(dim int) string {
	return strconv.FormatInt(b.Ranges[dim][0], 10) + ":" + strconv.FormatInt(b.Ranges[dim][1], 10)
}
