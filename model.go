package autoshard

import (
	"context"
	"path"
	"strings"

	"autoshard/answer"
	"autoshard/internal/diag"
	"autoshard/internal/filekind"
	"autoshard/ir"
	"autoshard/ir/jaxexport"
	"autoshard/ir/mlirfile"
	"autoshard/ir/modeljson"
	"autoshard/program"
)

// Model is a program that a user handed in, verified.
type Model struct {
	file     string
	module   *ir.Module
	read     *ir.Module          // as the text has it, whatever the user made of it; it must not be changed
	export   *jaxexport.Exported // of what JAX exported, nil otherwise
	hash     string              // of the text
	given    answer.Given        // what the user made of it; the file is above
	platform string              // that was chosen where the user did not
	sized    bool                // for sizes or a platform: the module is not that of the export any more
}

// ReadModel reads StableHLO as text, as MLIR bytecode or as a portable artifact, a file that jax.export serialized, or
// model.json; the content decides which. Constants of binary files point into src, which must not change. File names
// the source in errors. Errors are located and of class diag.ErrInvalid, diag.ErrTooLarge or diag.ErrUnsupported,
// or the context's.
func ReadModel(ctx context.Context, file string, src []byte) (model *Model, err error) {
	defer diag.Recover("read", &err)
	if err := filekind.Check(file, src, filekind.Model, filekind.MLIR); err != nil {
		return nil, err
	}
	var m *ir.Module
	var export *jaxexport.Exported
	if filekind.IsJSON(src) {
		m, err = modeljson.Read(ctx, src, file)
	} else {
		m, export, err = mlirfile.Read(ctx, src, file)
	}
	if err != nil {
		return nil, err
	}
	if err := ir.Verify(ctx, m); err != nil {
		return nil, err
	}
	m.LocateByText()
	return &Model{file: file, module: m, read: m, export: export, hash: answer.Hash(src)}, nil
}

// with returns the model with another module in place of its own.
func (m *Model) with(module *ir.Module) *Model {
	c := *m
	c.module = module
	return &c
}

// Export returns what jax.export says of the program beside it: which inputs the program takes of those of the function
// that was exported, their trees, shardings and platforms. It is nil for files of other forms, and must not be changed.
func (m *Model) Export() *jaxexport.Exported { return m.export }

// Name returns the module's name, or that of its file.
func (m *Model) Name() string {
	if m.module.Name != "" {
		return m.module.Name
	}
	base := path.Base(m.file)
	name, _, _ := strings.Cut(base, ".")
	return name
}

// Interpreter returns what runs the model's main function on one device, whatever shardings it has. It fails with [ErrInvalid] where
// there is no such function.
func (m *Model) Interpreter() (*Interpreter, error) {
	in, err := program.NewInterpreter(m.module)
	return in, diag.InFile(err, m.file)
}

// source returns the model as what plans and propagations answer about.
func (m *Model) source() *answer.Source {
	given := m.given
	given.File = m.file
	return &answer.Source{Name: m.Name(), Given: given, Hash: m.hash, Module: m.module, Platforms: m.platforms(), Platform: m.platform,
		Dropped: m.dropped()}
}

// platforms returns the names of the platforms of an export by index, nil where the file does not say them.
func (m *Model) platforms() []string {
	if m.export == nil {
		return nil
	}
	return m.export.Platforms
}
