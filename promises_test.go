package autoshard_test

import (
	"bytes"
	"context"
	"errors"
	"regexp"
	"slices"
	"strings"
	"testing"

	"autoshard"
	"autoshard/cost"
	"autoshard/subaxis"
)

// PropagateOptions{} runs the rounds of all user priorities.
func TestZeroPropagateOptions(t *testing.T) {
	model := readModel(t, "examples/transformer_train_megatron_priorities.mlir")
	all, err := autoshard.Propagate(t.Context(), model, autoshard.PropagateOptions{})
	if err != nil {
		t.Fatal(err)
	}
	first, err := autoshard.Propagate(t.Context(), model, autoshard.PropagateOptions{MaxPriority: new(0)})
	if err != nil {
		t.Fatal(err)
	}
	if len(all.Trace.Rounds) < 2 || len(first.Trace.Rounds) != 1 {
		t.Errorf("%d rounds without a limit, %d up to priority 0", len(all.Trace.Rounds), len(first.Trace.Rounds))
	}
}

// PlanOptions without hardware are for the default one, as those of the command line and of the service.
func TestZeroHardware(t *testing.T) {
	p := makePlan(t, exampleModel(), autoshard.PlanOptions{})
	if hw, err := cost.Lookup(cost.DefaultProfile); err != nil || p.Hardware != hw.Name || p.Memory != int64(hw.HBMBytes) {
		t.Errorf("planned for %s with %d bytes, %v", p.Hardware, p.Memory, err)
	}
}

// Every entry point that works long returns the error of its context.
func TestEndedContext(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	model, plan, program := exampleModel(), examplePlan(), exampleProgram()
	for name, call := range map[string]func() error{
		"read model": func() error { _, err := autoshard.ReadModel(ctx, "m.mlir", []byte(product)); return err },
		"convert":    func() error { _, err := model.ConvertTo(ctx, autoshard.FormMLIR, ""); return err },
		"specs":      func() error { _, err := model.Specs(ctx, "gspmd", true); return err },
		"lint":       func() error { _, err := model.Lint(ctx, autoshard.LintOptions{}); return err },
		"propagate":  func() error { _, err := autoshard.Propagate(ctx, model, autoshard.PropagateOptions{}); return err },
		"explain": func() error {
			_, err := autoshard.Explain(ctx, model, autoshard.ExplainOptions{Value: "arg0"})
			return err
		},
		"new explainer": func() error { _, err := autoshard.NewExplainer(ctx, model, autoshard.PropagateOptions{}); return err },
		"plan":          func() error { _, err := autoshard.MakePlan(ctx, model, autoshard.PlanOptions{}); return err },
		"read plan":     func() error { _, err := autoshard.ReadPlan(ctx, "plan.json", plan.JSON()); return err },
		"read program":  func() error { _, err := autoshard.ReadProgram(ctx, "plan.json", plan.JSON()); return err },
		"read shardmap": func() error { _, err := autoshard.ReadShardMap(ctx, "sum.shardmap", []byte(sum)); return err },
		"annotated":     func() error { _, err := plan.Annotated(ctx); return err },
		"lowered":       func() error { _, err := plan.Lowered(ctx); return err },
		"run":           func() error { _, err := program.Run(ctx, ones(program)); return err },
		"verify":        func() error { _, err := program.Verify(ctx, ones(program), nil, autoshard.Tolerance{}); return err },
		"unsharded":     func() error { _, err := program.Unsharded(ctx, ones(program)); return err },
		"estimate":      func() error { _, err := program.Estimate(ctx, cost.Hardware{}); return err },
		"emit":          func() error { _, err := program.Emit(ctx, "shardmap"); return err },
		"transpose":     func() error { _, err := program.Derive(ctx, autoshard.Transpose, []string{"arg0"}); return err },
		"gradient":      func() error { _, err := program.Derive(ctx, autoshard.Gradient, []string{"arg0"}); return err },
	} {
		if err := call(); !errors.Is(err, context.Canceled) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// The methods of a program leave it as it is, and give the same each time.
func TestProgramStaysAsItIs(t *testing.T) {
	p := lowered(t, makePlan(t, readModel(t, "examples/mlp.json"), autoshard.PlanOptions{Memory: 24 << 10, Steps: 1_000_000}))
	type pass struct {
		out, python, stablehlo, sdy []byte
		e                           autoshard.Estimate
	}
	all := func() pass {
		var r pass
		check, err := p.Verify(t.Context(), ones(p), nil, autoshard.Tolerance{})
		if err != nil {
			t.Fatal(err)
		}
		r.out = check.Result.Outputs[0].Data
		for form, to := range map[string]*[]byte{"jax": &r.python, "stablehlo": &r.stablehlo, "sdy": &r.sdy} {
			if *to, err = p.Emit(t.Context(), form); err != nil {
				t.Fatal(err)
			}
		}
		hw, err := cost.Lookup(cost.DefaultProfile)
		if err != nil {
			t.Fatal(err)
		}
		if r.e, err = p.Estimate(t.Context(), hw); err != nil {
			t.Fatal(err)
		}
		return r
	}
	a, b := all(), all()
	if !bytes.Equal(a.out, b.out) || !bytes.Equal(a.python, b.python) || !bytes.Equal(a.stablehlo, b.stablehlo) ||
		!bytes.Equal(a.sdy, b.sdy) || a.e != b.e {
		t.Error("the second time differs from the first")
	}
}

// A program is priced as its plan says, and a shard_map program has a price, too.
func TestEstimateOfPlan(t *testing.T) {
	hw, err := cost.Lookup("h100")
	if err != nil {
		t.Fatal(err)
	}
	plan := makePlan(t, readModel(t, "examples/mlp.json"), autoshard.PlanOptions{Hardware: hw, Memory: 24 << 10, Steps: 1_000_000})
	got, err := lowered(t, plan).Estimate(t.Context(), hw)
	if err != nil || got != plan.Estimate {
		t.Errorf("%v, %v in place of %v", err, got, plan.Estimate)
	}
	text, err := autoshard.ReadShardMap(t.Context(), "sum.shardmap", []byte(sum))
	if err != nil {
		t.Fatal(err)
	}
	if e, err := text.Estimate(t.Context(), hw); err != nil || e.CollectiveSeconds <= 0 || e.SentBytes <= 0 {
		t.Errorf("a shard_map program: %+v, %v", e, err)
	}
}

// Emit writes each of the forms that there are, and names them where it is asked for another.
func TestEmitForms(t *testing.T) {
	p := exampleProgram()
	_, err := p.Emit(t.Context(), "fortran")
	for _, form := range autoshard.EmitForms() {
		if text, err := p.Emit(t.Context(), form); err != nil || len(text) == 0 {
			t.Errorf("%s: %d bytes, %v", form, len(text), err)
		}
		if !errors.Is(err, autoshard.ErrInvalid) || !strings.Contains(err.Error(), form) {
			t.Errorf("an unknown form: %v", err)
		}
	}
}

// Findings have the rules of lint and those of answers, each name once. Only those of lint can be switched off.
func TestRulesOfFindings(t *testing.T) {
	var lint, all []string
	for _, r := range autoshard.LintRules() {
		lint = append(lint, string(r.ID))
	}
	for _, r := range autoshard.FindingRules() {
		all = append(all, string(r.ID))
	}
	if err := autoshard.CheckLintRules(lint); err != nil {
		t.Error(err)
	}
	if !slices.Equal(all[:len(lint)], lint) || len(all) == len(lint) {
		t.Errorf("findings have the rules %v, lint has %v", all, lint)
	}
	for _, name := range append(all[len(lint):], "unused-axes") {
		if err := autoshard.CheckLintRules([]string{name}); !errors.Is(err, autoshard.ErrInvalid) || !strings.Contains(err.Error(), name) {
			t.Errorf("%s: %v", name, err)
		}
	}
	slices.Sort(all)
	if once := slices.Compact(slices.Clone(all)); len(once) != len(all) {
		t.Errorf("a rule is there twice: %v", all)
	}
}

// Values are labelled by the names that the program gives, and as MLIR calls them where it gives none.
func TestLabelsOfSpecs(t *testing.T) {
	text := strings.Replace(product, "%w: tensor<8x6xf32>", `%w: tensor<8x6xf32> loc("params['w']")`, 1)
	model, err := autoshard.ReadModel(t.Context(), "product.mlir", []byte(text))
	if err != nil {
		t.Fatal(err)
	}
	specs, err := model.Specs(t.Context(), "sdy", true)
	if err != nil {
		t.Fatal(err)
	}
	var labels []string
	for i := range specs {
		labels = append(labels, specs[i].Label())
	}
	if want := []string{"%arg0", "params['w']", "result 0"}; !slices.Equal(labels, want) {
		t.Errorf("values are labelled %q, want %q", labels, want)
	}
}

// A version is one of a module or a revision, and the same each time.
func TestVersion(t *testing.T) {
	if v := autoshard.Version(); !regexp.MustCompile(`^(devel( [0-9a-f]+)?|v[0-9]+\..*)$`).MatchString(v) || v != autoshard.Version() {
		t.Errorf("the version is %q", v)
	}
}

// A spec says the same in every form, and on the way back: what each dimension is cut along.
func TestConvertSpec(t *testing.T) {
	axes := []subaxis.Axis{{Name: "data", Size: 2}, {Name: "model", Size: 4}}
	forms := []string{"sdy", "partition-spec", "dtensor", "gspmd"}
	convert := func(text, from, to string) string {
		specs, err := autoshard.ConvertSpec(autoshard.SpecRequest{Text: text, From: from, To: to, Axes: axes, Ranks: []int{2}})
		if err != nil || len(specs) != 1 {
			t.Fatalf("%s from %s to %s: %v, %v", text, from, to, specs, err)
		}
		return specs[0].Spec
	}
	for _, spec := range []string{"P()", "P('data')", "P('model', 'data')", "P(None, ('data', 'model'))"} {
		for _, via := range forms {
			for _, then := range forms {
				there := convert(spec, "partition-spec", via)
				if back := convert(convert(there, via, then), then, "partition-spec"); back != spec {
					t.Errorf("%s as %s is %s, and by way of %s that is %s", spec, via, there, then, back)
				}
			}
		}
	}
}
