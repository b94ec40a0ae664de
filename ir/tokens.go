package ir

// DropTokens takes tokens out of the arguments and results of a function that nothing calls. They order effects and hold
// no elements: JAX passes none when it runs a program. The function makes its own.
func (m *Module) DropTokens(id FuncID) {
	f := m.Func(id)
	body := m.Blocks(m.BlockRegion(f.Body))
	if len(body) != 1 {
		return
	}
	place := m.dropTokenResults(f)
	args, attrs := []ValueID(nil), []Attrs(nil)
	for i, v := range m.BlockArgs(f.Body) {
		if m.ValueType(v).Kind == TokenKind {
			if m.HasUses(v) {
				m.ReplaceUses(v, m.BuilderBefore(m.FirstOp(f.Body)).Op1(OpCreateToken, m.Type(v), nil))
			}
			continue
		}
		a := f.ArgAttrs[i]
		if out := a.Int(AliasAttr, -1); out >= 0 && int(out) < len(place) {
			a = a.With(AliasAttr, IntAttr{Value: int64(place[out]), Type: a.Get(AliasAttr).(IntAttr).Type})
		}
		m.values[v].index = int32(len(args))
		args, attrs = append(args, v), append(attrs, a)
	}
	m.blocks[f.Body].args, f.ArgAttrs = args, attrs
}

// dropTokenResults returns the new number of each result, -1 for tokens.
func (m *Module) dropTokenResults(f *Func) (place []int) {
	ret := m.LastOp(f.Body)
	types, attrs, shardings := f.ResultTypes, f.ResultAttrs, f.ResultShardings
	f.ResultTypes, f.ResultAttrs, f.ResultShardings = nil, nil, nil
	var kept []ValueID
	for i, t := range types {
		if m.TypeOf(t).Kind == TokenKind {
			place = append(place, -1)
			continue
		}
		place = append(place, len(kept))
		kept = append(kept, m.Operand(ret, i))
		f.ResultTypes, f.ResultAttrs = append(f.ResultTypes, t), append(f.ResultAttrs, attrs[i])
		f.ResultShardings = append(f.ResultShardings, shardings[i])
	}
	if len(kept) == len(types) {
		return place
	}
	m.BuilderBefore(ret).Op(m.Kind(ret), nil, m.OpAttrs(ret), kept...)
	m.Erase(ret)
	return place
}
