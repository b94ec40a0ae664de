package ir

import (
	"cmp"
	"fmt"
	"slices"

	"autoshard/internal/diag"
	"autoshard/subaxis"
)

// sameTypes checks that operand and result have one type.
func (v *verifier) sameTypes(op OpID) error {
	m := v.m
	if in, out := m.Type(m.Operand(op, 0)), m.Type(m.Result(op, 0)); in != out {
		return badType("requires the same type for all operands and results: '%s' vs '%s'", m.FormatType(in), m.FormatType(out))
	}
	return nil
}

func checkConstraint(v *verifier, op OpID) error {
	m := v.m
	if err := v.sameTypes(op); err != nil {
		return err
	}
	if m.Sharding(m.Result(op, 0)) == 0 {
		return badSharding(diag.BadSharding, "requires a sharding")
	}
	source := m.Operand(op, 0)
	for from := m.DefiningOp(source); from != 0 && m.Kind(from) == OpSdyPropagationBarrier; from = m.DefiningOp(source) {
		source = m.Operand(from, 0)
	}
	before := v.inner(source)
	if before == nil {
		return nil
	}
	after := m.ShardingOf(m.Sharding(m.Result(op, 0)))
	return v.unreducedChange(before, after, reductionRule{introduce: true, removed: before.Reduction})
}

func checkBarrierDirection(v *verifier, op OpID) error {
	if err := v.sameTypes(op); err != nil {
		return err
	}
	if v.m.OpAttrs(op).Str("allowed_direction") == "BOTH" {
		return badOp("cannot specify `BOTH` as the direction. Not blocking propagation direction makes the op redundant")
	}
	return nil
}

// edgeInput checks what the edges of data flow have in common; what is the name of the value that they take.
func (v *verifier) edgeInput(op OpID, what string) error {
	m := v.m
	if err := v.sameTypes(op); err != nil {
		return err
	}
	in := m.Operand(op, 0)
	if !m.ValueType(in).IsStatic() {
		return badType("expected %s to have a static-shaped result. type: '%s'", m.OpName(op), m.FormatType(m.Type(in)))
	}
	if !m.HasOneUse(in) {
		return badOp("expected %s of %s to have a single user", what, m.OpName(op))
	}
	return nil
}

func checkDataFlowEdge(v *verifier, op OpID) error {
	if err := v.edgeInput(op, "input"); err != nil {
		return err
	}
	m := v.m
	if from := m.DefiningOp(m.Operand(op, 0)); from != 0 && terminatorOf(m.Kind(from)) == OpSdyReturn && m.NumRegions(from) == 0 {
		return badOp("expected input of sdy.data_flow_edge to not be defined by an SdyDialect op (other than a data flow op)")
	}
	return nil
}

func checkFuncEdge(v *verifier, op OpID) error {
	if err := v.edgeInput(op, "operand"); err != nil {
		return err
	}
	m := v.m
	in := m.Operand(op, 0)
	switch from := m.DefiningOp(in); {
	case from != 0 && m.Kind(from) != OpCall:
		return badOp("expected operand of sdy.func_data_flow_edge to be a result of a call op")
	case from == 0 && m.Kind(m.BlockOp(m.ArgBlock(in))) != OpFunc:
		return badOp("expected operand of sdy.func_data_flow_edge to be a block argument of a func op")
	}
	return nil
}

func checkShardingGroup(v *verifier, op OpID) error {
	if t := v.m.ValueType(v.m.Operand(op, 0)); !t.isRanked() {
		return badType("operand must be a ranked tensor, but got '%s'", v.m.FormatType(v.m.Type(v.m.Operand(op, 0))))
	}
	return nil
}

// enterManual begins the inside of a manual computation.
func (v *verifier) enterManual(op OpID) error {
	scope := manualScope{op: op, axes: map[string]bool{}}
	axes, _ := v.m.Attr(op, "manual_axes").(*AxesAttr)
	var err error
	if axes != nil {
		for _, r := range axes.Axes {
			name := v.m.Mesh(axes.Mesh).Axes[r.Axis].Name
			if e := v.freeAxis(name); err == nil {
				err = e
			}
			scope.axes[name] = true
		}
	}
	v.manual = append(v.manual, scope)
	return err
}

func (v *verifier) leaveManual() { v.manual = v.manual[:len(v.manual)-1] }

// side is what a manual computation shows on one of its sides: the values outside and inside with their shardings.
type side struct {
	name            string
	outside, inside []TypeID
	shardings       []ShardingID
}

func checkManual(v *verifier, op OpID) error {
	m := v.m
	axes, ok := m.Attr(op, "manual_axes").(*AxesAttr)
	if !ok {
		return badAttr("requires attribute 'manual_axes'")
	}
	in, out := v.manualSides(op)
	if err := cmp.Or(v.manualSide(op, in, axes), v.manualSide(op, out, axes)); err != nil {
		return err
	}
	if len(in.shardings)+len(out.shardings) == 0 {
		return nil
	}
	return v.manualMesh(axes, append(in.shardings, out.shardings...))
}

func (v *verifier) manualSides(op OpID) (in, out side) {
	m := v.m
	in.name, out.name = "operand", "result"
	body := m.RegionBlock(op, 0)
	in.outside, out.outside = m.TypesOf(m.Operands(op)), m.TypesOf(m.ResultValues(op))
	for _, a := range m.BlockArgs(body) {
		in.inside = append(in.inside, m.Type(a))
		in.shardings = append(in.shardings, m.Sharding(a))
	}
	if given, ok := m.Attr(op, "in_shardings").(ShardingsAttr); ok {
		in.shardings = given
	}
	for _, r := range m.Results(op) {
		out.shardings = append(out.shardings, m.Sharding(r))
	}
	if given, ok := m.Attr(op, "out_shardings").(ShardingsAttr); ok {
		out.shardings = given
	}
	if last := m.LastOp(body); last != 0 {
		out.inside = m.TypesOf(m.Operands(last))
	}
	return in, out
}

func (v *verifier) manualSide(op OpID, s side, manual *AxesAttr) error {
	m := v.m
	if len(s.outside) != len(s.shardings) {
		return badSharding(diag.BadSharding, "%s shardings don't match number of values: %d shardings vs %d values", s.name, len(s.shardings),
			len(s.outside))
	}
	if len(s.outside) != len(s.inside) {
		return badOp("number of op %ss and region %ss must match. Op has %d op %ss and %d region %ss", s.name, s.name,
			len(s.outside), s.name, len(s.inside), s.name)
	}
	for i, t := range s.outside {
		prefix := s.name + " - "
		if len(s.outside) > 1 {
			prefix = fmt.Sprintf("%s %d - ", s.name, i)
		}
		if s.shardings[i] == 0 {
			return badSharding(diag.BadSharding, "%srequires a sharding", prefix)
		}
		scopes := v.manual
		v.manual = slices.DeleteFunc(slices.Clone(scopes), func(scope manualScope) bool { return scope.op == op })
		err := v.valueSharding(prefix, s.shardings[i], t)
		v.manual = scopes
		if err != nil {
			return err
		}
		if err := v.localType(s, i, m.ShardingOf(s.shardings[i]), manual); err != nil {
			return err
		}
	}
	return nil
}

// localType checks that the value inside is one device's part of the value outside, along the manual axes.
func (v *verifier) localType(s side, i int, sharding *Sharding, manual *AxesAttr) error {
	m := v.m
	mesh := &m.Mesh(sharding.Mesh).Mesh
	isManual := func(name string) bool {
		return slices.ContainsFunc(manual.Axes, func(r subaxis.Ref) bool { return m.Mesh(manual.Mesh).Axes[r.Axis].Name == name })
	}
	t := *m.TypeOf(s.outside[i])
	local := slices.Clone(t.Dims)
	for d, dim := range sharding.Dims {
		product, free := int64(1), false
		for _, r := range dim.Axes {
			if !isManual(mesh.Axes[r.Axis].Name) {
				free = true
				continue
			}
			if free {
				return badSharding(diag.BadSharding,
					"%s sharding at index %d must have all manual axes come before free axes in its dimension sharding at index %d", s.name, i, d)
			}
			product *= int64(r.Size)
		}
		if d >= len(local) || local[d] == Dynamic {
			continue
		}
		if local[d]%product != 0 {
			return badSharding(diag.BadSharding, "%s dimension size %d is not divisible by the manual axes size %d", s.name, local[d], product)
		}
		local[d] /= product
	}
	if t.Kind != TensorKind {
		return nil
	}
	t.Dims = local
	if want := m.InternType(t); want != s.inside[i] {
		return badType("%s shape, corresponding sharding, and region %s shape at index %d must match. Expected local shape '%s', actual local "+
			"shape '%s'",
			s.name, s.name, i, m.FormatType(want), m.FormatType(s.inside[i]))
	}
	return nil
}

// manualMesh checks that all shardings of a manual computation have one mesh with its manual axes.
func (v *verifier) manualMesh(manual *AxesAttr, shardings []ShardingID) error {
	m := v.m
	if len(manual.Axes) == 0 {
		return nil
	}
	common := MeshID(0)
	for _, s := range shardings {
		mesh := m.ShardingOf(s).Mesh
		switch {
		case m.Mesh(mesh).IsEmpty():
		case common == 0:
			common = mesh
		case !m.Mesh(common).Equal(&m.Mesh(mesh).Mesh):
			return badSharding(diag.BadSharding, "all in/out shardings must be bound to the same mesh when there are manual axes: %s and %s",
				m.Mesh(common).FormatRef(), m.Mesh(mesh).FormatRef())
		}
	}
	for _, r := range manual.Axes {
		name := m.Mesh(manual.Mesh).Axes[r.Axis].Name
		if _, ok := m.Mesh(common).Lookup(name); !ok {
			return badSharding(diag.UnknownAxis, "unknown manual axis: %q", name)
		}
	}
	return nil
}

func checkNamed(v *verifier, op OpID) error {
	m := v.m
	body := m.RegionBlock(op, 0)
	args := m.BlockArgs(body)
	if len(args) != m.NumOperands(op) {
		return &opError{code: diag.BadOp, bare: true,
			text: fmt.Sprintf("number of block arguments must match the number of operands: %d != %d", len(args), m.NumOperands(op))}
	}
	for _, name := range []string{"in_shardings", "out_shardings"} {
		if list, ok := m.Attr(op, name).(ShardingsAttr); ok {
			n := m.NumOperands(op)
			if name == "out_shardings" {
				n = m.NumResults(op)
			}
			if len(list) != n {
				return badSharding(diag.BadSharding, "%s shardings don't match number of values: %d shardings vs %d values", name, len(list), n)
			}
		}
	}
	for i, a := range args {
		if m.Type(a) != m.Type(m.Operand(op, i)) {
			return badType("expected the type of the %d'th block argument to match its corresponding operand type: '%s' vs '%s'", i,
				m.FormatType(m.Type(a)), m.FormatType(m.Type(m.Operand(op, i))))
		}
		prefix := "in_shardings - "
		if len(args) > 1 {
			prefix = fmt.Sprintf("in_shardings %d - ", i)
		}
		if err := v.valueSharding(prefix, m.Sharding(a), m.Type(a)); err != nil {
			return err
		}
	}
	return v.returnsTypes(op, 0)
}
