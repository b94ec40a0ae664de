package bytecode

import (
	"fmt"
	"math"

	"autoshard/ir"
)

// codec moves the fields of one entry of the tables between the file and Go values: a decoder fills what the pointers
// point at, an encoder writes it. So one function describes a form both ways.
type codec interface {
	varint(v *uint64)
	svarint(v *int64)
	byte(v *uint64)
	flag(v *bool) // one byte
	flagged(v *uint64, flag *bool)
	count(n *int)            // of things that follow, of at least one byte each
	fits(want int64, n *int) // want things of at least one byte each follow
	blob(v *[]byte)          // a length and the bytes
	str(v *string)           // a reference to the strings
	typ(v *ir.TypeID)        // a reference to the types
	ref(v *any)              // a reference to the attributes: an ir.Attr, or a part of one
	optional(v *any)         // a reference that may be absent: nil
	resource(v *string)      // a reference to the resources, by key
	module() *ir.Module      // of the types
	invalid(what string)     // what was moved last is wrong
}

// list moves a count and that many elements.
func list[T any](c codec, v *[]T, move func(codec, *T)) {
	n := len(*v)
	c.count(&n)
	for i := range n {
		if i == len(*v) {
			*v = append(*v, *new(T))
		}
		move(c, &(*v)[i])
	}
}

func ints(c codec, v *[]int64)             { list(c, v, codec.svarint) }
func typeList(c codec, v *[]ir.TypeID)     { list(c, v, codec.typ) }
func none[T any](codec, *T)                {}
func typeOnly(c codec, v *ir.TypeID)       { c.typ(v) }
func stringOnly(c codec, v *ir.StringAttr) { c.str((*string)(v)) }

// move moves fields one behind the other, each as its Go type says.
func move(c codec, fields ...any) {
	for _, f := range fields {
		switch v := f.(type) {
		case *uint64:
			c.varint(v)
		case *int64:
			c.svarint(v)
		case *float64:
			float64Bits(c, v)
		case *bool:
			c.flag(v)
		case *string:
			c.str(v)
		case *ir.TypeID:
			c.typ(v)
		case *[]int64:
			ints(c, v)
		case *[]ir.TypeID:
			typeList(c, v)
		case *ir.Attr:
			refOf(c, v)
		default:
			panic(fmt.Sprintf("bytecode: no way to move a %T", f))
		}
	}
}

// float64Bits moves the pattern of an f64 as a number.
func float64Bits(c codec, v *float64) {
	n := int64(math.Float64bits(*v))
	c.svarint(&n)
	*v = math.Float64frombits(uint64(n))
}

// refOf moves a reference to an attribute of one Go type.
func refOf[T any](c codec, v *T) {
	a := any(*v)
	c.ref(&a)
	if t, ok := a.(T); ok {
		*v = t
	} else {
		c.invalid("reference to an attribute of another kind")
	}
}

func refList[T any](c codec, v *[]T) { list(c, v, refOf[T]) }

// enum moves one of the cases of an enum.
func enum(cases []string) func(codec, *string) {
	return func(c codec, v *string) {
		n := uint64(0)
		for i, name := range cases {
			if name == *v {
				n = uint64(i)
			}
		}
		c.varint(&n)
		if n >= uint64(len(cases)) {
			c.invalid("enum has no such case")
			return
		}
		*v = cases[n]
	}
}

// form is one kind of entry: how its fields are stored. T is the Go value that has them.
type form struct {
	code  uint64
	name  string // as the specification names it
	read  func(d *decoder) any
	write func(c codec, v any)
}

// newForm describes an entry whose fields move moves; value makes of them what the entry means.
func newForm[T any](code uint64, name string, move func(codec, *T), value func(*decoder, T) any) form {
	return form{code, name,
		func(d *decoder) any {
			var v T
			move(d, &v)
			if d.err != nil {
				return nil
			}
			return value(d, v)
		},
		func(c codec, v any) {
			t := v.(T)
			move(c, &t)
		}}
}
