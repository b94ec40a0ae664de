package api

import (
	"autoshard"
	autoshardv1 "autoshard/api/gen/autoshard/v1"
	"autoshard/cost"
	"autoshard/subaxis"
)

// RequestFor returns the request that plans a program as it was given, for a mesh, a built-in hardware and so many bytes per device, 0 for
// all that it has.
func RequestFor(mesh []subaxis.Axis, hw cost.Hardware, memory int64, given autoshard.ModelRequest, text []byte) (*autoshardv1.PlanRequest,
	error) {
	out := &autoshardv1.PlanRequest{}
	err := convert(map[string]any{"mesh": append([]subaxis.Axis{}, mesh...), "hardware": hw.Name, "topology": hw.Topology, "memory": memory,
		"fileName": given.File, "sizes": append([]string{}, given.Sizes...), "platform": given.Platform,
		"rules": append([]string{}, given.Rules...)}, out)
	out.Source = &autoshardv1.PlanRequest_Artifact{Artifact: text}
	return out, err
}

// RequestAgain returns the request that makes a plan again, of the text of its model.
func RequestAgain(p *autoshard.Plan, text []byte) (*autoshardv1.PlanRequest, error) {
	o := &p.Options
	out := &autoshardv1.PlanRequest{}
	err := convert(map[string]any{"mesh": p.Mesh, "hardware": p.Hardware, "topology": o.Topology, "memory": p.Memory, "steps": o.Steps,
		"seed": o.Seed, "tripCounts": o.TripCounts, "wholeAxes": o.WholeAxes, "searchMemory": o.SearchMemory, "without": o.Without,
		"pins": o.Pins, "forbidden": o.Forbidden, "budgets": o.Budgets, "taste": o.Taste, "fileName": o.Model.File, "sizes": o.Model.Sizes,
		"platform": o.Model.Platform, "rules": o.Model.Rules}, out)
	out.Source = &autoshardv1.PlanRequest_Artifact{Artifact: text}
	return out, err
}
