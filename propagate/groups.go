package propagate

import (
	"cmp"
	"slices"

	"autoshard/internal/diag"
	"autoshard/ir"
	"autoshard/ir/dataflow"
)

// group is a set of values that have to be sharded alike.
type group struct {
	id      int64
	members []ir.ValueID
	at      []int // by member: when the walk meets it first
}

// mention says that a value was put into a group.
type mention struct {
	v  ir.ValueID
	id int64
	at int
}

// mentions returns all of them in the order of the walk.
func mentions(list []group) []mention {
	var all []mention
	for _, g := range list {
		for i, v := range g.members {
			all = append(all, mention{v, g.id, g.at[i]})
		}
	}
	slices.SortFunc(all, func(a, b mention) int { return a.at - b.at })
	return all
}

// groups returns the sharding groups of a module in the order in which they first appear.
func groups(m *ir.Module) []group {
	var list []group
	index, seen := map[int64]int{}, map[mention]bool{}
	for _, op := range m.OpsOf(m.Body(), ir.OpSdyShardingGroup) {
		id, v := groupID(m, op), m.Operand(op, 0)
		i, known := index[id]
		if !known {
			i = len(list)
			index[id], list = i, append(list, group{id: id})
		}
		if key := (mention{v: v, id: id}); !seen[key] {
			list[i].members, list[i].at = append(list[i].members, v), append(list[i].at, len(seen))
			seen[key] = true
		}
	}
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
	number := renumber(groupClasses(list))
	type member struct {
		v     ir.ValueID
		group int64
	}
	seen := map[member]bool{}
	for _, op := range m.OpsOf(m.Body(), ir.OpSdyShardingGroup) {
		id := number[groupID(m, op)]
		old, _ := m.Attr(op, "group_id").(ir.IntAttr)
		m.SetAttrs(op, m.OpAttrs(op).With("group_id", ir.IntAttr{Value: id, Type: old.Type}))
		key := member{m.Operand(op, 0), id}
		if seen[key] {
			m.Erase(op)
		}
		seen[key] = true
	}
	return nil
}

// groupClasses returns for each group the one that leads those connected with it by common values, and the leaders in the
// order in which values mention them first. The first group of a value takes over the classes of the others.
func groupClasses(list []group) (class map[int64]int64, leaders []int64) {
	var values []ir.ValueID
	of := map[ir.ValueID][]int64{}
	for _, m := range mentions(list) {
		if of[m.v] == nil {
			values = append(values, m.v)
		}
		of[m.v] = append(of[m.v], m.id)
	}
	parent := map[int64]int64{}
	find := func(id int64) int64 {
		for parent[id] != id {
			id = parent[id]
		}
		return id
	}
	var order []int64
	for _, v := range values {
		for _, id := range of[v] {
			if _, seen := parent[id]; !seen {
				parent[id], order = id, append(order, id)
			}
			if first := find(of[v][0]); first != find(id) {
				parent[find(id)] = first
			}
		}
	}
	class = map[int64]int64{}
	for _, id := range order {
		if class[id] = find(id); class[id] == id {
			leaders = append(leaders, id)
		}
	}
	return class, leaders
}

// renumber numbers the classes in the order of their leaders.
func renumber(class map[int64]int64, leaders []int64) map[int64]int64 {
	number, out := map[int64]int64{}, map[int64]int64{}
	for i, id := range leaders {
		number[id] = int64(i)
	}
	for id, leader := range class {
		out[id] = number[leader]
	}
	return out
}

func checkGroups(m *ir.Module, list []group) error {
	merged, _ := groupClasses(list)
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
			if m.ManualAround(m.BlockOp(m.BlockOf(v))) != m.ManualAround(m.BlockOp(m.BlockOf(w))) {
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
			home := dataflow.Home(m, v)
			switch {
			case home == 0:
			case !same:
				openConstraint(m, v, common)
			case m.Sharding(home) != common:
				dataflow.SetSharding(m, home, common)
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
		home := dataflow.Home(m, v)
		id := m.Sharding(home)
		if id == 0 || saysNothing(m.ShardingOf(id)) {
			continue
		}
		if first != 0 && m.Sharding(first) != id {
			return first, false
		}
		first = cmp.Or(first, home)
	}
	return first, true
}

func saysNothing(s *ir.Sharding) bool {
	return s.IsReplicated() && !slices.ContainsFunc(s.Dims, func(d ir.DimSharding) bool { return d.Closed })
}

// openConstraint inserts an open constraint after a value and lets all other uses go through it.
func openConstraint(m *ir.Module, v ir.ValueID, like ir.ShardingID) {
	c := constrainAfter(m, v, m.Replicated(m.ShardingOf(like).Mesh, len(m.Shape(v)), false))
	m.TurnUses(v, m.Result(c, 0), func(u ir.Use) bool { return u.Op != c })
}

// RemoveGroups removes all sharding_group ops. Shardy: -sdy-remove-sharding-groups.
func RemoveGroups(m *ir.Module) {
	for _, op := range m.OpsOf(m.Body(), ir.OpSdyShardingGroup) {
		m.Erase(op)
	}
}
