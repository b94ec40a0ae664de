package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"

	"autoshard"
	"autoshard/benchmarks/experts"
	"autoshard/cost"
	"autoshard/internal/lists"
	"autoshard/subaxis"
)

// devices are those of every mesh that is judged.
const devices = 8

// factors are the memory limits by the smallest peak of the experts; 0 is none.
var factors = []float64{0, 1.2}

// unlimited is more memory than any plan needs.
const unlimited = int64(1) << 50

// planner makes plans with one hardware and a time for each, and keeps them in a folder.
type planner struct {
	hardware cost.Hardware
	budget   time.Duration
	dir      string
}

// row is a plan of a model on a mesh under a limit.
type row struct {
	model     string
	mesh      string
	factor    float64 // of the smallest peak of the experts; 0: no limit
	plan      *autoshard.Plan
	none      error  // why there is no plan
	expert    string // whose program sends the least of those that fit the limit
	theirs    record // what XLA made of it
	sparing   record // what it made of the one that sends the least, whether that fits or not
	made      made
	tolerance float64
}

// rows judges the plans of a model. Models without recorded inputs have none, and programs that are partitioned already.
func (p *planner) rows(ctx context.Context, m *experts.Model, j *judge) ([]row, error) {
	if m.Inputs == "" || m.Manual {
		return nil, nil
	}
	text, err := m.Text()
	if err != nil {
		return nil, err
	}
	model, err := autoshard.ReadModel(ctx, m.Name, text)
	if err != nil {
		return nil, err
	}
	meshes := m.ExpertMeshes()
	if m.Annotated {
		meshes = m.Meshes
	}
	var rows []row
	for _, mesh := range meshes {
		if (&subaxis.Mesh{Axes: mesh}).Devices() != devices {
			continue
		}
		rivals, err := p.rivals(ctx, m, mesh, text)
		if err != nil {
			return nil, err
		}
		for _, factor := range factors {
			r := row{model: m.Name, mesh: axes(mesh), factor: factor, tolerance: m.Tolerance}
			limit := limitOf(rivals, factor)
			if best := fewest(rivals, limit); best != nil {
				r.expert, r.theirs, r.sparing = best.name, best.made, fewest(rivals, unlimited).made
			}
			if err := p.judge(ctx, m, model, mesh, limit, j, &r); err != nil {
				return nil, err
			}
			fmt.Fprint(os.Stderr, r.line())
			rows = append(rows, r)
		}
	}
	return rows, nil
}

func axes(mesh []subaxis.Axis) string { return strings.Join(lists.Map(mesh, subaxis.Axis.String), ",") }

// judge plans, annotates and asks XLA.
func (p *planner) judge(ctx context.Context, m *experts.Model, model *autoshard.Model, mesh []subaxis.Axis, limit int64, j *judge,
	r *row) error {
	name := filepath.Join(p.dir, fmt.Sprintf("%s-%s-%g", m.Name, r.mesh, r.factor))
	if r.plan, r.none = p.plan(ctx, model, mesh, limit, name+".json"); r.none != nil {
		return nil
	}
	text, err := r.plan.Annotated(ctx)
	if err != nil {
		return err
	}
	if err := os.WriteFile(name+".mlir", []byte(text), 0o644); err != nil {
		return err
	}
	r.made, err = j.ask(request{File: name + ".mlir", Devices: devices, Inputs: m.Path(m.Inputs), Expected: m.Path(m.Expected)})
	return err
}

// plan returns the plan of a file or, where there is none, makes it.
func (p *planner) plan(ctx context.Context, model *autoshard.Model, mesh []subaxis.Axis, limit int64, file string) (*autoshard.Plan,
	error) {
	text, err := os.ReadFile(file)
	if err == nil {
		return autoshard.ReadPlan(ctx, file, text)
	}
	if !errors.Is(err, os.ErrNotExist) {
		return nil, err
	}
	planning, cancel := context.WithTimeout(ctx, p.budget)
	defer cancel()
	plan, err := autoshard.MakePlan(planning, model, autoshard.PlanOptions{Mesh: mesh, Hardware: p.hardware, Memory: limit, Now: time.Now})
	if err != nil {
		return nil, err
	}
	return plan, os.WriteFile(file, plan.JSON(), 0o644)
}
