package estimate

import (
	"slices"

	"autoshard/collectives"
	"autoshard/cost"
	"autoshard/ir"
	"autoshard/ir/dtype"
	"autoshard/localform"
	"autoshard/subaxis"
)

// Fetching is what it takes to bring an op what it needs of other blocks, where its dimensions are cut along which elements move, or
// partial results of others.
type Fetching struct {
	Sent     int64     // picoseconds of permutes and gathers
	Merged   int64     // of those, what gathers may save that are sent as one
	Copied   int64     // picoseconds of taking parts of blocks and joining them
	Operands [][]int64 // the local shapes that the op itself sees then
	Any      bool      // whether there is such a dimension
	Done     bool      // whether nothing is left to do for the op

	elements []dtype.Type // of what was gathered
}

// Fetch prices it for an op on blocks of the given local shapes. at returns the layout of an operand, or of the first result, which
// is -1.
func (md *Model) Fetch(m *ir.Module, op ir.OpID, at func(operand int) *collectives.Layout, operands [][]int64) Fetching {
	f := Fetching{Operands: operands}
	switch m.Kind(op) {
	case ir.OpDynamicUpdateSlice:
		md.own(m, op, at(0), &f)
	case ir.OpDynamicSlice:
		md.seek(m, op, at(0), &f)
	case ir.OpGather:
		md.surround(m, op, at(0), &f)
	case ir.OpScatter:
		md.put(m, op, at(0), &f)
	case ir.OpChloTopK:
		md.search(m, op, at(0), &f)
	case ir.OpSort:
		md.sort(m, op, at(0), &f)
	case ir.OpReduce:
		md.exchange(m, op, at(0), at(-1).LocalDims(m.Shape(m.Result(op, 0))), &f)
	default:
		if md.run(m, op, at(-1), &f); !f.Any {
			md.neighbours(m, op, at, &f)
		}
	}
	return f
}

// neighbours prices what an op needs of other blocks along the dimensions in which elements move.
func (md *Model) neighbours(m *ir.Module, op ir.OpID, at func(operand int) *collectives.Layout, f *Fetching) {
	var fetched []localform.Piece
	for _, d := range localform.Dims(m, op, m.Shape) {
		operand, dim := d.Cut()
		axes := at(operand).Dims[dim]
		if len(axes) == 0 {
			continue
		}
		if !f.Any {
			f.Any, f.Operands = true, slices.Clone(f.Operands)
		}
		k := subaxis.Product(axes)
		pieces := d.Pieces(k)
		fetched = append(fetched, pieces...)
		for i, x := range d.Exchanges(k) {
			p := &pieces[i]
			dims := slices.Clone(f.Operands[p.Operand])
			dims[p.Dim] = 1
			row := product(dims) * int64(m.ValueType(m.Operand(op, p.Operand)).DType.Bytes())
			for r := range x.Rounds {
				f.Sent += md.permute(axes, x.Rounds[r].Pairs, x.Rounds[r].Rows*row)
			}
			for _, rows := range append(x.Copies(), p.Copies()...) {
				f.Copied += md.copied(rows * row)
			}
			dims[p.Dim] = p.Local()
			f.Operands[p.Operand] = dims
		}
	}
	if m.Kind(op) == ir.OpSelectAndScatter {
		md.keep(m, op, at(-1), f)
	}
	if f.Any {
		f.Done = done(m, op, fetched, f.Operands[0], at(-1).LocalDims(m.Shape(m.Result(op, 0))))
	}
}

// keep prices what a device does to keep its block of what it scattered, one dimension after the other.
func (md *Model) keep(m *ir.Module, op ir.OpID, to *collectives.Layout, f *Fetching) {
	dims, bytes := slices.Clone(f.Operands[0]), int64(m.ValueType(m.Result(op, 0)).DType.Bytes())
	for _, d := range localform.Dims(m, op, m.Shape) {
		if len(to.Dims[d.Out]) == 0 {
			continue
		}
		kept := d.Kept(subaxis.Product(to.Dims[d.Out]))
		dims[d.Out] = 1
		for _, rows := range kept.Copies() {
			f.Copied += md.copied(rows * product(dims) * bytes)
		}
		dims[d.Out] = kept.Rows
	}
}

// own prices what a device does to write what of an update falls into its own block: it takes the elements there and moves the update
// to where it is in them. It writes no more than the block holds.
func (md *Model) own(m *ir.Module, op ir.OpID, to *collectives.Layout, f *Fetching) {
	dims, block := slices.Clone(f.Operands[1]), f.Operands[0]
	bytes := func() int64 { return product(dims) * int64(m.ValueType(m.Operand(op, 1)).DType.Bytes()) }
	for d, whole := range m.Shape(m.Operand(op, 0)) {
		if len(to.Dims[d]) == 0 || m.Shape(m.Operand(op, 1))[d] == whole {
			continue
		}
		f.Any = true
		if dims[d] > 1 {
			given := bytes()
			dims[d] = min(dims[d], block[d])
			f.Copied += md.copied(2*given+2*bytes()) + md.copied(2*bytes())
		}
	}
	if f.Any {
		f.Copied += md.taken(m, op, block, bytes()) + md.copied(3*bytes())
		f.Operands = slices.Clone(f.Operands)
		f.Operands[1] = dims
	}
}

// seek prices what a device does to find in its own block what there is of a slice: it takes that, and moves it to where it is in the
// slice, among zeros.
func (md *Model) seek(m *ir.Module, op ir.OpID, from *collectives.Layout, f *Fetching) {
	result, block := m.Shape(m.Result(op, 0)), f.Operands[0]
	dims := slices.Clone(block)
	bytes := func() int64 { return product(dims) * int64(m.ValueType(m.Result(op, 0)).DType.Bytes()) }
	var cut []int
	for d, whole := range m.Shape(m.Operand(op, 0)) {
		if result[d] == whole {
			continue
		}
		dims[d] = min(result[d], block[d])
		if len(from.Dims[d]) > 0 {
			cut = append(cut, d)
		}
	}
	if len(cut) == 0 {
		return
	}
	f.Any, f.Done, f.Copied = true, true, md.taken(m, op, block, bytes())
	for _, d := range cut {
		if result[d] == 1 {
			f.Copied += md.copied(2 * bytes())
			continue
		}
		taken := bytes()
		dims[d] += 2 * result[d]
		f.Copied += md.copied(taken + bytes())
		dims[d] = result[d]
		f.Copied += md.copied(2 * bytes())
	}
}

// put prices what a device does to scatter windows into all that they may touch beside its block: it writes its block there, and takes it
// out again.
func (md *Model) put(m *ir.Module, op ir.OpID, to *collectives.Layout, f *Fetching) {
	for d, rows := range localform.Scattered(m, op, m.Shape) {
		if len(to.Dims[d]) == 0 || rows == 0 {
			continue
		}
		f.Any, f.Operands = true, slices.Clone(f.Operands)
		blocks := localform.Blocks{N: m.Shape(m.Operand(op, 0))[d], K: subaxis.Product(to.Dims[d])}
		span := localform.Around(blocks, rows).Rows
		for i, v := range m.ResultValues(op) {
			dims := slices.Clone(f.Operands[i])
			row := product(dims) / dims[d] * int64(m.ValueType(v).DType.Bytes())
			f.Copied += 2 * md.copied(2*blocks.Size()*row)
			dims[d] = span
			f.Operands[i] = dims
		}
	}
}

// taken prices a dynamic slice of a block of an op's first operand.
func (md *Model) taken(m *ir.Module, op ir.OpID, block []int64, bytes int64) int64 {
	w := cost.Work{DType: elementType(m, op), FLOPs: float64(product(block)), Bytes: 2 * float64(bytes)}
	return cost.Picoseconds(md.hardware.Op(w, md.topology.Options()).Seconds)
}

// copied prices moving bytes to and from memory.
func (md *Model) copied(bytes int64) int64 {
	return cost.Picoseconds(md.hardware.Op(cost.Work{Bytes: float64(bytes)}, md.topology.Options()).Seconds)
}

// done says whether an op has what it makes once it has what it needs: slices that kept the shape only moved elements, and pads that have
// nothing left to put around or between them.
func done(m *ir.Module, op ir.OpID, fetched []localform.Piece, operand, result []int64) bool {
	switch m.Kind(op) {
	case ir.OpConcatenate:
		return true
	case ir.OpSlice:
		return slices.Equal(operand, result)
	case ir.OpPad:
		p := localform.PaddingOf(m, op, fetched)
		return p.Idle()
	}
	return false
}

// permute prices a permute between members along axes, the same in all groups, of which each that sends, sends some bytes.
func (md *Model) permute(axes []subaxis.Ref, perm [][2]int64, bytes int64) int64 {
	return cost.Picoseconds(md.topology.Permutation(pairs(&md.mesh, axes, perm), bytes).Seconds)
}

// pairs returns the transfers of a permute between members along axes in all groups.
func pairs(mesh *subaxis.Mesh, axes []subaxis.Ref, perm [][2]int64) (out []cost.Pair) {
	for _, group := range mesh.Groups(axes) {
		for _, p := range perm {
			out = append(out, cost.Pair{Source: group[p[0]], Target: group[p[1]]})
		}
	}
	return out
}
