package gspmd

import (
	"iter"
	"regexp"
	"strconv"
	"strings"

	"autoshard/internal/diag"
	"autoshard/ir"
	"autoshard/ir/mlir"
)

// The attributes that shardings hide in. The second is an entry of the frontend attributes.
const (
	shardingAttr = "mhlo.sharding"
	sdySharding  = "xla.sdy.sharding"
)

// place is what can have a sharding in an attribute: an argument or a result of a function, or the results of an operation.
type place struct {
	m     *ir.Module
	op    ir.OpID // the function, or the operation
	types []ir.TypeID
	attrs ir.Attrs
	had   func(i int) ir.ShardingID // the sharding of value i in Shardy's dialect; 0 for none
	set   func(i int, id ir.ShardingID)
	keep  func(ir.Attrs)
}

// annotations yields the places of a program, of which each may be changed.
func annotations(m *ir.Module) iter.Seq[place] {
	return func(yield func(place) bool) {
		for f := range m.Funcs() {
			for _, p := range signature(m, m.Func(f)) {
				if !yield(p) {
					return
				}
			}
		}
		for op := range m.Within(m.Body()) {
			if attrs := m.OpAttrs(op); (attrs.Get(shardingAttr) != nil || attrs.Get(ir.FrontendAttr) != nil) && !yield(results(m, op)) {
				return
			}
		}
	}
}

// signature returns the places of a function.
func signature(m *ir.Module, f *ir.Func) (out []place) {
	for i, v := range m.BlockArgs(f.Body) {
		out = append(out, place{m: m, op: f.Op, types: []ir.TypeID{m.Type(v)}, attrs: f.ArgAttrs[i],
			had:  func(int) ir.ShardingID { return m.Sharding(v) },
			set:  func(_ int, id ir.ShardingID) { m.SetSharding(v, id) },
			keep: func(a ir.Attrs) { f.ArgAttrs[i] = a }})
	}
	for i, t := range f.ResultTypes {
		out = append(out, place{m: m, op: f.Op, types: []ir.TypeID{t}, attrs: f.ResultAttrs[i],
			had:  func(int) ir.ShardingID { return f.ResultShardings[i] },
			set:  func(_ int, id ir.ShardingID) { f.ResultShardings[i] = id },
			keep: func(a ir.Attrs) { f.ResultAttrs[i] = a }})
	}
	return out
}

// values returns how many values a place has shardings for. An operation without results has one, which says on which device it is.
func (p *place) values() int { return max(1, len(p.types)) }

// results returns the place that the results of an operation are.
func results(m *ir.Module, op ir.OpID) place {
	if m.NumResults(op) == 0 {
		keep := func(a ir.Attrs) { m.SetAttrs(op, a) }
		return place{m: m, op: op, attrs: m.OpAttrs(op), keep: keep,
			had: func(int) ir.ShardingID { return 0 },
			set: func(_ int, id ir.ShardingID) { keep(m.OpAttrs(op).With("sdy.sharding", ir.ShardingsAttr{id})) }}
	}
	return place{m: m, op: op, types: m.TypesOf(m.ResultValues(op)), attrs: m.OpAttrs(op),
		had:  func(i int) ir.ShardingID { return m.Sharding(m.Result(op, i)) },
		set:  func(i int, id ir.ShardingID) { m.SetSharding(m.Result(op, i), id) },
		keep: func(a ir.Attrs) { m.SetAttrs(op, a) }}
}

// sdyText returns the text of Shardy's shardings among the frontend attributes.
func (p *place) sdyText() string { return p.attrs.Frontend().Str(sdySharding) }

// open returns the dimensions that a constraint leaves to propagation: unspecified_dims=[0,1] in its options.
func (p *place) open() (dims []int64) {
	found := unspecified.FindStringSubmatch(p.attrs.Str("backend_config"))
	if found == nil {
		return nil
	}
	for _, text := range strings.Split(found[1], ",") {
		if n, err := strconv.ParseInt(strings.TrimSpace(text), 10, 64); err == nil {
			dims = append(dims, n)
		}
	}
	return dims
}

var unspecified = regexp.MustCompile(`unspecified_dims=\[([0-9, ]*)\]`)

// clean takes the attributes away that have become shardings.
func (p *place) clean() {
	p.keep(withoutFrontend(p.attrs.Without(shardingAttr), sdySharding))
}

// withoutFrontend returns attributes without an entry of the frontend attributes.
func withoutFrontend(attrs ir.Attrs, name string) ir.Attrs {
	if rest := attrs.Frontend().Without(name); len(rest) > 0 {
		return attrs.With(ir.FrontendAttr, ir.DictAttr(rest))
	}
	return attrs.Without(ir.FrontendAttr)
}

// shardyList reads the shardings that a frontend attribute of a place holds as text, one for each value.
func (im *importer) shardyList(p place, name, text string) ([]ir.ShardingID, error) {
	a, err := mlir.ParseAttr(im.m, text, diag.Position{})
	if err != nil {
		return nil, at(err, im.m.OpPos(p.op))
	}
	var list []ir.ShardingID
	switch a := a.(type) {
	case ir.ShardingAttr:
		list = []ir.ShardingID{ir.ShardingID(a)}
	case ir.ShardingsAttr:
		list = a
	}
	if len(list) != p.values() {
		return nil, diag.Invalid(diag.BadSharding, im.m.OpPos(p.op), "%s has %d shardings for %d values: %s", name, len(list), len(p.types), text)
	}
	return list, nil
}
