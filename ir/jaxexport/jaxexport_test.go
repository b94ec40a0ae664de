package jaxexport_test

import (
	"errors"
	"math/rand/v2"
	"path/filepath"
	"slices"
	"testing"

	"autoshard/internal/diag"
	"autoshard/ir"
	"autoshard/ir/jaxexport"
	"autoshard/ir/mlirfile"
)

func fixture(t testing.TB, name string) []byte { return read(t, filepath.Join("testdata", name)) }

func TestStep(t *testing.T) {
	e, err := jaxexport.Read(fixture(t, "step.jaxexport"), "step.jaxexport")
	if err != nil {
		t.Fatal(err)
	}
	if e.FunctionName != "step" || e.Devices != 4 || !slices.Equal(e.Platforms, []string{"cpu"}) {
		t.Errorf("function %s for %d devices of %v", e.FunctionName, e.Devices, e.Platforms)
	}
	inputs := []string{"args[0]['layers'][0]['b']", "args[0]['layers'][0]['w']", "args[1]", "args[2]", "kwargs['scale']"}
	if got := e.InTree.InputNames(); !slices.Equal(got, inputs) {
		t.Errorf("inputs %q", got)
	}
	if got := e.OutTree; got.Kind != jaxexport.Dict || !slices.Equal(got.Names, []string{"loss", "y"}) ||
		got.Children[1].Kind != jaxexport.Tuple {
		t.Errorf("results %+v", got)
	}
	if !slices.Equal(e.KeptInputs, []uint16{0, 1, 3, 4}) {
		t.Errorf("the function takes the inputs %d", e.KeptInputs)
	}
	w := e.InShardings[1]
	if w == nil || !slices.Equal(w.Mesh.Names, []string{"data", "model"}) || len(w.Spec.Partitions) != 2 ||
		!slices.Equal(w.Spec.Partitions[1].Axes, []string{"model"}) {
		t.Errorf("sharding of w: %+v", w)
	}
	if e.InShardings[2] != nil {
		t.Errorf("sharding of the unused argument: %+v", e.InShardings[2])
	}
	if e.VJP == nil || e.VJP.VJP != nil || len(e.VJP.InAvals) != 7 {
		t.Errorf("derivative: %+v", e.VJP)
	}
}

// Where the module does not say how an argument is called, the tree does.
func TestNamesFromTheTree(t *testing.T) {
	m, _, err := mlirfile.Read(t.Context(), fixture(t, "symbolic.jaxexport"), "symbolic.jaxexport")
	if err != nil {
		t.Fatal(err)
	}
	main, _ := m.Main()
	args := m.BlockArgs(m.Func(main).Body)
	for i, want := range []string{"args[0]", "args[1]"} { // the first says what b is
		if got := m.LocOf(m.ArgLoc(args[i])).Name; got != want {
			t.Errorf("argument %d is called %s, want %s", i, got, want)
		}
	}
}

func TestDerivativeIsAProgram(t *testing.T) {
	e, err := jaxexport.Read(fixture(t, "step.jaxexport"), "step.jaxexport")
	if err != nil {
		t.Fatal(err)
	}
	m, _, err := mlirfile.Read(t.Context(), e.VJP.Module, "derivative")
	if err == nil {
		err = ir.Verify(t.Context(), m)
	}
	if err != nil {
		t.Error(err)
	}
}

// survives reads a file, which may be damaged: a problem has its offset.
func survives(t testing.TB, data []byte) {
	e, err := jaxexport.Read(data, "fuzz")
	if err == nil && len(e.Module) > len(data) {
		t.Fatal("the module is larger than the file")
	}
	var located *diag.Error
	if err != nil && (!errors.As(err, &located) || !located.Diagnostics[0].Pos.Binary || located.Class == diag.ErrInternal) {
		t.Fatalf("not a located error: %#v", err)
	}
}

func TestTruncated(t *testing.T) {
	data := fixture(t, "step.jaxexport")
	for n := range data {
		survives(t, slices.Clip(data[:n]))
	}
}

func TestDamaged(t *testing.T) {
	data := fixture(t, "step.jaxexport")
	r := rand.New(rand.NewPCG(1, 2))
	for range 20_000 {
		broken := slices.Clone(data)
		for range 1 + r.IntN(4) {
			broken[r.IntN(len(broken))] = byte(r.IntN(256))
		}
		survives(t, broken)
	}
}

func FuzzRead(f *testing.F) {
	for _, name := range []string{"step.jaxexport", "symbolic.jaxexport"} {
		f.Add(fixture(f, name))
	}
	f.Fuzz(func(t *testing.T, data []byte) { survives(t, data) })
}
