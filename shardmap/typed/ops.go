package typed

import (
	"slices"

	"autoshard/internal/diag"
	"autoshard/internal/lists"
	"autoshard/ir"
	"autoshard/shardmap"
)

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
	from, to  state
	insert    insertion
	fromTerms ir.Kind      // the op that does the same to terms along unreduced axes
	reduction ir.Reduction // of psum and its like
}

var opInfos = map[ir.Kind]opInfo{
	ir.OpShardMapPsum: {from: varying, to: invariant, insert: castAll, fromTerms: ir.OpShardMapUnreducedPsum},
	ir.OpShardMapPmax: {from: varying, to: invariant, insert: castAll,
		fromTerms: ir.OpShardMapUnreducedPmax, reduction: ir.ReduceMax},
	ir.OpShardMapPmin: {from: varying, to: invariant, insert: castAll,
		fromTerms: ir.OpShardMapUnreducedPmin, reduction: ir.ReduceMin},
	ir.OpShardMapAllGather:            {from: varying, to: varying, insert: castMissing},
	ir.OpShardMapAllGatherInvariant:   {from: varying, to: invariant, insert: castMissing},
	ir.OpShardMapAllGatherReduced:     {from: varying, to: reduced},
	ir.OpShardMapPsumScatter:          {from: varying, to: varying, insert: castAll, fromTerms: ir.OpShardMapUnreducedPsumScatter},
	ir.OpShardMapAllToAll:             {from: varying, to: varying, insert: castMissing},
	ir.OpShardMapPpermute:             {from: varying, to: varying, insert: castMissing},
	ir.OpShardMapPbroadcast:           {from: varying, to: varying},
	ir.OpShardMapRaggedAllToAll:       {from: varying, to: varying, insert: castMissing},
	ir.OpShardMapPscatter:             {from: invariant, to: varying},
	ir.OpShardMapPvary:                {from: invariant, to: varying},
	ir.OpShardMapPreduced:             {from: invariant, to: reduced},
	ir.OpShardMapReducedVaryCast:      {from: reduced, to: varying},
	ir.OpShardMapVaryUnreducedCast:    {from: varying, to: unreduced},
	ir.OpShardMapUnreducedPsum:        {from: unreduced, to: invariant},
	ir.OpShardMapUnreducedPmax:        {from: unreduced, to: invariant, reduction: ir.ReduceMax},
	ir.OpShardMapUnreducedPmin:        {from: unreduced, to: invariant, reduction: ir.ReduceMin},
	ir.OpShardMapUnreducedPsumScatter: {from: unreduced, to: varying},
	ir.OpShardMapAxisIndex:            {from: invariant, to: varying},
}

// Collective is the content of an op of shard_map programs other than a scan. Fields that the op does not have are zero.
type Collective struct {
	Kind      ir.Kind // ir.OpShardMapPsum, ...
	Axes      []int   // in the order in which members are numbered, major to minor
	Dim       int64   // dimension that is joined or cut: all_gather*, psum_scatter, pscatter
	Split     int64   // all_to_all: dimension that is cut
	Concat    int64   // all_to_all: dimension that is joined
	Source    int64   // pbroadcast: member that all receive from
	Perm      [][2]int64
	Groups    [][]int64 // members by subgroup, nil for one group; not for ops whose result is invariant
	Reduction ir.Reduction
}

// Set returns the axes as a set.
func (c *Collective) Set() (s AxisSet) {
	for _, a := range c.Axes {
		s |= 1 << a
	}
	return s
}

// IsCast says whether the op is the identity on blocks and only changes the type.
func (c *Collective) IsCast() bool {
	switch c.Kind {
	case ir.OpShardMapPvary, ir.OpShardMapPreduced, ir.OpShardMapReducedVaryCast, ir.OpShardMapVaryUnreducedCast:
		return true
	}
	return false
}

// attrs returns the attributes of an op.
func (p *Program) attrs(c *Collective) ir.Attrs {
	m := p.Module
	values := map[string]ir.Attr{"axes": p.axesAttr(c.Axes), "dim": m.I64(c.Dim), "split": m.I64(c.Split), "concat": m.I64(c.Concat),
		"source": m.I64(c.Source), "perm": shardmap.Perm(c.Perm)}
	if c.Groups != nil {
		values["groups"] = shardmap.Lists(c.Groups)
	}
	if c.Reduction != ir.ReduceSum {
		values["kind"] = ir.StringAttr(c.Reduction.String())
	}
	var out ir.Attrs
	for _, d := range c.Kind.Declared() {
		if v := values[d.Name]; v != nil {
			out = out.With(d.Name, v)
		}
	}
	return out
}

// Collective returns the content of an op of shard_map programs other than a scan. It returns an error of class
// diag.ErrInvalid for an op that is none, for axes that are not manual (E_UNBOUND) and for attributes of other kinds.
func (p *Program) Collective(op ir.OpID) (Collective, error) {
	kind := p.Module.Kind(op)
	c := Collective{Kind: kind}
	if _, ok := opInfos[kind]; !ok {
		return c, p.bad(diag.UnknownOp, "E_OP", "`%s` is no op of shard_map programs", p.Module.OpName(op))
	}
	attrs := p.Module.OpAttrs(op)
	names, ok := p.namesOf(attrs.Get("axes"))
	if !ok {
		return c, p.bad(diag.BadAttribute, "E_OP", "needs a list of axes")
	}
	var err error
	if c.Axes, err = p.boundAxes(nil, names); err != nil {
		return c, err
	}
	for _, e := range attrs {
		if !kind.Declares(e.Name) {
			return c, p.bad(diag.BadAttribute, "E_OP", "has no attribute `%s`", e.Name)
		}
	}
	c.read(attrs)
	if _, ok := attrs.Get("perm").(ir.ArrayAttr); !ok && kind == ir.OpShardMapPpermute {
		return c, p.bad(diag.BadAttribute, "E_PERM", "needs perm, a list of pairs of source and destination such as ((0, 1), (1, 0))")
	}
	if attrs.Get("source") == nil && kind == ir.OpShardMapPbroadcast {
		return c, p.bad(diag.BadAttribute, "E_OP", "needs source, the member whose block all get, such as source=0; the pbroadcast of JEP "+
			"17111, which makes an equal value varying, is `pvary`")
	}
	for _, pair := range shardmap.ListsOf(attrs.Get("perm")) {
		if len(pair) != 2 {
			return c, p.bad(diag.BadAttribute, "E_PERM", "perm is a list of pairs of source and destination")
		}
		c.Perm = append(c.Perm, [2]int64(pair))
	}
	return c, nil
}

// read reads all attributes but axes and pairs. Terms are added up where nothing is said.
func (c *Collective) read(attrs ir.Attrs) {
	c.Dim, c.Split, c.Concat = attrs.Int("dim", 0), attrs.Int("split", 0), attrs.Int("concat", 0)
	c.Source = attrs.Int("source", 0)
	c.Groups = shardmap.ListsOf(attrs.Get("groups"))
	c.Reduction, _ = ir.ParseReduction(attrs.Str("kind"))
}

// axesAttr returns axes as an attribute: axes of a mesh of the module that equals the program's.
func (p *Program) axesAttr(axes []int) *ir.AxesAttr {
	return &ir.AxesAttr{Mesh: p.Module.AddMesh("", p.Mesh, nil, 0), Axes: lists.Map(axes, p.Mesh.Full)}
}

// namesOf returns the names of the axes of an attribute. One that the text form gives, and that the mesh does not have or
// that stands there twice, is not an axis: the attribute is then a list of strings.
func (p *Program) namesOf(a ir.Attr) (names []string, ok bool) {
	switch a := a.(type) {
	case *ir.AxesAttr:
		for _, r := range a.Axes {
			mesh := p.Module.Mesh(a.Mesh)
			name := mesh.Axes[r.Axis].Name
			if !mesh.IsFull(r) {
				name = mesh.Format(r)
			}
			names = append(names, name)
		}
		return names, true
	case ir.ArrayAttr:
		for _, e := range a {
			name, _ := e.(ir.StringAttr)
			names = append(names, string(name))
		}
		return names, true
	}
	return nil, false
}

// boundAxes appends the numbers of manual axes, of which none stands there twice, to a list of such numbers.
func (p *Program) boundAxes(axes []int, names []string) ([]int, error) {
	for _, name := range names {
		a, err := p.boundAxis(name, axes)
		if err != nil {
			return axes, err
		}
		axes = append(axes, a)
	}
	return axes, nil
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
