// Package specfmt writes shardings in the forms of other systems, and reads them back.
//
// One layout over the mesh x=2, y=4 in each form:
//
//	sdy             <@mesh, [{"y"}, {}, {"x"}]>
//	partition-spec  P('y', None, 'x')                     JAX: axes by dimension
//	dtensor         [Shard(2), Shard(0)]                  PyTorch: one placement an axis of the mesh
//	gspmd           {devices=[4,1,2]<=[2,4]T(1,0)}        XLA: an array of devices, one tile each
//
// Texts convert by way of a [Layout]:
//
//	l, _, err := specfmt.Parse(specfmt.PartitionSpec, mesh, 3, "P('y', None, 'x')", diag.Position{})
//	text, dropped, err := specfmt.Format(specfmt.DTensor, &l)
//
// Some forms have no words for what others say. What does not change the block of data that a device holds is dropped,
// and listed: open dimensions, priorities, replicated axes. What does is an error of class diag.ErrUnsupported; where
// splitting mesh axes would help, it offers the refined mesh and the text over it ([Refine]).
//
// [Notation] is autoshard's own way to show a sharding in the style of a PartitionSpec, with marks for all that JAX has
// no words for. [Parse] reads it as a PartitionSpec.
package specfmt

import (
	"fmt"
	"slices"
	"strings"

	"autoshard/internal/diag"
	"autoshard/ir"
	"autoshard/subaxis"
)

// Form is a way to write shardings.
type Form uint8

// The forms.
const (
	Sdy           Form = iota // Shardy's attribute: <@mesh, [{"x"}, {?}]>
	PartitionSpec             // JAX's: P('x', P.UNCONSTRAINED)
	DTensor                   // PyTorch's placements: [Shard(0), Replicate()]
	GSPMD                     // XLA's HloSharding: {devices=[2,1,4]<=[8] last_tile_dim_replicate}
)

var formNames = []string{"sdy", "partition-spec", "dtensor", "gspmd"}

// String returns the name of the form: sdy, partition-spec, dtensor or gspmd.
func (f Form) String() string { return formNames[f] }

// ParseForm returns the form of that name. Errors are of class diag.ErrInvalid.
func ParseForm(name string) (Form, error) {
	if i := slices.Index(formNames, name); i >= 0 {
		return Form(i), nil
	}
	return 0, diag.Invalid(diag.BadOption, diag.Position{}, "form of shardings must be one of %s, not %q%s",
		strings.Join(formNames, ", "), name, diag.DidYouMean(name, formNames))
}

// FormOf returns the form that a text is written in, which its first characters tell.
func FormOf(text string) Form {
	text = strings.TrimSpace(text)
	list, isList := strings.CutPrefix(text, "[")
	switch list = strings.TrimSpace(list); {
	case strings.HasPrefix(text, "P"):
		return PartitionSpec
	case strings.HasPrefix(text, "{"):
		return GSPMD
	case isList && list != "" && list[0] != '{' && list[0] != ']', strings.HasPrefix(text, "("):
		return DTensor
	}
	return Sdy
}

// Layout is how one tensor lies over a mesh, apart from any module.
type Layout struct {
	Mesh     *ir.MeshDecl
	Sharding ir.Sharding  // its Mesh is not used
	Manual   ir.ShardAxes // axes of the manual computations around the tensor, in mesh order
}

// AnyRank tells Parse to take the rank from the text.
const AnyRank = -1

// Parse reads a layout over a mesh. The mesh may be nil for forms that can say it themselves: GSPMD, and Sdy with an
// inlined mesh; one without a name takes the name that a text of Shardy has. The rank is that of the tensor, or AnyRank.
// Pos is the place of the text's first character.
//
// Dropped says what of the text no sharding keeps. Errors are of class diag.ErrInvalid for a text that is wrong, or that
// Shardy's verifier would refuse, diag.ErrUnsupported for one that is right but says what no sharding over this mesh can,
// and diag.ErrTooLarge for device arrays above a million.
func Parse(f Form, mesh *ir.MeshDecl, rank int, text string, pos diag.Position) (l Layout, dropped []string, err error) {
	s := &scanner{mesh: mesh, text: text, start: pos, what: f.String()}
	if mesh == nil && f != GSPMD && f != Sdy {
		return l, nil, diag.Invalid(diag.BadMesh, pos, "a mesh is needed to read a %s", f)
	}
	switch f {
	case PartitionSpec:
		l, dropped = s.partitionSpec(rank)
	case DTensor:
		l = s.placements(rank)
	case GSPMD:
		l, dropped = s.hloSharding(rank)
	default:
		l = s.sdy(rank)
	}
	if s.err == nil {
		s.err = ir.CheckSharding(&l.Sharding, &l.Mesh.Mesh, pos)
	}
	if s.err != nil {
		return Layout{}, nil, s.err
	}
	return l, dropped, nil
}

// Format writes a layout. Dropped says what the text leaves out although the layout has it. Errors are of class
// diag.ErrUnsupported: the form cannot say where the data lies.
func Format(f Form, l *Layout) (text string, dropped []string, err error) {
	switch f {
	case PartitionSpec:
		return formatPartitionSpec(l)
	case DTensor:
		return formatPlacements(l)
	case GSPMD:
		return formatHloSharding(l)
	}
	return formatSdy(l)
}

// LayoutOf returns the layout of a sharding of a module; manual are the axes of the manual computations around the
// tensor.
func LayoutOf(m *ir.Module, id ir.ShardingID, manual ir.ShardAxes) Layout {
	s := m.ShardingOf(id)
	return Layout{Mesh: m.Mesh(s.Mesh), Sharding: *s, Manual: manual}
}

// left lists what a text leaves out of a layout.
type left struct{ list []string }

func (d *left) add(format string, args ...any) { d.list = append(d.list, fmt.Sprintf(format, args...)) }

// priorities notes the priorities of dimensions.
func (d *left) priorities(s *ir.Sharding) {
	var parts []string
	for i, dim := range s.Dims {
		if dim.Priority != ir.NoPriority {
			parts = append(parts, fmt.Sprintf("%d of dimension %d", dim.Priority, i))
		}
	}
	if len(parts) > 0 {
		d.add("priorities are left out: %s", strings.Join(parts, ", "))
	}
}

// open notes the open dimensions that the text has closed.
func (d *left) open(s *ir.Sharding, kept func(ir.DimSharding) bool) {
	var parts []string
	for i, dim := range s.Dims {
		if !dim.Closed && !kept(dim) {
			parts = append(parts, fmt.Sprint(i))
		}
	}
	if len(parts) > 0 {
		d.add("open dimensions are written as closed: %s", strings.Join(parts, ", "))
	}
}

func (d *left) axes(what string, mesh *subaxis.Mesh, refs ir.ShardAxes) {
	if len(refs) > 0 {
		d.add("%s axes are left out: %s", what, mesh.FormatList(refs))
	}
}

func noneOpen(ir.DimSharding) bool { return false }

// noDevice is the error of forms that are about axes for a mesh that stands for one device.
func noDevice(f Form, mesh *ir.MeshDecl) error {
	return diag.Unsupported(diag.NotSupported, diag.Position{}, "not expressible as %s: the mesh %s stands for device %d alone",
		f.title(), mesh.FormatContent(), mesh.DeviceIDs[0])
}

// title returns the name that its own system gives the form.
func (f Form) title() string {
	return [...]string{"Shardy sharding", "PartitionSpec", "DTensor placements", "GSPMD sharding"}[f]
}
