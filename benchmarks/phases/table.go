package main

import (
	"fmt"
	"slices"
	"strings"

	"autoshard/benchmarks/site"
)

// stages are the columns of phases, in the order in which they begin first.
var stages = []string{"read", "propagate", "baselines", "rules", "space", "search", "lower", "bound", "write"}

// report returns the tables.
func (t *timer) report() string {
	out := fmt.Sprintf("# Plans phase by phase\n\n`go run ./benchmarks/phases`, %s, the fastest of %d; %s; commit %s.\n\n"+
		"Seconds from the start of the process to its end, and in each phase; memory is the most that was resident. Wall time or memory is "+
		"bold where it is more than the planner may take on two cores. Growth is wall time by that of the model's first row; in the table "+
		"of ops, by that of the first row of all.\n",
		t.hardware, t.rounds, site.Machine(), site.Commit())
	title := ""
	for _, g := range groups {
		rows := t.rows(g)
		if rows != "" && g.name != title {
			title = g.name
			out += fmt.Sprintf("\n## By %s\n\n| model | ops | mesh | wall | CPU | memory | %s | strategies | gap | growth |\n|%s\n",
				title, strings.Join(stages, " | "), strings.Repeat("---|", 9+len(stages)))
		}
		out += rows
	}
	return out
}

// rows returns those of a group.
func (t *timer) rows(g group) string {
	out := ""
	var first *result
	for _, name := range g.models {
		for i, mesh := range g.meshes {
			at := slices.IndexFunc(t.done, func(r *result) bool { return r.model.Name == name && r.mesh == mesh })
			if at < 0 {
				continue
			}
			if r := t.done[at]; first == nil || i == 0 && len(g.meshes) > 1 {
				first = r
			}
			out += t.done[at].row(first)
		}
	}
	return out
}

// row returns the row of a plan whose growth counts from another one.
func (r *result) row(first *result) string {
	wall, memory := fmt.Sprintf("%.2f", r.wall.Seconds()), fmt.Sprintf("%d MiB", r.memory>>20)
	if c := ceilings(r.model.Name, r.mesh); c != nil {
		if r.wall > c.wall {
			wall = "**" + wall + "**"
		}
		if r.memory > c.memory {
			memory = "**" + memory + "**"
		}
	}
	var phases []string
	for _, stage := range stages {
		phases = append(phases, fmt.Sprintf("%.2f", r.phases[stage].Seconds()))
	}
	return fmt.Sprintf("| %s | %d | %s | %s | %.2f | %s | %s | %d | %s | %.1f |\n", r.model.Name, r.model.Ops, r.mesh, wall, r.cpu.Seconds(),
		memory, strings.Join(phases, " | "), r.strategies, r.proof, r.wall.Seconds()/first.wall.Seconds())
}
