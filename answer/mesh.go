package answer

import (
	"fmt"
	"slices"
	"strings"

	"autoshard/internal/diag"
	"autoshard/internal/lists"
	"autoshard/ir"
	"autoshard/ir/commonmesh"
	"autoshard/subaxis"
)

// ChooseMesh returns the one mesh of a module: that of its shardings, else the requested one, which it adds where the
// module declares none.
func ChooseMesh(m *ir.Module, axes []subaxis.Axis) (ir.MeshID, error) {
	used := usedMeshes(m)
	meshes := used
	if len(used) == 0 {
		meshes = declaredMeshes(m)
	}
	requested := slices.IndexFunc(meshes, func(id ir.MeshID) bool { return slices.Equal(m.Mesh(id).Axes, axes) })
	switch {
	case len(meshes) == 0 && len(axes) == 0:
		return 0, diag.Invalid(diag.BadMesh, diag.Position{}, "the model declares no mesh%s; give one, such as `--mesh data=4,model=2`",
			ofDevices(m))
	case len(meshes) == 0:
		if err := CheckAxes(axes); err != nil {
			return 0, err
		}
		return m.AddMesh("mesh", subaxis.Mesh{Axes: axes}, nil, 0), nil
	case len(meshes) > 1 && (requested < 0 || len(used) > 1):
		return 0, diag.Unsupported(diag.NotSupported, diag.Position{},
			"the model uses several meshes, @%s (%s) and @%s (%s) among them; plans are for one",
			m.Mesh(meshes[0]).Name, FormatAxes(m.Mesh(meshes[0]).Axes), m.Mesh(meshes[1]).Name, FormatAxes(m.Mesh(meshes[1]).Axes))
	case len(axes) == 0:
		return meshes[0], nil
	case requested < 0:
		return 0, diag.Invalid(diag.BadMesh, diag.Position{}, "the model declares the mesh %s, the request asks for %s",
			FormatAxes(m.Mesh(meshes[0]).Axes), FormatAxes(axes))
	}
	return meshes[requested], nil
}

// CommonMesh is ChooseMesh for a plan: shardings over several meshes of the same devices are put over one before. It says so, with what
// axes have become whose names are others there; nothing where there was one mesh. Errors are also those of commonmesh.Unify.
func CommonMesh(m *ir.Module, axes []subaxis.Axis) (mesh ir.MeshID, said string, err error) {
	renamed, several, err := commonmesh.Unify(m)
	if err != nil {
		return 0, "", err
	}
	mesh, err = ChooseMesh(m, axes)
	if err != nil || !several {
		return mesh, "", err
	}
	said = "the model names its devices by several meshes: the plan is over @" + m.Mesh(mesh).Name + " (" + FormatAxes(m.Mesh(mesh).Axes) + ")"
	if len(renamed) > 0 {
		said += ", where " + strings.Join(renamed, ", ")
	}
	return mesh, said, nil
}

// ofDevices says which meshes of a module are single devices, if any are: " but @m, which is device 3 alone".
func ofDevices(m *ir.Module) string {
	var list []string
	for id := ir.MeshID(1); int(id) < m.NumMeshes(); id++ {
		if d := m.Mesh(id); d.IsMaximal() {
			list = append(list, fmt.Sprintf("@%s, which is device %d alone", d.Name, d.DeviceIDs[0]))
		}
	}
	if len(list) == 0 {
		return ""
	}
	return " but " + strings.Join(list, ", and ")
}

// declaredMeshes returns the meshes of a module that have axes. Of meshes that are equal it returns one only.
func declaredMeshes(m *ir.Module) []ir.MeshID {
	var out []ir.MeshID
	for id := ir.MeshID(1); int(id) < m.NumMeshes(); id++ {
		out = addMesh(m, out, id)
	}
	return out
}

func addMesh(m *ir.Module, list []ir.MeshID, id ir.MeshID) []ir.MeshID {
	d := m.Mesh(id)
	equal := func(o ir.MeshID) bool { return m.Mesh(o).Equal(&d.Mesh) }
	if len(d.Axes) == 0 || slices.ContainsFunc(list, equal) {
		return list
	}
	return append(list, id)
}

// usedMeshes returns the meshes of the shardings of a module's values and results. What was taken out of the module does not count.
func usedMeshes(m *ir.Module) (out []ir.MeshID) {
	note := func(id ir.ShardingID) {
		if id != 0 {
			out = addMesh(m, out, m.ShardingOf(id).Mesh)
		}
	}
	for v := range m.FuncValues() {
		note(m.Sharding(v))
	}
	if main, ok := m.Main(); ok {
		for _, id := range m.Func(main).ResultShardings {
			note(id)
		}
	}
	return out
}

// maxDevices bounds the devices of a mesh: shard tables and programs grow with them.
const maxDevices = 1 << 20

// CheckAxes returns an error of class diag.ErrInvalid for axes without name or size, or with a name that is taken, and of class
// diag.ErrTooLarge for more devices than programs can be made for.
func CheckAxes(axes []subaxis.Axis) error {
	devices := int64(1)
	for i, a := range axes {
		switch {
		case a.Name == "":
			return diag.Invalid(diag.BadMesh, diag.Position{}, "mesh axis %d has no name", i)
		case a.Size < 1:
			return diag.Invalid(diag.BadMesh, diag.Position{}, "mesh axis %q has size %d, must be at least 1", a.Name, a.Size)
		case slices.ContainsFunc(axes[:i], func(b subaxis.Axis) bool { return a.Name == b.Name }):
			return diag.Invalid(diag.BadMesh, diag.Position{}, "mesh axis %q is given twice", a.Name)
		case a.Size > maxDevices/devices:
			return diag.TooLarge(diag.BadMesh, diag.Position{}, "the mesh has more than %d devices", maxDevices)
		}
		devices *= a.Size
	}
	return nil
}

// FormatAxes writes axes as the command line takes them: data=4,model=2.
func FormatAxes(axes []subaxis.Axis) string {
	return strings.Join(lists.Map(axes, subaxis.Axis.String), ",")
}

// PropagationMesh returns the mesh of a module, the first one where it uses several side by side or none has axes.
func PropagationMesh(m *ir.Module, axes []subaxis.Axis) (ir.MeshID, error) {
	mesh, err := ChooseMesh(m, axes)
	if err != nil && len(axes) == 0 {
		if several := append(usedMeshes(m), declaredMeshes(m)...); len(several) > 1 {
			return several[0], nil
		}
		if m.NumMeshes() > 1 {
			return 1, nil
		}
	}
	return mesh, err
}
