// Package pricing answers what arrays, collectives and matrix products take on a mesh of some hardware, as "How to Scale Your Model" asks:
// in its notation, and on request by its conventions.
//
//	s := pricing.Setting{Mesh: axes, Hardware: hw, Sizes: "I=8192,J=8192,K=8192", DType: "bf16"}
//	a, err := pricing.Matmul(&pricing.MatmulRequest{Setting: s, Product: "A[I_X, J_Y] · B[J_Y, K] -> C[I_X, K]"})
//	a.Strategies[0] // the fastest, with its steps
package pricing

import (
	"autoshard/answer"
	"autoshard/cost"
	"autoshard/cost/notation"
	"autoshard/internal/diag"
	"autoshard/internal/lists"
	"autoshard/ir/dtype"
	"autoshard/subaxis"
)

// Setting is what questions have in common.
type Setting struct {
	Mesh     []subaxis.Axis
	Hardware cost.Hardware // without a name: that of cost.DefaultProfile
	Sizes    string        // of dimensions: I=8192,J=1024
	DType    string        // of arrays that are not called by their type; "" is bf16
	Book     bool          // by the book's conventions: nominal rates, whatever can overlap does, rings without (n-1)/n
}

// Place is where a question is answered for.
type Place struct {
	Mesh     []answer.MeshAxis `json:"mesh"`
	Hardware string            `json:"hardware"`
	Slice    []Axis            `json:"slice,omitempty"`  // of a torus: its physical axes
	Slices   int64             `json:"slices,omitempty"` // of a torus, where the mesh spans several
	Book     bool              `json:"book"`
}

// Axis is a physical axis of a torus.
type Axis struct {
	Size int64 `json:"size"`
	Ring bool  `json:"ring"` // else it is a line
}

// question is a Setting that was read.
type question struct {
	Setting
	mesh  subaxis.Mesh
	sizes notation.Sizes
	dtype dtype.Type
	asked *cost.Topology // by the conventions that were asked for
	ours  *cost.Topology // by those that plans are made by
}

func (s *Setting) read() (*question, error) {
	q := &question{Setting: *s, mesh: subaxis.Mesh{Axes: s.Mesh}}
	q.Hardware = q.Hardware.OrDefault()
	if q.DType == "" {
		q.DType = dtype.BF16.String()
	}
	var ok bool
	if q.dtype, ok = notation.ParseType(q.DType); !ok || q.dtype == dtype.Invalid {
		return nil, diag.Invalid(diag.TypeMismatch, diag.Position{}, "%q is no element type such as bf16 or int8", q.DType)
	}
	if err := answer.CheckAxes(s.Mesh); err != nil {
		return nil, err
	}
	var err error
	mesh := subaxis.Mesh{Axes: s.Mesh}
	if q.sizes, err = notation.ParseSizes("--dims", s.Sizes); err != nil {
		return nil, err
	}
	if q.ours, err = cost.NewTopology(q.Hardware, mesh, cost.Planning()); err != nil {
		return nil, err
	}
	q.asked = q.ours
	if s.Book {
		q.asked, err = cost.NewTopology(q.Hardware, mesh, cost.Book())
	}
	return q, err
}

// place says where the question is answered for.
func (q *question) place() Place {
	p := Place{Mesh: q.Mesh, Hardware: q.Hardware.Name, Book: q.Book}
	shape, slices := q.asked.Slice()
	for i, size := range shape.Shape {
		p.Slice = append(p.Slice, Axis{size, shape.Wrap[i]})
	}
	if slices > 1 {
		p.Slices = slices
	}
	return p
}

// overlap is how compute and communication of one product combine by the conventions that were asked for.
func (q *question) overlap() cost.Combine {
	if q.Book {
		return cost.Largest
	}
	return cost.Sum
}

// typeOf returns the element type of an array.
func (q *question) typeOf(a *notation.Array) dtype.Type {
	if a.DType != dtype.Invalid {
		return a.DType
	}
	return q.dtype
}

// array is an array with its sizes.
type array struct {
	notation.Array
	shape []int64
	dtype dtype.Type
}

func (q *question) sized(file, text string, a *notation.Array) (*array, error) {
	shape, err := q.sizes.Shape(file, text, a)
	if err != nil {
		return nil, err
	}
	out := &array{*a, shape, q.typeOf(a)}
	if _, _, err := dtype.Size(out.dtype, shape); err != nil {
		return nil, err
	}
	return out, nil
}

// local returns the shape of one device's block. Blocks are rounded up.
func (a *array) local() []int64 {
	shape := make([]int64, len(a.shape))
	for i, n := range a.shape {
		k := subaxis.Product(a.Dims[i].Axes)
		shape[i] = (n + k - 1) / k
	}
	return shape
}

// bytes returns the bytes of a block, of what each device holds.
func (a *array) bytes() int64 { return a.sizeOf(a.local()) }

// sizeOf returns the bytes of a shape.
func (a *array) sizeOf(shape []int64) int64 { return lists.Product(shape) * int64(a.dtype.Bytes()) }
