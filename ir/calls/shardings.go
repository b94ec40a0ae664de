package calls

import (
	"cmp"
	"slices"

	"autoshard/ir"
)

// ArgShardings returns the shardings of a function's arguments, nil if none has one that spans devices; arguments
// without sharding count as open (source: shardy.md section 1.5).
func ArgShardings(m *ir.Module, f ir.FuncID) []ir.ShardingID {
	args := m.BlockArgs(m.Func(f).Body)
	ids, types := make([]ir.ShardingID, len(args)), make([]ir.TypeID, len(args))
	for i, v := range args {
		ids[i], types[i] = m.Sharding(v), m.Type(v)
	}
	return complete(m, ids, types)
}

// ResultShardings returns the shardings of a function's results, nil if none has one that spans devices; results
// without sharding count as open.
func ResultShardings(m *ir.Module, f ir.FuncID) []ir.ShardingID {
	fn := m.Func(f)
	return complete(m, slices.Clone(fn.ResultShardings), fn.ResultTypes)
}

func complete(m *ir.Module, ids []ir.ShardingID, types []ir.TypeID) []ir.ShardingID {
	i := slices.IndexFunc(ids, func(id ir.ShardingID) bool { return id != 0 && !m.Mesh(m.ShardingOf(id).Mesh).IsMaximal() })
	if i < 0 {
		return nil
	}
	mesh := m.ShardingOf(ids[i]).Mesh
	for i := range ids {
		if ids[i] == 0 {
			ids[i] = m.Replicated(mesh, len(m.TypeOf(types[i]).Dims), false)
		}
	}
	return ids
}

// PropagateToCalls gives calls without shardings those of their functions' results.
// Shardy: -sdy-propagate-sharding-from-func-to-call.
func PropagateToCalls(m *ir.Module) {
	all := All(m)
	if len(all) == 0 {
		return
	}
	t := NewTable(m)
	for _, call := range all {
		f := t.Callee(call)
		if f == 0 || m.IsSharded(call) {
			continue
		}
		for i, id := range ResultShardings(m, f) {
			m.SetSharding(m.Result(call, i), id)
		}
	}
}

// InsertReshards gives every call the result shardings of its function, and reshards the results to what the call had
// where that differs. The results of a function without result shardings count as replicated. Where the unreduced axes
// differ, which no reshard can change, a call keeps what it had. Shardy: -sdy-insert-func-call-reshards.
func InsertReshards(m *ir.Module) {
	t := NewTable(m)
	for _, call := range All(m) {
		f := t.Callee(call)
		if f == 0 {
			continue
		}
		given := ResultShardings(m, f)
		if given == nil && !m.IsSharded(call) {
			continue
		}
		for i, v := range m.Results(call) {
			had := m.Sharding(v)
			gets := had
			if given != nil {
				gets = given[i]
			}
			if gets == 0 {
				continue
			}
			m.SetSharding(v, gets)
			replicated := replicatedLike(m, v)
			had = cmp.Or(had, replicated)
			if given == nil {
				gets = replicated
			}
			insertReshard(m, call, v, had, gets)
		}
	}
}

// insertReshard makes a result of a call what the function gives, and reshards it to what the call had.
func insertReshard(m *ir.Module, call ir.OpID, v ir.ValueID, had, gets ir.ShardingID) {
	if !slices.Equal(m.ShardingOf(had).Unreduced, m.ShardingOf(gets).Unreduced) {
		m.SetSharding(v, had)
		return
	}
	m.SetSharding(v, gets)
	if !m.Equivalent(had, gets) {
		reshardAfter(m, call, v, had)
	}
}

// reshardAfter lets all uses of a call's result go through a reshard right after the call.
func reshardAfter(m *ir.Module, call ir.OpID, v ir.ValueID, to ir.ShardingID) {
	m.Divert(v, m.BuilderAfter(call).Reshard(v, to))
}

// replicatedLike returns the closed sharding without axes on the mesh of a value's sharding.
func replicatedLike(m *ir.Module, v ir.ValueID) ir.ShardingID {
	s := m.ShardingOf(m.Sharding(v))
	return m.Replicated(s.Mesh, len(s.Dims), true)
}
