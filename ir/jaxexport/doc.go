// Package jaxexport reads and writes the files that `jax.export.Exported.serialize()` writes: a FlatBuffer that holds a program as
// a portable artifact, and what MLIR does not say of it: the trees of its arguments and results, which inputs its
// function takes, shardings with their meshes, platforms, and its derivative.
//
//	e, err := jaxexport.Read(data, "model.jaxexport")
//	m, err := bytecode.Read(ctx, e.Module, bytecode.Options{File: "model.jaxexport", Base: e.ModuleAt})
//
// Each table of the file is described once, by a function that moves its fields by slot:
//
//	func (d *Device) fields(f fields) {
//		f.str(0, &d.Kind)
//		f.optionalUint32(1, &d.Cores)
//		f.str(2, &d.Platform)
//	}
//
// A reader and a writer are two implementations of fields. The accessors that FlatBuffers' own library generates trust
// the file; these check every offset and bound the work by the size of the file.
//
// Specification: bytecode.md part C.
package jaxexport
