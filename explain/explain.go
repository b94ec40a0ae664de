package explain

import (
	"context"
	"fmt"
	"slices"

	"autoshard/answer"
	"autoshard/internal/diag"
	"autoshard/internal/lists"
	"autoshard/ir"
	"autoshard/propagate"
	"autoshard/subaxis"
	"autoshard/trace"
)

// Question says what to explain.
type Question struct {
	Mesh []subaxis.Axis // empty: the mesh that the model declares
	// Value is a value of the propagated program: the name of an argument or result, such as p['w'] or result[0]['k'],
	// result 0, a printed name such as %5, %3#1 or %arg0, or the name or scope of a location; with a dimension behind it,
	// %5[0], or without, which means all of them. Where a name stands for several values, %5@12 means the one of line 12.
	Value string
	// WhyNot is an axis, such as model or x:(1)2, of which to say why it is not there. It may be empty.
	WhyNot string
}

// Explanation says why a value is sharded as it is.
type Explanation struct {
	Model string            `json:"model"`
	Value string            `json:"value"`
	Type  string            `json:"type"`
	Dims  []DimReason       `json:"dims"`
	Op    string            `json:"op,omitempty"` // that makes the value, with its source line
	Mesh  []answer.MeshAxis `json:"mesh"`
}

// DimReason explains one dimension.
type DimReason struct {
	Dim    int      `json:"dim"`
	Axes   string   `json:"axes"` // major to minor, empty where it is whole on every device
	Links  []Link   `json:"links"`
	Export *Export  `json:"export,omitempty"` // of an input or output, where it is less
	WhyNot *Absence `json:"whyNot,omitempty"`
}

// Export is what the propagated program keeps of a dimension of an input or output, and why not all.
type Export struct {
	Axes   string `json:"axes"` // empty: none
	Reason string `json:"reason"`
}

// Link is a step on the way of axes from where the user wrote them to a dimension.
type Link struct {
	trace.Step
	UserPriority int32  `json:"userPriority"`
	OpPriority   int8   `json:"opPriority"`
	Source       string `json:"source,omitempty"` // file and line of what a user wrote
}

// Absence says why an axis is not at a dimension.
type Absence struct {
	Axis    string    `json:"axis"`
	Present bool      `json:"present"` // it is there after all
	Refused []Refused `json:"refused"`
	More    int       `json:"more,omitempty"` // refusals beyond those listed
}

// Refused is a place at which an axis was refused on its way to a dimension.
type Refused struct {
	Link
	By      string   `json:"by,omitempty"`  // whose word it was that refused
	Way     []string `json:"way,omitempty"` // from the dimension to where the axis was refused, if that is another one
	Sources []Link   `json:"sources"`       // how the place that offered the axis came by it
	Change  string   `json:"change"`        // what would have to be otherwise for the axis to pass here
}

// Explain says why a value of a model is sharded as it is after propagation: step by step from what the user wrote.
// Unknown values and axes fail with diag.ErrInvalid.
func Explain(ctx context.Context, source *answer.Source, q Question) (*Explanation, error) {
	e, err := NewExplainer(ctx, source, Options{Mesh: q.Mesh})
	if err != nil {
		return nil, err
	}
	return e.Explain(ctx, q.Value, q.WhyNot)
}

// Explainer answers many questions about one propagation.
type Explainer struct {
	model     string
	m         *ir.Module
	mesh      ir.MeshID
	trace     *trace.Trace
	history   *trace.History
	relations *propagate.Relations
	origin    *origins
	names     *naming
}

// NewExplainer propagates a model and keeps how that went. Work ends with the context, whose error is the answer then.
func NewExplainer(ctx context.Context, source *answer.Source, o Options) (e *Explainer, err error) {
	defer diag.Recover("explain", &err)
	m, mesh, _, err := inlined(ctx, source, o)
	if err != nil {
		return nil, err
	}
	written := writtenValues(m)
	if err := propagate.Import(ctx, m); err != nil {
		return nil, err
	}
	origin := newOrigins(m, written)
	events, err := propagate.Run(ctx, m, o.rounds())
	if err != nil {
		return nil, err
	}
	relations, err := propagate.NewRelations(ctx, m)
	if err != nil {
		return nil, err
	}
	propagate.Disconnect(m)
	propagate.MergeConstants(m)
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	return &Explainer{model: source.Name, m: m, mesh: mesh, trace: events, history: trace.NewHistory(events, origin.axes),
		relations: relations,
		origin:    origin, names: newNaming(m, source.Dropped)}, nil
}

// Values returns the names of all values of the propagated program that can be explained, in program order.
func (e *Explainer) Values() []string {
	var out []string
	for v := ir.ValueID(1); int(v) < e.m.NumValues(); v++ {
		if _, ok := e.relations.Place(v, 0); ok && e.names.values[v] != "" {
			out = append(out, e.names.label(v))
		}
	}
	return append(out, e.names.resultNames...)
}

// Explain answers for one value, as Question has it. Unknown values and axes fail with diag.ErrInvalid; or it fails with the
// context's error.
func (e *Explainer) Explain(ctx context.Context, value, whyNot string) (x *Explanation, err error) {
	defer diag.Recover("explain", &err)
	target, err := e.names.lookup(value)
	if err != nil {
		return nil, err
	}
	x = &Explanation{Model: e.model, Value: target.name, Type: answer.FormatType(target.typ, target.typ.Dims), Op: target.op,
		Mesh: e.m.Mesh(e.mesh).Axes}
	var missing []subaxis.Ref
	if whyNot != "" {
		axis, err := axisOf(e.m, e.mesh, whyNot)
		if err != nil {
			return nil, err
		}
		missing = []subaxis.Ref{axis}
	}
	for d := range target.typ.Dims {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		if target.dim < 0 || target.dim == d {
			reason, err := e.dim(target, d, missing)
			if err != nil {
				return nil, err
			}
			x.Dims = append(x.Dims, reason)
		}
	}
	return x, nil
}

// dim explains one dimension of a value.
func (e *Explainer) dim(target explained, d int, missing []subaxis.Ref) (DimReason, error) {
	p := trace.Place{Value: ^int32(target.result), Dim: int32(d)}
	if target.value != 0 {
		var ok bool
		if p, ok = e.relations.Place(target.value, d); !ok {
			return DimReason{}, diag.Invalid(diag.BadOption, diag.Position{},
				"value `%s` has no sharding of its own: it is an argument of a region inside an operation",
				target.name)
		}
	}
	axes := e.history.Axes(p)
	reason := DimReason{Dim: d, Axes: e.format(axes), Links: e.links(e.history.Chain(p, axes))}
	reason.Export = e.export(target, d)
	if missing != nil {
		reason.WhyNot = e.absence(p, subaxis.Difference(missing, axes))
		reason.WhyNot.Axis = e.format(missing)
	}
	return reason, nil
}

// export says what the propagated program drops from a dimension of an input or output, nil where that is nothing.
func (e *Explainer) export(target explained, d int) *Export {
	f := e.m.MainFunc()
	var found ir.ShardingID
	switch {
	case target.value == 0:
		found = f.ResultShardings[target.result]
	case e.m.DefiningOp(target.value) == 0 && e.m.ArgBlock(target.value) == f.Body:
		found = e.m.Sharding(target.value)
	}
	if found == 0 {
		return nil
	}
	for _, c := range cutsOf(e.m, found, target.typ.Dims) {
		if c.dim == d {
			return &Export{e.format(c.kept), c.why(target.typ.Dims[d])}
		}
	}
	return nil
}

func (e *Explainer) format(axes []subaxis.Ref) string { return e.m.Mesh(e.mesh).FormatList(axes) }

// absence finds what kept axes away from a place.
func (e *Explainer) absence(p trace.Place, missing []subaxis.Ref) *Absence {
	if len(missing) == 0 {
		return &Absence{Present: true}
	}
	const most = 4
	ways, n := e.history.WhyNot(p, missing, e.relations, most)
	a := &Absence{More: n - len(ways)}
	for i := range ways {
		w := &ways[i]
		r := Refused{Link: e.link(&trace.Link{Event: w.Refusal, Parts: w.Parts}), Sources: e.links(w.Sources)}
		if e.origin.isGiven(w.Refusal.To) && (w.Refusal.Reason == trace.Closed || w.Refusal.Reason == trace.Replicated ||
			w.Refusal.Reason == trace.LowerPriority) {
			r.By, r.Source = e.origin.describe(w.Refusal.To, e.names)
		}
		r.Change = e.change(&w.Refusal, r.Axes)
		if len(w.Places) > 1 {
			r.Way = lists.Map(w.Places, e.names.Place)
		}
		a.Refused = append(a.Refused, r)
	}
	return a
}

func (e *Explainer) links(list []trace.Link) []Link {
	return lists.Of(len(list), func(i int) Link { return e.link(&list[i]) })
}

// link puts a link into words. Only the axes that matter are named.
func (e *Explainer) link(l *trace.Link) Link {
	if l.Given {
		by, source := e.origin.describe(l.To, e.names)
		return Link{Step: trace.Step{Kind: "given", Axes: e.format(l.Parts), To: e.names.Place(l.To), Reason: by}, Source: source}
	}
	out := Link{Step: e.trace.Step(&l.Event, e.names), UserPriority: l.Round, OpPriority: l.Level}
	if l.Mesh != 0 {
		out.Axes = e.m.Mesh(ir.MeshID(l.Mesh)).FormatList(l.Parts)
	}
	if l.Kind == trace.Activate {
		out.Reason, out.Source = e.origin.describe(l.To, e.names)
	}
	return out
}

// axisOf reads an axis of a mesh, such as model or x:(1)2.
func axisOf(m *ir.Module, id ir.MeshID, text string) (subaxis.Ref, error) {
	mesh := &m.Mesh(id).Mesh
	name, part := cutPart(text)
	ref, ok := mesh.Lookup(name)
	if !ok {
		names := lists.Map(mesh.Axes, func(a subaxis.Axis) string { return a.Name })
		return ref, diag.Invalid(diag.UnknownAxis, diag.Position{}, "unknown axis %q%s", name, diag.DidYouMean(name, names)).
			WithNote(diag.Position{}, "the mesh is %s", answer.FormatAxes(mesh.Axes))
	}
	if part == nil {
		return ref, nil
	}
	sub := subaxis.Ref{Axis: ref.Axis, Pre: part[0], Size: part[1]}
	if sub.Pre < 1 || sub.Size < 2 || int64(ref.Size)%sub.Next() != 0 {
		return ref, diag.Invalid(diag.BadSubAxis, diag.Position{}, "axis %q has size %d, which has no part (%d)%d", name, ref.Size, sub.Pre,
			sub.Size)
	}
	return sub, nil
}

// writtenValues returns which values have a sharding that the model gives them.
func writtenValues(m *ir.Module) []bool {
	return slices.Clip(lists.Of(m.NumValues(), func(v int) bool { return v > 0 && m.Sharding(ir.ValueID(v)) != 0 }))
}

// String returns the link as one line.
func (l *Link) String() string {
	at := ""
	if l.Source != "" {
		at = " (" + l.Source + ")"
	}
	switch l.Kind {
	case "given":
		return l.Axes + " is given at " + l.To + ", " + l.Reason + at
	case "activate":
		return fmt.Sprintf("%s is given at %s from user priority %d on, %s%s", l.Axes, l.To, l.UserPriority, l.Reason, at)
	}
	return fmt.Sprintf("%s [user priority %d, op priority %d]", l.Step.String(), l.UserPriority, l.OpPriority)
}
