package propagate

import (
	"slices"

	"autoshard/ir"
)

// InlineMeshes writes every named mesh into the shardings and replica groups that refer to it, and removes the names.
// Shardy: -sdy-inline-meshes.
func InlineMeshes(m *ir.Module) {
	to := make([]ir.MeshID, m.NumMeshes())
	for id := range to {
		if mesh := m.Mesh(ir.MeshID(id)); mesh.Name != "" {
			to[id] = m.AddMesh("", mesh.Mesh, nil, 0)
		} else {
			to[id] = ir.MeshID(id)
		}
	}
	replaceMeshes(m, func(id ir.MeshID) ir.MeshID { return to[id] })
	eraseMeshes(m, func(ir.MeshID) bool { return true })
}

// DropShardings removes the shardings of arguments, results and ops, and all named meshes to which nothing refers then.
// What is part of an op of the sdy dialect, such as the sharding of a reshard, stays.
// Shardy: -sdy-drop-sharding-and-mesh.
func DropShardings(m *ir.Module) {
	m.Walk(m.Body(), func(op ir.OpID) {
		if f := m.FuncOf(op); f != 0 {
			clear(m.Func(f).ResultShardings)
			dropShardings(m, m.BlockArgs(m.Func(f).Body))
		}
		m.SetAttrs(op, m.OpAttrs(op).Without("sdy.sharding"))
		if !holdsSharding(m.Kind(op)) {
			dropShardings(m, m.ResultValues(op))
		}
	})
	used := usedMeshes(m)
	eraseMeshes(m, func(id ir.MeshID) bool { return !slices.Contains(used, id) })
}

func dropShardings(m *ir.Module, values []ir.ValueID) {
	for _, v := range values {
		m.SetSharding(v, 0)
	}
}

// holdsSharding says whether the shardings of an op's results are part of the op, not an attribute beside it.
func holdsSharding(k ir.Kind) bool {
	return slices.ContainsFunc(k.Declared(), func(d ir.DeclaredAttr) bool { return d.Form == ir.ShardingForm })
}

// eraseMeshes removes the ops and names of the named meshes that pass the test.
func eraseMeshes(m *ir.Module, test func(ir.MeshID) bool) {
	for id := range m.NamedMeshes() {
		if mesh := m.Mesh(id); test(id) {
			m.Erase(mesh.Op)
			mesh.Op, mesh.Name = 0, ""
		}
	}
}
