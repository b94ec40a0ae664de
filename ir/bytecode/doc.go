// Package bytecode reads and writes MLIR bytecode: programs as `module.operation.write_bytecode` and StableHLO's portable artifacts
// (dialect vhlo) keep them, versions 0 to 6.
//
// A file is a list of sections. Strings, attributes, types and names of ops lie in tables and are referred to by index;
// the IR section holds the ops. The package describes the content once, for reading and for writing:
//
//	wire.go        the magic, section ids, op masks; varints and their kin, both ways
//	codec.go       codec: moves the fields of one table entry, whichever way; form: one kind of entry
//	attrs*.go      the forms of attributes by dialect: a code, a Go value, and a function that moves its fields
//	types*.go      the forms of types
//	slots.go       the properties of each op in stored order
//	dense.go       elements of constants as they are stored
//	read*.go       file → tables → ops → ir.Module
//	write*.go      ir.Module → ops and tables → file; encoder.go: which form and Go value an attribute has
//
// A form's function serves a decoder, which fills the fields, and an encoder, which writes them:
//
//	func moveAllToAll(c codec, v *allToAll) {
//		refList(c, &v.axes)
//		move(c, &v.src, &v.dst)
//	}
//
// The writer finds for an attribute of the representation its form and the form's Go value, and calls form.write. What
// has no form, or only a form that the representation keeps as text, is written as a text entry. Entries get their numbers
// in the order in which the program needs them, so that the same program has the same bytes.
//
// Elements of constants are not copied: they point into the file, which must not be changed while the module lives.
//
// Specification: bytecode.md parts A and B.
package bytecode
