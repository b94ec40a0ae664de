package space

import (
	"encoding/binary"
	"slices"

	"autoshard/collectives"
	"autoshard/cost/estimate"
	"autoshard/ir"
	"autoshard/ir/rule"
)

// class is what nodes that are cut alike have in common: their strategies, and in which layouts those read and keep values.
type class struct {
	strategies     []strategy
	operands, kept []int32 // lists of layouts, of one for each strategy
	product        int32   // the list of what strategies compute, -1 for what does not overlap with reshards
	reduces        bool    // there are strategies that reduce results
}

// strategy is one way to cut an op, or to keep a value. Prices are of one run, in picoseconds.
type strategy struct {
	factors collectives.Factors
	cost    int64
	least   int64 // what a program surely takes of it
	summed  int64 // of the cost, what reductions of its results take
	reduced int64 // what the reduction of its first result takes before it sends anything: of several steps that which takes most
	copied  int64 // what that takes besides if it is sent with others
	over    int32 // along which axes it is
	later   int32 // the number of the ways to make it later, whatever is scattered then; 0 where they are not known
	free    int64 // what other steps, and those of other results, take before they send anything
	work    work  // at least
	bytes   int64 // that its values take on one device
}

// Forms of nodes, which begin the keys of classes.
const (
	passForm = iota
	resultForm
	wholeForm
	madeForm
	ruledForm
)

// classes holds what nodes share. Keys are all that strategies and their prices depend on.
type classes struct {
	apart   bool // every node has a class of its own
	made    map[string]*class
	bases   map[string]*draft // of ops with a rule, without what suggestions add
	drafts  []*draft          // of classes that have no prices yet
	ruleIDs map[*ir.Rule]int32
	content map[string]int32 // of rules: the first that is equal
	key     []byte
}

func newClasses(apart bool) classes {
	return classes{apart: apart, made: map[string]*class{}, bases: map[string]*draft{},
		ruleIDs: map[*ir.Rule]int32{}, content: map[string]int32{}}
}

// class returns the class of a node whose key is written, made by fill where it is the first.
func (s *Space) class(n *node, fill func(d *draft)) *class {
	c := &s.classes
	if known, ok := c.made[string(c.key)]; ok && !c.apart {
		return known
	}
	key, d := string(c.key), s.draft(n)
	fill(d)
	c.made[key] = d.end()
	return d.class
}

// sign begins the key of a node: its form, and of an op and its values what prices depend on.
func (s *Space) sign(form byte, n *node) {
	key := append(s.classes.key[:0], form)
	if n.op != 0 {
		key = estimate.AppendSignature(key, s.m, n.op)
	}
	key = binary.AppendUvarint(binary.AppendUvarint(key, uint64(len(n.operands))), uint64(len(n.values)))
	for _, v := range n.operands {
		key = binary.AppendVarint(key, int64(s.m.Type(v)))
		key = append(key, s.fusedAs(v))
	}
	for _, v := range n.values {
		key = binary.AppendVarint(key, int64(s.m.Type(v)))
		key = append(key, s.fusedAs(v), flags(s.rings && s.fed[s.same[v]], s.crosses[v]))
		key = binary.AppendVarint(key, int64(s.pins[v]))
		key = binary.AppendVarint(key, int64(s.goals[v]))
	}
	s.classes.key = key
}

func flags(set ...bool) byte {
	f := byte(0)
	for i, on := range set {
		if on {
			f |= 1 << i
		}
	}
	return f
}

// signKept goes on with the layouts in which suggestions keep a value.
func (s *Space) signKept(v ir.ValueID) {
	for i := range s.suggested {
		s.classes.key = binary.AppendVarint(s.classes.key, int64(s.suggested[i].kept(v)))
	}
}

// signRule goes on with a rule and what may be cut by it.
func (s *Space) signRule(r *ir.Rule, parts []int64, reduction ir.Reduction) {
	c := &s.classes
	id, ok := c.ruleIDs[r]
	if !ok {
		key := string(appendRule(nil, r))
		if id, ok = c.content[key]; !ok {
			id = int32(len(c.content))
			c.content[key] = id
		}
		c.ruleIDs[r] = id
	}
	c.key = append(binary.AppendVarint(c.key, int64(id)), byte(reduction))
	for _, n := range parts {
		c.key = binary.AppendVarint(c.key, n)
	}
}

// appendRule appends what [collectives.Project] reads.
func appendRule(key []byte, r *ir.Rule) []byte {
	key = binary.AppendVarint(key, int64(len(r.Sizes)))
	for _, size := range r.Sizes {
		key = binary.AppendVarint(key, size)
	}
	for _, tensors := range [][][][]int32{r.Operands, r.Results, {{r.Reduction}}} {
		key = binary.AppendVarint(key, int64(len(tensors)))
		for _, dims := range tensors {
			key = binary.AppendVarint(key, int64(len(dims)))
			for _, factors := range dims {
				key = binary.AppendVarint(key, int64(len(factors)))
				for _, f := range factors {
					key = binary.AppendVarint(key, int64(f))
				}
			}
		}
	}
	return key
}

// ruledClass returns the class of an op with a rule: every way to cut it, and those of the suggestions that are none of
// them.
func (s *Space) ruledClass(n *node, r *ir.Rule) *class {
	c := &s.classes
	parts, reduction := rule.Shardable(s.m, n.op, r)
	s.sign(ruledForm, n)
	s.signRule(r, parts, reduction)
	base, ok := c.bases[string(c.key)]
	if !ok || c.apart {
		key := string(c.key)
		base = s.draft(n)
		base.ruled(r, parts, reduction)
		base.end()
		c.bases[key] = base
	}
	extras := s.extras(n)
	if len(extras) == 0 {
		return base.class
	}
	for i := range extras {
		c.key = extras[i].sign(c.key)
	}
	if known, ok := c.made[string(c.key)]; ok && !c.apart {
		return known
	}
	key, d := string(c.key), base.extend(n)
	for _, e := range extras {
		if _, ok := d.cut(r, reduction, e.factors); ok {
			d.once(s.layoutsOf(n.values, e.kept))
		}
	}
	if d.count == base.count {
		d = base
	} else {
		d.end()
	}
	c.made[key] = d.class
	return d.class
}

// extra is the way in which a suggestion cuts an op and keeps its results.
type extra struct {
	factors collectives.Factors
	kept    []ir.ShardingID
}

// extras returns those of an op, each once.
func (s *Space) extras(n *node) []extra {
	var out []extra
	for i := range s.suggested {
		g := &s.suggested[i]
		if int(n.op) >= len(g.factors) || g.factors[n.op] == nil {
			continue
		}
		e := extra{factors: g.factors[n.op], kept: make([]ir.ShardingID, len(n.values))}
		for j, v := range n.values {
			e.kept[j] = g.kept(v)
		}
		if !slices.ContainsFunc(out, func(o extra) bool { return equalFactors(o.factors, e.factors) && slices.Equal(o.kept, e.kept) }) {
			out = append(out, e)
		}
	}
	return out
}

func (e *extra) sign(key []byte) []byte {
	for _, axes := range e.factors {
		key = binary.AppendVarint(key, int64(len(axes)))
		for _, r := range axes {
			key = binary.AppendVarint(key, int64(r.Axis))
			key = binary.AppendVarint(key, int64(r.Pre))
			key = binary.AppendVarint(key, int64(r.Size))
		}
	}
	for _, id := range e.kept {
		key = binary.AppendVarint(key, int64(id))
	}
	return key
}
