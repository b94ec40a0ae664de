package interp

import (
	"context"
	"errors"

	"autoshard/backend/tensor"
	"autoshard/internal/diag"
	"autoshard/ir"
	"autoshard/ir/dtype"
)

// ErrApart is the error of programs whose processes cannot run together, or do not go the same way.
var ErrApart = errors.New("processes have to run apart")

// Company carries out what processes that run together do for one another.
type Company interface {
	// Exchange carries out a collective for all processes. Operands and results lie as the spreads of the collective say.
	Exchange(s *Shared, operands []tensor.Tensor, body tensor.Combiner) ([]tensor.Tensor, error)
}

// Shared is a collective of processes that run together.
type Shared struct {
	*Collective
	Index  int      // among those of the interpreter
	Values []Passed // by operand
}

// Passed is what processes get of one operand of a collective.
type Passed struct {
	Operand, Result Spread
	Elements, Width int64   // of a block of the operand: how many, and their bytes
	Shape           []int64 // of the result: where there are several blocks, the number of them comes first
	Same            bool    // the result is the operand
	Parts           []Part  // that the blocks of the result are made of
}

// Part is what one block of a result is made of.
type Part struct {
	From     []int32 // the blocks of the members of the group, in order; of a permute that of the source, if there is one
	Position int     // in the group, where results depend on it
}

// form is a function that was compiled for processes that run together, with arguments that are spread in some way.
type form struct {
	fn   ir.FuncID
	args []Spread
	code *function // nil for processes that have to run apart
}

// RunTogether executes a function as all processes of the grid at once: one step of an op computes it for all of them, and blocks that
// several processes have are computed once. Each process gets what RunProcess would give it, bit for bit but for NaN, which may be another
// one, and holds as many bytes. Results share no data with arguments.
//
// It returns ErrApart where that cannot be done, and the context's error where that ends first. Other errors say that some process fails:
// which one, and where, says a run of them apart.
func (in *Interpreter) RunTogether(ctx context.Context, fn ir.FuncID, company Company, args []Blocks) ([]Blocks, Stats, error) {
	f, err := in.together(fn, args)
	if err != nil {
		return nil, Stats{}, err
	}
	p := in.process(ctx)
	p.company = company
	for k := range args {
		a := &args[k]
		lies := tensor.Tensor{DType: a.Block.DType, Shape: f.argShapes[k], Data: a.Block.Data}
		p.lend(lies, int64(len(a.Block.Data))/f.argBlocks[k], f.params[k].given)
	}
	if err := p.call(f); err != nil {
		return nil, p.stats(), err
	}
	outs := make([]Blocks, len(p.taken))
	for k := range outs {
		v := &p.taken[k]
		if v.buf != foreign && v.buf.fixed { // that of an argument
			v.t = v.t.Clone()
		}
		outs[k] = Blocks{v.t, f.returns[k]}
		if f.returns[k] != nil {
			outs[k].Block.Shape = outs[k].Block.Shape[1:]
		}
	}
	p.end()
	return outs, p.stats(), nil
}

// together returns a function in the form that takes arguments spread as these are.
func (in *Interpreter) together(fn ir.FuncID, args []Blocks) (*function, error) {
	in.mutex.Lock()
	defer in.mutex.Unlock()
	f := in.known(fn, len(args), func(k int) Spread { return args[k].Spread })
	if f == nil {
		var spreads []Spread
		for k := range args {
			spreads = append(spreads, args[k].Spread)
		}
		if _, err := in.form(fn, spreads); err != nil {
			return nil, err
		}
		f = in.known(fn, len(args), func(k int) Spread { return args[k].Spread })
	}
	if f.code == nil {
		return nil, ErrApart
	}
	for k := range args {
		if !f.code.fits(k, &args[k]) {
			return nil, diag.Invalid(diag.BadInputs, diag.Position{}, "argument %d does not fit", k)
		}
	}
	return f.code, nil
}

// fits says whether argument k is of the type that a function takes.
func (f *function) fits(k int, a *Blocks) bool {
	want := &f.params[k]
	if a.Block.DType != want.DType || len(a.Block.Shape) != len(want.Dims) {
		return false
	}
	for d, n := range want.Dims {
		if a.Block.Shape[d] != n {
			return false
		}
	}
	_, bytes, err := dtype.Size(want.DType, want.Dims)
	return err == nil && bytes*f.argBlocks[k] == int64(len(a.Block.Data))
}

// known returns a form that there is already.
func (in *Interpreter) known(fn ir.FuncID, args int, spread func(k int) Spread) *form {
	for i := range in.forms {
		f := &in.forms[i]
		same := f.fn == fn && len(f.args) == args
		for k := 0; same && k < args; k++ {
			same = f.args[k].equal(spread(k))
		}
		if same {
			return f
		}
	}
	return nil
}

// mostForms bounds the forms of an interpreter: arguments of most programs are always spread in one way.
const mostForms = 64

// form compiles a function, and all that it calls, for processes that run together.
func (in *Interpreter) form(fn ir.FuncID, args []Spread) (*function, error) {
	if f := in.known(fn, len(args), func(k int) Spread { return args[k] }); f != nil {
		if f.code == nil {
			return nil, ErrApart
		}
		return f.code, nil
	}
	if len(in.forms) >= mostForms {
		return nil, ErrApart
	}
	at := len(in.forms)
	in.forms = append(in.forms, form{fn: fn, args: args}) // a function that calls itself finds that it has to run apart
	code, err := in.compileBody(unit{fn, true}, &joint{args: args, spreads: map[ir.ValueID]Spread{}, known: map[ir.ValueID]tensor.Tensor{}})
	if err == nil {
		in.forms[at].code = code
	}
	return code, err
}
