// Package gspmd puts shardings into Shardy's dialect that a program has in other words: those of GSPMD, XLA's older partitioner, which JAX
// writes without Shardy and other frameworks still do, and those of Shardy itself that JAX hid in frontend attributes where programs had to
// be read without its dialect.
//
//	%0 = stablehlo.custom_call @Sharding(%x) {mhlo.sharding = "{devices=[4,2]<=[8]}"}
//	%1 = stablehlo.custom_call @SPMDFullToShardShape(%0) {mhlo.sharding = "{manual}"}      // f32[32,64] -> f32[8,32]
//	%2 = call @shmap_body(%1)
//	%3 = stablehlo.custom_call @Sharding(%2) {mhlo.sharding = "{manual}"}
//	%4 = stablehlo.custom_call @SPMDShardToFullShape(%3) {mhlo.sharding = "{devices=[4,2]<=[8]}"}
//
// becomes
//
//	%4 = sdy.manual_computation(%x) in_shardings=[<@mesh, [{"axis_0"}, {"axis_1"}]>] out_shardings=[…] manual_axes={"axis_0", "axis_1"} …
//
// A mesh has no names in GSPMD. It is the one that the program declares, the one that the user asks for, or axis_0, axis_1 and so on: as
// few axes as all shardings of the program together need (specification: shardmap.md section 6.5).
package gspmd

import (
	"context"
	"regexp"
	"slices"
	"strconv"

	"autoshard/internal/diag"
	"autoshard/ir"
	"autoshard/ir/specfmt"
	"autoshard/subaxis"
)

// Needed says whether a program has shardings in other words than Shardy's.
func Needed(m *ir.Module) bool {
	for p := range annotations(m) {
		if p.sdyText() != "" || p.attrs.Str(shardingAttr) != "" {
			return true
		}
	}
	return len(changes(m)) > 0
}

// Import puts the shardings of a program into Shardy's dialect, if that is needed. Axes are those of the mesh that GSPMD's are to be over
// where the program declares none; none to let them follow. Said says over which mesh they are where they did; "" otherwise. Errors stand
// at the operation, and are of class diag.ErrInvalid for a text that is wrong, and diag.ErrUnsupported for one that says what no sharding
// over the mesh can, and for manual regions that are no call.
func Import(ctx context.Context, m *ir.Module, axes []subaxis.Axis) (said string, err error) {
	if !Needed(m) {
		return "", nil
	}
	im := &importer{m: m}
	if err := im.namedMeshes(); err != nil {
		return "", err
	}
	if said, err = im.chooseMesh(axes); err != nil {
		return "", err
	}
	if err := im.regions(); err != nil {
		return "", err
	}
	for p := range annotations(m) {
		if err := im.put(p); err != nil {
			return "", err
		}
	}
	im.marks()
	return said, ir.Verify(ctx, m)
}

// importer is the state of an import.
type importer struct {
	m    *ir.Module
	mesh ir.MeshID // that texts of GSPMD are over; 0 where none says more than on which device something is
}

// put gives the values of a place the sharding that its attributes say, and takes these away.
func (im *importer) put(p place) error {
	ids, err := im.shardings(p)
	if err != nil || ids == nil {
		return err
	}
	p.clean()
	for i, id := range ids {
		if id != 0 && p.had(i) == 0 {
			p.set(i, id)
		}
	}
	return nil
}

// shardings reads what the attributes of a place say; nil where they say nothing.
func (im *importer) shardings(p place) ([]ir.ShardingID, error) {
	if text := p.sdyText(); text != "" {
		return im.shardyList(p, sdySharding, text)
	}
	text := p.attrs.Str(shardingAttr)
	if text == "" {
		return nil, nil
	}
	elements, _ := specfmt.TupleElements(text)
	if len(elements) == 1 { // of all values
		elements = slices.Repeat(elements, p.values())
	}
	if len(elements) != p.values() {
		return nil, diag.Invalid(diag.BadSharding, im.m.OpPos(p.op), "%d shardings in `%s`, for %d values", len(elements), text, len(p.types))
	}
	out := make([]ir.ShardingID, len(elements))
	for i, element := range elements {
		if device := maximal.FindStringSubmatch(element); device != nil {
			out[i] = im.single(device[1])
			continue
		}
		if len(p.types) == 0 || im.mesh == 0 {
			continue
		}
		l, err := im.layout(p.op, element, p.types[i])
		if err != nil {
			return nil, err
		}
		if len(l.Manual) < len(im.m.Mesh(im.mesh).Axes) || len(l.Manual) == 0 {
			out[i] = im.intern(l, p.open())
		}
	}
	return out, nil
}

// maximal matches the sharding of a value that one device alone has.
var maximal = regexp.MustCompile(`^\{maximal device=([0-9]{1,18})`)

// single returns the sharding of a value that a device alone has, over a mesh that stands for this device.
func (im *importer) single(device string) ir.ShardingID {
	name := "maximal_mesh_" + device
	mesh, declared := im.m.LookupMesh(name)
	if !declared {
		id, _ := strconv.ParseInt(device, 10, 64) // at most 18 digits
		mesh = im.m.AddMesh(name, subaxis.Mesh{DeviceIDs: []int64{id}}, nil, 0)
	}
	return im.m.InternSharding(ir.Sharding{Mesh: mesh})
}

// layout reads a text of GSPMD for a value.
func (im *importer) layout(op ir.OpID, text string, t ir.TypeID) (specfmt.Layout, error) {
	rank := 0
	if im.m.TypeOf(t).Kind == ir.TensorKind {
		rank = im.m.TypeOf(t).Rank()
	}
	l, _, err := specfmt.Parse(specfmt.GSPMD, im.m.Mesh(im.mesh), rank, text, diag.Position{})
	return l, at(err, im.m.OpPos(op))
}

// at moves what is wrong with a text inside an attribute to the operation that has it.
func at(err error, pos diag.Position) error {
	for i := range diag.Diagnostics(err) {
		diag.Diagnostics(err)[i].Pos = pos
	}
	return err
}

// intern returns a layout as a sharding of the program, with some dimensions open.
func (im *importer) intern(l specfmt.Layout, open []int64) ir.ShardingID {
	s := l.Sharding.Clone()
	s.Mesh = im.mesh
	for _, d := range open {
		if d >= 0 && int(d) < len(s.Dims) {
			s.Dims[d].Closed = false
		}
	}
	return im.m.InternSharding(s)
}

// marks makes constraints of the custom calls that stood for them, and shardings of results of those that stood for these.
func (im *importer) marks() {
	m := im.m
	for _, op := range m.OpsOf(m.Body(), ir.OpCustomCall) {
		target := m.OpAttrs(op).Str("call_target_name")
		if target != markTarget && target != resultTarget || m.NumOperands(op) != 1 || m.NumResults(op) != 1 {
			continue
		}
		v, id := m.Operand(op, 0), m.Sharding(m.Result(op, 0))
		switch {
		case target == resultTarget:
			im.returned(m.Result(op, 0), id)
		case id != 0:
			c := m.BuilderBefore(op).Op(ir.OpSdyShardingConstraint, []ir.TypeID{m.Type(v)}, nil, v)
			m.InheritPos(c, op)
			v = m.Result(c, 0)
			m.SetSharding(v, id)
		}
		m.ReplaceUses(m.Result(op, 0), v)
		m.Erase(op)
	}
}

// returned gives the results of functions that are a value its sharding.
func (im *importer) returned(v ir.ValueID, id ir.ShardingID) {
	for u := range im.m.Uses(v) {
		if f := im.m.FuncOf(im.m.ParentOp(u.Op)); f != 0 && im.m.Kind(u.Op) == ir.OpReturn {
			im.m.Func(f).ResultShardings[u.Index] = id
		}
	}
}
