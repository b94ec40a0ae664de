package propagate

import (
	"context"
	"slices"

	"autoshard/internal/lists"
	"autoshard/ir"
	"autoshard/ir/dataflow"
	"autoshard/ir/rule"
	"autoshard/priority"
)

// slot is an index into the table of shardings: the id of the value at which a sharding lives, or, above all
// values, a result of a function. Slot 0 stands for values that have no place for a sharding.
type slot = int32

// opRow is what propagation knows of an op: the slots of its tensors, operands first, and its plan.
type opRow struct {
	first, n    int32 // into slots
	plan        int32 // 0: nothing propagates
	class       priority.Class
	elementwise bool
	distinct    bool // no two tensors share a slot, and all have one
	exempt      bool // from the conservative mode
	barrier     bool
	view        int32 // index into views of the edge of a manual computation, 0 for others
}

// tables holds the module in the form that propagation runs on: everything is found by a dense id.
type tables struct {
	m         *ir.Module
	shardings []ir.ShardingID // by slot
	home      []slot          // by value: where its sharding lives
	names     []int32         // by slot: what the trace calls it, 0 where that is the value itself
	edges     []ir.OpID       // by value: the data-flow edge that is its owner's only use
	rows      []opRow         // by op
	slots     []slot
	plans     []plan
	planOf    map[*ir.Rule]int32
	planLike  map[string]int32 // the first plan of each signature
	identity  map[identityKey]*ir.Rule
	views     []dataflow.View
	results   []funcResults
	calls     callFlow
	groups    [][]slot
	groupOf   map[slot]int32       // of homes
	memberOf  map[ir.ValueID]int32 // of the values that were put into groups
	classOf   func(*ir.Module, ir.OpID) priority.Class
	around    map[ir.ValueID]ir.OpID // by owner: edges of what loops carry round unchanged, which lies as what enters the loop
}

type identityKey struct {
	t ir.TypeID
	n int
}

// funcResults are the slots of a function's results.
type funcResults struct {
	f     ir.FuncID
	first slot
}

// newTables returns the tables of a module. They are not complete if the context ends.
func newTables(ctx context.Context, m *ir.Module, o Options) *tables {
	const plans = 256 // that many are rare
	t := &tables{m: m, planOf: make(map[*ir.Rule]int32, min(m.NumOps(), plans)), planLike: make(map[string]int32, min(m.NumOps(), plans)/2),
		identity: map[identityKey]*ir.Rule{}, groupOf: map[slot]int32{}, memberOf: map[ir.ValueID]int32{}, views: make([]dataflow.View, 1),
		plans: make([]plan, 1, plans),
		slots: make([]slot, 0, m.NumUses()+m.NumValues())}
	rules := o.rules()
	if t.classOf = priority.Of; o.CompleteRules {
		t.classOf, t.around = priority.OfReplaced, map[ir.ValueID]ir.OpID{}
	}
	t.calls = newCallFlow(m)
	t.findHomes()
	t.loadShardings()
	t.rows = make([]opRow, m.NumOps())
	if m.WalkContext(ctx, m.Body(), func(op ir.OpID) { t.addOp(op, rules) }) != nil {
		return t
	}
	t.findGroups()
	for i := range t.rows {
		row := &t.rows[i]
		row.distinct = areDistinct(t.slots[row.first : row.first+row.n])
	}
	return t
}

// areDistinct says whether slots differ and none is missing. It does not look at long lists, for which it returns false.
func areDistinct(slots []slot) bool {
	const long = 16
	if len(slots) > long {
		return false
	}
	for i, s := range slots {
		if s == 0 || slices.Contains(slots[:i], s) {
			return false
		}
	}
	return true
}

// findHomes fills home: where getSharding and setSharding look (source: shardy.md section 1.5).
func (t *tables) findHomes() {
	m := t.m
	t.home = make([]slot, m.NumValues())
	t.edges = make([]ir.OpID, m.NumValues())
	t.names = make([]int32, m.NumValues(), m.NumValues()*9/8) // and results of functions
	for v := ir.ValueID(1); int(v) < m.NumValues(); v++ {
		t.home[v] = t.valueHome(v)
	}
	for _, op := range m.OpsOf(m.Body(), ir.OpSdyDataFlowEdge) {
		if m.EdgeOf(m.Operand(op, 0)) != op {
			continue
		}
		owner, result := m.Operand(op, 0), slot(m.Result(op, 0))
		t.home[owner], t.edges[owner] = result, op
		t.names[result] = int32(owner)
		for _, v := range dataflow.OtherTargets(m, owner) {
			t.home[v] = result
		}
		if t.around != nil && dataflow.IsUnchanged(m, owner) && dataflow.OwnerSharding(m, owner) == 0 {
			t.around[owner] = op
		}
	}
	for v := range t.home {
		t.home[v] = t.outside(t.home[v])
	}
}

// outside returns the slot of what enters the loops that carry a slot round unchanged.
func (t *tables) outside(s slot) slot {
	for {
		edge := t.m.DefiningOp(ir.ValueID(s))
		if edge == 0 || t.m.Kind(edge) != ir.OpSdyDataFlowEdge || t.around[t.m.Operand(edge, 0)] != edge {
			return s
		}
		owner := t.m.Operand(edge, 0)
		s = t.home[t.m.Operand(t.m.DefiningOp(owner), t.m.Index(owner))]
	}
}

func (t *tables) valueHome(v ir.ValueID) slot {
	m := t.m
	if m.DefiningOp(v) != 0 {
		return slot(v)
	}
	op := m.BlockOp(m.ArgBlock(v))
	if op != 0 && m.Kind(op) == ir.OpAsyncStart && m.Index(v) < m.NumOperands(op) {
		return t.valueHome(m.Operand(op, m.Index(v)))
	}
	if op != 0 && m.FuncOf(op) != 0 {
		return slot(v)
	}
	return slot(dataflow.Owner(m, v))
}

// loadShardings fills the table of shardings; results of functions follow the values.
func (t *tables) loadShardings() {
	m := t.m
	t.names, t.results = t.names[:m.NumValues()], nil
	t.shardings = make([]ir.ShardingID, m.NumValues(), m.NumValues()*9/8)
	for v := ir.ValueID(1); int(v) < m.NumValues(); v++ {
		if t.home[v] == slot(v) {
			t.shardings[v] = dataflow.OwnerSharding(m, v)
		}
	}
	main, _ := m.Main()
	t.addResults(main)
	for f := range m.Funcs() {
		if f != main {
			t.addResults(f)
		}
	}
}

func (t *tables) addResults(f ir.FuncID) {
	if f == 0 {
		return
	}
	first := slot(len(t.shardings))
	t.results = append(t.results, funcResults{f, first})
	for i, id := range t.m.Func(f).ResultShardings {
		t.names = append(t.names, ^(first - t.results[0].first + slot(i)))
		t.shardings = append(t.shardings, id)
	}
}

// store writes the shardings back into the module.
func (t *tables) store() {
	m := t.m
	for v := ir.ValueID(1); int(v) < len(t.home); v++ {
		if t.home[v] == slot(v) && t.shardings[v] != 0 && t.shardings[v] != dataflow.OwnerSharding(m, v) {
			dataflow.SetOwnerSharding(m, v, t.shardings[v])
		}
	}
	for _, edge := range t.around {
		if m.OpBlock(edge) != 0 {
			v := m.Result(edge, 0)
			dataflow.SetOwnerSharding(m, v, t.shardings[t.home[v]])
		}
	}
	for _, r := range t.results {
		copy(m.Func(r.f).ResultShardings, t.shardings[r.first:])
	}
}

func (t *tables) addOp(op ir.OpID, rules *rule.Cache) {
	switch t.m.Kind(op) {
	case ir.OpSdyDataFlowEdge:
		t.addEdge(op)
	case ir.OpSdyFuncDataFlowEdge:
		t.addFuncEdge(op)
	case ir.OpSdyPropagationBarrier:
		t.addBarrier(op)
	case ir.OpFunc, ir.OpReturn, ir.OpStablehloReturn, ir.OpSdyReturn:
	default:
		if r := rules.Of(t.m, op); r != nil {
			t.addRuled(op, r)
		}
	}
}

func (t *tables) addRuled(op ir.OpID, r *ir.Rule) {
	m := t.m
	row := opRow{first: int32(len(t.slots)), plan: t.planFor(r), class: t.classOf(m, op), elementwise: priority.IsElementwise(m, op)}
	for i := range m.NumOperands(op) {
		t.slots = append(t.slots, t.home[m.Operand(op, i)])
	}
	for _, v := range m.Results(op) {
		t.slots = append(t.slots, t.home[v])
	}
	row.n = int32(len(t.slots)) - row.first
	t.rows[op] = row
}

func (t *tables) addBarrier(op ir.OpID) {
	t.addRuled(op, t.identityRule(t.m.Type(t.m.Result(op, 0)), 1))
	t.rows[op].barrier, t.rows[op].exempt = true, true
}

// addEdge makes an op with all sources of an edge as operands and the edge as its result.
func (t *tables) addEdge(op ir.OpID) {
	m := t.m
	owner := m.Operand(op, 0)
	if t.around[owner] == op {
		return
	}
	row := opRow{first: int32(len(t.slots)), class: priority.Rearrange, exempt: true}
	sources := lists.Map(dataflow.Sources(m, owner), func(u ir.Use) ir.ValueID { return m.Operand(u.Op, u.Index) })
	if !t.fits(sources, m.Type(owner)) {
		return
	}
	for _, v := range sources {
		t.slots = append(t.slots, t.home[v])
	}
	t.slots = append(t.slots, slot(m.Result(op, 0)))
	row.n = int32(len(t.slots)) - row.first
	row.plan = t.planFor(t.identityRule(m.Type(owner), len(sources)))
	if view := dataflow.ViewOf(m, owner); view.Translates() {
		row.view = int32(len(t.views))
		t.views = append(t.views, view)
	}
	t.rows[op] = row
}

// fits says whether all sources have the rank of the edge, as in a well-formed program.
func (t *tables) fits(sources []ir.ValueID, typ ir.TypeID) bool {
	rank := t.m.TypeOf(typ).Rank()
	return !slices.ContainsFunc(sources, func(v ir.ValueID) bool { return len(t.m.Shape(v)) != rank })
}

// identityRule returns the rule by which n operands and one result of a type are sharded alike.
func (t *tables) identityRule(typ ir.TypeID, n int) *ir.Rule {
	key := identityKey{typ, n}
	if r, ok := t.identity[key]; ok {
		return r
	}
	shape := t.m.TypeOf(typ).Dims
	dims := lists.Of(len(shape), func(d int) []int32 { return []int32{int32(d)} })
	r := &ir.Rule{Sizes: shape, Operands: slices.Repeat([][][]int32{dims}, n), Results: [][][]int32{dims}}
	t.identity[key] = r
	return r
}

// findGroups collects the slots of each sharding group.
func (t *tables) findGroups() {
	for _, g := range groups(t.m) {
		var members []slot
		for _, v := range g.members {
			t.memberOf[v] = int32(len(t.groups))
			s := t.home[v]
			if s != 0 && !slices.Contains(members, s) {
				members = append(members, s)
				t.groupOf[s] = int32(len(t.groups))
			}
		}
		t.groups = append(t.groups, members)
	}
}
