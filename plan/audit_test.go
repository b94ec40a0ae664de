package plan_test

import (
	"bytes"
	"math/rand/v2"
	"os"
	"slices"
	"strings"
	"testing"

	"autoshard/answer"
	"autoshard/cost"
	"autoshard/ir/mlir"
	"autoshard/plan"
)

// evidence is what the plans of these tests were made from.
func evidence(t *testing.T, p *plan.Plan) plan.Evidence {
	t.Helper()
	hw, err := cost.Lookup(p.Hardware)
	if err != nil {
		t.Fatal(err)
	}
	return plan.Evidence{Hardware: &hw, Model: p.Hashes.Model}
}

func audited(t *testing.T, p *plan.Plan, e plan.Evidence) *plan.Audit {
	t.Helper()
	audit, err := p.Check(t.Context(), e)
	if err != nil {
		t.Fatal(err)
	}
	return audit
}

// examplePlan plans an example on eight devices whose memory is short.
func examplePlan(t *testing.T, name string, memory int64) *plan.Plan {
	t.Helper()
	src, err := os.ReadFile("../examples/" + name + ".mlir")
	if err != nil {
		t.Fatal(err)
	}
	m, err := mlir.Parse(t.Context(), src, mlir.Options{File: name})
	if err != nil {
		t.Fatal(err)
	}
	m.LocateByText()
	source := &answer.Source{Name: name, Given: answer.Given{File: name}, Hash: answer.Hash(src), Module: m}
	o := plan.Options{Mesh: []answer.MeshAxis{{Name: "data", Size: 4}, {Name: "model", Size: 2}}, Memory: memory, Steps: 1_000_000}
	p, err := plan.Make(t.Context(), source, o)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// What a plan says is found again, also after it was written to a file and read back.
func TestCheckPasses(t *testing.T) {
	for name, p := range map[string]*plan.Plan{"products": recordedPlan(t), "mlp_train": examplePlan(t, "mlp_train", 50_000),
		"transformer_train": examplePlan(t, "transformer_train", 500_000)} {
		back, err := plan.Read(t.Context(), name, p.JSON())
		if err != nil {
			t.Fatal(err)
		}
		for _, x := range []*plan.Plan{p, back} {
			if audit := audited(t, x, evidence(t, x)); !audit.Passed || len(audit.Items) != 5 {
				t.Errorf("%s: %+v", name, audit.Items)
			}
		}
	}
}

// A byte that is changed anywhere in the file is found: the file is no plan any more, or it does not pass, or it says the same with other
// spaces or digits that no number keeps.
func TestChangedBytesAreFound(t *testing.T) {
	p := examplePlan(t, "mlp_train", 50_000)
	src, e := p.JSON(), evidence(t, p)
	random := rand.New(rand.NewPCG(1, 2))
	const letters = "0a\"{,. P"
	for range 2000 {
		changed := bytes.Clone(src)
		at := random.IntN(len(src))
		if changed[at] = letters[random.IntN(len(letters))]; changed[at] == src[at] {
			continue
		}
		back, err := plan.Read(t.Context(), "plan.json", changed)
		if err != nil || bytes.Equal(back.JSON(), src) {
			continue
		}
		audit := audited(t, back, e)
		if audit.Passed {
			t.Errorf("%q in place of %q at %d is not found:\n%s", changed[at], src[at], at, changed[max(0, at-60):min(len(src), at+60)])
		}
	}
}

// Each figure is worked out from the program: who changes one and mends the hash is found too.
func TestChangesUnderAMendedHash(t *testing.T) {
	for item, change := range map[string]func(*plan.Plan){
		"program":     func(p *plan.Plan) { p.Inputs[1].Spec = "P('data')" },
		"prices":      func(p *plan.Plan) { p.Collectives[0].Bytes++ },
		"certificate": func(p *plan.Plan) { p.Certificate.Bound = 0 },
		"model":       func(p *plan.Plan) { p.Hashes.Model = answer.Hash("") },
		"hashes":      func(p *plan.Plan) { p.Options.Seed = 9 },
	} {
		p := examplePlan(t, "mlp_train", 50_000)
		e := evidence(t, p)
		change(p)
		if item != "hashes" {
			plan.Seal(p, e.Hardware)
		}
		audit := audited(t, p, e)
		faulty := []string{}
		for _, i := range audit.Items {
			if len(i.Faults) > 0 {
				faulty = append(faulty, i.Name)
			}
		}
		if !slices.Equal(faulty, []string{item}) {
			t.Errorf("a change of the %s is found in %s", item, strings.Join(faulty, ", "))
		}
	}
}

// A plan that makes values again may take less than the bound of those that do not, which is no proof that it is the best.
func TestCheckOfPlansBelowTheirBound(t *testing.T) {
	p := examplePlan(t, "mlp_train", 50_000)
	e := evidence(t, p)
	p.Certificate.Status, p.Certificate.Bound, p.Certificate.Gap = "feasible", p.Certificate.Cost, 0
	for faults, again := range [][]plan.Recomputed{1: nil, 0: {{Op: "stablehlo.add", Count: 1}}} {
		p.Recomputed = again
		plan.Seal(p, e.Hardware)
		items := audited(t, p, e).Items
		at := slices.IndexFunc(items, func(i plan.Point) bool { return i.Name == "certificate" })
		if len(items[at].Faults) != faults {
			t.Errorf("with %d values made again: %q", len(again), items[at].Faults)
		}
	}
}

// Prices are not compared with those of another hardware, and that is said.
func TestCheckOnOtherHardware(t *testing.T) {
	p := recordedPlan(t)
	hw, err := cost.Lookup("h100")
	if err != nil {
		t.Fatal(err)
	}
	audit := audited(t, p, plan.Evidence{Hardware: &hw})
	if len(audit.Items[0].Faults) != 1 || !strings.Contains(audit.Items[0].Faults[0], "hardware profile h100") {
		t.Errorf("hashes: %+v", audit.Items[0])
	}
	for _, i := range audit.Items {
		if (i.Name == "prices" || i.Name == "model") && (len(i.Faults) > 0 || !strings.HasPrefix(i.Note, "not compared")) {
			t.Errorf("%+v", i)
		}
	}
}
