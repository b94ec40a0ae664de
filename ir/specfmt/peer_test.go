package specfmt_test

import (
	_ "embed"
	"encoding/json"
	"math/rand/v2"
	"os"
	"os/exec"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"autoshard/internal/diag"
	"autoshard/ir"
	"autoshard/ir/specfmt"
	"autoshard/subaxis"
)

//go:embed testdata/jax_forms.py
var jaxForms string

// query is a layout in our forms, with what JAX needs to make the same one.
type query struct {
	Axes      []subaxis.Axis
	DeviceIDs []int64
	Shape     []int64
	Spec      string // PartitionSpec, "" where it cannot be said
	Sdy       string // attribute with an inlined mesh, "" where it cannot be compiled
	Tiles     string // GSPMD
	Manual    []string
}

// answer is what JAX makes of a query.
type answer struct {
	Starts  [][]int64 // of each device's block in each dimension, from NamedSharding
	Repr    string    // the PartitionSpec as JAX prints it
	Named   string    // HloSharding of the NamedSharding
	Shardy  string    // HloSharding of the compiled parameter
	Read    string    // our tiles as XLA prints them
	Devices []int64   // our tiles' devices as XLA reads them
}

// TestAgainstJAX compares with JAX, XLA and Shardy's export: strings, device arrays and the blocks that devices hold.
func TestAgainstJAX(t *testing.T) {
	python := os.Getenv("AUTOSHARD_PYTHON")
	if python == "" {
		t.Skip("AUTOSHARD_PYTHON is not set: no JAX to compare with")
	}
	rng := rand.New(rand.NewPCG(1, 2))
	var layouts []specfmt.Layout
	var queries []query
	for range 240 {
		l := randomLayout(rng)
		layouts = append(layouts, l)
		queries = append(queries, ask(t, &l))
	}
	in, err := json.Marshal(queries)
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(python, "-c", jaxForms)
	cmd.Stdin = strings.NewReader(string(in))
	cmd.Env = append(os.Environ(), "JAX_PLATFORMS=cpu", "XLA_FLAGS=--xla_force_host_platform_device_count=8", "TF_CPP_MIN_LOG_LEVEL=3")
	var stderr strings.Builder
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("JAX: %v\n%s", err, stderr.String())
	}
	var answers []answer
	if err := json.Unmarshal(out, &answers); err != nil {
		t.Fatal(err)
	}
	var compared struct{ named, manual, shardy, parts, lists int }
	for i := range queries {
		compare(t, &layouts[i], &queries[i], &answers[i])
		if answers[i].Named != "" {
			compared.named++
			compared.manual += min(1, len(queries[i].Manual))
		}
		if answers[i].Shardy != "" {
			compared.shardy++
			if queries[i].Spec == "" {
				compared.parts++
			}
			if queries[i].DeviceIDs != nil {
				compared.lists++
			}
		}
	}
	if compared.named < 40 || compared.manual < 10 || compared.shardy < 40 || compared.parts < 10 || compared.lists < 10 {
		t.Errorf("too few were compared: %+v", compared)
	}
	t.Logf("compared %+v", compared)
}

// randomLayout makes a layout over a mesh of 8 devices, or fewer.
func randomLayout(rng *rand.Rand) specfmt.Layout {
	shapes := [][]int64{{8}, {2, 4}, {4, 2}, {2, 2, 2}, {1, 8}, {2, 1, 4}, {4, 1, 2, 1}, {2, 3}, {6}}
	mesh := &ir.MeshDecl{}
	for i, size := range shapes[rng.IntN(len(shapes))] {
		mesh.Axes = append(mesh.Axes, subaxis.Axis{Name: string(rune('a' + i)), Size: size})
	}
	if rng.IntN(3) == 0 {
		ids := make([]int64, mesh.Devices())
		for i, id := range rng.Perm(len(ids)) {
			ids[i] = int64(id)
		}
		if !slices.IsSorted(ids) {
			mesh.DeviceIDs = ids
		}
	}
	l := specfmt.Layout{Mesh: mesh}
	rank := 1 + rng.IntN(3)
	lists := make([]ir.ShardAxes, rank+1)
	cut, unreduced := rng.IntN(2) == 0, rng.IntN(3) == 0
	for _, i := range rng.Perm(len(mesh.Axes)) {
		for _, r := range parts(rng, mesh.Full(i), cut) {
			to := rng.IntN(rank + 2)
			if to < rank || to == rank && unreduced {
				lists[to] = subaxis.AppendMerge(lists[to], r)
			}
		}
	}
	for _, axes := range lists[:rank] {
		l.Sharding.Dims = append(l.Sharding.Dims, ir.DimSharding{Axes: axes, Closed: true, Priority: ir.NoPriority})
	}
	if l.Sharding.Unreduced = subaxis.SortMerge(lists[rank]); len(l.Sharding.Unreduced) > 0 {
		l.Sharding.Reduction = ir.Reduction(rng.IntN(3))
	}
	for i := range mesh.Axes {
		free := !slices.ContainsFunc(slices.Concat(lists...), func(r subaxis.Ref) bool { return r.Axis == int32(i) })
		if free && rng.IntN(3) == 0 {
			l.Manual = append(l.Manual, mesh.Full(i))
		}
	}
	return l
}

// parts returns an axis, or two or three parts of it in any order.
func parts(rng *rand.Rand, r subaxis.Ref, cut bool) ir.ShardAxes {
	if !cut || r.Size < 4 {
		return ir.ShardAxes{r}
	}
	out := ir.ShardAxes{{Axis: r.Axis, Pre: 1, Size: 2}, {Axis: r.Axis, Pre: 2, Size: r.Size / 2}}
	if r.Size == 8 && rng.IntN(2) == 0 {
		out = ir.ShardAxes{{Axis: r.Axis, Pre: 1, Size: 2}, {Axis: r.Axis, Pre: 2, Size: 2}, {Axis: r.Axis, Pre: 4, Size: 2}}
	}
	rng.Shuffle(len(out), func(i, j int) { out[i], out[j] = out[j], out[i] })
	return out
}

func ask(t *testing.T, l *specfmt.Layout) query {
	q := query{Axes: l.Mesh.Axes, DeviceIDs: l.Mesh.DeviceIDs}
	for range l.Sharding.Dims {
		q.Shape = append(q.Shape, 48)
	}
	var err error
	if q.Tiles, _, err = specfmt.Format(specfmt.GSPMD, l); err != nil {
		t.Fatal(err)
	}
	if text, _, err := specfmt.Format(specfmt.PartitionSpec, l); err == nil {
		q.Spec = text
	}
	for _, r := range l.Manual {
		q.Manual = append(q.Manual, l.Mesh.Axes[r.Axis].Name)
	}
	// No program keeps partial values in a parameter, or has it inside a manual computation.
	if l.Mesh.Devices() == 8 && len(l.Sharding.Unreduced)+len(l.Manual) == 0 {
		q.Sdy, _, _ = specfmt.Format(specfmt.Sdy, l)
	}
	return q
}

func compare(t *testing.T, l *specfmt.Layout, q *query, a *answer) {
	t.Helper()
	if a.Read != q.Tiles {
		t.Errorf("%s: XLA reads it as %s", q.Tiles, a.Read)
	}
	if q.Spec != "" {
		compareSpec(t, l, q, a)
	}
	if a.Named != "" && a.Named != q.Tiles {
		t.Errorf("%s over %v: ours %s, JAX's %s", q.Spec, q.Axes, q.Tiles, a.Named)
	}
	if a.Shardy != "" && a.Shardy != q.Tiles {
		t.Errorf("%s: ours %s, Shardy's %s", q.Sdy, q.Tiles, a.Shardy)
	}
	if a.Devices != nil {
		back, _, err := specfmt.Parse(specfmt.GSPMD, l.Mesh, len(l.Sharding.Dims), a.Read, diag.Position{})
		if err != nil {
			t.Fatalf("%s: %v", a.Read, err)
		}
		all := slices.Clone(back.Sharding.Unreduced)
		all = slices.Concat(back.Manual, all)
		for i := len(back.Sharding.Dims) - 1; i >= 0; i-- {
			all = slices.Concat(back.Sharding.Dims[i].Axes, all)
		}
		copies := int64(len(a.Devices)) / subaxis.Product(all)
		for d := range l.Mesh.Devices() {
			if at := int64(slices.Index(a.Devices, l.Mesh.DeviceID(d))); at/copies != l.Mesh.ShardIndex(d, all) {
				t.Errorf("%s: XLA has device %d at tile %d, we at %d", a.Read, l.Mesh.DeviceID(d), at/copies, l.Mesh.ShardIndex(d, all))
			}
		}
	}
}

// compareSpec compares the blocks that JAX gives each device, and reads JAX's own print of the spec.
func compareSpec(t *testing.T, l *specfmt.Layout, q *query, a *answer) {
	t.Helper()
	if a.Starts != nil {
		var want [][]int64
		for d := range l.Mesh.Devices() {
			var starts []int64
			for i, dim := range l.Sharding.Dims {
				starts = append(starts, l.Mesh.ShardIndex(d, dim.Axes)*q.Shape[i]/l.Sharding.Shards(i))
			}
			want = append(want, starts)
		}
		if d := cmp.Diff(want, a.Starts); d != "" {
			t.Errorf("%s over %v: -ours +JAX\n%s", q.Spec, q.Axes, d)
		}
	}
	back, _, err := specfmt.Parse(specfmt.PartitionSpec, l.Mesh, len(l.Sharding.Dims), a.Repr, diag.Position{})
	if err != nil {
		t.Errorf("JAX's %s: %v", a.Repr, err)
		return
	}
	if text, _, err := specfmt.Format(specfmt.PartitionSpec, &back); err != nil || text != q.Spec {
		t.Errorf("JAX prints %s as %s, which reads back as %s, %v", q.Spec, a.Repr, text, err)
	}
}
