package emit

import (
	"autoshard/internal/diag"
	"autoshard/shardmap"
	"autoshard/shardmap/refine"
	"autoshard/subaxis"
)

// mesh is a mesh whose axes are cut into pieces, so that every part in use is a list of whole pieces: JAX names whole
// axes only (specification: shardmap.md section 8).
type mesh struct {
	subaxis.Mesh
	cuts    *refine.Cuts
	refined *refine.Mesh // nil until all cuts are made
}

// uncut returns a mesh without cuts.
func uncut(m subaxis.Mesh) *mesh { return &mesh{Mesh: m, cuts: refine.New(m)} }

// newMesh cuts a mesh for the inputs and outputs of a program, which have to be said in PartitionSpecs.
func newMesh(p *shardmap.Program) (*mesh, error) {
	x := uncut(p.Mesh)
	if err := x.addPorts(p, "input", p.Inputs); err != nil {
		return nil, err
	}
	return x, x.addPorts(p, "output", p.Outputs)
}

func (x *mesh) addPorts(p *shardmap.Program, what string, ports []shardmap.Port) error {
	pos := p.Module.OpPos(p.Module.Func(p.Main).Op)
	for i := range ports {
		if partial := ports[i].Layout.Unreduced; len(partial) > 0 {
			return diag.Unsupported(diag.NotSupported, pos,
				"%s %d holds partial sums along %s, which shard_map has no specification for: add an all-reduce",
				what, i, x.FormatList(partial))
		}
		for _, refs := range ports[i].Layout.Dims {
			if !x.cut(refs) {
				return diag.Unsupported(diag.NotSupported, pos,
					"%s %d is cut along %s, which has no common refinement with the parts of axes that others are cut along: JAX names whole axes of "+
						"one mesh",
					what, i, x.FormatList(refs))
			}
		}
	}
	return nil
}

// cut makes refs lists of whole pieces. It returns false, and changes nothing, where that is at odds with earlier cuts.
func (x *mesh) cut(refs []subaxis.Ref) bool { return x.cuts.Add(refs...) == nil }

// finish ends the cuts and gives the pieces their names.
func (x *mesh) finish() { x.refined = x.cuts.Mesh() }

// pieces returns the axes of the refined mesh.
func (x *mesh) pieces() []subaxis.Axis { return x.refined.Fine.Axes }

// axes returns refs as an axis argument: one name, or a tuple of names.
func (x *mesh) axes(refs []subaxis.Ref) *expr { return x.piecesExpr(x.refined.Axes(refs)) }

// all returns the names of all pieces in order: the index along them is the position in the mesh's list of devices.
func (x *mesh) all() *expr {
	numbers := make([]int, len(x.pieces()))
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
func (x *mesh) pieceNames(numbers []int) []*expr { return quotedAll(x.refined.Names(numbers)) }

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
