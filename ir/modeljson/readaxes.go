package modeljson

import (
	"math"
	"strconv"
	"strings"

	"autoshard/internal/diag"
	"autoshard/ir"
	"autoshard/ir/mlir"
	"autoshard/subaxis"
)

// preferredMesh returns the mesh that lists of axes speak of, of two that shardings name: an empty one only if there is
// no other.
func preferredMesh(m *ir.Module, common, mesh ir.MeshID) ir.MeshID {
	if common == 0 || m.Mesh(common).IsEmpty() {
		return mesh
	}
	return common
}

// meshRef reads a mesh by its name, @mesh, or in place, mesh<["x"=2]>; 0 after a problem.
func (r *reader) meshRef(v *node) ir.MeshID {
	if !r.is(v, stringKind, "mesh") {
		return 0
	}
	s, err := mlir.ParseShardingIn(r.m, r.moduleBody(), "<"+v.text+", []>", r.pos(v.at))
	if err != nil {
		r.failWith(v.at, err)
		return 0
	}
	return r.m.ShardingOf(s).Mesh
}

// axesAttr reads lists of mesh axes, alone or with the mesh that they belong to.
func (r *reader) axesAttr(v *node, name string, f ir.AttrForm, mesh ir.MeshID) ir.Attr {
	if v.kind == objectKind {
		if !r.object(v, "attribute "+strconv.Quote(name), "mesh", "axes") {
			return nil
		}
		ref, axes := v.get("mesh"), v.get("axes")
		if ref == nil || axes == nil {
			return r.badAttr(v, name, "a list of axes, or an object with \"mesh\" and \"axes\"")
		}
		if mesh = r.meshRef(ref); mesh == 0 {
			return nil
		}
		v = axes
	}
	if mesh == 0 && len(v.elems) > 0 {
		r.fail(v.at, diag.UnknownMesh, "axes of %q belong to no mesh: give the operation a sharding", name)
		return nil
	}
	if f == ir.AxesForm {
		if axes, ok := r.axes(v, name, mesh); ok {
			return &ir.AxesAttr{Mesh: mesh, Axes: axes}
		}
		return nil
	}
	if v.kind != arrayKind {
		return r.badAttr(v, name, "a list with an entry for each dimension")
	}
	if f == ir.DimAxesForm {
		if dims, ok := elements(v, func(e *node) (ir.ShardAxes, bool) { return r.axes(e, name, mesh) }); ok {
			return &ir.AxesPerDimAttr{Mesh: mesh, Dims: dims}
		}
		return nil
	}
	if moves, ok := elements(v, func(e *node) (ir.AllToAllMove, bool) { return r.move(e, name, mesh) }); ok {
		return &ir.AllToAllAttr{Mesh: mesh, Moves: moves}
	}
	return nil
}

func (r *reader) move(v *node, name string, mesh ir.MeshID) (move ir.AllToAllMove, ok bool) {
	if !r.object(v, "an element of "+strconv.Quote(name), "axes", "src", "dst") {
		return move, false
	}
	axes, src, dst := v.get("axes"), v.get("src"), v.get("dst")
	if axes == nil || src == nil || dst == nil {
		r.fail(v.at, diag.BadAttribute, "element of %q needs \"axes\", \"src\" and \"dst\"", name)
		return move, false
	}
	if move.Axes, ok = r.axes(axes, name, mesh); !ok {
		return move, false
	}
	if move.Src, ok = r.integer(src, "src", 0, math.MaxInt32); !ok {
		return move, false
	}
	move.Dst, ok = r.integer(dst, "dst", 0, math.MaxInt32)
	return move, ok
}

func (r *reader) axes(v *node, name string, mesh ir.MeshID) (ir.ShardAxes, bool) {
	if v.kind != arrayKind {
		r.badAttr(v, name, "a list of axes")
		return nil, false
	}
	return elements(v, func(e *node) (subaxis.Ref, bool) {
		if e.kind != stringKind {
			r.badAttr(e, name, "a list of axes")
			return subaxis.Ref{}, false
		}
		return r.axisRef(e, mesh)
	})
}

// axisRef reads an axis, x, or a part of one, x:(2)4.
func (r *reader) axisRef(v *node, mesh ir.MeshID) (subaxis.Ref, bool) {
	d := r.m.Mesh(mesh)
	if ref, ok := d.Lookup(v.text); ok {
		return ref, true
	}
	cut := strings.LastIndex(v.text, ":(")
	if cut < 0 {
		r.fail(v.at, diag.UnknownAxis, "mesh %s has no axis %q", d.FormatRef(), v.text)
		return subaxis.Ref{}, false
	}
	ref, ok := d.Lookup(v.text[:cut])
	if !ok {
		r.fail(v.at, diag.UnknownAxis, "mesh %s has no axis %q", d.FormatRef(), v.text[:cut])
		return subaxis.Ref{}, false
	}
	preText, sizeText, found := strings.Cut(v.text[cut+2:], ")")
	pre, err1 := strconv.ParseInt(preText, 10, 32)
	size, err2 := strconv.ParseInt(sizeText, 10, 32)
	if !found || err1 != nil || err2 != nil || pre < 1 || size < 2 || int64(ref.Size)%(pre*size) != 0 {
		r.fail(v.at, diag.BadSubAxis, "%q is not a part of axis %q of size %d: write name:(pre-size)size", v.text, v.text[:cut], ref.Size)
		return subaxis.Ref{}, false
	}
	return subaxis.Ref{Axis: ref.Axis, Pre: int32(pre), Size: int32(size)}, true
}
