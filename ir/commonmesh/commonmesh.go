// Package commonmesh puts the shardings of a module that names the same devices by several meshes over one mesh, in which every axis of
// each is a list of axes:
//
//	sdy.mesh @grid = <["a"=4, "b"=2]>
//	sdy.mesh @cube = <["x"=2, "y"=2, "z"=2]>     // a is x, y and b is z: everything is said over @cube
//
// Axes keep their names where they are whole; parts of an axis z that no mesh has a name for are z_0, z_1, major to minor. Meshes may
// list the devices in different orders.
package commonmesh

import (
	"cmp"
	"slices"
	"strconv"
	"strings"

	"autoshard/internal/diag"
	"autoshard/internal/lists"
	"autoshard/ir"
	"autoshard/shardmap/refine"
	"autoshard/subaxis"
)

// Unify rewrites shardings, axes of collectives and of manual computations over one mesh, if they are over several meshes. It
// returns what axes have become whose names are others now, in words, and whether there were several. The module is unchanged with an
// error of class diag.ErrUnsupported: the meshes have other devices, or axes without a common refinement.
func Unify(m *ir.Module) (renamed []string, several bool, err error) {
	u := &unifier{m: m, uses: map[use]bool{}, refs: map[use][]subaxis.Ref{}}
	(&visitor{m: m, axes: u.note}).visit()
	if len(u.meshes) < 2 {
		return nil, false, nil
	}
	if err := u.find(); err != nil {
		return nil, false, err
	}
	u.choose()
	(&visitor{m: m, mesh: u.mesh, axes: u.over}).visit()
	for id := range m.NamedMeshes() {
		if d := m.Mesh(id); id != u.mesh && places(m, id) {
			m.Erase(d.Op)
		}
	}
	return u.renamed(), true, nil
}

// use is an axis, or a part of one, of a mesh.
type use struct {
	mesh ir.MeshID
	ref  subaxis.Ref
}

// unifier is the state of it.
type unifier struct {
	m      *ir.Module
	meshes []ir.MeshID // that place blocks, in order of use; of equal ones the first
	order  []use       // full axes of all meshes, and parts
	uses   map[use]bool
	flat   subaxis.Mesh          // one axis of all devices, in the order of the first mesh
	refs   map[use][]subaxis.Ref // what each is of the flat axis
	cuts   *refine.Mesh
	names  []subaxis.Axis // of the common mesh: those of the refinement, then axes of size 1
	mesh   ir.MeshID      // the common one
}

// same returns the mesh that stands for a mesh and its equals.
func (u *unifier) same(id ir.MeshID) ir.MeshID {
	at := slices.IndexFunc(u.meshes, func(o ir.MeshID) bool { return u.m.Mesh(o).Equal(&u.m.Mesh(id).Mesh) })
	if at < 0 {
		u.meshes = append(u.meshes, id)
		for _, full := range u.m.Mesh(id).All() {
			u.add(use{id, full})
		}
		return id
	}
	return u.meshes[at]
}

func (u *unifier) add(x use) {
	if !u.uses[x] {
		u.uses[x] = true
		u.order = append(u.order, x)
	}
}

// note notes axes that are used, and returns them.
func (u *unifier) note(mesh ir.MeshID, axes ir.ShardAxes) ir.ShardAxes {
	if places(u.m, mesh) {
		mesh = u.same(mesh)
		for _, r := range axes {
			u.add(use{mesh, r})
		}
	}
	return axes
}

// find finds what all that is used is of one axis of all devices, and where that axis has to be cut.
func (u *unifier) find() error {
	first := u.m.Mesh(u.meshes[0])
	u.flat = subaxis.Mesh{Axes: []subaxis.Axis{{Name: "devices", Size: first.Devices()}}, DeviceIDs: first.DeviceIDs}
	cuts := refine.New(u.flat)
	for _, x := range u.order {
		mesh := u.m.Mesh(x.mesh)
		table, ok := u.flat.Numbers(&mesh.Mesh, x.ref)
		if !ok {
			return u.refuse(x.mesh, "they do not have the same devices")
		}
		refs, ok := u.flat.Find(table)
		if !ok || cuts.Add(refs...) != nil {
			return u.refuse(x.mesh, "no mesh has axes of which those of both consist")
		}
		u.refs[x] = refs
	}
	u.cuts = cuts.Mesh()
	return nil
}

func (u *unifier) refuse(other ir.MeshID, why string) error {
	a, b := u.m.Mesh(u.meshes[0]), u.m.Mesh(other)
	return diag.Unsupported(diag.NotSupported, diag.Position{}, "the model uses the meshes @%s (%s) and @%s (%s), which cannot be one: %s",
		a.Name, format(a), b.Name, format(b), why)
}

func format(d *ir.MeshDecl) string {
	return lists.Joined(d.Axes, func(a subaxis.Axis) string { return a.String() })
}

// choose names the axes of the common mesh, and takes a mesh that has these axes or adds one.
func (u *unifier) choose() {
	byAxes := slices.SortedStableFunc(slices.Values(u.order), func(x, y use) int {
		return cmp.Compare(len(u.m.Mesh(y.mesh).Axes), len(u.m.Mesh(x.mesh).Axes))
	})
	u.names = slices.Clone(u.cuts.Fine.Axes)
	taken := map[string]bool{}
	for k := range u.names {
		u.names[k].Name = u.name(byAxes, k, taken)
		taken[u.names[k].Name] = true
	}
	for _, x := range byAxes {
		if mesh := u.m.Mesh(x.mesh); x.ref.Size == 1 && mesh.IsFull(x.ref) && !taken[mesh.Axes[x.ref.Axis].Name] {
			u.names = append(u.names, mesh.Axes[x.ref.Axis])
			taken[mesh.Axes[x.ref.Axis].Name] = true
		}
	}
	common := subaxis.Mesh{Axes: u.names, DeviceIDs: u.flat.DeviceIDs}
	for _, id := range u.meshes {
		if u.m.Mesh(id).Equal(&common) {
			u.mesh = id
			return
		}
	}
	name := "mesh"
	taken = map[string]bool{}
	for id := range u.m.NamedMeshes() {
		taken[u.m.Mesh(id).Name] = true
	}
	for k := 0; taken[name]; k++ {
		name = "mesh_" + strconv.Itoa(k)
	}
	u.mesh = u.m.AddMesh(name, common, nil, 0)
}

// name names an axis of the refinement: like the axis that it is, or as a part of the first that it is a part of.
func (u *unifier) name(byAxes []use, k int, taken map[string]bool) string {
	part := "axis_" + strconv.Itoa(k)
	found := false
	for _, x := range byAxes {
		mesh, parts := u.m.Mesh(x.mesh), u.cuts.Axes(u.refs[x])
		at := slices.Index(parts, k)
		if at < 0 || !mesh.IsFull(x.ref) {
			continue
		}
		name := mesh.Axes[x.ref.Axis].Name
		if len(parts) == 1 && !taken[name] {
			return name
		}
		if !found {
			part, found = name+"_"+strconv.Itoa(at), true
		}
	}
	for taken[part] {
		part += "_"
	}
	return part
}

// over returns axes of a mesh as axes of the common one.
func (u *unifier) over(mesh ir.MeshID, axes ir.ShardAxes) ir.ShardAxes {
	if !places(u.m, mesh) {
		return axes
	}
	common := subaxis.Mesh{Axes: u.names}
	out := ir.ShardAxes{}
	for _, r := range axes {
		x := use{u.same(mesh), r}
		if r.Size == 1 {
			if full, ok := common.Lookup(u.m.Mesh(mesh).Axes[r.Axis].Name); ok && full.Size == 1 {
				out = append(out, full)
			}
			continue
		}
		for _, k := range u.cuts.Axes(u.refs[x]) {
			out = append(out, common.Full(k))
		}
	}
	return out
}

// renamed says of every axis that is not one of the common mesh under its name what it is there.
func (u *unifier) renamed() []string {
	var out []string
	for _, x := range u.order {
		mesh := u.m.Mesh(x.mesh)
		if !mesh.IsFull(x.ref) || x.mesh == u.mesh {
			continue
		}
		own := mesh.Axes[x.ref.Axis].Name
		names := lists.Map(u.over(x.mesh, ir.ShardAxes{x.ref}), func(r subaxis.Ref) string { return u.names[r.Axis].Name })
		if !slices.Equal(names, []string{own}) {
			text := strings.Join(names, ", ")
			if len(names) != 1 {
				text = "(" + text + ")"
			}
			out = append(out, own+" of @"+mesh.Name+" is "+text)
		}
	}
	return out
}
