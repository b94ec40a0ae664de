package mlirfile

import (
	"slices"
	"strconv"

	"autoshard/internal/diag"
	"autoshard/ir"
	"autoshard/ir/bytecode"
	"autoshard/ir/dtype"
	"autoshard/ir/jaxexport"
	"autoshard/ir/names"
	"autoshard/ir/vhlo"
)

// WriteExport returns a file for `jax.export.deserialize` with the program. What surrounds the program is that of the
// export it came from; otherwise it takes its arguments one by one and returns a tuple of its results, or the only one.
// Errors are of class diag.ErrUnsupported.
func WriteExport(m *ir.Module, e *jaxexport.Exported, name string, target vhlo.Version) ([]byte, error) {
	if e == nil {
		var err error
		if m, e, err = newExport(m, name); err != nil {
			return nil, err
		}
	}
	artifact, err := bytecode.Artifact(m, target)
	if err != nil {
		return nil, err
	}
	return jaxexport.Write(e, artifact...), nil
}

const (
	entryName  = "main"   // of the function that JAX calls
	jaxVersion = "0.12.0" // whose format the file has
	autoAxis   = uint8(1) // type of a mesh axis: the compiler chooses
	onDevice   = uint8(1) // memory space
	platform   = "cpu"    // the program is for any: the check is off
	partitions = "mhlo.num_partitions"
	maxInputs  = 1 << 16
)

// newExport says what surrounds a program that did not come from JAX, and returns the program with the entry function
// called as JAX calls it.
func newExport(m *ir.Module, name string) (*ir.Module, *jaxexport.Exported, error) {
	main, ok := m.Main()
	if !ok || m.IsDeclaration(main) {
		return nil, nil, diag.Unsupported(diag.NotSupported, diag.Position{}, "an export needs one entry function, called main")
	}
	if m.Func(main).Name != entryName {
		m = m.Clone()
		m.Func(main).Name = entryName
	}
	f := m.Func(main)
	if n := len(m.BlockArgs(f.Body)); n > maxInputs {
		return nil, nil, diag.Unsupported(diag.NotSupported, m.OpPos(f.Op),
			"the program has %d arguments; an export has at most %d", n, maxInputs)
	}
	e := &jaxexport.Exported{FunctionName: name, Platforms: []string{platform}, DisabledChecks: []jaxexport.DisabledCheck{{}},
		JAXVersion: jaxVersion, Devices: devices(m)}
	var args []ir.TypeID
	for i, v := range m.BlockArgs(f.Body) {
		args = append(args, m.Type(v))
		e.InShardings = append(e.InShardings, named(m, m.Sharding(v)))
		e.KeptInputs = append(e.KeptInputs, uint16(i))
	}
	for i := range f.ResultTypes {
		e.OutShardings = append(e.OutShardings, named(m, f.ResultShardings[i]))
	}
	var err error
	ports := names.Args(m, main)
	if e.InAvals, err = avals(m, main, args, ports.Describe); err == nil {
		ports = names.Results(m, main)
		e.OutAvals, err = avals(m, main, f.ResultTypes, ports.Describe)
	}
	e.InTree = &jaxexport.Tree{Kind: jaxexport.Tuple, Children: []*jaxexport.Tree{tuple(len(args)), {Kind: jaxexport.Dict}}}
	if e.OutTree = tuple(len(f.ResultTypes)); len(f.ResultTypes) == 1 {
		e.OutTree = &jaxexport.Tree{}
	}
	return m, e, err
}

// devices returns how many devices a program is for: those of its mesh, or its partitions.
func devices(m *ir.Module) uint32 {
	n := max(1, m.Attrs.Int(partitions, 1))
	for id := ir.MeshID(1); int(id) < m.NumMeshes(); id++ {
		n = max(n, m.Mesh(id).Devices())
	}
	return uint32(n)
}

func tuple(n int) *jaxexport.Tree {
	t := &jaxexport.Tree{Kind: jaxexport.Tuple}
	for range n {
		t.Children = append(t.Children, &jaxexport.Tree{})
	}
	return t
}

// elementNames are the element types that exports call otherwise than MLIR does.
var elementNames = map[dtype.Type]string{dtype.I1: "bool", dtype.C64: "c64", dtype.C128: "c128", dtype.F8E4M3B11FNUZ: "f8_e4m3b11fnuz",
	dtype.F8E4M3FN: "f8_e4m3fn", dtype.F8E4M3FNUZ: "f8_e4m3fnuz", dtype.F8E5M2: "f8_e5m2", dtype.F8E5M2FNUZ: "f8_e5m2fnuz",
	dtype.F8E4M3: "f8_e4m3", dtype.F8E3M4: "f8_e3m4", dtype.F8E8M0FNU: "f8_e8m0fnu", dtype.F4E2M1FN: "f4_e2m1fn"}

// avals returns the types of arguments or results as JAX has them.
func avals(m *ir.Module, f ir.FuncID, types []ir.TypeID, describe func(int) string) ([]jaxexport.Aval, error) {
	out := make([]jaxexport.Aval, len(types))
	for i, id := range types {
		t := m.TypeOf(id)
		name := t.DType.String()
		if other, ok := elementNames[t.DType]; ok {
			name = other
		}
		code := slices.Index(jaxexport.DTypes, name)
		if !t.IsStatic() || t.Quant != 0 || t.DType == dtype.Invalid || code < 0 {
			return nil, diag.Unsupported(diag.NotSupported, m.OpPos(m.Func(f).Op), "%s has the type %s, which an export of JAX cannot have",
				describe(i), m.FormatType(id))
		}
		out[i] = jaxexport.Aval{DType: uint8(code), MemorySpace: onDevice}
		for _, n := range t.Dims {
			out[i].Shape = append(out[i].Shape, strconv.FormatInt(n, 10))
		}
	}
	return out, nil
}

// named returns a sharding as JAX's NamedSharding, nil where there is none or where JAX has no word for it; the program
// has it anyway.
func named(m *ir.Module, id ir.ShardingID) *jaxexport.Sharding {
	if id == 0 {
		return nil
	}
	s := m.ShardingOf(id)
	mesh := m.Mesh(s.Mesh)
	if len(mesh.Axes) == 0 || len(s.Unreduced) > 0 || mesh.DeviceIDs != nil {
		return nil
	}
	out := &jaxexport.Sharding{Mesh: &jaxexport.Mesh{}, Spec: &jaxexport.Spec{}}
	for _, a := range mesh.Axes {
		out.Mesh.Sizes = append(out.Mesh.Sizes, uint32(a.Size))
		out.Mesh.Names = append(out.Mesh.Names, a.Name)
		out.Mesh.Types = append(out.Mesh.Types, autoAxis)
	}
	for _, d := range s.Dims {
		p := jaxexport.Partition{}
		for _, r := range d.Axes {
			if !mesh.IsFull(r) {
				return nil
			}
			p.Axes = append(p.Axes, mesh.Axes[r.Axis].Name)
		}
		if !d.Closed {
			return nil // open to more axes
		}
		out.Spec.Partitions = append(out.Spec.Partitions, p)
	}
	return out
}
