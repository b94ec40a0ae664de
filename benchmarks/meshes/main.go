// Command meshes compares the mesh that the planner chooses for some devices with every mesh of powers of two, tried by hand, and writes a
// table.
//
//	AUTOSHARD_SHARED=shared go run ./benchmarks/meshes -o benchmarks/results/meshes.md
package main

import (
	"context"
	"flag"
	"fmt"
	"os"
	"strconv"
	"strings"
	"time"

	"autoshard"
	"autoshard/answer"
	"autoshard/benchmarks/experts"
	"autoshard/benchmarks/site"
	"autoshard/cost"
	"autoshard/subaxis"
)

// request is a model to plan on some devices.
type request struct {
	model    string
	hardware string
	devices  int64
	memory   int64 // 0: that of the hardware
}

// requests are what is planned where nothing else is asked for.
var requests = []request{
	{"llama3_8b_train_scan", "tpu-v5p", 64, 0},
	{"llama3_8b_train_scan", "h100", 64, 0},
	{"llama3_8b_train_scan", "tpu-v5p", 64, 24e9},
	{"mixtral_8x7b_train_scan", "tpu-v5p", 64, 0},
	{"gpt2_small_train", "h100", 64, 0},
	{"llama3_8b_decode", "tpu-v5p", 16, 0},
	{"transformer_train", "cpu", 8, 500_000},
}

func main() {
	models := flag.String("models", ".*", "regular expression that names of models match")
	out := flag.String("o", "", "file for the table; standard output alone if empty")
	flag.Parse()
	site.Exit("meshes", compare(context.Background(), *models, *out))
}

func compare(ctx context.Context, models, out string) error {
	known, err := experts.Matching(models)
	if err != nil {
		return err
	}
	var rows []row
	for i := range requests {
		for m := range known {
			if known[m].Name != requests[i].model {
				continue
			}
			r, err := measure(ctx, &requests[i], &known[m])
			if err != nil {
				return fmt.Errorf("%s: %w", requests[i].model, err)
			}
			fmt.Fprint(os.Stderr, r.line())
			rows = append(rows, r)
		}
	}
	return site.Publish(report(rows), out)
}

// row is the plan on the chosen mesh beside those on meshes tried by hand.
type row struct {
	*request
	chosen  *autoshard.Plan
	took    time.Duration
	tried   int
	fastest *autoshard.Plan // by hand
	byHand  time.Duration
}

// measure plans a model on the mesh that is chosen and on all others.
func measure(ctx context.Context, q *request, m *experts.Model) (r row, err error) {
	text, err := m.Text()
	if err != nil {
		return row{}, err
	}
	model, err := autoshard.ReadModel(ctx, m.Name, text)
	if err != nil {
		return row{}, err
	}
	hw, err := cost.Lookup(q.hardware)
	if err != nil {
		return row{}, err
	}
	r = row{request: q}
	begin := time.Now()
	if r.chosen, err = autoshard.MakePlan(ctx, model, autoshard.PlanOptions{Devices: q.devices, Hardware: hw, Memory: q.memory}); err != nil {
		return row{}, err
	}
	r.took, begin = time.Since(begin), time.Now()
	for _, mesh := range powers(q.devices) {
		plan, err := autoshard.MakePlan(ctx, model, autoshard.PlanOptions{Mesh: mesh, Hardware: hw, Memory: q.memory})
		if err != nil {
			continue // nothing fits on it
		}
		if r.tried++; r.fastest == nil || plan.Estimate.Seconds < r.fastest.Estimate.Seconds {
			r.fastest = plan
		}
	}
	r.byHand = time.Since(begin)
	return r, nil
}

// powers returns the meshes of one to three axes of powers of two.
func powers(devices int64) (out [][]subaxis.Axis) {
	for x := devices; x >= 2; x /= 2 {
		for y := devices / x; y >= 1; y /= 2 {
			var mesh []subaxis.Axis
			for i, size := range []int64{x, y, devices / x / y} {
				if size > 1 {
					mesh = append(mesh, subaxis.Axis{Name: strconv.Itoa(i), Size: size})
				}
			}
			if y > 1 || x*y == devices {
				out = append(out, mesh)
			}
		}
	}
	return out
}

// line is a row of the table.
func (r *row) line() string {
	memory := "the hardware's"
	if r.memory > 0 {
		memory = strconv.FormatInt(r.memory, 10)
	}
	chosen, fastest := r.chosen.Estimate.Seconds, r.fastest.Estimate.Seconds
	return fmt.Sprintf("| %s | %d %s | %s | %s | %.6g s | %.1f s | %d | %s | %.6g s | %.1f s | %.4f |\n", r.model, r.devices, r.hardware,
		memory, answer.FormatAxes(r.chosen.Mesh), chosen, r.took.Seconds(), r.tried, sizes(r.fastest.Mesh), fastest, r.byHand.Seconds(),
		chosen/fastest)
}

// sizes writes a mesh without names: 16 x 4.
func sizes(mesh []subaxis.Axis) string {
	var out []string
	for _, a := range mesh {
		out = append(out, strconv.FormatInt(a.Size, 10))
	}
	return strings.Join(out, " x ")
}

func report(rows []row) string {
	var b strings.Builder
	fmt.Fprintf(&b, `# Meshes chosen beside meshes tried by hand

%sgo run ./benchmarks/meshes%s; %s; commit %s, beside other work.

The mesh for so many devices is chosen by %sautoshard plan --devices%s, and every mesh of powers of two with one to three axes, in every order, is
planned by hand. The ratio is the step on the chosen mesh by that on the fastest one: of meshes within 0.1 %% of each other, the planner takes that of
the fewest axes.

| model | devices | memory | chosen | step | planning | by hand | fastest | step | planning | ratio |
|---|---|---|---|---|---|---|---|---|---|---|
`, "`", "`", site.Machine(), site.Commit(), "`", "`")
	for i := range rows {
		b.WriteString(rows[i].line())
	}
	return b.String()
}
