package jaxexport

// fields moves the fields of one table by slot: a reader fills what the pointers point at and leaves absent fields as
// they are; a writer adds what is not the zero value.
type fields interface {
	number(slot int, v any) // a pointer to a number of known size or to a bool
	optionalUint32(slot int, v **uint32)
	str(slot int, v *string)
	bytes(slot int, v *[]byte)
	strs(slot int, v *[]string)
	uint8s(slot int, v *[]uint8)
	uint16s(slot int, v *[]uint16)
	uint32s(slot int, v *[]uint32)

	// child moves a reference to a table, whose own fields move moves; has says whether there is one.
	child(slot int, has bool, move func(fields))
	// children moves a vector of n tables.
	children(slot int, n int, move func(i int, f fields))
	// resize says how many tables a vector has: n for a writer.
	resize(slot int, n int) int
}

// record is a pointer to what a table is in Go.
type record[T any] interface {
	*T
	fields(fields)
}

// table moves a reference to a table that may be absent.
func table[T any, P record[T]](f fields, slot int, v **T) {
	f.child(slot, *v != nil, func(f fields) {
		if *v == nil {
			*v = new(T)
		}
		P(*v).fields(f)
	})
}

// tables moves a vector of tables.
func tables[T any, P record[T]](f fields, slot int, v *[]T) {
	n := f.resize(slot, len(*v))
	if n != len(*v) {
		*v = make([]T, n)
	}
	f.children(slot, n, func(i int, f fields) { P(&(*v)[i]).fields(f) })
}

// pointers moves a vector of tables that are pointers in Go.
func pointers[T any, P record[T]](f fields, slot int, v *[]*T) {
	n := f.resize(slot, len(*v))
	if n != len(*v) {
		*v = make([]*T, n)
	}
	f.children(slot, n, func(i int, f fields) {
		if (*v)[i] == nil {
			(*v)[i] = new(T)
		}
		P((*v)[i]).fields(f)
	})
}
