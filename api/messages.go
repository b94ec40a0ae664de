package api

import (
	"bytes"
	"encoding/json"
	"fmt"

	"google.golang.org/protobuf/encoding/protojson"

	"autoshard"
	autoshardv1 "autoshard/api/gen/autoshard/v1"
	"autoshard/cost"
	"autoshard/internal/diag"
	"autoshard/subaxis"
)

const (
	defaultFile     = "model"
	defaultHardware = "tpu-v5e"
	maxFileName     = 1024
	maxMeshAxes     = 64
)

// source is what PlanRequest and PropagateRequest share.
type source interface {
	GetText() string
	GetArtifact() []byte
	GetModel() *autoshardv1.Model
	GetFileName() string
	GetMesh() []*autoshardv1.MeshAxis
	GetSizes() []string
	GetPlatform() string
}

// sizedModel reads the program of a request, for the sizes and the platform that it asks for.
func sizedModel(r source, given bool) (*autoshard.Model, error) {
	model, err := readModel(r, given)
	if err != nil {
		return nil, err
	}
	return model.WithSizes(r.GetSizes(), r.GetPlatform())
}

func readModel(r source, given bool) (*autoshard.Model, error) {
	if !given {
		return nil, invalid("one of `text`, `model` and `artifact` is required")
	}
	file := r.GetFileName()
	if len(file) > maxFileName {
		return nil, invalid("`fileName` has more than %d bytes", maxFileName)
	}
	if file == "" {
		file = defaultFile
	}
	if artifact := r.GetArtifact(); artifact != nil {
		return autoshard.ReadModel(file, artifact)
	}
	if r.GetModel() == nil {
		return autoshard.ReadModel(file, []byte(r.GetText()))
	}
	compact, err := appendMessage(nil, r.GetModel().ProtoReflect(), false)
	if err != nil {
		return nil, invalid("`model`: %v", err)
	}
	var text bytes.Buffer
	if err := json.Indent(&text, compact, "", "  "); err != nil {
		return nil, fmt.Errorf("indent model: %w", err)
	}
	return autoshard.ReadModel(file, text.Bytes())
}

func meshOf(r source) ([]subaxis.Axis, error) {
	if len(r.GetMesh()) > maxMeshAxes {
		return nil, invalid("`mesh` has %d axes, the limit is %d", len(r.GetMesh()), maxMeshAxes)
	}
	var axes []subaxis.Axis
	for _, a := range r.GetMesh() {
		axes = append(axes, subaxis.Axis{Name: a.GetName(), Size: a.GetSize()})
	}
	return axes, nil
}

func planOptions(r *autoshardv1.PlanRequest) (autoshard.PlanOptions, error) {
	mesh, err := meshOf(r)
	if err != nil {
		return autoshard.PlanOptions{}, err
	}
	name := r.GetHardware()
	if name == "" {
		name = defaultHardware
	}
	hardware, err := cost.Lookup(name)
	if err != nil {
		return autoshard.PlanOptions{}, err
	}
	if r.GetMemory() < 0 || r.GetSteps() < 0 {
		return autoshard.PlanOptions{}, invalid("`memory` and `steps` must be at least 0")
	}
	o := autoshard.PlanOptions{Mesh: mesh, Hardware: hardware, Memory: r.GetMemory(), Steps: r.GetSteps(), Seed: r.GetSeed(),
		SerialMatmul: r.GetSerialMatmul(), WholeAxes: r.GetWholeAxes()}
	for _, t := range r.GetTripCounts() {
		o.TripCounts = append(o.TripCounts, autoshard.TripCount{Loop: t.GetLoop(), Count: t.GetCount()})
	}
	return o, nil
}

func invalid(format string, args ...any) error {
	return diag.Invalid(diag.BadOption, diag.Position{File: "request"}, format, args...)
}

// planMessage converts a plan through its JSON form, which is the message's.
func planMessage(p *autoshard.Plan) (*autoshardv1.Plan, error) {
	out := &autoshardv1.Plan{}
	if err := protojson.Unmarshal(p.JSON(), out); err != nil {
		return nil, diag.Internal(diag.Bug, diag.Position{}, "plan as message: %v", err)
	}
	return out, nil
}

// propagationMessage converts a propagation through its JSON form, which is the message's.
func propagationMessage(p *autoshard.Propagation) (*autoshardv1.PropagateResponse, error) {
	text, err := json.Marshal(p)
	if err != nil {
		return nil, diag.Internal(diag.Bug, diag.Position{}, "propagation as JSON: %v", err)
	}
	out := &autoshardv1.PropagateResponse{}
	if err := protojson.Unmarshal(text, out); err != nil {
		return nil, diag.Internal(diag.Bug, diag.Position{}, "propagation as message: %v", err)
	}
	return out, nil
}
