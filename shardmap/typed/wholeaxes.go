package typed

import (
	"slices"

	"autoshard/internal/diag"
	"autoshard/ir"
	"autoshard/ir/names"
	"autoshard/shardmap"
	"autoshard/shardmap/refine"
	"autoshard/subaxis"
)

// Refining makes per-device programs over axes and parts of axes ones over whole axes of a finer mesh, which is all that a
// shard_map program can name:
//
//	r := typed.NewRefining(p.Mesh)
//	err := r.CutPorts(p, typed.Names{}) // the mesh is cut so that inputs and outputs have specs,
//	r.CutBody(p.Module, body)           // and ops run along whole axes where that is possible
//	fine := r.Finish()
//	program, err := r.Program(p.Module, p.Main, body)
type Refining struct {
	mesh    subaxis.Mesh
	cuts    *refine.Cuts
	refined *refine.Mesh // nil until all cuts are made
}

// NewRefining returns a mesh's refining before any cut.
func NewRefining(mesh subaxis.Mesh) *Refining { return &Refining{mesh: mesh, cuts: refine.New(mesh)} }

// CutPorts cuts the mesh for the specs of inputs and outputs. It returns errors of class diag.ErrUnsupported: partial sums, and
// parts of an axis without a common refinement (E_SUBAXIS_CONFLICT).
func (r *Refining) CutPorts(p *shardmap.Program, called Names) error {
	pos := p.Module.OpPos(p.Module.Func(p.Main).Op)
	for i, ports := range [][]shardmap.Port{p.Inputs, p.Outputs} {
		what, list := [...]string{"input", "output"}[i], [...][]string{called.Inputs, called.Outputs}[i]
		for k := range ports {
			where := what + " " + itoa(int64(k))
			if k < len(list) {
				where = names.Port(what, k, list[k])
			}
			if partial := ports[k].Layout.Unreduced; len(partial) > 0 {
				return diag.Unsupported(diag.NotSupported, pos, "%s holds partial sums along %s; add an all-reduce", where,
					r.mesh.FormatList(partial))
			}
			for _, refs := range ports[k].Layout.Dims {
				if err := r.Cut(pos, where, refs); err != nil {
					return err
				}
			}
		}
	}
	return nil
}

// Cut cuts the mesh so that parts of axes are whole axes. Where that is at odds with earlier cuts (E_SUBAXIS_CONFLICT), it
// returns an error of class diag.ErrUnsupported at a position, about what is named, and changes nothing.
func (r *Refining) Cut(pos diag.Position, what string, refs []subaxis.Ref) error {
	err := r.cuts.Add(refs...)
	if err != nil {
		d := &err.(*diag.Error).Diagnostics[0]
		d.Pos, d.Message = pos, what+": "+d.Message
	}
	return err
}

// CutGroups cuts the mesh so that groups that ops of a block list, or of the blocks inside it, run along whole axes where they can.
func (r *Refining) CutGroups(m *ir.Module, b ir.BlockID) {
	m.Walk(b, func(op ir.OpID) {
		if groups := shardmap.ListsOf(m.Attr(op, "groups")); groups != nil && m.Kind(op).IsShardMap() {
			if axes, ok := r.mesh.FindGroups(groups); ok {
				_ = r.cuts.Add(axes...)
			}
		}
	})
}

// CutBody cuts the mesh so that the ops of a block, and of the blocks inside it, run along whole axes: collectives first, then
// places. What is at odds with earlier cuts runs in groups along all axes, and is looked up by the place along all axes.
func (r *Refining) CutBody(m *ir.Module, b ir.BlockID) {
	m.Walk(b, func(op ir.OpID) {
		if m.Kind(op).Communicates() {
			_ = r.cuts.Add(shardmap.AxesOf(m, op)...)
		}
	})
	m.Walk(b, func(op ir.OpID) {
		switch m.Kind(op) {
		case ir.OpShardMapAxisIndex:
			_ = r.cuts.Add(shardmap.AxesOf(m, op)...)
		case ir.OpShardMapPscatter:
			for _, refs := range perDim(m, op) {
				_ = r.cuts.Add(refs...)
			}
		}
	})
}

// perDim returns the axes along which a pscatter takes the device's part of each dimension.
func perDim(m *ir.Module, op ir.OpID) []ir.ShardAxes {
	return m.Attr(op, "axes").(*ir.AxesPerDimAttr).Dims
}

// Finish ends the cuts and returns the mesh with its refinement.
func (r *Refining) Finish() *refine.Mesh {
	r.refined = r.cuts.Mesh()
	return r.refined
}

// Program makes the ops of a block, and of the blocks inside it, ops over whole axes of the finer mesh, in place. It returns
// the program of which the block is the body, without check, names, specs and types. Errors are of class diag.ErrUnsupported or
// diag.ErrInvalid, for a mesh that a shard_map program cannot have. Collectives of StableHLO, whose groups run along no axes, stay.
func (r *Refining) Program(m *ir.Module, fn ir.FuncID, body ir.BlockID) (*Program, error) {
	separate(m, body)
	i, err := r.program(m, fn)
	if err != nil {
		return nil, err
	}
	return i.p, i.convert(body)
}

func (r *Refining) program(m *ir.Module, fn ir.FuncID) (*importer, error) {
	p := &Program{Module: m, Func: fn, Names: map[ir.ValueID]string{}}
	p.Mesh = r.refined.Fine
	p.Manual = p.allAxes()
	return &importer{m: m, p: p, refined: r.refined, planned: true, pieces: map[ir.OpID][][]int{}}, p.checkMesh()
}

// Spec returns the spec of a layout. Axes of size 1 cut nothing and are left out, so that no value varies along them.
func (r *Refining) Spec(dims [][]subaxis.Ref) (s Spec) {
	for _, refs := range dims {
		axes := slices.DeleteFunc(r.refined.Axes(refs), func(a int) bool { return r.refined.Fine.Axes[a].Size == 1 })
		s.Dims = append(s.Dims, r.refined.Names(axes))
	}
	return s.trimmed()
}
