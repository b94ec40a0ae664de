package autoshard

import (
	"cmp"
	"context"

	"autoshard/internal/diag"
	"autoshard/ir/bytecode"
	"autoshard/ir/mlir"
	"autoshard/ir/mlirfile"
	"autoshard/ir/modeljson"
	"autoshard/ir/vhlo"
)

// Form is a format of files of models.
type Form string

// The forms.
const (
	FormJSON      Form = "json"       // model.json
	FormMLIR      Form = "mlir"       // text, without locations
	FormBytecode  Form = "bytecode"   // MLIR bytecode
	FormVHLO      Form = "vhlo"       // a portable artifact of StableHLO
	FormJAXExport Form = "jax-export" // what jax.export.deserialize reads
)

// DefaultTarget is the version of StableHLO that JAX's own exports are for.
const DefaultTarget = "1.18.0"

// bytecodeVersion is the newest version, which jaxlib writes.
const bytecodeVersion = 6

// ConvertTo returns the model in a form. Target is the version of StableHLO that must be able to read portable artifacts
// and JAX exports, such as 1.0.0; "" is [DefaultTarget]. Errors are of class diag.ErrInvalid for a form or version that does not exist, and
// diag.ErrUnsupported for what the form or the version cannot say; or the
// context's.
func (m *Model) ConvertTo(ctx context.Context, form Form, target string) (out []byte, err error) {
	defer diag.Recover("convert", &err)
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	switch form {
	case FormJSON:
		return modeljson.Write(m.module)
	case FormMLIR:
		return mlir.Write(ctx, m.module, mlir.PrintOptions{DebugInfo: true}) // names of arguments are places
	case FormBytecode:
		return bytecode.Write(m.module, bytecode.WriteOptions{Version: bytecodeVersion})
	}
	version, ok := vhlo.ParseVersion(cmp.Or(target, DefaultTarget))
	if !ok {
		return nil, diag.Invalid(diag.BadOption, diag.Position{}, "the target must be a version of StableHLO such as %s, not %q",
			DefaultTarget, target)
	}
	switch form {
	case FormVHLO:
		return bytecode.WriteArtifact(m.module, version)
	case FormJAXExport:
		export := m.export
		if m.sized {
			export = nil
		}
		return mlirfile.WriteExport(m.module, export, m.Name(), version)
	}
	return nil, diag.Invalid(diag.BadOption, diag.Position{}, "a model has the forms json, mlir, bytecode, vhlo and jax-export, not %q", form)
}
