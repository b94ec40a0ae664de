package typed_test

import (
	"math/bits"
	"slices"

	"autoshard/ir/dtype"
	"autoshard/subaxis"
)

// mistakes are the errors that random programs have on purpose (specification: shardmap.md section 1.4). A collective
// to which not all members come is one for us alone.
var mistakes = []string{"E_AXIS_UNKNOWN", "E_SPEC_DUP", "E_SPEC_RANK_IN", "E_SPEC_RANK_OUT", "E_DIV", "E_REP", "E_UNBOUND", "E_GROUPS",
	"E_MIXED", "E_CAST",
	"E_CARRY", "E_BRANCH", "E_PERM", "E_PERM_ORDER", "E_COLL_DIV", "E_COLL_SHAPE", "E_OP", "E_DIVERGENT_COLLECTIVE"}

// badInput puts a mistake into the spec of the first input.
func (d *drawing) badInput(mistake string) bool {
	a := d.Manual[d.pick(len(d.Manual))]
	n := d.members([]string{a})
	in := &d.Inputs[0]
	switch {
	case mistake == "E_AXIS_UNKNOWN" && d.chance(2):
		in.Shape, in.Spec = []int64{12}, [][]string{{"q"}}
		if len(d.Manual) < len(d.axes) {
			in.Spec = [][]string{d.names(d.all() &^ d.manual())}
		}
	case mistake == "E_SPEC_DUP":
		in.Shape, in.Spec = []int64{n * n, n * n}, [][]string{{a}, {a}}
		if d.chance(2) {
			in.Spec = [][]string{{}, {a, a}}
		}
	case mistake == "E_SPEC_RANK_IN":
		in.Shape, in.Spec = []int64{n}, [][]string{{a}, {}}
		if d.chance(2) {
			in.Shape, in.Spec = []int64{}, [][]string{{}}
		}
	case mistake == "E_DIV" && n > 1:
		in.Shape, in.Spec = []int64{2, n + 1}, [][]string{{}, {a}}
	default:
		return false
	}
	size := 1
	for _, k := range in.Shape {
		size *= int(k)
	}
	in.DType, in.Data = "f32", make([]float64, size)
	d.refusal = mistake
	return true
}

// badOutput puts a mistake into the spec of an output.
func (d *drawing) badOutput(mistake string, x drawn, axes axisMask, out *randomOutput) {
	if d.refusal != "" {
		return
	}
	switch {
	case mistake == "E_AXIS_UNKNOWN" && len(x.dims) > 0:
		out.Spec = append([][]string{{"q"}}, out.Spec[min(1, len(out.Spec)):]...)
	case mistake == "E_SPEC_RANK_OUT":
		out.Spec = slices.Concat(out.Spec, make([][]string, len(x.dims)+1-len(out.Spec)))
	case mistake == "E_REP" && axes != 0 && !d.Unchecked:
		gone := d.names(axes)[d.pick(bits.OnesCount(uint(axes)))]
		for k := range out.Spec {
			out.Spec[k] = slices.DeleteFunc(slices.Clone(out.Spec[k]), func(a string) bool { return a == gone })
		}
	default:
		return
	}
	d.refusal = mistake
}

// badStep adds a step with a mistake, if there is what it needs.
func (d *drawing) badStep(mistake string) {
	before := len(d.env)
	if d.wrongType(mistake) || d.wrongCollective(mistake) || d.wrongControl(mistake) {
		if d.refusal = mistake; d.TraceOnly {
			d.refusal = ""
		}
		if mistake != "E_PERM" && mistake != "E_PERM_ORDER" { // JAX finds these in what it lowers only
			d.env = d.env[:before]
		}
	}
}

// wrongType draws mistakes of axes and casts.
func (d *drawing) wrongType(mistake string) bool {
	x, _ := d.one(isNumber)
	unbound := "q"
	if rest := d.all() &^ d.manual(); rest != 0 && d.chance(2) {
		unbound = d.names(rest)[0]
	}
	axes := []string{unbound}
	mode := ""
	switch {
	case mistake == "E_UNBOUND":
		mode = d.of([]string{"psum", "all_gather", "axis_index", "ppermute", "cast"})
		if d.Unchecked && mode == "cast" {
			mode = "psum"
		}
	case d.Unchecked:
	case mistake == "E_MIXED":
		var ok bool
		if x, ok = d.one(func(x drawn) bool { return isNumber(x) && x.v != 0 && x.v != d.manual() }); ok {
			axes = d.names(d.manual())
			mode = d.of([]string{"psum", "pmax", "pmin", "pmean", "psum_scatter"})
			if mode == "psum_scatter" || mode == "pmean" {
				x = d.emit(randomStep{Op: "broadcast", Shape: []int64{48}}, x.t, []int64{48}, 1, d.total(x))
			}
		}
	case mistake == "E_CAST":
		var ok bool
		if x, ok = d.one(func(x drawn) bool { return x.v != 0 }); ok {
			axes, mode = d.names(x.v), "cast"
		}
	case mistake == "E_GROUPS":
		if n := d.members(d.Manual); n%2 == 0 {
			s := randomStep{Mode: "psum", Axes: d.Manual}
			for k := int64(0); k < n; k += 2 {
				s.Groups = append(s.Groups, []int64{k, k + 1})
			}
			x, _ = d.one(isNumber)
			d.collective(s, d.raised(x, d.manual()), x)
			return true
		}
	}
	if mode == "" {
		return false
	}
	s := randomStep{Mode: mode, Axes: axes, Untiled: true, Perm: [][2]int64{{0, 0}}}
	if mode == "psum_scatter" {
		s.Untiled = false
	}
	d.collective(s, x, x)
	return true
}

// wrongCollective draws mistakes of shapes and members.
func (d *drawing) wrongCollective(mistake string) bool {
	x, _ := d.one(isNumber)
	x = d.raised(x, d.manual())
	n := d.members(d.Manual)
	s := randomStep{Axes: d.Manual, Mode: "ppermute"}
	switch {
	case mistake == "E_PERM" && n > 1:
		s.Perm = [][][2]int64{{{0, 1}, {0, 0}}, {{0, 1}, {1, 1}}, {{0, n}}}[d.pick(3)]
	case mistake == "E_PERM_ORDER" && len(d.Manual) > 1 && !slices.ContainsFunc(d.axes, func(a subaxis.Axis) bool { return a.Size == 1 }):
		s.Axes = slices.Clone(d.Manual)
		slices.Reverse(s.Axes)
		s.Perm = [][2]int64{{0, 1}}
	case mistake == "E_COLL_DIV" && n > 1:
		dims := []int64{n + 1}
		x = d.emit(randomStep{Op: "broadcast", Shape: dims}, x.t, dims, 1, d.total(x))
		s.Mode = d.of([]string{"psum_scatter", "all_to_all"})
	case mistake == "E_COLL_SHAPE" && n > 1:
		dims := []int64{2 * n}
		x = d.emit(randomStep{Op: "broadcast", Shape: dims}, x.t, dims, 1, d.total(x))
		s.Mode, s.Untiled = d.of([]string{"psum_scatter", "all_to_all"}), true
	case mistake == "E_OP":
		d.wrongShape(x)
		return true
	default:
		return false
	}
	d.collective(s, x, x)
	return true
}

// wrongShape draws a local op whose operands do not fit.
func (d *drawing) wrongShape(x drawn) {
	flat := d.reshape(x, []int64{x.size()})
	longer := d.emit(randomStep{Op: "concatenate"}, x.t, []int64{2 * x.size()}, 1, flat, flat)
	long := d.emit(randomStep{Op: "concatenate"}, x.t, []int64{2*x.size() + 2*x.size()}, 1, longer, longer)
	other := dtype.F32
	if x.t == dtype.F32 {
		other = dtype.I32
	}
	switch d.pick(6) {
	case 0:
		d.emit(randomStep{Op: "binary", Mode: "add"}, x.t, long.dims, 1, long, d.constant(x.t, []int64{long.size() + 1}))
	case 1:
		d.emit(randomStep{Op: "pad", Low: []int64{0}, High: []int64{0}, Interior: []int64{0}}, x.t, long.dims, 1, long, d.constant(other, nil))
	case 2:
		d.emit(randomStep{Op: "concatenate", Dim: 0}, x.t, long.dims, 1, long, d.reshape(long, []int64{long.size(), 1}))
	case 3:
		s := randomStep{Op: "dot"}
		s.Contract = [2][]int64{{0}, {0}}
		d.emit(s, x.t, nil, 1, long, flat)
	case 4:
		d.emit(randomStep{Op: "binary", Mode: "add"}, x.t, long.dims, 1, long, d.constant(other, long.dims))
	default:
		d.emit(randomStep{Op: "transpose", Dims: []int64{0, 0}}, x.t, long.dims, 1, d.reshape(long, []int64{long.size(), 1}))
	}
}

// wrongControl draws loops and branches whose types do not agree, and a collective where not all members come.
func (d *drawing) wrongControl(mistake string) bool {
	if d.Unchecked {
		return false
	}
	x, ok := d.one(func(x drawn) bool { return x.v != d.manual() && small(x) })
	if !ok {
		return false
	}
	missing := d.manual() &^ x.v
	s := &randomStep{Op: "scan", Length: 2, Source: 1, In: []int{x.id}}
	switch mistake {
	case "E_CARRY":
		body, _ := d.body([]drawn{x}, func(inner []drawn) []drawn { return []drawn{d.raised(inner[0], d.manual())} })
		s.Bodies = []randomBody{body}
	case "E_BRANCH":
		p := d.decision(nil)
		s.Op, s.In = "cond", []int{p.id}
		d.divergent = d.manual()
		for k := range 2 {
			body, _ := d.body(nil, func([]drawn) []drawn {
				if k == 0 {
					return []drawn{d.raised(x, d.manual())}
				}
				return []drawn{x}
			})
			s.Bodies = append(s.Bodies, body)
		}
	case "E_DIVERGENT_COLLECTIVE":
		d.divergentSum(s, x, d.names(missing))
		d.TraceOnly, d.loose = true, true
	default:
		return false
	}
	s.Out = []int{d.define(x).id}
	*d.steps = append(*d.steps, s)
	return true
}

// divergentSum draws a branch that the place along axes selects, and that sums over them.
func (d *drawing) divergentSum(s *randomStep, x drawn, axes []string) {
	index := d.add(&randomStep{Op: "collective", Mode: "axis_index", Axes: axes}, drawn{t: dtype.I32, v: d.mask(axes), real: d.mask(axes)})
	p := d.emit(randomStep{Op: "compare", Mode: "EQ"}, dtype.I1, nil, 1, index, d.number(0))
	s.Op, s.In = "cond", []int{p.id}
	for k := range 2 {
		body, _ := d.body(nil, func([]drawn) []drawn {
			if k == 1 {
				return []drawn{x}
			}
			return []drawn{d.collective(randomStep{Mode: "pmax", Axes: axes}, x, x)}
		})
		s.Bodies = append(s.Bodies, body)
	}
}
