package program

import (
	"context"
	"fmt"

	"autoshard/answer"
	"autoshard/backend/mesh"
	"autoshard/backend/tensor"
	"autoshard/internal/diag"
	"autoshard/ir"
)

// Interpreter runs the main function of a module as one device does that sees whole tensors: shardings change nothing. Programs
// that check themselves end with the first check that does not hold.
type Interpreter struct {
	Inputs  []answer.Tensor // elements of tuples one by one; no tokens
	Outputs []answer.Tensor

	module *ir.Module
	main   ir.FuncID
}

// NewInterpreter returns an interpreter of a verified module, which must not change. It fails with diag.ErrInvalid where there is no
// main function.
func NewInterpreter(m *ir.Module) (*Interpreter, error) {
	main, ok := m.Main()
	if !ok {
		return nil, diag.Invalid(diag.Undefined, diag.Position{}, "the module has no function @main, and not one function alone")
	}
	inputs, outputs := answer.Tensors(m, func(_, _ int) bool { return false })
	in := &Interpreter{module: m, main: main}
	for i, arg := range m.BlockArgs(m.Func(main).Body) {
		in.Inputs = appendLeaves(in.Inputs, m, &inputs[i], m.Type(arg))
	}
	for i, t := range m.Func(main).ResultTypes {
		in.Outputs = appendLeaves(in.Outputs, m, &outputs[i], t)
	}
	return in, nil
}

// appendLeaves adds the tensors that a value of that type consists of.
func appendLeaves(list []answer.Tensor, m *ir.Module, of *answer.Tensor, typ ir.TypeID) []answer.Tensor {
	t := m.TypeOf(typ)
	switch t.Kind {
	case ir.TokenKind, ir.NoneKind:
	case ir.TupleKind:
		for k, e := range t.Elems {
			list = appendLeaves(list, m, &answer.Tensor{Name: fmt.Sprintf("%s.%d", of.Name, k)}, e)
		}
	default:
		list = append(list, answer.Tensor{Index: len(list), Name: of.Name, Type: answer.FormatType(t, t.Dims)})
	}
	return list
}

// Run executes the function once. Errors are located and of class diag.ErrInvalid for inputs that do not fit, diag.ErrFinding for a
// check that does not hold, with its first difference, diag.ErrUnsupported for an op that no kernel runs, diag.ErrTooLarge for values
// beyond the limit of bytes, or the context's.
func (in *Interpreter) Run(ctx context.Context, inputs []*tensor.Tensor, o RunOptions) (result *Result, err error) {
	defer diag.Recover("interpret", &err)
	if err := o.check(inputs); err != nil {
		return nil, err
	}
	opts, recorder := o.onOne(in.module)
	outs, traffic, err := mesh.Run(ctx, in.module, in.main, 1, [][]*tensor.Tensor{inputs}, opts)
	if err != nil {
		return nil, err
	}
	return &Result{Outputs: outs[0], Checks: traffic.Checks, Profile: newProfile(in.module, recorder, &traffic)}, nil
}

// Compare compares the outputs of a run with expected ones. Elements may differ by the tolerance and by what rounding explains. A Check
// that did not pass comes with a diag.ErrFinding.
func (in *Interpreter) Compare(ctx context.Context, result *Result, inputs, expected []*tensor.Tensor, t Tolerance) (check *Check,
	err error) {
	defer diag.Recover("interpret", &err)
	p := &Program{Outputs: in.Outputs, whole: in.module}
	return (&comparison{p: p, inputs: inputs, result: result, expected: expected, tolerance: t, alone: true}).check(ctx)
}
