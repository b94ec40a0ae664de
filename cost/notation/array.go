package notation

import (
	"slices"
	"strings"

	"autoshard/internal/lists"
	"autoshard/ir/dtype"
	"autoshard/subaxis"
)

// Dim is a dimension of an array.
type Dim struct {
	Name string
	Size int64 // where the name is a number, 0 otherwise
	Axes []subaxis.Ref
	col  int
}

// Array is a sharded array.
type Array struct {
	Name      string
	DType     dtype.Type // where the name is one; else dtype.Invalid
	Dims      []Dim
	Unreduced []subaxis.Ref
	col       int
}

// Product is a matrix product, or another contraction of two arrays. C is nil where the text does not say it.
type Product struct {
	A, B Array
	C    *Array
}

// Axes returns all axes of an array, of its dimensions in order and then the unreduced ones.
func (a *Array) Axes() (axes []subaxis.Ref) {
	for _, d := range a.Dims {
		axes = append(axes, d.Axes...)
	}
	return append(axes, a.Unreduced...)
}

// Find returns the dimension of a name, nil if there is none.
func (a *Array) Find(name string) *Dim {
	i := slices.IndexFunc(a.Dims, func(d Dim) bool { return d.Name == name })
	if i < 0 {
		return nil
	}
	return &a.Dims[i]
}

// Format writes an array.
func (a *Array) Format(mesh *subaxis.Mesh) string {
	dims := lists.Map(a.Dims, func(d Dim) string {
		if len(d.Axes) == 0 {
			return d.Name
		}
		return d.Name + "_" + Subscript(mesh, d.Axes)
	})
	out := a.Name + "[" + strings.Join(dims, ", ") + "]"
	if len(a.Unreduced) > 0 {
		out += "{U_" + Subscript(mesh, a.Unreduced) + "}"
	}
	return out
}

// Subscript writes axes: one behind the other where all names are single letters, in braces otherwise.
func Subscript(mesh *subaxis.Mesh, axes []subaxis.Ref) string {
	names := lists.Map(axes, func(r subaxis.Ref) string { return mesh.Axes[r.Axis].Name })
	switch {
	case len(names) == 1:
		return names[0]
	case slices.ContainsFunc(names, func(n string) bool { return len(n) > 1 }):
		return "{" + strings.Join(names, ",") + "}"
	}
	return strings.Join(names, "")
}
