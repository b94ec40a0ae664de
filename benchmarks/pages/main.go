// Command pages plans ten models and writes what was chosen, and why, a page for each.
//
//	AUTOSHARD_SHARED=shared go run ./benchmarks/pages -o docs/plans.md
package main

import (
	"context"
	"flag"
	"fmt"
	"os"
	"regexp"
	"strings"

	"autoshard"
	"autoshard/benchmarks/experts"
	"autoshard/benchmarks/site"
	"autoshard/cost"
	"autoshard/report"
)

// subject is a model with what it is planned for.
type subject struct {
	title    string
	model    string
	hardware string
	devices  int64
	memory   int64 // 0: that of the hardware
}

// subjects are the models of the page.
var subjects = []subject{
	{"Llama 3 8B, training", "llama3_8b_train_scan", "tpu-v5p", 64, 0},
	{"Llama 3 70B, training", "llama3_70b_train_scan", "tpu-v5p", 128, 0},
	{"Mixtral 8x7B, training", "mixtral_8x7b_train_scan", "tpu-v5p", 64, 0},
	{"GPT-2 small, training", "gpt2_small_train", "h100", 16, 0},
	{"ViT-L, training", "vit_large_train", "tpu-v5p", 64, 0},
	{"ResNet-50, training", "resnet50_train", "tpu-v5e", 16, 0},
	{"Llama 3 8B, decoding with a KV cache", "llama3_8b_decode", "tpu-v5p", 8, 0},
	{"Experts, training, small", "moe_train", "cpu", 8, 100_000},
	{"LSTM, training, small", "lstm_train", "cpu", 8, 40_000},
	{"A transformer, training, small", "transformer_train", "cpu", 8, 500_000},
}

func main() {
	models := flag.String("models", ".*", "regular expression that names of models match")
	out := flag.String("o", "", "file for the pages; standard output alone if empty")
	flag.Parse()
	site.Exit("pages", write(context.Background(), *models, *out))
}

func write(ctx context.Context, models, out string) error {
	wanted, err := regexp.Compile(models)
	if err != nil {
		return err
	}
	known, err := experts.Shared()
	if err != nil {
		return err
	}
	text := head
	for i := range subjects {
		s := &subjects[i]
		if !wanted.MatchString(s.model) {
			continue
		}
		fmt.Fprintln(os.Stderr, s.model)
		page, err := s.page(ctx, known)
		if err != nil {
			return fmt.Errorf("%s: %w", s.model, err)
		}
		text += page
	}
	return site.Publish(text, out)
}

const head = `# Ten plans

What the planner chooses for ten of the shared models when it is given a number of devices and nothing else, and why, written by
` + "`go run ./benchmarks/pages -o docs/plans.md`" + `; a test writes the pages of small models again. Times and sizes are predictions. "If it were whole"
is a plan made again with those inputs whole on every device and everything else free.
`

// most are the decisions of a page.
const most = 3

// page plans the model, and weighs its decisions.
func (s *subject) page(ctx context.Context, known []experts.Model) (string, error) {
	model, err := s.read(ctx, known)
	if err != nil {
		return "", err
	}
	hw, err := cost.Lookup(s.hardware)
	if err != nil {
		return "", err
	}
	o := autoshard.PlanOptions{Devices: s.devices, Hardware: hw, Memory: s.memory}
	chosen, err := autoshard.MakePlan(ctx, model, o)
	if err != nil {
		return "", err
	}
	o.Mesh = chosen.Mesh
	session, now, err := autoshard.NewSession(ctx, model, o)
	if err != nil {
		return "", err
	}
	decisions, err := session.Decisions(ctx, now, most)
	if err != nil {
		return "", err
	}
	var b strings.Builder
	fmt.Fprintf(&b, "\n## %s\n\n`%s` on %d devices of %s.\n\n%s\n", s.title, s.model, s.devices, s.hardware, words(chosen))
	fmt.Fprintf(&b, "The decisions that matter most:\n\n```\n%s```\n\nThe report:\n\n```\n%s```\n", report.Decisions(decisions, now, most),
		report.Plan(chosen, report.Options{Read: true}))
	return b.String(), nil
}

// read returns the model of a subject.
func (s *subject) read(ctx context.Context, known []experts.Model) (*autoshard.Model, error) {
	for i := range known {
		if m := &known[i]; m.Name == s.model {
			text, err := m.Text()
			if err != nil {
				return nil, err
			}
			return autoshard.ReadModel(ctx, m.Name, text)
		}
	}
	return nil, fmt.Errorf("no shared model is called %q", s.model)
}
