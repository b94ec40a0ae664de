package mlir

import (
	"autoshard/ir"
	"autoshard/subaxis"
)

// meshAxesGroups reads <mesh = @mesh, axes = [#stablehlo.axis_ref<name = "x">]>.
func (p *parser) meshAxesGroups() ir.Attr {
	g := &ir.MeshAxesGroups{}
	p.fields(func(name string) bool {
		switch name {
		case "mesh":
			g.Mesh = p.stablehloMesh()
		case "axes":
			p.expect(tokLSquare)
			p.list(tokRSquare, func() {
				if ref, ok := p.stablehloAxis(g.Mesh); ok {
					g.Axes = append(g.Axes, ref)
				}
			})
		default:
			return false
		}
		return true
	})
	return g
}

// stablehloAxis reads #stablehlo.axis_ref<name = "x", sub_axis_info = (1)2>.
func (p *parser) stablehloAxis(mesh ir.MeshID) (subaxis.Ref, bool) {
	if p.at(tokHash) && p.text() == "#stablehlo.axis_ref" {
		p.next()
	}
	a := axisText{at: p.tok}
	p.fields(func(name string) bool {
		switch name {
		case "name":
			a.name = p.str("axis name")
		case "sub_axis_info":
			if p.at(tokHash) {
				p.next()
			}
			angle := p.accept(tokLess)
			a.part = true
			a.pre, a.size = p.subAxis()
			if angle {
				p.expect(tokGreater)
			}
		default:
			return false
		}
		return true
	})
	return p.resolveAxis(mesh, a)
}

// stablehloMesh reads @mesh, or #stablehlo.mesh<axes = [#stablehlo.mesh_axis<name = "x", size = 2>]> written in place.
func (p *parser) stablehloMesh() ir.MeshID {
	if p.at(tokSymbol) {
		return p.meshRef()
	}
	if !p.at(tokHash) || p.text() != "#stablehlo.mesh" {
		p.expected("mesh")
		return 0
	}
	at := p.tok
	p.next()
	var mesh subaxis.Mesh
	p.fields(func(name string) bool {
		switch name {
		case "axes":
			p.expect(tokLSquare)
			p.list(tokRSquare, func() { mesh.Axes = append(mesh.Axes, p.stablehloMeshAxis()) })
		case "device_ids":
			ids, ok := p.attr(0).(*ir.Dense)
			if ok {
				mesh.DeviceIDs = p.m.Int64s(ids)
			}
			return ok || p.err != nil
		default:
			return false
		}
		return true
	})
	if p.checkMesh(at, &mesh) {
		return p.m.AddMesh("", mesh, nil, 0)
	}
	return 0
}

func (p *parser) stablehloMeshAxis() (a subaxis.Axis) {
	if p.at(tokHash) && p.text() == "#stablehlo.mesh_axis" {
		p.next()
	}
	p.fields(func(name string) bool {
		switch name {
		case "name":
			a.Name = p.str("axis name")
		case "size":
			a.Size = p.int64()
		default:
			return false
		}
		return true
	})
	return a
}
