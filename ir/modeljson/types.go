package modeljson

import (
	"slices"
	"strconv"
	"strings"

	"autoshard/internal/diag"
	"autoshard/internal/lists"
	"autoshard/ir"
	"autoshard/ir/dtype"
	"autoshard/ir/mlir"
	"autoshard/subaxis"
)

// typeField reads the type in a required field.
func (r *reader) typeField(n *node, field string) ir.TypeID {
	if n.kind != objectKind {
		return 0
	}
	v := n.get(field)
	if v == nil {
		r.fail(n.at, diag.BadModel, "field %q is missing: give a type such as f32[128,512]", field)
		return 0
	}
	return r.typ(v)
}

// typ reads a type such as f32[128,512], or any type in MLIR's form.
func (r *reader) typ(v *node) ir.TypeID {
	if !r.is(v, stringKind, "type") {
		return 0
	}
	if inMLIR, ok := strings.CutPrefix(v.text, mlirType); ok {
		return r.mlirType(v, inMLIR)
	}
	open := strings.LastIndexByte(v.text, '[')
	if open > 0 && strings.HasSuffix(v.text, "]") {
		if e, ok := dtype.Parse(v.text[:open]); ok {
			return r.tensorType(v, e, v.text[open+1:len(v.text)-1])
		}
	}
	if _, ok := dtype.Parse(v.text); ok {
		r.fail(v.at, diag.BadModel, "type %q has no shape: write %q for a scalar", v.text, v.text+"[]")
		return 0
	}
	if !strings.ContainsAny(v.text, "<!") {
		r.fail(v.at, diag.BadModel, "unknown type %q: write an element type and sizes, such as f32[128,512]", v.text)
		return 0
	}
	return r.mlirType(v, v.text)
}

// mlirType stands before types in MLIR's form that are not told by their characters, such as mlir:index.
const mlirType = "mlir:"

func (r *reader) mlirType(v *node, text string) ir.TypeID {
	t, err := mlir.ParseType(r.m, text, r.pos(v.at))
	if err != nil {
		r.failWith(v.at, err)
		return 0
	}
	return t
}

func (r *reader) tensorType(v *node, e dtype.Type, sizes string) ir.TypeID {
	dims := []int64{}
	if strings.TrimSpace(sizes) != "" {
		for s := range strings.SplitSeq(sizes, ",") {
			s = strings.TrimSpace(s)
			if s == "?" {
				dims = append(dims, ir.Dynamic)
				continue
			}
			d, err := strconv.ParseInt(s, 10, 64)
			if err != nil || d < 0 {
				r.fail(v.at, diag.BadModel, "%q is not a size in type %q", s, v.text)
				return 0
			}
			dims = append(dims, d)
		}
	}
	if t := (ir.Type{DType: e, Dims: dims}); t.TooLarge() {
		r.fail(v.at, diag.BadModel, "type %q is larger than 2^56 bytes", v.text)
		return 0
	}
	return r.m.TensorType(e, dims...)
}

func (r *reader) typeText(t ir.TypeID) string { return typeText(r.m, t) }

// typeText returns the short form of a type where it has one, and MLIR's otherwise.
func typeText(m *ir.Module, id ir.TypeID) string {
	t := m.TypeOf(id)
	if t.Kind != ir.TensorKind || t.Unranked || t.Quant != 0 || t.Encoding != "" {
		s := mlir.FormatType(m, id)
		if !strings.ContainsAny(s, "<!") || strings.HasSuffix(s, "]") {
			s = mlirType + s
		}
		return s
	}
	b := append([]byte(t.DType.String()), '[')
	for i, d := range t.Dims {
		if i > 0 {
			b = append(b, ',')
		}
		if d == ir.Dynamic {
			b = append(b, '?')
		} else {
			b = strconv.AppendInt(b, d, 10)
		}
	}
	return string(append(b, ']'))
}

// sharding reads an optional sharding of a value: Shardy's text, or nothing for an empty text. Where the model
// declares one mesh, the dimension shardings alone say enough.
func (r *reader) sharding(v *node, t ir.TypeID) ir.ShardingID {
	if v == nil || !r.is(v, stringKind, "sharding") || v.text == "" {
		return 0
	}
	text := v.text
	if strings.HasPrefix(text, "[") {
		mesh := onlyMesh(r.m)
		if mesh == 0 {
			r.fail(v.at, diag.UnknownMesh, "sharding %q names no mesh, and the model does not declare exactly one: write <@mesh, %s>", text, text)
			return 0
		}
		text = "<" + r.m.Mesh(mesh).FormatRef() + ", " + text + ">"
	}
	s, err := mlir.ParseShardingIn(r.m, r.moduleBody(), text, r.pos(v.at))
	if err != nil {
		r.failWith(v.at, err)
		return 0
	}
	if !r.checkAxes(v, s) {
		return 0
	}
	return r.checkRank(v, s, t)
}

// checkAxes refuses axes that are used twice. The verifier would point at the operation, or
// for arguments at the function.
func (r *reader) checkAxes(v *node, s ir.ShardingID) bool {
	sharding := r.m.ShardingOf(s)
	mesh := r.m.Mesh(sharding.Mesh)
	var used []subaxis.Ref
	dims := lists.Map(sharding.Dims, func(d ir.DimSharding) ir.ShardAxes { return d.Axes })
	for _, ref := range slices.Concat(sharding.Replicated, sharding.Unreduced, slices.Concat(dims...)) {
		if other, ok := subaxis.Overlapping(used, ref); ok {
			r.fail(v.at, diag.DuplicateAxis, "axis %s is used twice: it overlaps %s", mesh.Format(ref), mesh.Format(other))
			return false
		}
		used = append(used, ref)
	}
	return true
}

// checkRank refuses a sharding of another rank than its tensor.
func (r *reader) checkRank(v *node, s ir.ShardingID, t ir.TypeID) ir.ShardingID {
	if t == 0 || r.m.TypeOf(t).Kind != ir.TensorKind {
		return s
	}
	sharding := r.m.ShardingOf(s)
	if have, want := len(sharding.Dims), r.m.TypeOf(t).Rank(); have != want && !r.m.Mesh(sharding.Mesh).IsMaximal() {
		r.fail(v.at, diag.BadShardingRank, "sharding has %d dimensions, the tensor %s has %d", have, r.typeText(t), want)
		return 0
	}
	return s
}

// onlyMesh returns the mesh of a model that declares one.
func onlyMesh(m *ir.Module) ir.MeshID {
	only := ir.MeshID(0)
	for i := 1; i < m.NumMeshes(); i++ {
		if m.Mesh(ir.MeshID(i)).Name != "" {
			if only != 0 {
				return 0
			}
			only = ir.MeshID(i)
		}
	}
	return only
}
