// Package mlirfile reads a program from a file of MLIR in any of its forms, which the first bytes tell apart: text,
// bytecode (plain or a portable artifact), or a file that jax.export serialized.
//
//	m, export, err := mlirfile.Read(ctx, data, "step.jaxexport")
//	export.FunctionName // step; export is nil for other forms
package mlirfile

import (
	"context"

	"autoshard/ir"
	"autoshard/ir/bytecode"
	"autoshard/ir/jaxexport"
	"autoshard/ir/mlir"
)

// IsBinary says whether a file is bytecode or a JAX export.
func IsBinary(data []byte) bool { return bytecode.Is(data) || jaxexport.Is(data) }

// Read reads the program of a file, and what surrounds it where JAX exported it. Constants of binary files point into
// data. Errors are of class diag.ErrInvalid, diag.ErrTooLarge or diag.ErrUnsupported and carry the place, or they
// are the context's.
func Read(ctx context.Context, data []byte, file string) (*ir.Module, *jaxexport.Exported, error) {
	switch {
	case bytecode.Is(data):
		m, err := bytecode.Read(ctx, data, bytecode.Options{File: file})
		return m, nil, err
	case jaxexport.Is(data):
		e, err := jaxexport.Read(data, file)
		if err != nil {
			return nil, nil, err
		}
		m, err := bytecode.Read(ctx, e.Module, bytecode.Options{File: file, Base: e.ModuleAt})
		if err != nil {
			return nil, nil, err
		}
		nameInputs(m, e)
		return m, e, nil
	}
	m, err := mlir.Parse(ctx, data, mlir.Options{File: file})
	return m, nil, err
}

// nameInputs gives the arguments of the entry function that have no place the names that the tree of the inputs gives
// them: args[0]['w']. Arguments that JAX adds, tokens and global constants, come first.
func nameInputs(m *ir.Module, e *jaxexport.Exported) {
	main, ok := m.Main()
	if !ok {
		return
	}
	args := m.BlockArgs(m.Func(main).Body)
	names := e.InTree.InputNames()
	added := len(args) - len(e.KeptInputs)
	for i, input := range e.KeptInputs {
		if added < 0 || int(input) >= len(names) {
			return
		}
		if v := args[added+i]; m.LocOf(m.ArgLoc(v)).Kind == ir.LocUnknown {
			m.SetArgLoc(v, m.AddLoc(ir.Location{Kind: ir.LocName, Name: names[input]}))
		}
	}
}
