package cost_test

import (
	"fmt"
	"math"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"autoshard/collectives"
	"autoshard/cost"
	"autoshard/subaxis"
)

// vector is a row of cost.md section 4, or one of the values of a row.
type vector struct {
	id   string
	what string
	got  float64
	want float64
	tol  float64 // relative; 0: exact but for rounding of floats
}

const (
	us = 1e-6
	ms = 1e-3
)

// fixture is a topology whose axes have one-letter names.
type fixture struct {
	*cost.Topology
	mesh []subaxis.Axis
}

// meshOf reads a mesh such as "X8 Y4".
func meshOf(text string) []subaxis.Axis {
	var mesh []subaxis.Axis
	for _, word := range strings.Fields(text) {
		size, err := strconv.ParseInt(word[1:], 10, 64)
		if err != nil {
			panic(err)
		}
		mesh = append(mesh, subaxis.Axis{Name: word[:1], Size: size})
	}
	return mesh
}

func onHardware(hw cost.Hardware, mesh string, o cost.Options, slice cost.SliceShape) fixture {
	if hw.Torus != nil {
		torus := *hw.Torus
		torus.Slice = slice
		hw.Torus = &torus
	}
	t, err := cost.NewTopology(hw, subaxis.Mesh{Axes: meshOf(mesh)}, o)
	if err != nil {
		panic(err)
	}
	return fixture{t, meshOf(mesh)}
}

func on(name, mesh string, o cost.Options) fixture {
	return onHardware(profile(name), mesh, o, cost.SliceShape{})
}

// wrapped is a mesh of rings, one physical axis each.
func wrapped(name, mesh string, o cost.Options) fixture {
	var s cost.SliceShape
	for _, a := range meshOf(mesh) {
		s.Shape = append(s.Shape, a.Size)
		s.Wrap = append(s.Wrap, true)
	}
	return onHardware(profile(name), mesh, o, s)
}

// lines is a mesh of lines, one physical axis each.
func lines(name, mesh string, o cost.Options) fixture {
	var s cost.SliceShape
	for _, a := range meshOf(mesh) {
		s.Shape = append(s.Shape, a.Size)
		s.Wrap = append(s.Wrap, false)
	}
	return onHardware(profile(name), mesh, o, s)
}

func profile(name string) cost.Hardware {
	hw, err := cost.Lookup(name)
	if err != nil {
		panic(err)
	}
	return hw
}

// axes returns whole axes by their letters.
func (f fixture) axes(letters string) []subaxis.Ref {
	mesh := subaxis.Mesh{Axes: f.mesh}
	var out []subaxis.Ref
	for _, c := range letters {
		r, ok := mesh.Lookup(string(c))
		if !ok {
			panic("no axis " + string(c))
		}
		out = append(out, r)
	}
	return out
}

func (f fixture) cost(kind collectives.Kind, letters string, v int64) cost.Cost {
	return f.Collective(kind, f.axes(letters), v)
}

func (f fixture) seconds(kind collectives.Kind, letters string, v int64) float64 {
	return f.cost(kind, letters, v).Seconds
}

// options returns the ways to compute a product along one set of axes, which are not divided out of the extents.
func (f fixture) options(m cost.Matmul, letters string, a, b cost.Side) ([]cost.MatmulOption, error) {
	return f.MatmulOptions(m, []cost.Cut{{Axes: f.axes(letters), A: a, B: b}})
}

// matmul returns the option of a name and result side.
func (f fixture) matmul(m cost.Matmul, letters string, a, b cost.Side, name string, result cost.Side) cost.MatmulOption {
	options, err := f.options(m, letters, a, b)
	if err != nil {
		panic(err)
	}
	for _, o := range options {
		if o.Names[0] == name && o.Result[0] == result {
			return o
		}
	}
	panic(fmt.Sprintf("no option %s with result on %v", name, result))
}

func exact() cost.Options {
	o := cost.Book()
	o.Ring = cost.Exact
	return o
}

// fitted are the options that measurements are compared with.
func fitted() cost.Options {
	return cost.Options{Ring: cost.Exact, Latency: cost.MaxLatency, Fitted: true}
}

func truth(b bool) float64 {
	if b {
		return 1
	}
	return 0
}

func near(got, want, tol float64) bool {
	return math.Abs(got-want) <= max(tol, 1e-12)*math.Abs(want)
}

func allVectors() []vector {
	var out []vector
	for _, section := range []func() []vector{
		shardingVectors, problemVectors, chipVectors, transformerVectors, trainingVectors, inferenceVectors, gpuVectors, memoryVectors,
	} {
		out = append(out, section()...)
	}
	return out
}

func TestVectors(t *testing.T) {
	for _, v := range allVectors() {
		t.Run(v.id+"/"+v.what, func(t *testing.T) {
			if !near(v.got, v.want, v.tol) {
				t.Errorf("got %.6g, want %.6g within %g (off by %.3g)", v.got, v.want, v.tol, v.got/v.want-1)
			}
		})
	}
}

// TestVectorsComplete compares the ids with those of the specification.
func TestVectorsComplete(t *testing.T) {
	shared := os.Getenv("AUTOSHARD_SHARED")
	if shared == "" {
		t.Skip("AUTOSHARD_SHARED is not set: cannot compare with the rows of spec/cost.md")
	}
	text, err := os.ReadFile(filepath.Join(shared, "spec", "cost.md"))
	if err != nil {
		t.Fatal(err)
	}
	have := map[string]bool{}
	for _, v := range append(allVectors(), calibrationVectors()...) {
		have[v.id] = true
	}
	rows := regexp.MustCompile(`(?m)^\| ((?:S|R|T|X|TR|I|G|M|C)-[A-Z0-9a-z]+) \|`).FindAllStringSubmatch(string(text), -1)
	if len(rows) != 150 {
		t.Errorf("the specification has %d rows, want 141 and 9 of calibration", len(rows))
	}
	for _, row := range rows {
		if !have[row[1]] && row[1] != "C-09" { // a measurement without inputs
			t.Errorf("no vector for row %s", row[1])
		}
	}
}

// TestCalibration reports how far fitted predictions are from measurements.
func TestCalibration(t *testing.T) {
	for _, v := range calibrationVectors() {
		t.Logf("%-5s %-40s predicted %.4g, measured %.4g: %+.0f%%", v.id, v.what, v.got, v.want, 100*(v.got/v.want-1))
		if !near(v.got, v.want, v.tol) {
			t.Errorf("%s %s: got %.4g, want %.4g within %g", v.id, v.what, v.got, v.want, v.tol)
		}
	}
}
