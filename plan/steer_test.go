package plan

import (
	"errors"
	"slices"
	"strings"
	"testing"

	"autoshard/internal/diag"
)

// steered plans an example on four by two devices with pins and forbidden axes, under so little memory that parameters are cut.
func steered(t *testing.T, pins []Pin, forbidden []Forbid) (*Plan, error) {
	t.Helper()
	o := Options{Mesh: axes(t, "4,2"), Memory: 60_000, Steps: 1_000_000, Pins: pins, Forbidden: forbidden}
	return Make(t.Context(), parse(t, "../examples/mlp_train.mlir"), o)
}

// A pin is kept by all values that its name stands for; of two for one value the last counts. The plan says what was asked for.
func TestPins(t *testing.T) {
	pins := []Pin{{"arg*", "P('a')"}, {"arg1", "P(None, 'b')"}, {"result[0][0][bias]", "P('a')"}}
	p, err := steered(t, pins, nil)
	if err != nil {
		t.Fatal(err)
	}
	for _, x := range p.Inputs {
		want := "P('a'"
		if x.Name == "arg1" {
			want = "P(None, 'b')"
		}
		if !strings.HasPrefix(x.Spec, want) || !x.User {
			t.Errorf("%s is %s, pinned to %s", x.Name, x.Spec, want)
		}
	}
	if !slices.Equal(p.Options.Pins, pins) {
		t.Errorf("the plan was asked for %+v", p.Options.Pins)
	}
}

// A forbidden axis cuts none of the values, in a plan that would use it; other axes may.
func TestForbidden(t *testing.T) {
	free, err := steered(t, nil, nil)
	if err != nil {
		t.Fatal(err)
	}
	along := func(p *Plan, axis string) (n int) {
		for _, x := range p.Inputs {
			if slices.ContainsFunc(x.Axes, func(a string) bool { return strings.HasPrefix(a, axis) }) {
				n++
			}
		}
		return n
	}
	for _, axis := range []string{"a", "b"} {
		p, err := steered(t, nil, []Forbid{{"arg*", []string{axis}}})
		if err != nil {
			t.Fatal(err)
		}
		if along(p, axis) != 0 || along(p, "a")+along(p, "b") == 0 {
			t.Errorf("without %s: %d inputs are cut along a, %d along b", axis, along(p, "a"), along(p, "b"))
		}
		if p.Certificate.Cost < free.Certificate.Bound {
			t.Errorf("without %s a step takes %d ps, below the bound of all plans, %d", axis, p.Certificate.Cost, free.Certificate.Bound)
		}
	}
	if along(free, "a")+along(free, "b") == 0 {
		t.Error("nothing is cut where nothing is forbidden: the test shows nothing")
	}
}

// What cannot be pinned or forbidden is said, with the nearest name.
func TestWrongSteering(t *testing.T) {
	for _, c := range []struct {
		pins      []Pin
		forbidden []Forbid
		want      string
	}{
		{[]Pin{{"agr1", "P()"}}, nil, "no input or output is called `agr1`, did you mean `arg1`?"},
		{[]Pin{{"layers[*]", "P()"}}, nil, "no input or output is called `layers[*]`"},
		{[]Pin{{"arg0", "P('a', 'b')"}}, nil, "arg0"},
		{nil, []Forbid{{"arg0", []string{"A"}}}, "the mesh has no axis \"A\", did you mean `a`?"},
		{[]Pin{{"arg0", "P('a')"}}, []Forbid{{"*", []string{"a"}}}, "dimension 0 of `arg0` is to be cut along \"a\", and \"a\" is forbidden"},
	} {
		if _, err := steered(t, c.pins, c.forbidden); !errors.Is(err, diag.ErrInvalid) || !strings.HasPrefix(err.Error(), c.want) {
			t.Errorf("%+v %+v: %v, want %s", c.pins, c.forbidden, err, c.want)
		}
	}
}

// Texts of pins and of what is forbidden.
func TestParseSteering(t *testing.T) {
	if p, err := ParsePin(" p['w'] = P(None, \"x\")"); err != nil || p != (Pin{"p['w']", "P(None, \"x\")"}) {
		t.Errorf("%+v, %v", p, err)
	}
	if f, err := ParseForbid("p['a:b']: x, y"); err != nil || f.Value != "p['a:b']" || !slices.Equal(f.Axes, []string{"x", "y"}) {
		t.Errorf("%+v, %v", f, err)
	}
	for _, text := range []string{"", "w", "=P()"} {
		if p, err := ParsePin(text); !errors.Is(err, diag.ErrInvalid) {
			t.Errorf("%q is the pin %+v", text, p)
		}
	}
	for _, text := range []string{"", "w", ": x", "w:", "w: x,"} {
		if f, err := ParseForbid(text); !errors.Is(err, diag.ErrInvalid) {
			t.Errorf("%q forbids %+v", text, f)
		}
	}
}
