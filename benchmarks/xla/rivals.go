package main

import (
	"context"
	"encoding/json"
	"os"
	"strings"

	"autoshard"
	"autoshard/benchmarks/experts"
	"autoshard/benchmarks/site"
	"autoshard/internal/lists"
	"autoshard/subaxis"
)

// rival is the plan of an expert: its predicted peak, and what XLA made of it.
type rival struct {
	name string
	peak int64
	made record
}

// record is what XLA made of an expert's plan, as the shared folder has it.
type record struct {
	Failed  string  `json:"failed"`
	Skipped string  `json:"skipped"`
	Sent    float64 `json:"sent_bytes_per_device"`
	Held    struct {
		Argument int64 `json:"argument"`
		Output   int64 `json:"output"`
		Temp     int64 `json:"temp"`
	} `json:"memory"`
}

func (r *record) memory() int64 { return r.Held.Argument + r.Held.Output + r.Held.Temp }

// rivals returns the experts' plans of a model on a mesh of which XLA made a program, those of its annotated twins too; of a model that is
// annotated itself, its own shardings.
func (p *planner) rivals(ctx context.Context, m *experts.Model, mesh []subaxis.Axis, text []byte) ([]rival, error) {
	all, err := readRecords()
	if err != nil {
		return nil, err
	}
	var list []rival
	offer := func(name string, text []byte, made record) error {
		if made.Failed+made.Skipped != "" {
			return nil
		}
		model, err := autoshard.ReadModel(ctx, name, text)
		if err != nil {
			return err
		}
		plan, err := autoshard.PlanAsAnnotated(ctx, model, autoshard.PlanOptions{Hardware: p.hardware, Memory: unlimited})
		if err == nil {
			list = append(list, rival{name, plan.Estimate.PeakBytes, made})
		}
		return err
	}
	if m.Annotated {
		err := offer("as annotated", text, all[m.Name]["as annotated"])
		return list, err
	}
	spelled := strings.Join(lists.Map(mesh, subaxis.Axis.String), " x ")
	for _, plan := range m.PlansOn(mesh) {
		annotated, err := plan.Annotate(ctx, text)
		if err != nil {
			return nil, err
		}
		made, ok := all[m.Name][plan.Name+" on "+spelled]
		if !ok {
			made = all[plan.Name]["as annotated"] // of a twin
		}
		if err := offer(plan.Name, annotated, made); err != nil {
			return nil, err
		}
	}
	return list, nil
}

func readRecords() (map[string]map[string]record, error) {
	files, err := site.Shared("models/xla_collectives.json")
	if err != nil {
		return nil, err
	}
	src, err := os.ReadFile(files[0])
	if err != nil {
		return nil, err
	}
	var all map[string]map[string]record
	return all, json.Unmarshal(src, &all)
}

// limitOf returns a multiple of the smallest peak of rivals.
func limitOf(rivals []rival, factor float64) int64 {
	if factor == 0 {
		return unlimited
	}
	least := unlimited
	for i := range rivals {
		least = min(least, rivals[i].peak)
	}
	return int64(factor * float64(least))
}

// fewest returns the rival within a limit whose program sends the least, nil where none fits.
func fewest(rivals []rival, limit int64) *rival {
	var best *rival
	for i := range rivals {
		if r := &rivals[i]; r.peak <= limit && (best == nil || r.made.Sent < best.made.Sent) {
			best = r
		}
	}
	return best
}
