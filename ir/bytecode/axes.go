package bytecode

import (
	"fmt"
	"strconv"

	"autoshard/internal/lists"
	"autoshard/ir"
	"autoshard/subaxis"
)

// The parts of shardings, and of device groups along axes of a mesh, as Shardy, StableHLO and VHLO store them: entries
// of the tables that are no attributes of their own. They become one together with the mesh that they belong to: as
// text, which the text reader resolves. StableHLO and Shardy differ in how the parts are spelled.
type (
	subAxis struct{ pre, size int64 }
	axisRef struct {
		name string
		part *subAxis
	}
	meshAxis struct {
		name string
		size int64
	}
	deviceMesh struct {
		axes    []meshAxis
		devices *ir.Dense
	}
	meshGroups struct {
		mesh any // ir.SymbolAttr, in vhlo ir.StringAttr; or deviceMesh
		axes []axisRef
	}
)

// itself is the meaning of a part.
func itself[T any](_ *decoder, v T) any { return v }

func moveSubAxis(c codec, v *subAxis) { move(c, &v.pre, &v.size) }

func moveMeshAxis(c codec, v *meshAxis) { move(c, &v.name, &v.size) }

func stablehloAxisRef(c codec, v *axisRef) {
	c.str(&v.name)
	has := v.part != nil
	c.flag(&has)
	refIf(c, has, &v.part)
}

// refIf moves a reference to a part if there is one.
func refIf[T any](c codec, has bool, v **T) {
	if !has {
		*v = nil
		return
	}
	if *v == nil {
		*v = new(T)
	}
	refOf(c, *v)
}

func stablehloMesh(c codec, v *deviceMesh) {
	refParts(c, &v.axes)
	has := v.devices != nil
	c.flag(&has)
	if has {
		refOf(c, &v.devices)
	}
}

func stablehloMeshAxes(c codec, v *meshGroups) {
	c.ref(&v.mesh)
	refList(c, &v.axes)
}

func vhloMeshAxes(c codec, v *meshGroups) {
	c.ref(&v.mesh)
	refParts(c, &v.axes)
}

// meshAxesGroups reads the groups through their text.
func (d *decoder) meshAxesGroups(v meshGroups) any {
	var mesh string
	switch m := v.mesh.(type) {
	case ir.SymbolAttr:
		mesh = "@" + ir.FormatSymbol(m[0])
	case ir.StringAttr:
		mesh = "@" + ir.FormatSymbol(string(m))
	case deviceMesh:
		mesh = m.text()
	default:
		d.invalid("reference to an attribute that is no mesh")
	}
	refs := lists.Joined(v.axes, func(a axisRef) string {
		text := "#stablehlo.axis_ref<name = " + subaxis.Quote(a.name)
		if a.part != nil {
			text += fmt.Sprintf(", sub_axis_info = (%d)%d", a.part.pre, a.part.size)
		}
		return text + ">"
	})
	return d.parseAttr("#stablehlo.replica_group_mesh_axes<mesh = " + mesh + ", axes = [" + refs + "]>")
}

// text returns the mesh as StableHLO writes it in place.
func (m deviceMesh) text() string {
	axes := lists.Joined(m.axes, func(a meshAxis) string { return fmt.Sprintf("<name = %s, size = %d>", subaxis.Quote(a.name), a.size) })
	text := "#stablehlo.mesh<axes = [" + axes + "]"
	if ids := m.devices.Int64s(); ids != nil {
		text += fmt.Sprintf(", device_ids = dense<%s> : tensor<%dxi64>", joinInts(ids), len(ids))
	}
	return text + ">"
}

// joinInts returns [1, 2].
func joinInts(v []int64) string {
	return "[" + lists.Joined(v, func(n int64) string { return strconv.FormatInt(n, 10) }) + "]"
}
