package blocks

import (
	"fmt"
	"strings"

	"autoshard/answer"
	"autoshard/internal/diag"
	"autoshard/internal/lists"
	"autoshard/ir"
	"autoshard/ir/dtype"
	"autoshard/ir/specfmt"
	"autoshard/subaxis"
)

// Request asks for the blocks of a tensor.
type Request struct {
	Text      string         // a sharding and the tensor's type: P('x', None) : f32[4,8]
	Name      string         // of the text, in errors
	Form      string         // of the sharding: sdy, partition-spec, dtensor or gspmd; "": what its first characters tell
	Mesh      []subaxis.Axis // nil: the mesh that the text tells, or one that fits (gspmd)
	DeviceIDs []int64        // in row-major order of the mesh; nil: in order
}

// Schema identifies the JSON form of an Answer.
const Schema = "autoshard.blocks/v1"

// Answer is what devices hold of a tensor. Sizes are in bytes.
type Answer struct {
	Schema  string            `json:"schema"`
	Tensor  string            `json:"tensor"` // its type
	Mesh    []answer.MeshAxis `json:"mesh"`
	Place   Place             `json:"place"` // of the blocks
	Bytes   Sizes             `json:"bytes"`
	Forms   []Form            `json:"forms"`
	Devices []Device          `json:"devices"` // in row-major order of the mesh
	Notes   []string          `json:"notes,omitempty"`
}

// Sizes are how many bytes are held.
type Sizes struct {
	Whole  int64 `json:"whole"`  // by the tensor
	Block  int64 `json:"block"`  // by a device
	Fleet  int64 `json:"fleet"`  // by all devices
	Copies int64 `json:"copies"` // how many devices, or groups of devices with summands, hold each block
	Terms  int64 `json:"terms"`  // how many devices hold summands of each block
}

// Form is the sharding in one form, or why that cannot say it.
type Form struct {
	Form    string   `json:"form"`
	Text    string   `json:"text,omitempty"`
	Notes   []string `json:"notes,omitempty"` // what the text leaves out
	Problem string   `json:"problem,omitempty"`
}

// Device is what one device holds.
type Device struct {
	ID          int64      `json:"id"`
	Coordinates []int64    `json:"coordinates"` // on the axes of the mesh
	Ranges      [][2]int64 `json:"ranges"`      // of its block
}

// maxDevices bounds the meshes whose devices are listed one by one.
const maxDevices = 1 << 16

// Show returns which device holds what of a tensor. Errors are of class diag.ErrInvalid for a text that is wrong, diag.ErrUnsupported for
// manual axes, along which a program alone knows what devices hold, and diag.ErrTooLarge.
func Show(r *Request) (*Answer, error) {
	sharding, typ, err := r.split()
	if err != nil {
		return nil, err
	}
	l, notes, err := r.layout(sharding, len(typ.shape))
	if err != nil {
		return nil, err
	}
	switch {
	case l.Mesh.IsEmpty():
		return nil, diag.Invalid(diag.BadMesh, diag.Position{}, "a mesh is needed to show `%s`", sharding)
	case len(l.Manual) > 0:
		return nil, diag.Unsupported(diag.NotSupported, diag.Position{},
			"axis %s is manual: what devices hold along it is what their program makes", l.Mesh.FormatList(l.Manual))
	case l.Mesh.Devices() > maxDevices:
		return nil, diag.TooLarge(diag.BadMesh, diag.Position{}, "the mesh has %d devices, at most %d are shown", l.Mesh.Devices(), maxDevices)
	}
	a := &Answer{Schema: Schema, Tensor: dtype.Format(typ.element, typ.shape), Mesh: l.Mesh.Axes, Forms: forms(l),
		Place: Of(l.Mesh, &l.Sharding, typ.element, typ.shape), Devices: devices(l, typ.shape),
		Notes: append(notes, padding(&l.Sharding, typ.shape)...)}
	a.Bytes, err = a.measure(l, typ)
	return a, err
}

// tensor is the type of one.
type tensor struct {
	element dtype.Type
	shape   []int64
}

// split cuts the text at the last colon that is in no brackets or quotes.
func (r *Request) split() (sharding string, t tensor, err error) {
	depth, colon, quote := 0, -1, byte(0)
	for i, c := range []byte(r.Text) {
		switch {
		case quote != 0:
			if c == quote {
				quote = 0
			}
		case c == '"' || c == '\'':
			quote = c
		case strings.IndexByte("([{", c) >= 0:
			depth++
		case strings.IndexByte(")]}", c) >= 0:
			depth--
		case c == ':' && depth == 0:
			colon = i
		}
	}
	if colon < 0 {
		return "", t, diag.Invalid(diag.Syntax, r.at(len(r.Text)),
			"behind the sharding the type of the tensor is missing, such as `: f32[64,128]`")
	}
	var ok bool
	if t.element, t.shape, ok = dtype.ParseTensor(strings.TrimSpace(r.Text[colon+1:])); !ok {
		return "", t, diag.Invalid(diag.TypeMismatch, r.at(colon+1), "%q is no type of a tensor such as f32[64,128] or 64x128xf32",
			strings.TrimSpace(r.Text[colon+1:]))
	}
	return strings.TrimRight(r.Text[:colon], " "), t, nil
}

func (r *Request) at(byteAt int) diag.Position {
	return diag.Position{File: r.Name, Line: 1, Col: 1 + byteAt}
}

// layout reads the sharding.
func (r *Request) layout(text string, rank int) (*specfmt.Layout, []string, error) {
	form := specfmt.FormOf(text)
	if r.Form != "" {
		var err error
		if form, err = specfmt.ParseForm(r.Form); err != nil {
			return nil, nil, err
		}
	}
	var mesh *ir.MeshDecl
	if r.Mesh != nil || r.DeviceIDs != nil {
		err := answer.CheckAxes(r.Mesh)
		if err == nil {
			mesh, err = specfmt.NewMesh(r.Mesh, r.DeviceIDs)
		}
		if err != nil {
			return nil, nil, err
		}
	}
	l, notes, err := specfmt.Parse(form, mesh, rank, text, r.at(0))
	if err == nil && l.Mesh.Name == "" {
		l.Mesh = &ir.MeshDecl{Mesh: l.Mesh.Mesh, Name: "mesh"}
	}
	return &l, notes, err
}

// padding says which dimensions their axes do not divide.
func padding(s *ir.Sharding, shape []int64) (notes []string) {
	local := s.LocalDims(shape)
	for d := range s.Dims {
		if n := s.Shards(d); shape[d]%n != 0 {
			notes = append(notes, fmt.Sprintf("dimension %d has size %d, no multiple of %d: "+
				"blocks of %d are padded at its end, and jax.device_put refuses it", d, shape[d], n, local[d]))
		}
	}
	return notes
}

// forms writes the sharding in every form.
func forms(l *specfmt.Layout) (out []Form) {
	for f := specfmt.Sdy; f <= specfmt.GSPMD; f++ {
		form := Form{Form: f.String()}
		text, notes, err := specfmt.Format(f, l)
		if err != nil {
			form.Problem = diag.Diagnostics(err)[0].Message
		} else {
			form.Text, form.Notes = text, notes
		}
		out = append(out, form)
	}
	return out
}

// devices returns what each device holds.
func devices(l *specfmt.Layout, shape []int64) []Device {
	local := l.Sharding.LocalDims(shape)
	return lists.Of(int(l.Mesh.Devices()), func(i int) Device {
		at := int64(i)
		place := lists.Map(l.Mesh.All(), func(axis subaxis.Ref) int64 { return l.Mesh.Coordinate(at, axis) })
		return Device{ID: l.Mesh.DeviceID(at), Coordinates: place, Ranges: rangesOf(&l.Mesh.Mesh, &l.Sharding, shape, local, at)}
	})
}

// measure says how many bytes are held.
func (a *Answer) measure(l *specfmt.Layout, t tensor) (s Sizes, err error) {
	if _, s.Whole, err = dtype.Size(t.element, t.shape); err != nil {
		return s, err
	}
	if _, s.Block, err = dtype.Size(t.element, l.Sharding.LocalDims(t.shape)); err != nil {
		return s, err
	}
	s.Fleet = s.Block * l.Mesh.Devices()
	s.Terms = subaxis.Product(l.Sharding.Unreduced)
	s.Copies = l.Mesh.Devices() / s.Terms / int64(len(a.Place.Blocks))
	return s, nil
}

// Slice returns what the device holds as an index of Python: [0:2, 4:8].
func (d *Device) Slice() string {
	b := Block{Ranges: d.Ranges}
	return "[" + lists.Joined(lists.Range[int](len(d.Ranges)), b.Span) + "]"
}
