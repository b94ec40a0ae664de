package report

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"autoshard/answer"
	"autoshard/plan"
)

// Where a plan chose its mesh, the report lists those that were tried beside it, and the proof speaks of that mesh alone.
func TestMeshes(t *testing.T) {
	p := layered()
	mesh := func(data, model int64) []answer.MeshAxis {
		return []answer.MeshAxis{{Name: "data", Size: data}, {Name: "model", Size: model}}
	}
	p.Meshes = []plan.TriedMesh{{Mesh: mesh(4, 2), Full: true, Fits: true, Seconds: 7e-3, PeakBytes: 3 << 29},
		{Mesh: mesh(2, 4), Fits: true, Seconds: 7.7e-3, PeakBytes: 1 << 30}, {Mesh: mesh(1, 8), Full: true, PeakBytes: 32 << 30}}
	want := `mesh            step time            memory  search
data=4,model=2       7 ms           1.5 GiB    full
data=2,model=4     7.7 ms +10.00 %    1 GiB   quick
data=1,model=8          -      needs 32 GiB    full
`
	if d := cmp.Diff(squeeze(want), squeeze(meshTable(p, false))); d != "" {
		t.Error(d)
	}
	text, proof := Plan(p, Options{}), "no plan on this mesh of the whole batch that computes nothing twice costs less than 6 ms"
	if !strings.Contains(text, proof) || !strings.Contains(text, "\nmesh ") {
		t.Errorf("the report says nothing of the mesh:\n%s", text)
	}
	for range meshRows {
		p.Meshes = append(p.Meshes, p.Meshes[1])
	}
	if got := meshTable(p, false); !strings.HasSuffix(got, "\n3 more meshes: --all\n") {
		t.Errorf("of %d meshes the page has\n%s", len(p.Meshes), got)
	}
}
