package specialize

import (
	"context"
	"strconv"
	"strings"

	"autoshard/internal/diag"
	"autoshard/ir"
)

// refine gives all values static types, in the order of the program, and checks what the program asserts.
func (p *program) refine(ctx context.Context) error {
	m := p.m
	r := &refiner{folder: newFolder(m)}
	f := m.Func(p.main)
	if err := r.block(ctx, f.Body); err != nil {
		return err
	}
	f.ResultTypes = m.TypesOf(m.Operands(m.LastOp(f.Body)))
	if m.Attrs.Bool("jax.uses_shape_polymorphism") {
		m.Attrs = m.Attrs.With("jax.uses_shape_polymorphism", ir.BoolAttr(false))
	}
	if err := ir.Verify(ctx, m); err != nil {
		return err
	}
	ir.EraseDead(m)
	return nil
}

// refiner walks the program. Operands of the op at hand have their static types.
type refiner struct{ *folder }

func (r *refiner) block(ctx context.Context, b ir.BlockID) error {
	for op := range r.m.Ops(b) {
		if err := ctx.Err(); err != nil {
			return err
		}
		if err := r.refine(ctx, op); err != nil {
			return err
		}
	}
	return nil
}

func (r *refiner) refine(ctx context.Context, op ir.OpID) error {
	m := r.m
	switch k := m.Kind(op); {
	case isAssertion(m, op):
		return r.assert(op)
	case k == ir.OpCase || k == ir.OpIf:
		return r.branches(ctx, op)
	case k == ir.OpWhile:
		return r.while(ctx, op)
	}
	if lower, ok := dynamics[m.Kind(op)]; ok {
		static, err := lower(r, op)
		if err != nil {
			return err
		}
		op = static
	}
	for b := range m.InnerBlocks(op) {
		if err := r.block(ctx, b); err != nil {
			return err
		}
	}
	if err := r.results(op); err != nil {
		return err
	}
	r.fold(op)
	return nil
}

// fold replaces an op by constants where its results follow from sizes.
func (r *refiner) fold(op ir.OpID) {
	m := r.m
	if !r.op(op) || m.Kind(op) == ir.OpConstant {
		return
	}
	for _, v := range m.Results(op) {
		if !r.derived[v] || !m.HasUses(v) {
			continue
		}
		c := constant(m.BuilderBefore(op), m, r.known[v])
		r.known[c], r.derived[c] = r.known[v], true
		m.ReplaceUses(v, c)
	}
}

// results gives the results of an op the sizes that follow from its operands.
func (r *refiner) results(op ir.OpID) error {
	m := r.m
	known := true
	for _, v := range m.Results(op) {
		t := m.ValueType(v)
		known = known && (t.Kind != ir.TensorKind || t.IsStatic())
	}
	if known {
		return nil
	}
	types, err := ir.Infer(m, m.Kind(op), m.Operands(op), m.OpAttrs(op))
	if err != nil {
		return diag.Invalid(diag.TypeMismatch, m.OpPos(op), "`%s` does not fit the sizes: it %s", m.OpName(op), err)
	}
	for i, v := range m.Results(op) {
		var dims []int64
		switch {
		case i < len(types) && m.TypeOf(types[i]).IsStatic():
			dims = m.TypeOf(types[i]).Dims
		case m.NumOperands(op) > 0 && len(m.Shape(v)) == len(m.Shape(m.Operand(op, 0))):
			dims = keep(m.Shape(v), m.Shape(m.Operand(op, 0)))
		default:
			return r.unknownSize(op)
		}
		m.SetType(v, m.WithDims(m.Type(v), dims))
		if !m.ValueType(v).IsStatic() {
			return r.unknownSize(op)
		}
	}
	return nil
}

// keep returns the sizes of a result that has those of the operand where they are not its own.
func keep(result, operand []int64) []int64 {
	out := append([]int64(nil), result...)
	for d, n := range out {
		if n == ir.Dynamic {
			out[d] = operand[d]
		}
	}
	return out
}

func (r *refiner) unknownSize(op ir.OpID) error {
	return diag.Unsupported(diag.NotSupported, r.m.OpPos(op), "the size of the result of `%s` depends on data, or is not known for this op",
		r.m.OpName(op))
}

// while gives the carried values the types that they start with.
func (r *refiner) while(ctx context.Context, op ir.OpID) error {
	m := r.m
	for i := range m.NumRegions(op) {
		b := m.RegionBlock(op, i)
		for j, arg := range m.BlockArgs(b) {
			m.SetType(arg, m.Type(m.Operand(op, j)))
		}
		if err := r.block(ctx, b); err != nil {
			return err
		}
	}
	for i, v := range m.Results(op) {
		m.SetType(v, m.Type(m.Operand(op, i)))
	}
	return nil
}

// branches gives the results of a choice the types of its first branch, unless the choice is known.
func (r *refiner) branches(ctx context.Context, op ir.OpID) error {
	m := r.m
	var err error
	if r.takeBranch(op, func(b ir.BlockID) { err = r.block(ctx, b) }) {
		return err
	}
	for i := range m.NumRegions(op) {
		if err := r.block(ctx, m.RegionBlock(op, i)); err != nil {
			return err
		}
	}
	for i, v := range m.Results(op) {
		m.SetType(v, m.Type(m.Operand(m.LastOp(m.RegionBlock(op, 0)), i)))
	}
	return nil
}

// takeBranch puts a branch in the place of its op, after enter has seen it, where the choice is known.
func (r *refiner) takeBranch(op ir.OpID, enter func(ir.BlockID)) bool {
	m := r.m
	choice, ok := r.ints(m.Operand(op, 0))
	if !ok {
		return false
	}
	branch := int(choice[0])
	if m.Kind(op) == ir.OpIf {
		branch = 1 - branch
	}
	if n := m.NumRegions(op); branch < 0 || branch >= n {
		branch = n - 1 // the last one is the default
	}
	b := m.RegionBlock(op, branch)
	enter(b)
	m.Splice(op, b)
	return true
}

func isAssertion(m *ir.Module, op ir.OpID) bool {
	return m.Kind(op) == ir.OpCustomCall && m.OpAttrs(op).Str("call_target_name") == "shape_assertion" && m.NumOperands(op) > 0
}

// assert checks what the program asserts of its sizes. The message has the places {0}, {1} and so on for operands.
func (r *refiner) assert(op ir.OpID) error {
	m := r.m
	holds, ok := r.ints(m.Operand(op, 0))
	if !ok {
		return diag.Unsupported(diag.NotSupported, m.OpPos(op), "a shape assertion depends on data")
	}
	if holds[0] == 0 {
		message := m.OpAttrs(op).Str("error_message")
		for i := 1; i < m.NumOperands(op); i++ {
			if n, ok := r.ints(m.Operand(op, i)); ok && len(n) == 1 {
				message = strings.ReplaceAll(message, "{"+strconv.Itoa(i-1)+"}", strconv.FormatInt(n[0], 10))
			}
		}
		return diag.Invalid(diag.MissingSize, m.OpPos(op), "the sizes break an assertion of the model: %s", message)
	}
	m.Erase(op)
	return nil
}
