package typed

import (
	"slices"
	"strings"

	"autoshard/internal/diag"
	"autoshard/ir"
	"autoshard/ir/dtype"
)

// Names of the ops of this package, behind "shard_map.".
const (
	Psum                 = "psum"
	Pmax                 = "pmax"
	Pmin                 = "pmin"
	AllGather            = "all_gather"
	AllGatherInvariant   = "all_gather_invariant"
	AllGatherReduced     = "all_gather_reduced"
	PsumScatter          = "psum_scatter"
	AllToAll             = "all_to_all"
	Ppermute             = "ppermute"
	Pbroadcast           = "pbroadcast"
	RaggedAllToAll       = "ragged_all_to_all"
	Pscatter             = "pscatter"
	AxisIndex            = "axis_index"
	Pvary                = "pvary"
	Preduced             = "preduced"
	ReducedVaryCast      = "reduced_vary_cast"
	VaryUnreducedCast    = "vary_unreduced_cast"
	UnreducedPsum        = "unreduced_psum"
	UnreducedPmax        = "unreduced_pmax"
	UnreducedPmin        = "unreduced_pmin"
	UnreducedPsumScatter = "unreduced_psum_scatter"
	Scan                 = "scan"
)

const dialect = "shard_map."

// state is what a value is along an axis.
type state uint8

const (
	invariant state = iota
	varying
	unreduced
	reduced
)

// insertion says which missing axes an op that wants a varying operand has cast for it.
type insertion uint8

const (
	castNone    insertion = iota // none
	castAll                      // all of its axes, if none varies yet
	castMissing                  // those that do not vary yet
)

// opInfo is a row of the table in shardmap.md section 3.4: along its axes the op takes an operand in one state to a
// result in another.
type opInfo struct {
	from, to    state
	insert      insertion
	fromTerms   string       // the op that does the same to terms along unreduced axes
	reduction   ir.Reduction // of psum and its like
	communicate bool
	attrs       []string // besides axes
}

var opInfos = map[string]opInfo{
	Psum: {from: varying, to: invariant, insert: castAll, fromTerms: UnreducedPsum, communicate: true,
		attrs: []string{"groups"}},
	Pmax: {from: varying, to: invariant, insert: castAll, fromTerms: UnreducedPmax, reduction: ir.ReduceMax,
		communicate: true, attrs: []string{"groups"}},
	Pmin: {from: varying, to: invariant, insert: castAll, fromTerms: UnreducedPmin, reduction: ir.ReduceMin,
		communicate: true, attrs: []string{"groups"}},
	AllGather:          {from: varying, to: varying, insert: castMissing, communicate: true, attrs: []string{"dim", "groups"}},
	AllGatherInvariant: {from: varying, to: invariant, insert: castMissing, communicate: true, attrs: []string{"dim"}},
	AllGatherReduced:   {from: varying, to: reduced, communicate: true, attrs: []string{"dim"}},
	PsumScatter: {from: varying, to: varying, insert: castAll, fromTerms: UnreducedPsumScatter, communicate: true,
		attrs: []string{"dim", "groups"}},
	AllToAll:             {from: varying, to: varying, insert: castMissing, communicate: true, attrs: []string{"split", "concat", "groups"}},
	Ppermute:             {from: varying, to: varying, insert: castMissing, communicate: true, attrs: []string{"perm"}},
	Pbroadcast:           {from: varying, to: varying, communicate: true, attrs: []string{"source"}},
	RaggedAllToAll:       {from: varying, to: varying, insert: castMissing, communicate: true},
	Pscatter:             {from: invariant, to: varying, attrs: []string{"dim"}},
	Pvary:                {from: invariant, to: varying, fromTerms: ""},
	Preduced:             {from: invariant, to: reduced},
	ReducedVaryCast:      {from: reduced, to: varying},
	VaryUnreducedCast:    {from: varying, to: unreduced, attrs: []string{"kind"}},
	UnreducedPsum:        {from: unreduced, to: invariant, communicate: true},
	UnreducedPmax:        {from: unreduced, to: invariant, reduction: ir.ReduceMax, communicate: true},
	UnreducedPmin:        {from: unreduced, to: invariant, reduction: ir.ReduceMin, communicate: true},
	UnreducedPsumScatter: {from: unreduced, to: varying, communicate: true, attrs: []string{"dim"}},
	AxisIndex:            {from: invariant, to: varying},
}

// isCast says whether the op is the identity on blocks.
func isCast(name string) bool {
	return name == Pvary || name == Preduced || name == ReducedVaryCast || name == VaryUnreducedCast
}

// Collective is the content of an op of this package other than a scan. Fields that the op does not have are zero.
type Collective struct {
	Name   string // Psum, ..., without the dialect
	Axes   []int  // in the order in which members are numbered, major to minor
	Dim    int64  // dimension that is joined or cut: all_gather*, psum_scatter, pscatter
	Split  int64  // all_to_all: dimension that is cut
	Concat int64  // all_to_all: dimension that is joined
	Source int64  // pbroadcast: member that all receive from
	Perm   [][2]int64
	Groups [][]int64 // members by subgroup, nil for one group; not for ops whose result is invariant
	Kind   ir.Reduction
}

// Set returns the axes as a set.
func (c *Collective) Set() (s AxisSet) {
	for _, a := range c.Axes {
		s |= 1 << a
	}
	return s
}

// IsCast says whether the op is the identity on blocks and only changes the type.
func (c *Collective) IsCast() bool { return isCast(c.Name) }

// Communicates says whether devices exchange data.
func (c *Collective) Communicates() bool { return opInfos[c.Name].communicate }

// OpName returns the name of an op of this package without its dialect, "" for other ops.
func (p *Program) OpName(op ir.OpID) string {
	if p.Module.Kind(op) != ir.OpUnregistered {
		return ""
	}
	name, ok := strings.CutPrefix(p.Module.OpName(op), dialect)
	if !ok {
		return ""
	}
	return name
}

// attrs returns the attributes of an op.
func (p *Program) attrs(c *Collective) ir.Attrs {
	axes := ir.ArrayAttr{}
	for _, a := range c.Axes {
		axes = append(axes, ir.StringAttr(p.Mesh.Axes[a].Name))
	}
	a := ir.MakeAttrs(ir.NamedAttr{Name: "axes", Value: axes})
	for _, name := range opInfos[c.Name].attrs {
		switch name {
		case "dim":
			a = a.With(name, i64(p.Module, c.Dim))
		case "split":
			a = a.With(name, i64(p.Module, c.Split))
		case "concat":
			a = a.With(name, i64(p.Module, c.Concat))
		case "source":
			a = a.With(name, i64(p.Module, c.Source))
		case "perm":
			pairs := ir.ArrayAttr{}
			for _, pair := range c.Perm {
				pairs = append(pairs, ir.Ints{pair[0], pair[1]})
			}
			a = a.With(name, pairs)
		case "groups":
			if c.Groups != nil {
				groups := ir.ArrayAttr{}
				for _, g := range c.Groups {
					groups = append(groups, ir.Ints(g))
				}
				a = a.With(name, groups)
			}
		case "kind":
			if c.Kind != ir.ReduceSum {
				a = a.With(name, ir.StringAttr(c.Kind.String()))
			}
		}
	}
	return a
}

// Collective returns the content of an op of this package. It returns an error of class diag.ErrInvalid for an op
// that is none, for axes that are not manual (E_UNBOUND) and for attributes of other kinds.
func (p *Program) Collective(op ir.OpID) (Collective, error) {
	c := Collective{Name: p.OpName(op)}
	info, ok := opInfos[c.Name]
	if !ok {
		return c, p.bad(diag.UnknownOp, "E_OP", "`%s` is no op of shard_map programs", p.Module.OpName(op))
	}
	attrs := p.Module.OpAttrs(op)
	names, ok := attrs.Get("axes").(ir.ArrayAttr)
	if !ok {
		return c, p.bad(diag.BadAttribute, "E_OP", "needs a list of axes")
	}
	for _, n := range names {
		name, _ := n.(ir.StringAttr)
		a, err := p.boundAxis(string(name), c.Axes)
		if err != nil {
			return c, err
		}
		c.Axes = append(c.Axes, a)
	}
	for _, e := range attrs {
		if e.Name != "axes" && !slices.Contains(info.attrs, e.Name) {
			return c, p.bad(diag.BadAttribute, "E_OP", "has no attribute `%s`", e.Name)
		}
	}
	c.Dim, c.Split, c.Concat = attrs.Int("dim", 0), attrs.Int("split", 0), attrs.Int("concat", 0)
	c.Source = attrs.Int("source", 0)
	c.Groups = intLists(attrs.Get("groups"))
	if _, ok := attrs.Get("perm").(ir.ArrayAttr); !ok && c.Name == Ppermute {
		return c, p.bad(diag.BadAttribute, "E_PERM", "needs perm, a list of pairs of source and destination such as ((0, 1), (1, 0))")
	}
	for _, pair := range intLists(attrs.Get("perm")) {
		if len(pair) != 2 {
			return c, p.bad(diag.BadAttribute, "E_PERM", "perm is a list of pairs of source and destination")
		}
		c.Perm = append(c.Perm, [2]int64(pair))
	}
	switch attrs.Str("kind") {
	case "max":
		c.Kind = ir.ReduceMax
	case "min":
		c.Kind = ir.ReduceMin
	}
	return c, nil
}

// boundAxis returns the number of a manual axis that is not among those before it.
func (p *Program) boundAxis(name string, before []int) (int, error) {
	a := axisNumber(&p.Mesh, name)
	switch {
	case a < 0 || !p.Manual.Has(a):
		return 0, p.bad(diag.UnknownAxis, "E_UNBOUND", "unbound axis name `%s`; the manual axes are %s", name, p.FormatAxes(p.Manual))
	case slices.Contains(before, a):
		return 0, p.bad(diag.DuplicateAxis, "E_UNBOUND", "names axis `%s` twice", name)
	}
	return a, nil
}

func intLists(a ir.Attr) [][]int64 {
	list, ok := a.(ir.ArrayAttr)
	if !ok {
		return nil
	}
	out := [][]int64{}
	for _, e := range list {
		ints, _ := e.(ir.Ints)
		out = append(out, ints)
	}
	return out
}

// i64 returns an integer attribute of type i64.
func i64(m *ir.Module, n int64) ir.IntAttr {
	return ir.IntAttr{Value: n, Type: m.InternType(ir.Type{Kind: ir.ScalarKind, DType: dtype.I64})}
}

// ScanInfo is the content of a scan: its operands and block arguments are Carries carries and then arrays, of which
// iteration k gets row k (or Length-1-k); it yields new carries and then rows of stacked results.
type ScanInfo struct {
	Carries int
	Length  int64
	Reverse bool
}

// ScanOf returns the content of a scan.
func (p *Program) ScanOf(op ir.OpID) ScanInfo {
	a := p.Module.OpAttrs(op)
	return ScanInfo{Carries: int(a.Int("carries", 0)), Length: a.Int("length", 0), Reverse: a.Bool("reverse")}
}

// isOp says whether the name is that of an op of this package.
func isOp(name string) bool {
	_, ok := opInfos[name]
	return ok || name == Scan
}
