package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"strings"
	"time"

	"autoshard"
	"autoshard/backend/tensor"
	"autoshard/backend/tensor/npz"
	"autoshard/benchmarks/experts"
	"autoshard/benchmarks/site"
	"autoshard/internal/lists"
	"autoshard/program/inputs"
	"autoshard/subaxis"
)

// planRun is a plan that ran on virtual devices, or why it did not.
type planRun struct {
	model  string
	mesh   []subaxis.Axis
	factor float64 // of the smallest peak of the experts
	plan   answer
	values int // that devices computed
	exact  int // that equal bit for bit what their op makes of its operands
	sent   int64
	took   time.Duration
	err    error
}

// runs plans a model on a mesh under all limits, and runs the plans on the recorded inputs.
func (p *planner) runs(ctx context.Context, m *experts.Model, mesh []subaxis.Axis) ([]planRun, error) {
	text, err := m.Text()
	if err != nil {
		return nil, err
	}
	model, err := autoshard.ReadModel(ctx, m.Name, text)
	if err != nil {
		return nil, err
	}
	list, err := p.experts(ctx, m, mesh, text)
	if err != nil {
		return nil, err
	}
	var out []planRun
	for _, factor := range factors {
		r := planRun{model: m.Name, mesh: mesh, factor: factor}
		var plan *autoshard.Plan
		if r.plan, plan = p.plan(ctx, model, mesh, limit(list, factor)); r.plan.err == nil {
			begin := time.Now()
			r.err = r.run(ctx, m, plan)
			r.took = time.Since(begin)
		}
		out = append(out, r)
	}
	return out, nil
}

// run runs a plan and compares it with the unsharded run, value by value, with what is recorded, and with the bytes that it says it sends.
func (r *planRun) run(ctx context.Context, m *experts.Model, plan *autoshard.Plan) error {
	inputs, err := recorded(m.Path(m.Inputs), "arg", plan.Inputs)
	if err != nil {
		return err
	}
	outputs, err := recorded(m.Path(m.Expected), "out", plan.Outputs)
	if err != nil {
		return err
	}
	program, err := plan.Lowered(ctx)
	if err != nil {
		return err
	}
	check, err := program.Verify(ctx, inputs, outputs, autoshard.Tolerance{Rel: max(m.Tolerance, 1e-4)})
	if err != nil {
		return err
	}
	for _, c := range check.Collectives {
		if r.sent += c.Counted; c.Counted != c.Predicted {
			return fmt.Errorf("%s sent %d bytes of %d", c.Kind, c.Counted, c.Predicted)
		}
	}
	if check.Proof == nil {
		return errors.New(check.Note)
	}
	r.values, r.exact = check.Proof.Values, check.Proof.Exact
	return nil
}

// recorded reads the arrays of a file.
func recorded(file, prefix string, types []autoshard.Tensor) ([]*tensor.Tensor, error) {
	src, err := os.ReadFile(file)
	if err != nil {
		return nil, err
	}
	found, err := npz.Read(bytes.NewReader(src), int64(len(src)), npz.DefaultLimits)
	if err != nil {
		return nil, err
	}
	return inputs.Match(found, file, prefix, types)
}

// line returns the row of the table.
func (r *planRun) line() string {
	axes := strings.Join(lists.Map(r.mesh, subaxis.Axis.String), ",")
	outcome := "equal"
	if err := errors.Join(r.plan.err, r.err); err != nil {
		outcome = "**" + strings.ReplaceAll(err.Error(), "\n", " ") + "**"
	}
	return fmt.Sprintf("| %s | %s | %s | %d | %d | %d | %.2f s | %s |\n", r.model, axes, label(r.factor), r.values, r.exact, r.sent,
		r.took.Seconds(), outcome)
}

// reportRuns returns the summary and the table as Markdown.
func reportRuns(runs []planRun, o options) string {
	values, exact, wrong, devices := 0, 0, 0, map[int64]int{}
	var table strings.Builder
	for i := range runs {
		r := &runs[i]
		values, exact = values+r.values, exact+r.exact
		if r.plan.err != nil || r.err != nil {
			wrong++
		}
		devices[(&subaxis.Mesh{Axes: r.mesh}).Devices()]++
		table.WriteString(r.line())
	}
	return fmt.Sprintf(`# Plans that run

%sgo run ./benchmarks/plans -verify%s, %s, at most %v a plan; %s; commit %s.

Each plan of a model with recorded inputs runs on virtual devices: every value that they compute is compared with what its op makes of
the operands, the outputs with the unsharded run and with what JAX recorded, and the bytes sent with those predicted. %d plans, %d of
them on eight devices: %d do not run or differ. %d values, %d of them equal bit for bit, the others within what rounding allows.

| model | mesh | limit | values | bit for bit | bytes sent | run | outcome |
|---|---|---|---|---|---|---|---|
%s`, "`", "`", o.hardware, o.budget, site.Machine(), site.Commit(), len(runs), devices[8], wrong, values, exact, table.String())
}
