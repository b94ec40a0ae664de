package plan

import (
	"errors"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"autoshard/answer"
	"autoshard/internal/diag"
	"autoshard/internal/lists"
	"autoshard/ir/specfmt"
	"autoshard/subaxis"
)

// honest checks that a plan fits, that no baseline that keeps what is written is better, and that its figures agree.
func honest(t *testing.T, p *Plan) {
	t.Helper()
	if p.Estimate.PeakBytes > p.Memory {
		t.Errorf("the plan needs %d bytes of %d", p.Estimate.PeakBytes, p.Memory)
	}
	for _, b := range p.Baselines {
		if b.Fits && b.Note == "" && b.Estimate.Seconds < p.Estimate.Seconds {
			t.Errorf("baseline %s takes %g s, the plan %g s", b.Name, b.Estimate.Seconds, p.Estimate.Seconds)
		}
	}
	if c := p.Certificate; float64(c.Cost)/1e12 != p.Estimate.Seconds || c.Bound > c.Cost || c.Bound <= 0 ||
		c.Gap != float64(c.Cost-c.Bound)/float64(c.Cost) {
		t.Errorf("step time %g s, certificate %+v", p.Estimate.Seconds, c)
	}
}

// anew plans a model that is written with the shardings of some inputs.
func anew(t *testing.T, file string, o Options, shardings map[int]string) *Plan {
	t.Helper()
	src := parse(t, file)
	m := src.Module
	mesh := m.AddMesh("mesh", subaxis.Mesh{Axes: o.Mesh}, nil, 0)
	for i, text := range shardings {
		v := m.BlockArgs(m.MainFunc().Body)[i]
		l, _, err := specfmt.Parse(specfmt.Sdy, m.Mesh(mesh), len(m.Shape(v)), text, diag.Position{})
		if err != nil {
			t.Fatal(err)
		}
		l.Sharding.Mesh = mesh
		m.SetSharding(v, m.InternSharding(l.Sharding))
	}
	o.Mesh = nil
	p, err := Make(t.Context(), src, o)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// After each change a plan of a session has the inputs where they are wanted, and is honest: it is at most a little dearer than a plan
// that is made anew of the model with the same shardings written in it, and neither goes below the bound of the other. A pin that is
// taken back leaves a plan as good as before.
func TestSessionKeepsPins(t *testing.T) {
	const file = "../examples/transformer_train.mlir"
	for memory, slack := range map[int64]float64{0: 1.01, 700_000: 1.4} {
		o := Options{Mesh: axes(t, "4,2"), Memory: memory, Steps: 400_000_000}
		s, first, err := NewSession(t.Context(), parse(t, file), o)
		if err != nil {
			t.Fatal(err)
		}
		written := map[int]string{}
		for _, pin := range []struct {
			input    int
			sharding string
		}{{3, `[{"a"}, {}, {}]`}, {3, `[{}, {"b"}, {}]`}, {4, `[{?}, {"b", ?}, {?}]`}, {3, ""}, {4, ""}} {
			p, err := s.Plan(t.Context(), Pin{first.Inputs[pin.input].Name, pin.sharding})
			if err != nil {
				t.Fatal(err)
			}
			honest(t, p)
			if written[pin.input] = pin.sharding; pin.sharding == "" {
				delete(written, pin.input)
			}
			fresh := anew(t, file, o, written)
			for i := range written {
				if in := p.Inputs[i]; i == 3 && in.Spec != fresh.Inputs[i].Spec || !strings.Contains(in.Sharding, `{"b"`) && i == 4 {
					t.Errorf("%d bytes, %v: input %d is %s", memory, written, i, in.Sharding)
				}
			}
			got, want := p.Certificate, fresh.Certificate
			if float64(got.Cost) > slack*float64(want.Cost) || got.Cost < want.Bound || want.Cost < got.Bound {
				t.Errorf("%d bytes, %v: cost %d, bound %d; made anew cost %d, bound %d", memory, written, got.Cost, got.Bound, want.Cost, want.Bound)
			}
			if len(written) == 0 && got.Cost > first.Certificate.Cost {
				t.Errorf("%d bytes: without pins again the plan costs %d, before %d", memory, got.Cost, first.Certificate.Cost)
			}
		}
	}
}

// Pins that are wrong, or that no plan can keep, leave a session as it was.
func TestSessionErrors(t *testing.T) {
	o := Options{Mesh: axes(t, "4,2"), Memory: 300_000, Steps: 10_000_000}
	s, first, err := NewSession(t.Context(), parse(t, "../examples/transformer_train.mlir"), o)
	if err != nil {
		t.Fatal(err)
	}
	name := first.Inputs[3].Name
	for _, bad := range []struct {
		pins  []Pin
		class error
	}{
		{[]Pin{{name, "P()"}, {"nobody", `[{"a"}]`}}, diag.ErrInvalid},
		{[]Pin{{name, `[{"c"}, {}, {}]`}}, diag.ErrInvalid},
		{[]Pin{{name, `[{"a"}`}}, diag.ErrInvalid},
		{lists.Of(len(first.Inputs), func(i int) Pin { return Pin{first.Inputs[i].Name, "P()"} }), diag.ErrInfeasible},
	} {
		if _, err := s.Plan(t.Context(), bad.pins...); !errors.Is(err, bad.class) {
			t.Errorf("%d pins: %v", len(bad.pins), err)
		}
	}
	again, err := s.Plan(t.Context())
	users := func(in answer.Tensor) bool { return in.User }
	if err != nil || again.Certificate.Cost > first.Certificate.Cost || slices.ContainsFunc(again.Inputs, users) {
		t.Errorf("%v, %+v", err, again.Certificate)
	}
}

// BenchmarkChangedPin plans with one pin changed, to and fro.
func BenchmarkChangedPin(b *testing.B) {
	for _, c := range []struct{ file, mesh, value, sharding string }{
		{"transformer_train.mlir", "4,2", "arg3", `[{"a"}, {?}, {?}]`},
		{"llama3_8b_train_scan.mlir", "16,8", "arg3", `[{?}, {"b"}, {?}, {?}]`},
		{"mixtral_8x7b_train_scan.mlir", "16,8", "arg3", `[{?}, {"b"}, {?}, {?}]`},
	} {
		b.Run(c.file+" "+c.mesh, func(b *testing.B) {
			m, hw := onChips(b, c.file)
			start := time.Now()
			s, p, err := NewSession(b.Context(), &answer.Source{Module: m}, Options{Mesh: axes(b, c.mesh), Hardware: hw})
			if err != nil {
				b.Fatal(err)
			}
			b.Logf("first plan %v, gap %.2f %%, %s is %s", time.Since(start), 100*p.Certificate.Gap, c.value, p.Inputs[3].Type)
			worst, before := 0.0, busy(b)
			for i := 0; b.Loop(); i++ {
				p, err := s.Plan(b.Context(), Pin{c.value, []string{c.sharding, ""}[i%2]})
				if err != nil {
					b.Fatal(err)
				}
				worst = max(worst, p.Certificate.Gap)
			}
			b.ReportMetric(100*worst, "%gap")
			b.ReportMetric(float64((busy(b)-before).Milliseconds())/float64(b.N), "cpu-ms/op")
		})
	}
}

// busy returns the processor time of this process, which other work on the machine changes less than the time that passes.
func busy(b *testing.B) time.Duration {
	var use syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &use); err != nil {
		b.Fatal(err)
	}
	return time.Duration(use.Utime.Nano() + use.Stime.Nano())
}
