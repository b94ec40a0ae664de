package emit

import (
	"slices"
	"strconv"

	"autoshard/internal/diag"
	"autoshard/shardmap"
	"autoshard/subaxis"
)

// mesh is a mesh whose axes are cut into pieces, so that every part in use is a list of whole pieces: JAX names whole
// axes only (specification: shardmap.md section 8).
type mesh struct {
	subaxis.Mesh
	cuts   [][]int64 // of each axis: the pre-sizes at which its pieces begin, and its size
	pieces []subaxis.Axis
	first  []int // the number of each axis's first piece
}

// newMesh cuts a mesh for the inputs and outputs of a program, which have to be said in PartitionSpecs.
func newMesh(p *shardmap.Program) (*mesh, error) {
	x := &mesh{Mesh: p.Mesh, cuts: make([][]int64, len(p.Mesh.Axes))}
	for i, a := range p.Mesh.Axes {
		x.cuts[i] = []int64{1, a.Size}
	}
	if err := x.addPorts(p, "input", p.Inputs); err != nil {
		return nil, err
	}
	return x, x.addPorts(p, "output", p.Outputs)
}

func (x *mesh) addPorts(p *shardmap.Program, what string, ports []shardmap.Port) error {
	pos := p.Module.OpPos(p.Module.Func(p.Main).Op)
	for i := range ports {
		if partial := ports[i].Layout.Unreduced; len(partial) > 0 {
			return diag.Unsupported(diag.NotSupported, pos, "%s %d holds partial sums along %s, which shard_map has no specification for: add an all-reduce",
				what, i, x.FormatList(partial))
		}
		for _, refs := range ports[i].Layout.Dims {
			if !x.cut(refs) {
				return diag.Unsupported(diag.NotSupported, pos,
					"%s %d is cut along %s, which has no common refinement with the parts of axes that others are cut along: JAX names whole axes of one mesh",
					what, i, x.FormatList(refs))
			}
		}
	}
	return nil
}

// cut makes refs lists of whole pieces. It returns false, and changes nothing, where that is at odds with earlier cuts.
func (x *mesh) cut(refs []subaxis.Ref) bool {
	cuts := slices.Clone(x.cuts)
	for _, r := range refs {
		c := append(slices.Clone(cuts[r.Axis]), int64(r.Pre), r.Next())
		slices.Sort(c)
		c = slices.Compact(c)
		for i := 1; i < len(c); i++ {
			if c[i]%c[i-1] != 0 {
				return false
			}
		}
		cuts[r.Axis] = c
	}
	x.cuts = cuts
	return true
}

// name gives the pieces their names: x where the axis is whole, otherwise x_0, x_1, from major to minor.
func (x *mesh) name() {
	taken := map[string]bool{}
	for _, a := range x.Axes {
		taken[a.Name] = true
	}
	for i, a := range x.Axes {
		x.first = append(x.first, len(x.pieces))
		n := len(x.cuts[i]) - 1
		if n <= 1 {
			x.pieces = append(x.pieces, a)
			continue
		}
		for j := range n {
			name := a.Name + "_" + strconv.Itoa(j)
			for taken[name] {
				name += "_"
			}
			taken[name] = true
			x.pieces = append(x.pieces, subaxis.Axis{Name: name, Size: x.cuts[i][j+1] / x.cuts[i][j]})
		}
	}
}

// numbersOf returns the numbers of the pieces that refs consist of, in order.
func (x *mesh) numbersOf(refs []subaxis.Ref) []int {
	var out []int
	for _, r := range refs {
		c := x.cuts[r.Axis]
		if len(c) == 1 { // an axis of size 1
			out = append(out, x.first[r.Axis])
			continue
		}
		for j := range len(c) - 1 {
			if c[j] >= int64(r.Pre) && c[j+1] <= r.Next() {
				out = append(out, x.first[r.Axis]+j)
			}
		}
	}
	return out
}

// axes returns refs as an axis argument: one name, or a tuple of names.
func (x *mesh) axes(refs []subaxis.Ref) *expr { return x.piecesExpr(x.numbersOf(refs)) }

// all returns the names of all pieces in order: the index along them is the position in the mesh's list of devices.
func (x *mesh) all() *expr {
	numbers := make([]int, len(x.pieces))
	for i := range numbers {
		numbers[i] = i
	}
	return x.piecesExpr(numbers)
}

func (x *mesh) piecesExpr(numbers []int) *expr {
	names := x.pieceNames(numbers)
	if len(names) == 1 {
		return names[0]
	}
	return tuple(names...)
}

// pieceNames returns names of pieces by their numbers.
func (x *mesh) pieceNames(numbers []int) []*expr {
	names := make([]*expr, len(numbers))
	for i, n := range numbers {
		names[i] = atom(quoted(x.pieces[n].Name))
	}
	return names
}

// spec returns a PartitionSpec.
func (x *mesh) spec(dims [][]subaxis.Ref) *expr {
	var entries []*expr
	for _, refs := range dims {
		if len(refs) == 0 {
			entries = append(entries, atom("None"))
		} else {
			entries = append(entries, x.axes(refs))
		}
	}
	for len(entries) > 0 && entries[len(entries)-1].head == "None" {
		entries = entries[:len(entries)-1]
	}
	return call("P", entries...)
}

// logical returns the position in the mesh's list of each device id.
func (x *mesh) logical() map[int64]int64 {
	out := map[int64]int64{}
	for i := range x.Devices() {
		out[x.DeviceID(i)] = i
	}
	return out
}

// refsOf returns the list of axes and parts along which every device has the index that the table says, by logical
// device. It returns false for other tables.
func (x *mesh) refsOf(table []int64) ([]subaxis.Ref, bool) {
	type digit struct {
		ref    subaxis.Ref
		weight int64
	}
	var digits []digit
	stride := x.Devices()
	for a, axis := range x.Axes {
		stride /= axis.Size
		at := func(c int64) int64 { return table[c*stride] }
		for s, found := int64(1), int64(1); s < axis.Size; {
			w := at(s)
			if w <= 0 {
				s += found
				continue
			}
			k := int64(1)
			for k*s < axis.Size && at(k*s) == k*w {
				k++
			}
			if axis.Size%(s*k) != 0 {
				return nil, false
			}
			digits = append(digits, digit{subaxis.Ref{Axis: int32(a), Pre: int32(axis.Size / (s * k)), Size: int32(k)}, w})
			s *= k
			found = s
		}
	}
	slices.SortStableFunc(digits, func(a, b digit) int { return int(b.weight - a.weight) })
	refs := make([]subaxis.Ref, len(digits))
	for i, d := range digits {
		refs[i] = d.ref
	}
	for d, want := range table {
		if x.ShardIndex(int64(d), refs) != want {
			return nil, false
		}
	}
	return refs, true
}
