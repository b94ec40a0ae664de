package bytecode

import (
	"strings"

	"autoshard/internal/diag"
	"autoshard/ir"
)

// scope holds the values that ops refer to by number: those of an isolated op and of what is open inside it
// (specification: bytecode.md section A.8.5).
type scope struct {
	values  []ir.ValueID // 0 for those that are not defined yet
	forward []use        // of values before their definition
}

// castOp stands between the two dialects of a mixed artifact.
const castOp = "builtin.unrealized_conversion_cast"

// use is an operand whose value is defined further down.
type use struct {
	op     ir.OpID
	index  int
	number int32
	at     int
}

// place is where an op goes.
type place struct {
	b      *ir.Builder
	next   *int         // number of the next value
	blocks []ir.BlockID // of the region
	inFunc bool         // directly in a function
	graph  bool         // in a region in which the order of ops means nothing
	depth  int
}

// blocks adds the blocks of a region, of which the first may exist already with its arguments.
func (r *reader) blocks(s *scope, from *region, to ir.RegionID, entry ir.BlockID, p place) error {
	if r.openValues += from.values; r.openValues > r.size {
		return &problem{from.at, "open regions have more values than the file has bytes"}
	}
	defer func() { r.openValues -= from.values }()
	base := s.open(from.values)
	next := base
	p.next, p.blocks = &next, make([]ir.BlockID, len(from.blocks))
	for i := range from.blocks {
		if p.blocks[i] = entry; i > 0 || entry == 0 {
			p.blocks[i] = r.m.AddBlock(to)
		}
	}
	for i := range from.blocks {
		b := &from.blocks[i]
		if err := r.args(s, &next, b, p.blocks[i], i == 0 && entry != 0); err != nil {
			return err
		}
		p.b = r.m.BuilderAtEnd(p.blocks[i])
		for j := range b.ops {
			if err := r.ctx.Err(); err != nil {
				return err
			}
			if err := r.op(s, p, &b.ops[j]); err != nil {
				return err
			}
		}
		b.ops = nil // is not needed any more
	}
	if next != base+from.values {
		return &problem{from.at, "region defines another number of values than it says"}
	}
	if err := r.resolve(s, base, p.graph); err != nil {
		return err
	}
	s.values = s.values[:base]
	return nil
}

// open reserves the numbers of a region and returns the first one.
func (s *scope) open(n int) int {
	base := len(s.values)
	s.values = append(s.values, make([]ir.ValueID, n)...)
	return base
}

// define gives the next number to a value.
func (r *reader) define(s *scope, next *int, v ir.ValueID, at int) error {
	if *next >= len(s.values) {
		return &problem{at, "region defines more values than it says"}
	}
	s.values[*next] = v
	*next++
	return nil
}

// resolve puts the values of a region that begins at a number into the operands that came before them. In one block
// that makes sense in graphs only; between blocks the verifier decides.
func (r *reader) resolve(s *scope, base int, graph bool) error {
	kept := s.forward[:0]
	for _, u := range s.forward {
		if int(u.number) < base {
			kept = append(kept, u)
			continue
		}
		v := s.values[u.number]
		if v == 0 || !graph && r.isAround(r.valueBlock(v), u.op) {
			return &problem{u.at, "operand is a value that is not defined before it"}
		}
		r.m.SetOperand(u.op, u.index, v)
	}
	s.forward = kept
	return nil
}

// valueBlock returns the block in which a value is defined.
func (r *reader) valueBlock(v ir.ValueID) ir.BlockID {
	if op := r.m.DefiningOp(v); op != 0 {
		return r.m.OpBlock(op)
	}
	return r.m.ArgBlock(v)
}

// isAround says whether an op stands in a block, or in a region of an op of the block.
func (r *reader) isAround(b ir.BlockID, op ir.OpID) bool {
	for ; op != 0; op = r.m.ParentOp(op) {
		if r.m.OpBlock(op) == b {
			return true
		}
	}
	return false
}

// placeholder returns a value that stands for one that is not defined yet.
func (r *reader) placeholder() ir.ValueID {
	if r.undefined == 0 {
		r.undefined = r.m.AddBlockArg(r.m.DetachedBlock(), r.m.InternType(ir.Type{Kind: ir.NoneKind}))
	}
	return r.undefined
}

// args adds the arguments of a block, or names those that are there.
func (r *reader) args(s *scope, next *int, b *block, id ir.BlockID, exist bool) error {
	if exist && len(b.args) != len(r.m.BlockArgs(id)) {
		return &problem{b.at, "entry block of a function must have the arguments of its type"}
	}
	for i, a := range b.args {
		t, err := r.typ(a.typ)
		if err != nil {
			return err
		}
		var v ir.ValueID
		if exist {
			if v = r.m.BlockArgs(id)[i]; r.m.Type(v) != t {
				return &problem{b.at, "entry block of a function must have the arguments of its type"}
			}
		} else {
			v = r.m.AddBlockArg(id, t)
		}
		if a.loc != none32 {
			loc, err := r.attr(a.loc)
			if err != nil {
				return err
			}
			at, ok := loc.(ir.LocAttr)
			if !ok {
				return &problem{b.at, "location of an argument is no location"}
			}
			r.m.SetArgLoc(v, ir.LocID(at))
		}
		if err := r.define(s, next, v, b.at); err != nil {
			return err
		}
	}
	return nil
}

// op adds an op with its regions.
func (r *reader) op(s *scope, p place, o *op) error {
	name := r.ops[o.name].name
	if name == castOp && len(o.operands) == 1 && len(o.results) == 1 {
		return r.cast(s, p, o)
	}
	g, err := r.generic(o)
	if err == nil {
		g.Results, err = r.resultTypes(o)
	}
	if err != nil {
		return err
	}
	forward := len(s.forward)
	if g.Operands, err = r.operands(s, o); err != nil {
		return err
	}
	for _, n := range o.successors {
		if int(n) >= len(p.blocks) {
			return &problem{o.at, "successor is a block that the region does not have"}
		}
		g.Successors = append(g.Successors, p.blocks[n])
	}
	uses := len(s.forward)
	if g.Regions, err = r.regions(s, o, p.depth); err != nil {
		return err
	}
	if p.inFunc && name == "vhlo.return_v1" {
		g.Name = "func.return"
	}
	id, err := r.asm.At(r.position(o.at)).Op(p.b, g)
	if err != nil {
		return err
	}
	r.m.SetPos(id, r.position(o.at))
	for i := forward; i < uses; i++ {
		s.forward[i].op = id
	}
	for _, v := range r.m.Results(id) {
		if err := r.define(s, p.next, v, o.at); err != nil {
			return err
		}
	}
	return nil
}

func (r *reader) resultTypes(o *op) ([]ir.TypeID, error) {
	out := make([]ir.TypeID, len(o.results))
	for i, t := range o.results {
		var err error
		if out[i], err = r.typ(int(t)); err != nil {
			return nil, err
		}
	}
	return out, nil
}

// operands returns the values of an op's operands, and notes those that are not defined yet.
func (r *reader) operands(s *scope, o *op) ([]ir.ValueID, error) {
	out := make([]ir.ValueID, len(o.operands))
	for i, n := range o.operands {
		if int(n) >= len(s.values) {
			return nil, &problem{o.at, "operand is a value that is not defined"}
		}
		if out[i] = s.values[n]; out[i] == 0 {
			s.forward = append(s.forward, use{index: i, number: n, at: o.at})
			out[i] = r.placeholder()
		}
	}
	return out, nil
}

// regions adds the regions of an op, which itself comes after them. An isolated op has numbers of its own.
func (r *reader) regions(s *scope, o *op, depth int) ([]ir.RegionID, error) {
	if o.numRegions == 0 {
		return nil, nil
	}
	regions, err := r.regionsOf(o, depth)
	if err != nil {
		return nil, err
	}
	if depth >= r.opts.MaxDepth {
		return nil, diag.TooLarge(diag.NestingTooDeep, r.position(o.at), "regions are nested deeper than %d levels", r.opts.MaxDepth)
	}
	if o.isolated {
		s = &scope{}
	}
	_, known := ir.ParseKind(r.ops[o.name].name)
	inner := place{depth: depth + 1, graph: !known && !strings.HasPrefix(r.ops[o.name].name, "vhlo.")}
	out := make([]ir.RegionID, len(regions))
	for i := range regions {
		out[i] = r.m.DetachedRegion()
		if err := r.blocks(s, &regions[i], out[i], 0, inner); err != nil {
			return nil, err
		}
	}
	return out, nil
}

// cast drops the cast of a value between the dialects of a mixed artifact: both sides have the same type here.
func (r *reader) cast(s *scope, p place, o *op) error {
	v, err := r.operands(s, o)
	if err != nil {
		return err
	}
	types, err := r.resultTypes(o)
	if err != nil {
		return err
	}
	if v[0] == r.undefined || r.m.Type(v[0]) != types[0] {
		return &problem{o.at, "cast changes the type of its operand, or stands before it"}
	}
	return r.define(s, p.next, v[0], o.at)
}
