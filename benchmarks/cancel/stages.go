package main

import (
	"context"
	"fmt"
	"time"

	"autoshard"
	"autoshard/cost"
	"autoshard/subaxis"
)

// stage is something to do with a model.
type stage struct {
	name string
	run  func(ctx context.Context) error
}

var (
	axes     = []subaxis.Axis{{Name: "data", Size: 4}, {Name: "model", Size: 2}}
	hardware = "tpu-v5e"
	memory   = int64(1) << 50 // so that every model fits
)

// stages returns the rows of a model in the table of stretches. Planning is not among them: it makes contexts of its own,
// which do not ask the one that it gets.
func stages(name string, text []byte, rounds int) (table string, err error) {
	model, err := autoshard.ReadModel(context.Background(), name, text)
	if err != nil {
		return "", err
	}
	hw, err := cost.Lookup(hardware)
	if err != nil {
		return "", err
	}
	plan, err := autoshard.MakePlan(context.Background(), model, autoshard.PlanOptions{Mesh: axes, Hardware: hw, Memory: memory, Steps: 1})
	if err != nil {
		return "", err
	}
	o := autoshard.PropagateOptions{Mesh: axes}
	list := []stage{
		{"read", func(ctx context.Context) error { _, err := autoshard.ReadModel(ctx, name, text); return err }},
		{"propagate", func(ctx context.Context) error { _, err := autoshard.Propagate(ctx, model, o); return err }},
		{"explain", func(ctx context.Context) error { _, err := autoshard.NewExplainer(ctx, model, o); return err }},
		{"annotated plan", func(ctx context.Context) error { _, err := plan.Annotated(ctx); return err }},
	}
	for _, form := range autoshard.EmitForms() {
		list = append(list, stage{"emit " + form, func(ctx context.Context) error {
			program, err := plan.Lowered(ctx)
			if err == nil {
				_, err = program.Emit(ctx, form)
			}
			return err
		}})
	}
	for _, s := range list {
		row, err := s.measure(name, rounds)
		if err != nil {
			return "", fmt.Errorf("%s: %w", s.name, err)
		}
		table += row
	}
	return table, nil
}

// measure returns the row of a stage.
func (s *stage) measure(model string, rounds int) (string, error) {
	var best *listener
	var whole time.Duration
	for range rounds {
		l := listen()
		begin := time.Now()
		if err := s.run(l); err != nil {
			return "", err
		}
		l.stop()
		if best == nil || l.longest < best.longest {
			best, whole = l, time.Since(begin)
		}
	}
	return fmt.Sprintf("| %s | %s | %s | %s | %s |\n", model, s.name, milliseconds(best.longest), milliseconds(whole), best.at), nil
}
