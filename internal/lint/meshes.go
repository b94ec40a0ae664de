package lint

import (
	"slices"
	"strings"

	"autoshard/ir"
	"autoshard/subaxis"
)

// meshUses tells which meshes and axes the shardings and collectives of a module name.
type meshUses struct {
	m         *ir.Module
	axes      map[ir.MeshID][]bool // by axis; there is an entry for each mesh that is named at all
	functions []string             // that attributes name, sorted
}

// collect walks over everything that can name a mesh or a function.
func collect(m *ir.Module) *meshUses {
	u := &meshUses{m: m, axes: map[ir.MeshID][]bool{}}
	for v := ir.ValueID(1); int(v) < m.NumValues(); v++ {
		u.sharding(m.Sharding(v))
	}
	visit := func(op ir.OpID) {
		u.attrs(m.OpAttrs(op))
		f := m.FuncOf(op)
		if f == 0 {
			return
		}
		for _, s := range m.Func(f).ResultShardings {
			u.sharding(s)
		}
		for _, a := range slices.Concat(m.Func(f).ArgAttrs, m.Func(f).ResultAttrs) {
			u.attrs(a)
		}
	}
	m.Walk(m.Body(), visit)
	slices.Sort(u.functions)
	return u
}

func (u *meshUses) sharding(id ir.ShardingID) {
	if id == 0 {
		return
	}
	s := u.m.ShardingOf(id)
	for _, d := range s.Dims {
		u.use(s.Mesh, d.Axes)
	}
	u.use(s.Mesh, s.Replicated)
	u.use(s.Mesh, s.Unreduced)
}

func (u *meshUses) use(mesh ir.MeshID, axes []subaxis.Ref) {
	if u.axes[mesh] == nil {
		u.axes[mesh] = make([]bool, len(u.m.Mesh(mesh).Axes))
	}
	for _, r := range axes {
		u.axes[mesh][r.Axis] = true
	}
}

func (u *meshUses) attrs(list ir.Attrs) {
	for _, a := range list {
		u.attr(a.Value)
	}
}

func (u *meshUses) attr(a ir.Attr) {
	switch a := a.(type) {
	case ir.ShardingAttr:
		u.sharding(ir.ShardingID(a))
	case ir.ShardingsAttr:
		for _, s := range a {
			u.sharding(s)
		}
	case *ir.AxesAttr:
		u.use(a.Mesh, a.Axes)
	case *ir.AxesPerDimAttr:
		for _, axes := range a.Dims {
			u.use(a.Mesh, axes)
		}
	case *ir.AllToAllAttr:
		for _, move := range a.Moves {
			u.use(a.Mesh, move.Axes)
		}
	case *ir.MeshAxesGroups:
		u.use(a.Mesh, a.Axes)
	case ir.SymbolAttr:
		u.functions = append(u.functions, a[0])
	case ir.ArrayAttr:
		for _, e := range a {
			u.attr(e)
		}
	case ir.DictAttr:
		u.attrs(ir.Attrs(a))
	}
}

func (l *linter) unusedMeshes() {
	used := len(l.uses.axes) > 0
	for id := range l.m.NamedMeshes() {
		d := l.m.Mesh(id)
		if _, ok := l.uses.axes[id]; !ok && used && !d.IsEmpty() {
			l.report(d.Op, "mesh @%s is declared, but no sharding names it", ir.FormatSymbol(d.Name))
		}
	}
}

func (l *linter) unusedAxes() {
	if main, ok := l.m.Main(); ok && slices.ContainsFunc(l.m.BlockArgs(l.m.Func(main).Body),
		func(v ir.ValueID) bool { return l.m.Sharding(v) == 0 }) {
		return // the layout is not complete, a plan may use the axes
	}
	used, reported := map[subaxis.Axis]bool{}, map[subaxis.Axis]bool{} // by any mesh: JAX exports one again for collectives
	for id := range l.m.NamedMeshes() {
		for i, u := range l.uses.axes[id] {
			axis := l.m.Mesh(id).Axes[i]
			used[axis] = used[axis] || u
		}
	}
	for id := range l.m.NamedMeshes() {
		d := l.m.Mesh(id)
		var unused []string
		for i := range l.uses.axes[id] {
			if axis := d.Axes[i]; !used[axis] && axis.Size > 1 && !reported[axis] {
				reported[axis] = true
				unused = append(unused, "\""+axis.Name+"\"")
			}
		}
		if len(unused) > 0 {
			l.report(d.Op, "no sharding uses %s of mesh @%s", axisList(unused), ir.FormatSymbol(d.Name))
		}
	}
}

func axisList(names []string) string {
	if len(names) == 1 {
		return "axis " + names[0]
	}
	return "axes " + strings.Join(names, ", ")
}

// unreachableFunctions follows symbols from the functions that others may call.
func (l *linter) unreachableFunctions() {
	reached := map[string]bool{}
	var work []ir.OpID
	enter := func(name string) {
		if f, ok := l.m.LookupFunc(name); ok && !reached[name] {
			reached[name] = true
			work = append(work, l.m.Func(f).Op)
		}
	}
	for op := range l.m.Ops(l.m.Body()) {
		f := l.m.FuncOf(op)
		switch {
		case f == 0:
			l.symbols(op, enter)
		case l.m.Func(f).Visibility != "private" || l.m.Func(f).Name == "main":
			enter(l.m.Func(f).Name)
		}
	}
	for len(work) > 0 {
		op := work[len(work)-1]
		work = work[:len(work)-1]
		for _, b := range l.m.Blocks(l.m.Regions(op)[0]) {
			l.m.Walk(b, func(op ir.OpID) { l.symbols(op, enter) })
		}
	}
	for id := range l.m.Definitions() {
		if f := l.m.Func(id); !reached[f.Name] {
			l.report(f.Op, "nothing calls the private function @%s", ir.FormatSymbol(f.Name))
		}
	}
}

// symbols visits the names that the attributes of an operation refer to.
func (l *linter) symbols(op ir.OpID, visit func(string)) {
	u := &meshUses{m: l.m, axes: map[ir.MeshID][]bool{}}
	u.attrs(l.m.OpAttrs(op))
	for _, name := range u.functions {
		visit(name)
	}
}
