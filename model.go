package autoshard

import (
	"bytes"
	"fmt"
	"path"
	"runtime/debug"
	"slices"
	"strings"

	"autoshard/internal/diag"
	"autoshard/ir"
	"autoshard/ir/mlir"
	"autoshard/ir/modeljson"
	"autoshard/ir/specfmt"
	"autoshard/subaxis"
)

// Model is a program that a user handed in, verified.
type Model struct {
	file   string
	module *ir.Module
}

// ReadModel reads StableHLO text or model.json; the content decides which. File names the source in errors. Errors
// are located and of class diag.ErrInvalid, diag.ErrTooLarge or diag.ErrUnsupported.
func ReadModel(file string, src []byte) (model *Model, err error) {
	defer recoverBug("read", &err)
	var m *ir.Module
	if text := bytes.TrimLeft(src, " \t\r\n"); len(text) > 0 && text[0] == '{' && !bytes.HasPrefix(text, []byte("{-#")) {
		m, err = modeljson.Read(src, file)
	} else {
		m, err = mlir.Parse(src, mlir.Options{File: file})
	}
	if err != nil {
		return nil, err
	}
	if err := ir.Verify(m); err != nil {
		return nil, err
	}
	m.LocateByText()
	return &Model{file, m}, nil
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

// onMesh returns a copy of the model's module with calls inlined and one mesh: the requested one, or the one that
// the module declares.
func (m *Model) onMesh(axes []subaxis.Axis) (*ir.Module, ir.MeshID, error) {
	c := m.module.Clone()
	if err := ir.InlineCalls(c); err != nil {
		return nil, 0, err
	}
	mesh, err := chooseMesh(c, axes)
	return c, mesh, err
}

func chooseMesh(m *ir.Module, axes []subaxis.Axis) (ir.MeshID, error) {
	var declared ir.MeshID
	for id := ir.MeshID(1); int(id) < m.NumMeshes(); id++ {
		d := m.Mesh(id)
		if d.IsEmpty() || d.IsMaximal() {
			continue
		}
		if declared != 0 && !d.Equal(&m.Mesh(declared).Mesh) {
			return 0, diag.Unsupported(diag.NotSupported, diag.Position{}, "the model declares two different meshes, @%s and @%s",
				m.Mesh(declared).Name, d.Name)
		}
		if declared == 0 {
			declared = id
		}
	}
	switch {
	case declared == 0 && len(axes) == 0:
		return 0, diag.Invalid(diag.BadMesh, diag.Position{}, "the model declares no mesh; give one, such as data=4,model=2")
	case declared == 0:
		if err := checkAxes(axes); err != nil {
			return 0, err
		}
		return m.AddMesh("mesh", subaxis.Mesh{Axes: axes}, nil, 0), nil
	case len(axes) > 0 && !slices.Equal(axes, m.Mesh(declared).Axes):
		return 0, diag.Invalid(diag.BadMesh, diag.Position{}, "the model declares the mesh %s, the request asks for %s",
			formatAxes(m.Mesh(declared).Axes), formatAxes(axes))
	}
	return declared, nil
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
	for i, arg := range m.BlockArgs(f.Body) {
		t := describe(m, i, m.Type(arg), m.Sharding(arg))
		t.Name = firstOf(f.ArgAttrs[i].Str("jax.arg_info"), f.ArgAttrs[i].Str(modeljson.NameAttr), fmt.Sprintf("arg%d", i))
		t.Role = f.ArgAttrs[i].Str(modeljson.RoleAttr)
		t.User = user(i, -1)
		inputs = append(inputs, t)
	}
	for i, typ := range f.ResultTypes {
		t := describe(m, i, typ, f.ResultShardings[i])
		t.Name = firstOf(f.ResultAttrs[i].Str("jax.result_info"), f.ResultAttrs[i].Str(modeljson.NameAttr), fmt.Sprintf("out%d", i))
		t.User = user(-1, i)
		outputs = append(outputs, t)
	}
	return inputs, outputs
}

func firstOf(names ...string) string {
	for _, n := range names {
		if n != "" {
			return n
		}
	}
	return ""
}

func describe(m *ir.Module, i int, typ ir.TypeID, sharding ir.ShardingID) Tensor {
	t := m.TypeOf(typ)
	out := Tensor{Index: i, Type: formatType(t, t.Dims), LocalType: formatType(t, t.Dims), Bytes: t.Bytes()}
	if sharding != 0 {
		s := m.ShardingOf(sharding)
		local := s.LocalDims(t.Dims)
		out.LocalType = formatType(t, local)
		out.Bytes = (&ir.Type{DType: t.DType, Dims: local}).Bytes()
		out.Sharding = m.FormatSharding(sharding)
		out.Spec = specfmt.PartitionSpec(m, sharding)
	}
	return out
}

// formatType returns a tensor type as people write it: f32[128,512].
func formatType(t *ir.Type, dims []int64) string {
	if t.Kind != ir.TensorKind {
		return t.Text
	}
	parts := make([]string, len(dims))
	for i, d := range dims {
		parts[i] = fmt.Sprint(d)
	}
	return t.DType.String() + "[" + strings.Join(parts, ",") + "]"
}
