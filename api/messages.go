package api

import (
	"cmp"
	"context"
	"encoding/json"
	"slices"
	"time"

	"google.golang.org/protobuf/encoding/protojson"
	"google.golang.org/protobuf/proto"

	"autoshard"
	autoshardv1 "autoshard/api/gen/autoshard/v1"
	"autoshard/cost"
	"autoshard/internal/diag"
	"autoshard/rewrites"
	"autoshard/subaxis"
	"autoshard/trace"
)

const (
	defaultFile = "model"
	maxFileName = 1024
	maxMeshAxes = 64
)

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
func sizedModel(ctx context.Context, r source, given bool) (*autoshard.Model, error) {
	model, err := readModel(ctx, r, given)
	if err != nil {
		return nil, err
	}
	if model, err = model.WithSizes(ctx, r.GetSizes(), r.GetPlatform()); err != nil || len(r.GetRules()) == 0 {
		return model, err
	}
	return model.WithRules(r.GetRules())
}

// sourceModel is sizedModel for a message that may be missing.
func sourceModel(ctx context.Context, r *autoshardv1.Source) (*autoshard.Model, error) {
	return sizedModel(ctx, r, r.GetSource() != nil)
}

// readModel reads the program of a request.
func readModel(ctx context.Context, r source, given bool) (*autoshard.Model, error) {
	if !given {
		return nil, invalid("one of `text`, `model` and `artifact` is required")
	}
	file := r.GetFileName()
	if len(file) > maxFileName {
		return nil, invalid("`fileName` has more than %d bytes", maxFileName)
	}
	file = cmp.Or(file, defaultFile)
	if artifact := r.GetArtifact(); artifact != nil {
		return autoshard.ReadModel(ctx, file, artifact)
	}
	if r.GetModel() == nil {
		return autoshard.ReadModel(ctx, file, []byte(r.GetText()))
	}
	w := &jsonWriter{ctx: ctx, indent: true}
	text, err := w.message(nil, r.GetModel().ProtoReflect())
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	if err != nil {
		return nil, invalid("`model`: %v", err)
	}
	return autoshard.ReadModel(ctx, file, text)
}

func meshOf(mesh []*autoshardv1.MeshAxis) ([]subaxis.Axis, error) {
	if len(mesh) > maxMeshAxes {
		return nil, invalid("`mesh` has %d axes, the limit is %d", len(mesh), maxMeshAxes)
	}
	var axes []subaxis.Axis
	for _, a := range mesh {
		axes = append(axes, subaxis.Axis{Name: a.GetName(), Size: a.GetSize()})
	}
	return axes, nil
}

func planOptions(r *autoshardv1.PlanRequest) (autoshard.PlanOptions, error) {
	mesh, err := meshOf(r.GetMesh())
	if err != nil {
		return autoshard.PlanOptions{}, err
	}
	hardware, err := profile(cmp.Or(r.GetHardware(), cost.DefaultProfile), r.GetTopology())
	if err != nil {
		return autoshard.PlanOptions{}, err
	}
	if err := checkNumbers(r); err != nil {
		return autoshard.PlanOptions{}, err
	}
	without, err := withoutOf(r)
	if err != nil {
		return autoshard.PlanOptions{}, err
	}
	o := autoshard.PlanOptions{Mesh: mesh, Devices: r.GetDevices(), Hardware: hardware, Memory: r.GetMemory(), Steps: r.GetSteps(),
		Seed: r.GetSeed(), SearchMemory: r.GetSearchMemory(), Now: time.Now, Without: without, WholeAxes: r.GetWholeAxes()}
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
	return o, nil
}

// profile returns a built-in profile, on a part of its network, "" for the one that the size of the mesh decides.
func profile(name, topology string) (cost.Hardware, error) {
	hw, err := cost.Lookup(name)
	if err == nil && topology != "" {
		return hw.On(topology)
	}
	return hw, err
}

// checkNumbers returns an error where a number of a request makes no sense.
func checkNumbers(r *autoshardv1.PlanRequest) error {
	switch most := autoshard.DefaultSearchMemory; {
	case r.GetMemory() < 0 || r.GetSteps() < 0 || r.GetDevices() < 0:
		return invalid("`memory`, `steps` and `devices` must be at least 0")
	case !(r.GetTaste() >= 0 && r.GetTaste() <= 1):
		return invalid("`taste` must be from 0 to 1")
	case r.GetSearchMemory() < 0 || r.GetSearchMemory() > most:
		return invalid("`searchMemory` must be from 0 to %d", most)
	case r.GetDevices() > 0 && len(r.GetMesh()) > 0:
		return invalid("`mesh` and `devices` are both given: a mesh is chosen where only `devices` is")
	}
	return nil
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

func invalid(format string, args ...any) error {
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
	text, err := json.Marshal(value)
	if err == nil {
		err = protojson.Unmarshal(text, out)
	}
	if err != nil {
		return diag.Internal(diag.Bug, diag.Position{}, "%T as message: %v", value, err)
	}
	return nil
}

// propagationMessage converts a propagation like planMessage, with its steps or without.
func propagationMessage(ctx context.Context, p *autoshard.Propagation, steps bool) (*autoshardv1.PropagateResponse, error) {
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
	if err == nil && steps {
		out.Trace, err = traceMessage(ctx, &p.Trace)
	}
	return out, err
}

func traceMessage(ctx context.Context, t *trace.Document) (*autoshardv1.Trace, error) {
	out := &autoshardv1.Trace{}
	for i := range t.Rounds {
		round := &autoshardv1.Trace_Round{UserPriority: t.Rounds[i].UserPriority, Summary: &autoshardv1.Trace_Summary{}}
		if err := convert(&t.Rounds[i].Summary, round.Summary); err != nil {
			return nil, err
		}
		for j := range t.Rounds[i].Levels {
			level := &t.Rounds[i].Levels[j]
			message := &autoshardv1.Trace_Level{OpPriority: int32(level.OpPriority)}
			err := cmp.Or(
				pieces(ctx, level.Steps, func(list []trace.Step) any { return &trace.Level{Steps: list} },
					(*autoshardv1.Trace_Level).GetSteps, &message.Steps),
				pieces(ctx, level.Groups, func(list []trace.Group) any { return &trace.Level{Groups: list} },
					(*autoshardv1.Trace_Level).GetGroups, &message.Groups))
			if err != nil {
				return nil, err
			}
			round.Levels = append(round.Levels, message)
		}
		out.Rounds = append(out.Rounds, round)
	}
	return out, nil
}
