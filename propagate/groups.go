package propagate

import (
	"slices"

	"autoshard/internal/diag"
	"autoshard/ir"
)

// group is a set of values that have to be sharded alike.
type group struct {
	id      int64
	members []ir.ValueID
}

// groups returns the sharding groups of a module in the order in which they first appear.
func groups(m *ir.Module) []group {
	if !m.MayHave(ir.OpSdyShardingGroup) {
		return nil
	}
	var list []group
	m.Walk(m.Body(), func(op ir.OpID) {
		if m.Kind(op) != ir.OpSdyShardingGroup {
			return
		}
		id, v := groupID(m, op), m.Operand(op, 0)
		i := slices.IndexFunc(list, func(g group) bool { return g.id == id })
		if i < 0 {
			list = append(list, group{id: id})
			i = len(list) - 1
		}
		if !slices.Contains(list[i].members, v) {
			list[i].members = append(list[i].members, v)
		}
	})
	return list
}

func groupID(m *ir.Module, op ir.OpID) int64 { return m.OpAttrs(op).Int("group_id", 0) }

// ImportGroups merges sharding groups that share a value, numbers them from 0 and removes repeated members. It
// fails where members differ in shape or are in different manual computations.
// Shardy: -sdy-sharding-group-import.
func ImportGroups(m *ir.Module) error {
	list := groups(m)
	if list == nil {
		return nil
	}
	if err := checkGroups(m, list); err != nil {
		return err
	}
	number := renumber(list, mergeGroups(list))
	type member struct {
		v     ir.ValueID
		group int64
	}
	seen := map[member]bool{}
	m.Walk(m.Body(), func(op ir.OpID) {
		if m.Kind(op) != ir.OpSdyShardingGroup {
			return
		}
		id := number[groupID(m, op)]
		old, _ := m.Attr(op, "group_id").(ir.IntAttr)
		m.SetAttrs(op, m.OpAttrs(op).With("group_id", ir.IntAttr{Value: id, Type: old.Type}))
		key := member{m.Operand(op, 0), id}
		if seen[key] {
			m.Erase(op)
		}
		seen[key] = true
	})
	return nil
}

// mergeGroups returns for each group the first one of those connected with it by common values.
func mergeGroups(list []group) map[int64]int64 {
	root := make([]int, len(list))
	find := func(i int) int {
		for root[i] != i {
			i = root[i]
		}
		return i
	}
	first := map[ir.ValueID]int{}
	for i, g := range list {
		root[i] = i
		for _, v := range g.members {
			other, shared := first[v]
			if !shared {
				first[v] = i
				continue
			}
			a, b := find(i), find(other)
			root[max(a, b)] = min(a, b)
		}
	}
	out := map[int64]int64{}
	for i, g := range list {
		out[g.id] = list[find(i)].id
	}
	return out
}

// renumber numbers the classes in the order of their first groups.
func renumber(list []group, class map[int64]int64) map[int64]int64 {
	out := map[int64]int64{}
	next := int64(0)
	for _, g := range list {
		if class[g.id] == g.id {
			out[g.id] = next
			next++
			continue
		}
		out[g.id] = out[class[g.id]]
	}
	return out
}

func checkGroups(m *ir.Module, list []group) error {
	merged := mergeGroups(list)
	first := map[int64]ir.ValueID{}
	for _, g := range list {
		for _, v := range g.members {
			root := merged[g.id]
			w, ok := first[root]
			if !ok {
				first[root] = v
				continue
			}
			if !slices.Equal(m.Shape(v), m.Shape(w)) {
				return diag.Invalid(diag.BadSharding, groupPosition(m, v, g.id),
					"values of sharding group %d have different shapes", g.id)
			}
			if manualParent(m, v) != manualParent(m, w) {
				return diag.Invalid(diag.BadSharding, groupPosition(m, v, g.id),
					"values of sharding group %d are in different manual computations", g.id)
			}
		}
	}
	return nil
}

// groupPosition returns where a value is put into a group.
func groupPosition(m *ir.Module, v ir.ValueID, id int64) diag.Position {
	for use := range m.Uses(v) {
		if m.Kind(use.Op) == ir.OpSdyShardingGroup && groupID(m, use.Op) == id {
			return opPosition(m, use.Op)
		}
	}
	return diag.Position{}
}

// manualParent returns the manual computation around a value, 0 if there is none.
func manualParent(m *ir.Module, v ir.ValueID) ir.OpID {
	op := m.DefiningOp(v)
	if op == 0 {
		op = m.BlockOp(m.ArgBlock(v))
	} else {
		op = m.ParentOp(op)
	}
	for op != 0 && m.Kind(op) != ir.OpSdyManualComputation {
		op = m.ParentOp(op)
	}
	return op
}

// groupCopy says that a member of a sharding group took over the sharding of another before propagation.
type groupCopy struct{ from, to ir.ValueID }

// syncGroups gives all members of a group the one sharding that members have. Where they have different ones, open
// constraints take the members' places, so that propagation decides (source: shardy.md section 4.8).
func syncGroups(m *ir.Module) []groupCopy {
	var copies []groupCopy
	for _, g := range groups(m) {
		from, same := commonSharding(m, g.members)
		if from == 0 {
			continue
		}
		common := m.Sharding(from)
		for _, v := range g.members {
			home := homeOf(m, v)
			switch {
			case home == 0:
			case !same:
				openConstraint(m, v, common)
			case m.Sharding(home) != common:
				setSharding(m, home, common)
				copies = append(copies, groupCopy{from, home})
			}
		}
	}
	return copies
}

// commonSharding returns the first member of a group, where its sharding lives, that says something, and whether no
// other differs.
func commonSharding(m *ir.Module, members []ir.ValueID) (ir.ValueID, bool) {
	var first ir.ValueID
	for _, v := range members {
		home := homeOf(m, v)
		id := m.Sharding(home)
		if id == 0 || saysNothing(m.ShardingOf(id)) {
			continue
		}
		if first != 0 && m.Sharding(first) != id {
			return first, false
		}
		if first == 0 {
			first = home
		}
	}
	return first, true
}

func saysNothing(s *ir.Sharding) bool {
	return s.IsReplicated() && !slices.ContainsFunc(s.Dims, func(d ir.DimSharding) bool { return d.Closed })
}

// openConstraint inserts an open constraint after a value and lets all other uses go through it.
func openConstraint(m *ir.Module, v ir.ValueID, like ir.ShardingID) {
	c := constrainAfter(m, v, m.Replicated(m.ShardingOf(like).Mesh, len(m.Shape(v)), false))
	replaceUses(m, v, m.Result(c, 0), func(u ir.Use) bool { return u.Op != c })
}

// RemoveGroups removes all sharding_group ops. Shardy: -sdy-remove-sharding-groups.
func RemoveGroups(m *ir.Module) {
	if !m.MayHave(ir.OpSdyShardingGroup) {
		return
	}
	m.Walk(m.Body(), func(op ir.OpID) {
		if m.Kind(op) == ir.OpSdyShardingGroup {
			m.Erase(op)
		}
	})
}
