package autoshard

import (
	"bytes"
	"context"
	"fmt"
	"path"
	"runtime/debug"
	"slices"
	"strings"

	"autoshard/internal/diag"
	"autoshard/internal/filekind"
	"autoshard/ir"
	"autoshard/ir/jaxexport"
	"autoshard/ir/mlirfile"
	"autoshard/ir/modeljson"
	"autoshard/ir/names"
	"autoshard/ir/specfmt"
	"autoshard/specialize"
	"autoshard/subaxis"
)

// Model is a program that a user handed in, verified.
type Model struct {
	file     string
	module   *ir.Module
	export   *jaxexport.Exported // of what JAX exported, nil otherwise
	platform string              // that was chosen where the user did not
	sized    bool                // for sizes or a platform: the module is not that of the export any more
}

// ReadModel reads StableHLO as text, as MLIR bytecode or as a portable artifact, a file that jax.export serialized, or
// model.json; the content decides which. Constants of binary files point into src, which must not change. File names
// the source in errors. Errors are located and of class diag.ErrInvalid, diag.ErrTooLarge or diag.ErrUnsupported,
// or the context's.
func ReadModel(ctx context.Context, file string, src []byte) (model *Model, err error) {
	defer recoverBug("read", &err)
	if err := filekind.Check(file, src, filekind.Model, filekind.MLIR); err != nil {
		return nil, err
	}
	var m *ir.Module
	var export *jaxexport.Exported
	if isJSON(src) {
		m, err = modeljson.Read(ctx, src, file)
	} else {
		m, export, err = mlirfile.Read(ctx, src, file)
	}
	if err != nil {
		return nil, err
	}
	if err := ir.Verify(ctx, m); err != nil {
		return nil, err
	}
	m.LocateByText()
	return &Model{file: file, module: m, export: export}, nil
}

// with returns the model with another module in place of its own.
func (m *Model) with(module *ir.Module) *Model {
	c := *m
	c.module = module
	return &c
}

// Export returns what jax.export says of the program beside it: which inputs the program takes of those of the function
// that was exported, their trees, shardings and platforms. It is nil for files of other forms, and must not be changed.
func (m *Model) Export() *jaxexport.Exported { return m.export }

// isJSON says whether a text begins as JSON does, and not as resources of MLIR do.
func isJSON(src []byte) bool {
	text := bytes.TrimLeft(src, " \t\r\n")
	return len(text) > 0 && text[0] == '{' && !bytes.HasPrefix(text, []byte("{-#"))
}

// Convert returns the model as model.json.
func (m *Model) Convert() (out []byte, err error) {
	defer recoverBug("convert", &err)
	return modeljson.Write(m.module)
}

// Name returns the module's name, or that of its file.
func (m *Model) Name() string {
	if m.module.Name != "" {
		return m.module.Name
	}
	base := path.Base(m.file)
	name, _, _ := strings.Cut(base, ".")
	return name
}

// recoverBug turns a panic into an ErrInternal: our bug, never the user's.
func recoverBug(stage string, err *error) {
	if p := recover(); p != nil {
		*err = diag.Internal(diag.Bug, diag.Position{}, "%s: %v", stage, p).WithNote(diag.Position{}, "%s", debug.Stack())
	}
}

// inlined returns a copy of the model's module with calls inlined and static sizes.
func (m *Model) inlined(ctx context.Context) (*ir.Module, error) {
	c := m.module.Clone()
	if !specialize.Needed(c) {
		return c, ir.InlineCalls(ctx, c)
	}
	_, err := specialize.Run(ctx, c, specialize.Options{Platforms: m.platforms()})
	return c, err
}

// platforms returns the names of the platforms of an export by index, nil where the file does not say them.
func (m *Model) platforms() []string {
	if m.export == nil {
		return nil
	}
	return m.export.Platforms
}

// chooseMesh returns the one mesh of a module: that of its shardings, else the requested one, which it adds where the
// module declares none.
func chooseMesh(m *ir.Module, axes []subaxis.Axis) (ir.MeshID, error) {
	used := usedMeshes(m)
	meshes := used
	if len(used) == 0 {
		meshes = declaredMeshes(m)
	}
	requested := slices.IndexFunc(meshes, func(id ir.MeshID) bool { return slices.Equal(m.Mesh(id).Axes, axes) })
	switch {
	case len(meshes) == 0 && len(axes) == 0:
		return 0, diag.Invalid(diag.BadMesh, diag.Position{}, "the model declares no mesh; give one, such as `--mesh data=4,model=2`")
	case len(meshes) == 0:
		if err := checkAxes(axes); err != nil {
			return 0, err
		}
		return m.AddMesh("mesh", subaxis.Mesh{Axes: axes}, nil, 0), nil
	case len(meshes) > 1 && (requested < 0 || len(used) > 1):
		return 0, diag.Unsupported(diag.NotSupported, diag.Position{}, "the model uses several meshes, @%s (%s) and @%s (%s) among them; plans are for one",
			m.Mesh(meshes[0]).Name, formatAxes(m.Mesh(meshes[0]).Axes), m.Mesh(meshes[1]).Name, formatAxes(m.Mesh(meshes[1]).Axes))
	case len(axes) == 0:
		return meshes[0], nil
	case requested < 0:
		return 0, diag.Invalid(diag.BadMesh, diag.Position{}, "the model declares the mesh %s, the request asks for %s",
			formatAxes(m.Mesh(meshes[0]).Axes), formatAxes(axes))
	}
	return meshes[requested], nil
}

// declaredMeshes returns the meshes of a module that have axes, one of several equal ones.
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

// usedMeshes returns the meshes of the shardings of a module's values and results.
func usedMeshes(m *ir.Module) []ir.MeshID {
	var out []ir.MeshID
	for v := ir.ValueID(1); int(v) < m.NumValues(); v++ {
		if id := m.Sharding(v); id != 0 {
			out = addMesh(m, out, m.ShardingOf(id).Mesh)
		}
	}
	if main, ok := m.Main(); ok {
		for _, id := range m.Func(main).ResultShardings {
			if id != 0 {
				out = addMesh(m, out, m.ShardingOf(id).Mesh)
			}
		}
	}
	return out
}

// maxDevices bounds the devices of a mesh: shard tables and programs grow with them.
const maxDevices = 1 << 20

func checkAxes(axes []subaxis.Axis) error {
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

func formatAxes(axes []subaxis.Axis) string {
	parts := make([]string, len(axes))
	for i, a := range axes {
		parts[i] = fmt.Sprintf("%s=%d", a.Name, a.Size)
	}
	return strings.Join(parts, ",")
}

// tensors describes the inputs and outputs of a module's main function in their shardings.
func tensors(m *ir.Module, user func(arg, result int) bool) (inputs, outputs []Tensor) {
	main, _ := m.Main()
	f := m.Func(main)
	args, results := names.Args(m, main), names.Results(m, main)
	for i, arg := range m.BlockArgs(f.Body) {
		t := describe(m, i, m.Type(arg), m.Sharding(arg))
		t.Name = args.Names[i]
		t.Role = f.ArgAttrs[i].Str(modeljson.RoleAttr)
		t.User = user(i, -1)
		inputs = append(inputs, t)
	}
	for i, typ := range f.ResultTypes {
		t := describe(m, i, typ, f.ResultShardings[i])
		t.Name = results.Names[i]
		t.User = user(-1, i)
		outputs = append(outputs, t)
	}
	return inputs, outputs
}

func describe(m *ir.Module, i int, typ ir.TypeID, sharding ir.ShardingID) Tensor {
	t := m.TypeOf(typ)
	out := Tensor{Index: i, Type: formatType(t, t.Dims), LocalType: formatType(t, t.Dims), Bytes: t.Bytes(), WholeBytes: t.Bytes(), Axes: []string{}}
	if sharding != 0 {
		s := m.ShardingOf(sharding)
		for d := range s.Dims {
			out.Axes = append(out.Axes, formatRefs(&m.Mesh(s.Mesh).Mesh, s.Dims[d].Axes)...)
		}
		local := s.LocalDims(t.Dims)
		out.LocalType = formatType(t, local)
		out.Bytes = (&ir.Type{DType: t.DType, Dims: local}).Bytes()
		out.Sharding = m.FormatSharding(sharding)
		out.Spec = specfmt.Notation(m, sharding)
	}
	return out
}

// formatRefs writes axes and parts of axes without quotes: data, model:(1)2.
func formatRefs(mesh *subaxis.Mesh, refs []subaxis.Ref) []string {
	out := make([]string, len(refs))
	for i, r := range refs {
		out[i] = strings.ReplaceAll(mesh.Format(r), `"`, "")
	}
	return out
}

// formatType returns a tensor type as people write it: f32[128,512].
func formatType(t *ir.Type, dims []int64) string {
	switch t.Kind {
	case ir.TensorKind:
	case ir.TokenKind:
		return "token"
	default:
		return t.Text
	}
	parts := make([]string, len(dims))
	for i, d := range dims {
		if parts[i] = fmt.Sprint(d); d == ir.Dynamic {
			parts[i] = "?"
		}
	}
	return t.DType.String() + "[" + strings.Join(parts, ",") + "]"
}
