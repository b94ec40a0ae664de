package plan

import (
	"cmp"
	"context"
	"errors"
	"math"
	"slices"

	"autoshard/answer"
	"autoshard/internal/diag"
	"autoshard/internal/lists"
	"autoshard/ir"
	"autoshard/ir/names"
	"autoshard/ir/specfmt"
	"autoshard/subaxis"
)

// WeighingSchema identifies the JSON form of a Weighing.
const WeighingSchema = "autoshard.weighing/v1"

// Weighing says how else an input or output of a plan, or a value inside its program, could be cut, and what a step would take if
// everything else adapts.
type Weighing struct {
	Schema string   `json:"schema"`
	Model  string   `json:"model"`
	Value  string   `json:"value"`
	Type   string   `json:"type"`
	Axis   string   `json:"axis,omitempty"` // that the others are cut along, where that was asked for
	Now    Choice   `json:"now"`
	Others []Choice `json:"others"` // the fastest first, those without a plan last

	Untried int `json:"untried,omitempty"` // ways to cut the value that were left out, as they take more axes than those that were tried
}

// Choice is a sharding of values, with the plan that has it. Times are in seconds, sizes in bytes.
type Choice struct {
	Spec      string        `json:"spec"`
	Bytes     int64         `json:"bytes"`             // of the values on a device
	Refused   string        `json:"refused,omitempty"` // why there is no plan; the figures are none then
	Late      bool          `json:"late,omitempty"`    // there is none as time was over, and there may be one
	Seconds   float64       `json:"seconds"`
	PeakBytes int64         `json:"peakBytes"`
	SentBytes int64         `json:"sentBytes"`
	Traffic   []TrafficPair `json:"traffic"` // what collectives send otherwise
	Moved     int           `json:"moved"`   // other inputs and outputs that are cut otherwise
	Anew      bool          `json:"anew"`    // the plan was made from scratch; else from the one that is there, more quickly
}

// Weigh plans with each other sharding of an input or output, or of a value inside the program, or with each that cuts it along an axis, if
// one is given. The plan is the session's latest. The best alternative is planned from scratch, so that its figures are those of a plan
// that is asked for with this pin. Alternatives along parts of axes are left out. Where the context has a deadline each alternative gets
// its share of the time, and those that are not planned in time are [Choice.Late]; so they are once the context is canceled with
// [ErrEnough]. The session stays as it is. Errors are of class diag.ErrInvalid for a value or an axis that is none, or those of a context
// that is canceled.
func (s *Session) Weigh(ctx context.Context, now *Plan, value, axis string) (w *Weighing, err error) {
	defer diag.Recover("weigh", &err)
	t, err := s.find(now, value)
	if err != nil {
		return nil, err
	}
	w = &Weighing{Schema: WeighingSchema, Model: now.Model, Value: t.Name, Type: t.Type, Axis: axis, Others: []Choice{},
		Now: chosen(now, t.Spec, t.Bytes)}
	specs, err := s.planner.alternatives(t, axis)
	if err != nil {
		return nil, err
	}
	w.Untried = max(0, len(specs)-mostAlternatives)
	specs = specs[:len(specs)-w.Untried]
	for i, spec := range specs {
		c, err := s.try(ctx, now, []answer.Tensor{*t}, spec, len(specs)-i+settling)
		if err != nil {
			return nil, err
		}
		w.Others = append(w.Others, c)
	}
	return w, s.settle(ctx, now, t, w)
}

// beginning is the part of the time until a deadline in which the plan is made that is weighed.
const beginning = 0.25

// Beginning returns a context for the plan of a session that is weighed then: it leaves most of the time until the deadline of ctx for
// that.
func (o *Options) Beginning(ctx context.Context) (context.Context, context.CancelFunc) {
	return o.part(ctx, beginning)
}

// find returns an input or output, or values inside the program, as a plan has them.
func (s *Session) find(now *Plan, value string) (*answer.Tensor, error) {
	if isInner(value) {
		return s.inner(value)
	}
	return now.find(value)
}

// find returns an input or output by its name or place.
func (p *Plan) find(value string) (*answer.Tensor, error) {
	var known []string
	for i, list := range [][]answer.Tensor{p.Inputs, p.Outputs} {
		base := [...]string{"arg", "out"}[i]
		ports := names.Ports{Names: lists.Map(list, func(t answer.Tensor) string { return t.Name })}
		if at := portsCalled(&ports, base, value); len(at) == 1 {
			return &list[at[0]], nil
		} else if len(at) > 1 {
			return nil, diag.Invalid(diag.BadOption, diag.Position{}, "`%s` names %d values, such as %s and %s", value, len(at),
				list[at[0]].Name, list[at[1]].Name)
		}
		known = append(known, ports.Names...)
	}
	slices.Sort(known)
	return nil, diag.Invalid(diag.BadOption, diag.Position{}, "no input or output of the plan is called `%s`%s", value,
		diag.DidYouMean(value, known))
}

// mostAlternatives bounds the shardings that are tried.
const mostAlternatives = 32

// alternatives returns the ways to put whole axes on the dimensions of a value, each dividing it, but for the one that it has: those along
// the fewest axes first.
func (p *planner) alternatives(t *answer.Tensor, axis string) ([]string, error) {
	_, shape, ok := t.Shape()
	if !ok {
		return nil, noTensor(t.Name)
	}
	var wanted []subaxis.Ref
	if axis != "" {
		var err error
		if wanted, err = p.axesCalled([]string{axis}); err != nil {
			return nil, err
		}
	}
	type way struct {
		spec string
		axes int
	}
	var ways []way
	p.place(make([][]subaxis.Ref, len(shape)), shape, p.axes(), func(dims [][]subaxis.Ref) {
		s := ir.Sharding{Mesh: p.mesh}
		n := 0
		for _, axes := range dims {
			s.Dims = append(s.Dims, ir.DimSharding{Axes: slices.Clone(axes), Closed: true, Priority: ir.NoPriority})
			n += len(axes)
		}
		uses := len(wanted) == 0 || slices.ContainsFunc(dims, func(axes []subaxis.Ref) bool { return slices.Contains(axes, wanted[0]) })
		if spec := specfmt.Notation(p.module, p.module.InternSharding(s)); uses && spec != t.Spec {
			ways = append(ways, way{spec, n})
		}
	})
	slices.SortStableFunc(ways, func(a, b way) int { return cmp.Compare(a.axes, b.axes) })
	return lists.Map(ways, func(w way) string { return w.spec }), nil
}

// place calls yield with every way to put axes, in order, on dimensions that they divide, or on none.
func (p *planner) place(dims [][]subaxis.Ref, shape []int64, axes []subaxis.Ref, yield func([][]subaxis.Ref)) {
	if len(axes) == 0 {
		yield(dims)
		return
	}
	p.place(dims, shape, axes[1:], yield)
	for d := range dims {
		before := dims[d]
		if dims[d] = append(slices.Clip(before), axes[0]); shape[d]%subaxis.Product(dims[d]) == 0 {
			p.place(dims, shape, axes[1:], yield)
		}
		dims[d] = before
	}
}

// chosen returns the figures of a plan.
func chosen(p *Plan, spec string, bytes int64) Choice {
	return Choice{Spec: spec, Bytes: bytes, Seconds: p.Estimate.Seconds, PeakBytes: p.Estimate.PeakBytes, SentBytes: p.Estimate.SentBytes,
		Traffic: []TrafficPair{}}
}

// settling is how many times as long as a quick plan those from scratch take together, as far as time is shared.
const settling = 8

// untimely is a choice for which there was no time.
func untimely(spec string) Choice {
	return Choice{Spec: spec, Refused: "no plan was found in time", Late: true, Traffic: []TrafficPair{}}
}

// try plans with a sharding of some values from where the session is, and leaves it there, in one of so many shares of the time that is
// left. That nothing fits, or is found in time, is an answer.
func (s *Session) try(ctx context.Context, now *Plan, values []answer.Tensor, spec string, shares int) (Choice, error) {
	if ctx.Err() != nil && !abandoned(ctx) {
		return untimely(spec), nil
	}
	ctx, cancel := s.planner.part(ctx, 1/float64(shares))
	defer cancel()
	planner, prior := s.planner, s.prior
	undo, err := planner.change(nil)
	if err != nil {
		return Choice{}, err
	}
	p, err := s.Plan(ctx, pinsOf(values, spec)...)
	undo()
	s.planner, s.prior = planner, prior
	return planner.outcome(ctx, now, p, values, spec, err)
}

// anew plans a choice for some values from scratch, in half of the time that is left. It stays as it is where that is too short.
func (s *Session) anew(ctx context.Context, now *Plan, values []answer.Tensor, c *Choice) error {
	o := s.planner.Options
	ctx, cancel := o.part(ctx, 0.5)
	defer cancel()
	o.From, o.Pins = nil, slices.Concat(o.Pins, pinsOf(values, c.Spec))
	p, err := Make(ctx, s.planner.source, o)
	found, err := s.planner.outcome(ctx, now, p, values, c.Spec, err)
	if err != nil || found.Late {
		return err
	}
	found.Anew = true
	*c = found
	return nil
}

func pinsOf(values []answer.Tensor, spec string) []Pin {
	return lists.Map(values, func(t answer.Tensor) Pin { return Pin{t.Name, spec} })
}

// outcome compares a plan with some values pinned with the one before.
func (p *planner) outcome(ctx context.Context, now, then *Plan, values []answer.Tensor, spec string, err error) (Choice, error) {
	switch {
	case errors.Is(err, diag.ErrInfeasible):
		return Choice{Spec: spec, Refused: diag.Diagnostics(err)[0].Message, Traffic: []TrafficPair{}}, nil
	case ranOut(err) && !abandoned(ctx):
		return untimely(spec), nil
	case err != nil:
		return Choice{}, err
	}
	pinned := map[string]bool{}
	var bytes int64
	for i := range values {
		if pinned[values[i].Name] = true; isInner(values[i].Name) {
			bytes += p.bytesAs(&values[i], spec)
		}
		for _, list := range [][]answer.Tensor{then.Inputs, then.Outputs} {
			for j := range list {
				if list[j].Name == values[i].Name {
					bytes += list[j].Bytes
				}
			}
		}
	}
	c := chosen(then, spec, bytes)
	d := Diff(now, then)
	c.Traffic = d.Traffic
	for _, v := range d.Values {
		if !pinned[v.Name] {
			c.Moved++
		}
	}
	return c, nil
}

// rank is the time of a step; what does not fit takes forever.
func (c *Choice) rank() float64 {
	if c.Refused != "" {
		return math.Inf(1)
	}
	return c.Seconds
}

// settle sorts the alternatives, and plans the best from scratch until the best is one that was, or time is over.
func (s *Session) settle(ctx context.Context, now *Plan, t *answer.Tensor, w *Weighing) error {
	for {
		slices.SortStableFunc(w.Others, func(a, b Choice) int {
			return cmp.Or(cmp.Compare(a.rank(), b.rank()), cmp.Compare(a.PeakBytes, b.PeakBytes))
		})
		if len(w.Others) == 0 || w.Others[0].Anew || w.Others[0].Refused != "" {
			return nil
		}
		if err := s.anew(ctx, now, []answer.Tensor{*t}, &w.Others[0]); err != nil || !w.Others[0].Anew {
			return err
		}
	}
}
