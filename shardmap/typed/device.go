package typed

import (
	"cmp"
	"context"
	"errors"
	"slices"
	"strings"

	"autoshard/internal/diag"
	"autoshard/ir"
	"autoshard/shardmap"
	"autoshard/shardmap/refine"
)

// Names are the names that a program has outside: of itself, its inputs and its outputs. Missing ones are numbered.
type Names struct {
	Program string
	Inputs  []string
	Outputs []string
}

// Translation is what FromDevice made.
type Translation struct {
	Program   *Program
	Mesh      *refine.Mesh // the mesh of the source, and that of the program
	Unchecked error        // why the program's check is off; nil where it is on
}

// FromDevice makes the shard_map program of a per-device program over axes, which is left unchanged. Parts of axes become
// axes of a refined mesh. A pscatter of a value that varies along its axes becomes a slice at the device's axis_index. Groups
// that the user wrote become axes where they run along some. The casts are inserted by Elaborate.
//
// A gather joins what a layout had cut, so that its result is equal along its axes: it is an all_gather_invariant, or an
// all_gather where all uses would cast the result back. The check is off, and the reason is given, for a program whose
// outputs are equal along axes for a reason that types do not show, such as a permutation that moves the blocks of one
// axis to the devices of another. Inputs and outputs that are stored padded are tensors of the stored shape.
//
//	%2 = pscatter %1, %offset, %zero {axes = [{"x"}, {}]}    %offset = 2 · axis_index
//	%3 = all_gather_invariant %2 {axes = {"x"}, dim = 0}
//
// becomes, where %1 does not vary along x,
//
//	a:f32[2,8]{x} = pscatter[axes=(x,), dim=0] b
//	c:f32[4,8]{} = all_gather_invariant[axes=(x,), dim=0] a
//
// It returns errors of class diag.ErrUnsupported: inputs or outputs that are cut along parts of an axis without a common
// refinement (E_SUBAXIS_CONFLICT) or hold partial sums, and collectives without a form over axes. It looks at the context
// between its steps and returns its error.
func FromDevice(ctx context.Context, src *shardmap.Program, called Names) (*Translation, error) {
	m := src.Module.Clone()
	separate(m, m.Func(src.Main).Body)
	refining := NewRefining(src.Mesh)
	if err := refining.CutPorts(src, called); err != nil {
		return nil, err
	}
	refining.CutGroups(m, m.Func(src.Main).Body)
	refining.CutBody(m, m.Func(src.Main).Body)
	r := &deviceReader{src: src, Refining: refining}
	refining.Finish()
	var err error
	if r.importer, err = refining.program(m, src.Main); err != nil {
		return nil, err
	}
	r.splits, r.p.Check, r.p.Name = true, true, cmp.Or(called.Program, "main")
	if err := r.program(called); err != nil {
		return nil, err
	}
	return r.elaborate(ctx)
}

// deviceReader turns a per-device program into one over whole axes.
type deviceReader struct {
	*Refining
	*importer
	src *shardmap.Program
}

// program gives the function its specs and names, and replaces what is left of other functions and meshes.
func (r *deviceReader) program(called Names) error {
	m, p := r.m, r.p
	m.Name, m.Attrs = p.Name, nil
	f := m.Func(p.Func)
	taken := map[string]int64{}
	for i, v := range m.BlockArgs(f.Body) {
		name := unique(taken, nameAt(called.Inputs, i), "arg"+itoa(int64(i)))
		p.Names[v] = name
		t := m.WithDims(m.Type(v), r.src.Inputs[i].Stored())
		p.Params = append(p.Params, Param{Name: name, Type: t, Spec: r.Spec(r.src.Inputs[i].Layout.Dims), Donated: f.ArgAttrs[i].Donated()})
		f.ArgAttrs[i] = nil
	}
	for i := range r.src.Outputs {
		p.Results = append(p.Results, Result{Spec: r.Spec(r.src.Outputs[i].Layout.Dims)})
		f.ResultAttrs[i] = nil
	}
	for op := range m.Ops(m.Body()) {
		if m.FuncOf(op) != p.Func {
			m.Erase(op)
		}
	}
	for i := range r.src.Collectives {
		if c := &r.src.Collectives[i]; m.OpLoc(c.Op) == 0 {
			m.SetLoc(c.Op, c.Source)
		}
	}
	if err := r.convert(f.Body); err != nil {
		return err
	}
	if err := r.refuseForeign(f.Body); err != nil {
		return err
	}
	ir.EraseDead(m)
	r.nameValues(called, taken)
	return nil
}

// nameValues names the values that are returned like the outputs, and values with a name in their location by that.
func (r *deviceReader) nameValues(called Names, taken map[string]int64) {
	m, p := r.m, r.p
	for i, v := range m.Operands(p.Return()) {
		if name := nameAt(called.Outputs, i); name != "" && p.Names[v] == "" {
			p.Names[v] = unique(taken, name, "")
		}
	}
	m.Walk(p.Body(), func(op ir.OpID) {
		name := locName(m, m.OpLoc(op))
		for _, v := range m.Results(op) {
			if name != "" && p.Names[v] == "" {
				p.Names[v] = unique(taken, name, "")
			}
		}
	})
}

// locName returns the last part of the innermost name of a location: dot for "jit(train)/layer/dot", "" for none.
func locName(m *ir.Module, id ir.LocID) string {
	l := m.LocOf(id)
	for _, c := range l.Children {
		if name := locName(m, c); name != "" {
			return name
		}
	}
	if l.Kind != ir.LocName {
		return ""
	}
	return identifier(l.Name[strings.LastIndexByte(l.Name, '/')+1:])
}

func nameAt(names []string, i int) string {
	if i < len(names) {
		return identifier(names[i])
	}
	return ""
}

// identifier makes an identifier of any text, "" of one without letters: params['w'] becomes params_w.
func identifier(text string) string {
	name := strings.Join(strings.FieldsFunc(text, func(c rune) bool {
		return !(c == '_' || c >= '0' && c <= '9' || c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z')
	}), "_")
	if name = strings.TrimLeft(name, "0123456789"); len(name) > maxName {
		name = strings.TrimLeft(name[len(name)-maxName:], "0123456789")
	}
	if strings.Trim(name, "_") == "" || keywords[name] {
		return ""
	}
	return name
}

// maxName is how much of a long name is kept, from its end.
const maxName = 40

// unique returns a name, or the fallback for none, with a number that makes it new. For each name that is taken it holds the
// number to try next.
func unique(taken map[string]int64, name, fallback string) string {
	name = cmp.Or(name, fallback)
	base := name
	for taken[name] != 0 {
		name = base + "_" + itoa(taken[base])
		taken[base]++
	}
	taken[name] = 1
	return name
}

// elaborate finds the types. A program that cannot be typed keeps all its ops, unchecked.
func (r *deviceReader) elaborate(ctx context.Context) (*Translation, error) {
	p := r.p
	out := &Translation{Program: p, Mesh: r.importer.refined}
	opts := Options{Mixed: true} // a reduction runs along all its axes, whatever the types say
	if err := p.Validate(); err != nil {
		return nil, err
	}
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	r.scatters(opts)
	_, err := p.Elaborate(opts)
	if err == nil {
		p.foldCasts()
		return out, nil
	}
	if list := diag.Diagnostics(err); !errors.Is(err, diag.ErrInvalid) || len(list) == 0 || list[0].Code != diag.BadVariance {
		return nil, err
	}
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	out.Unchecked, p.Check = err, false
	r.scatters(opts)
	p.replaceGathers(func(ir.OpID, *Collective) bool { return true })
	_, err = p.Elaborate(opts)
	return out, err
}

// scatters turns slices that take the device's own block of a value that does not vary along the axes into pscatter.
func (r *deviceReader) scatters(opts Options) {
	m, p := r.m, r.p
	t := infer(p, opts)
	m.Walk(p.Body(), func(op ir.OpID) {
		dims, ok := r.pieces[op]
		if !ok || m.OpBlock(op) == 0 {
			return
		}
		x := m.Operand(op, 0)
		var cut AxisSet
		for _, axes := range dims {
			for _, a := range axes {
				cut |= 1 << a
			}
		}
		if v := t.vars[x]; cut&(v.V|v.U|v.R) != 0 {
			return
		}
		b := Edit(p, op)
		for d, axes := range dims {
			if len(axes) > 0 {
				x = b.Emit(Collective{Kind: ir.OpShardMapPscatter, Axes: axes, Dim: int64(d)}, x)
				m.SetLoc(m.DefiningOp(x), m.OpLoc(op))
			}
		}
		t.vars = append(t.vars, make([]Variance, m.NumValues()-len(t.vars))...)
		t.vars[x] = t.vars[m.Result(op, 0)] // for slices of slices
		p.Replace(m.Result(op, 0), x)
		m.Erase(op)
	})
	ir.EraseDead(m)
	for op := range m.Ops(p.Body()) {
		if p.Module.Kind(op) == ir.OpShardMapAxisIndex && !m.HasUses(m.Result(op, 0)) {
			m.Erase(op)
		}
	}
}

// replaceGathers makes gathers leave their results varying, those for which a function says so.
func (p *Program) replaceGathers(which func(op ir.OpID, c *Collective) bool) {
	m := p.Module
	for _, op := range slices.Backward(m.OpsOf(p.Body(), ir.OpShardMapAllGatherInvariant)) {
		c, err := p.Collective(op)
		if err != nil || !which(op, &c) {
			continue
		}
		c.Kind = ir.OpShardMapAllGather
		v := Edit(p, op).Emit(c, m.Operand(op, 0))
		m.SetLoc(m.DefiningOp(v), m.OpLoc(op))
		m.InheritPos(m.DefiningOp(v), op)
		t := p.VarianceOf(m.Result(op, 0))
		t.V |= c.Set()
		p.SetVariance(v, t)
		p.Replace(m.Result(op, 0), v)
		m.Erase(op)
	}
}

// foldCasts makes gathers varying whose results are only used cast back along the axes of the gather, which saves the
// cast, and in the transpose makes of a psum and a slice a psum_scatter.
func (p *Program) foldCasts() {
	m := p.Module
	p.replaceGathers(func(op ir.OpID, c *Collective) bool {
		var casts []ir.OpID
		for use := range m.Uses(m.Result(op, 0)) {
			cast, err := p.Collective(use.Op)
			if err != nil || cast.Kind != ir.OpShardMapPvary || !c.Set().In(cast.Set()) {
				return false
			}
			casts = append(casts, use.Op)
		}
		for _, op := range casts {
			cast, _ := p.Collective(op)
			if rest := cast.Set() &^ c.Set(); rest != 0 {
				cast.Axes = rest.Axes()
				m.SetAttrs(op, p.attrs(&cast))
				continue
			}
			p.Bypass(op)
		}
		return len(casts) > 0
	})
}
