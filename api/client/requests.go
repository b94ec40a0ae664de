package client

import (
	"context"
	"slices"

	"autoshard"
	"autoshard/api/codec"
	autoshardv1 "autoshard/api/gen/autoshard/v1"
	"autoshard/cost"
	"autoshard/internal/diag"
	"autoshard/internal/lists"
	"autoshard/rewrites"
)

// planRequest returns the request for a plan. Where the hardware is none of the built-in profiles it fails with [autoshard.ErrInvalid]: the
// server knows no others.
func planRequest(m Model, o autoshard.PlanOptions) (*autoshardv1.PlanRequest, error) {
	if name := o.Hardware.Name; name != "" {
		if _, err := cost.Lookup(name); err != nil {
			return nil, err
		}
	}
	r := &autoshardv1.PlanRequest{Source: &autoshardv1.PlanRequest_Artifact{Artifact: m.Text}, FileName: m.File, Sizes: m.Sizes,
		Platform: m.Platform, Rules: m.Rules, Hardware: o.Hardware.Name, Topology: o.Hardware.Topology, Devices: o.Devices, Memory: o.Memory,
		Steps: o.Steps, Seed: o.Seed, SearchMemory: o.SearchMemory, WholeAxes: o.WholeAxes,
		Without: lists.Map(o.Without.List(), rewrites.Rewrite.String)}
	for _, a := range o.Mesh {
		r.Mesh = append(r.Mesh, &autoshardv1.MeshAxis{Name: a.Name, Size: a.Size})
	}
	for _, p := range o.Pins {
		r.Pins = append(r.Pins, &autoshardv1.Pin{Value: p.Value, Sharding: p.Sharding})
	}
	for _, f := range o.Forbidden {
		r.Forbidden = append(r.Forbidden, &autoshardv1.Forbid{Value: f.Value, Axes: slices.Clone(f.Axes)})
	}
	for _, b := range o.Budgets {
		r.Budgets = append(r.Budgets, &autoshardv1.Budget{Kind: b.Kind, Axes: slices.Clone(b.Axes), Bytes: b.Bytes, Each: b.Each})
	}
	for _, t := range o.TripCounts {
		r.TripCounts = append(r.TripCounts, &autoshardv1.TripCount{Loop: t.Loop, Count: t.Count})
	}
	if o.Taste != 0 {
		r.Taste = new(max(o.Taste, 0)) // below 0 there is none, which is 0 in requests
	}
	if o.From != nil {
		r.From = &autoshardv1.Plan{}
		if err := codec.Fill(o.From, r.From); err != nil {
			return nil, diag.Invalid(diag.BadOption, diag.Position{}, "From: %v", err)
		}
	}
	return r, nil
}

// readPlan returns the plan of a message, whose JSON form is plan.json.
func readPlan(ctx context.Context, m *autoshardv1.Plan) (*autoshard.Plan, error) {
	text, err := codec.Text(ctx, m)
	if err != nil {
		return nil, diag.Invalid(diag.BadOption, diag.Position{File: "reply"}, "%v", err)
	}
	return autoshard.ReadPlan(ctx, "reply", text)
}
