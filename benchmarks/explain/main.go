// Command explain asks random values of plans how else they could be cut, as `autoshard explain PLAN VALUE` does, and plans again from the
// model's file with what is said to be best as a pin: the step is to be what was said. It writes a table.
//
//	go run ./benchmarks/explain -o benchmarks/results/explain.md
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"strings"
	"time"

	"autoshard"
	"autoshard/answer"
	"autoshard/benchmarks/site"
	"autoshard/cost"
	"autoshard/subaxis"
)

// request is an example to plan.
type request struct {
	model    string
	mesh     []subaxis.Axis
	hardware string
	memory   int64
}

var grid = []subaxis.Axis{{Name: "data", Size: 4}, {Name: "model", Size: 2}}

// requests are the plans whose values are asked.
var requests = []request{
	{"mlp.json", grid, "tpu-v5e", 24 << 10},
	{"mlp_train.mlir", grid, "cpu", 40_000},
	{"mlp_train.mlir", []subaxis.Axis{{Name: "x", Size: 2}, {Name: "y", Size: 2}, {Name: "z", Size: 2}}, "h100", 30_000},
	{"transformer_train_megatron.mlir", grid, "tpu-v5e", 700_000},
	{"transformer_train.mlir", []subaxis.Axis{{Name: "data", Size: 8}}, "cpu", 400_000},
}

// within is by what part a step may differ from what was said.
const within = 1e-3

func main() {
	values := flag.Int("values", 14, "values of each plan")
	seed := flag.Uint64("seed", 1, "of the choice of values")
	out := flag.String("o", "", "file for the table; standard output alone if empty")
	flag.Parse()
	site.Exit("explain", ask(context.Background(), *values, *seed, *out))
}

// ask asks values of each plan. It fails where a step is not what was said.
func ask(ctx context.Context, values int, seed uint64, out string) error {
	random := rand.New(rand.NewPCG(seed, 0))
	var rows []row
	wrong := 0
	for i := range requests {
		r, err := measure(ctx, &requests[i], values, random)
		if err != nil {
			return fmt.Errorf("%s: %w", requests[i].model, err)
		}
		fmt.Fprint(os.Stderr, r.line())
		rows, wrong = append(rows, r), wrong+r.wrong
	}
	if err := site.Publish(report(rows, seed), out); err != nil {
		return err
	}
	if wrong > 0 {
		return fmt.Errorf("%d steps are not what was said", wrong)
	}
	return nil
}

// row is what came of the values of a plan.
type row struct {
	*request
	asked, cut, refused int // values; of them those with a best alternative, and those of which every alternative is refused
	wrong               int
	most                float64 // part by which a step differs
	asking, planning    time.Duration
}

// measure plans a model and asks values of the plan.
func measure(ctx context.Context, q *request, values int, random *rand.Rand) (r row, err error) {
	text, err := os.ReadFile("examples/" + q.model)
	if err != nil {
		return row{}, err
	}
	read := func() (*autoshard.Model, error) { return autoshard.ReadModel(ctx, q.model, text) }
	model, err := read()
	if err != nil {
		return row{}, err
	}
	hw, err := cost.Lookup(q.hardware)
	if err != nil {
		return row{}, err
	}
	o := autoshard.PlanOptions{Mesh: q.mesh, Hardware: hw, Memory: q.memory}
	session, plan, err := autoshard.NewSession(ctx, model, o)
	if err != nil {
		return row{}, err
	}
	r = row{request: q}
	for _, name := range choose(plan, string(text), values, random) {
		begin := time.Now()
		w, err := session.Weigh(ctx, plan, name, "")
		if errors.Is(err, autoshard.ErrInvalid) && strings.HasPrefix(name, "@") { // the line makes no tensor, or several
			continue
		}
		if err != nil {
			return row{}, err
		}
		r.asked, r.asking = r.asked+1, r.asking+time.Since(begin)
		if len(w.Others) == 0 {
			continue
		}
		best := w.Others[0]
		pin, err := autoshard.ParsePin(w.Value + "=" + best.Spec)
		if err != nil {
			return row{}, err
		}
		again, err := read()
		if err != nil {
			return row{}, err
		}
		begin, o.Pins = time.Now(), []autoshard.Pin{pin}
		p, err := autoshard.MakePlan(ctx, again, o)
		r.planning += time.Since(begin)
		switch {
		case errors.Is(err, autoshard.ErrInfeasible) && best.Refused != "":
			r.refused++
		case err != nil && !errors.Is(err, autoshard.ErrInfeasible):
			return row{}, err
		case err != nil || best.Refused != "":
			r.wrong++
		default:
			r.cut++
			part := math.Abs(p.Estimate.Seconds-best.Seconds) / p.Estimate.Seconds
			if r.most = max(r.most, part); part > within {
				r.wrong++
			}
		}
	}
	return r, nil
}

// choose returns the names of so many random values, half of them inputs and the others made by random lines of the model's text, if it has
// lines that make values.
func choose(plan *autoshard.Plan, text string, values int, random *rand.Rand) (names []string) {
	for _, i := range random.Perm(len(plan.Inputs)) {
		if len(names) < (values+1)/2 {
			names = append(names, plan.Inputs[i].Name)
		}
	}
	lines := strings.Split(text, "\n")
	for _, i := range random.Perm(len(lines)) {
		if made := strings.TrimSpace(lines[i]); len(names) < values && strings.HasPrefix(made, "%") && strings.Contains(made, "stablehlo.") {
			names = append(names, fmt.Sprintf("@%d", i+1))
		}
	}
	return names
}

// line is a row of the table.
func (r *row) line() string {
	each := func(d time.Duration) string { return site.Milliseconds(d.Seconds() / float64(max(r.asked, 1))) }
	return fmt.Sprintf("| %s | %s | %s | %d | %d | %d | %d | %.3g %% | %s | %s |\n", r.model, answer.FormatAxes(r.mesh), r.hardware,
		r.asked, r.cut, r.refused, r.wrong, 100*r.most, each(r.asking), each(r.planning))
}

func report(rows []row, seed uint64) string {
	var b strings.Builder
	fmt.Fprintf(&b, `# What explain says beside plans made again

%sgo run ./benchmarks/explain%s, seed %d; %s; commit %s, beside other work.

Random inputs of plans of the examples, and as many random values inside their programs, are asked how else they could be cut (%sautoshard explain PLAN VALUE%s). The model is read and planned
again with what is said to be best as a pin: the step may differ by 0.1 %% from what was said.

| model | mesh | hardware | values | cut otherwise | refused | wrong | largest difference | asking each | planning each |
|---|---|---|---|---|---|---|---|---|---|
`, "`", "`", seed, site.Machine(), site.Commit(), "`", "`")
	for i := range rows {
		b.WriteString(rows[i].line())
	}
	return b.String()
}
