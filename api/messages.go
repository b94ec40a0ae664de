package api

import (
	"cmp"
	"context"
	"slices"
	"time"

	"google.golang.org/protobuf/proto"

	"autoshard"
	"autoshard/api/codec"
	autoshardv1 "autoshard/api/gen/autoshard/v1"
	"autoshard/cost"
	"autoshard/internal/diag"
	"autoshard/rewrites"
	"autoshard/subaxis"
)

// defaultFile names programs in errors whose request does not.
const defaultFile = "model"

// source is what requests about a program share.
type source interface {
	GetText() string
	GetArtifact() []byte
	GetModel() *autoshardv1.Model
	GetFileName() string
	GetSizes() []string
	GetPlatform() string
	GetRules() []string
}

// sizedModel reads the program of a request, for the sizes and the platform that it asks for, with its rules.
func sizedModel(ctx context.Context, r source) (*autoshard.Model, error) {
	model, err := readModel(ctx, r)
	if err != nil {
		return nil, err
	}
	if model, err = model.WithSizes(ctx, r.GetSizes(), r.GetPlatform()); err != nil || len(r.GetRules()) == 0 {
		return model, err
	}
	return model.WithRules(r.GetRules())
}

// readModel reads the program of a request.
func readModel(ctx context.Context, r source) (*autoshard.Model, error) {
	file := cmp.Or(r.GetFileName(), defaultFile)
	if artifact := r.GetArtifact(); artifact != nil {
		return autoshard.ReadModel(ctx, file, artifact)
	}
	if r.GetModel() == nil {
		return autoshard.ReadModel(ctx, file, []byte(r.GetText()))
	}
	text, err := codec.Given(ctx, r.GetModel())
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	if err != nil {
		return nil, invalid("`model`: %v", err)
	}
	return autoshard.ReadModel(ctx, file, text)
}

func meshOf(mesh []*autoshardv1.MeshAxis) []subaxis.Axis {
	var axes []subaxis.Axis
	for _, a := range mesh {
		axes = append(axes, subaxis.Axis{Name: a.GetName(), Size: a.GetSize()})
	}
	return axes
}

func planOptions(ctx context.Context, r *autoshardv1.PlanRequest) (autoshard.PlanOptions, error) {
	hardware, err := profile(cmp.Or(r.GetHardware(), cost.DefaultProfile), r.GetTopology())
	if err != nil {
		return autoshard.PlanOptions{}, err
	}
	without, err := withoutOf(r)
	if err != nil {
		return autoshard.PlanOptions{}, err
	}
	o := autoshard.PlanOptions{Mesh: meshOf(r.GetMesh()), Devices: r.GetDevices(), Hardware: hardware, Memory: r.GetMemory(),
		Steps: r.GetSteps(), Seed: r.GetSeed(), SearchMemory: r.GetSearchMemory(), Now: time.Now, Without: without, WholeAxes: r.GetWholeAxes()}
	if r.Taste != nil {
		if o.Taste = r.GetTaste(); o.Taste == 0 {
			o.Taste = -1 // 0 is the default there
		}
	}
	for _, t := range r.GetTripCounts() {
		o.TripCounts = append(o.TripCounts, autoshard.TripCount{Loop: t.GetLoop(), Count: t.GetCount()})
	}
	for _, p := range r.GetPins() {
		o.Pins = append(o.Pins, autoshard.Pin{Value: p.GetValue(), Sharding: p.GetSharding()})
	}
	for _, f := range r.GetForbidden() {
		o.Forbidden = append(o.Forbidden, autoshard.Forbid{Value: f.GetValue(), Axes: f.GetAxes()})
	}
	for _, b := range r.GetBudgets() {
		o.Budgets = append(o.Budgets, autoshard.Budget{Kind: b.GetKind(), Axes: b.GetAxes(), Bytes: b.GetBytes(), Each: b.GetEach()})
	}
	if r.GetFrom() != nil {
		o.From, err = planOf(ctx, "from", r.GetFrom())
	}
	return o, err
}

// profile returns a built-in profile, on a part of its network, "" for the one that the size of the mesh decides.
func profile(name, topology string) (cost.Hardware, error) {
	hw, err := cost.Lookup(name)
	if err == nil && topology != "" {
		return hw.On(topology)
	}
	return hw, err
}

// withoutOf returns the rewrites that a request switches off.
func withoutOf(r *autoshardv1.PlanRequest) (rewrites.Set, error) {
	without, unknown := rewrites.Parse(r.GetWithout())
	if unknown != "" {
		return 0, invalid("`without` has an unknown rewrite %q%s", unknown, diag.DidYouMean(unknown, rewrites.Names()))
	}
	if r.GetSerialMatmul() {
		without |= rewrites.Of(rewrites.CollectiveMatmul)
	}
	if r.GetSeparateCollectives() {
		without |= rewrites.Of(rewrites.MergeCollectives)
	}
	return without, nil
}

func invalid(format string, args ...any) *diag.Error {
	return diag.Invalid(diag.BadOption, diag.Position{File: "request"}, format, args...)
}

// pieceLength is how many parts of a reply are converted between looks at the context.
const pieceLength = 256

// planMessage converts a plan through its JSON form, which is the message's, piece by piece. The program, most of it, goes
// over as it is.
func planMessage(ctx context.Context, p *autoshard.Plan) (*autoshardv1.Plan, error) {
	head := *p
	head.Program, head.Inputs, head.Outputs, head.Collectives = "", nil, nil, nil
	out := &autoshardv1.Plan{}
	if err := convert(&head, out); err != nil {
		return nil, err
	}
	out.Program = p.Program
	return out, cmp.Or(
		pieces(ctx, p.Inputs, func(list []autoshard.Tensor) any { return &autoshard.Plan{Inputs: list} },
			(*autoshardv1.Plan).GetInputs, &out.Inputs),
		pieces(ctx, p.Outputs, func(list []autoshard.Tensor) any { return &autoshard.Plan{Outputs: list} },
			(*autoshardv1.Plan).GetOutputs, &out.Outputs),
		pieces(ctx, p.Collectives, func(list []autoshard.Collective) any { return &autoshard.Plan{Collectives: list} },
			(*autoshardv1.Plan).GetCollectives, &out.Collectives))
}

// pieces appends a list to that of a message: part makes a value whose JSON form is that of a message T with a part of the
// list, and get returns that part of the message.
func pieces[E, M any, T any, P interface {
	*T
	proto.Message
}](ctx context.Context, list []E, part func([]E) any, get func(P) []M, to *[]M) error {
	for piece := range slices.Chunk(list, pieceLength) {
		if err := ctx.Err(); err != nil {
			return err
		}
		message := P(new(T))
		if err := convert(part(piece), message); err != nil {
			return err
		}
		*to = append(*to, get(message)...)
	}
	return nil
}

// convert fills a message with a value of the façade whose JSON form it has.
func convert(value any, out proto.Message) error {
	if err := codec.Fill(value, out); err != nil {
		return diag.Internal(diag.Bug, diag.Position{}, "%T as message: %v", value, err)
	}
	return nil
}

// propagationMessage converts a propagation like planMessage, without its steps.
func propagationMessage(ctx context.Context, p *autoshard.Propagation) (*autoshardv1.PropagateResponse, error) {
	head := *p
	head.Program, head.Inputs, head.Outputs, head.Trace.Rounds = "", nil, nil, nil
	out := &autoshardv1.PropagateResponse{}
	if err := convert(&head, out); err != nil {
		return nil, err
	}
	out.Program, out.Trace = p.Program, nil
	err := cmp.Or(
		pieces(ctx, p.Inputs, func(list []autoshard.Tensor) any { return &autoshard.Propagation{Inputs: list} },
			(*autoshardv1.PropagateResponse).GetInputs, &out.Inputs),
		pieces(ctx, p.Outputs, func(list []autoshard.Tensor) any { return &autoshard.Propagation{Outputs: list} },
			(*autoshardv1.PropagateResponse).GetOutputs, &out.Outputs))
	return out, err
}
