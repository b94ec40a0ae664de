// Package experts reads the exported models of the shared folder, with the shardings that an experienced engineer would write for
// them. Measurements and tests plan for both.
package experts

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"autoshard"
	"autoshard/benchmarks/site"
	"autoshard/cost"
	"autoshard/internal/diag"
	"autoshard/ir"
	"autoshard/ir/mlir"
	"autoshard/ir/specfmt"
	"autoshard/subaxis"
)

// Model is an entry of the manifest of models, with its expert plans.
type Model struct {
	Name      string           `json:"name"`
	File      string           `json:"file"`
	Inputs    string           `json:"inputs_file"`   // "" where none are recorded
	Expected  string           `json:"expected_file"` // "" where none is recorded
	Tolerance float64          `json:"tolerance"`
	Ops       int              `json:"ops"`
	Manual    bool             `json:"manual"`    // the body of a shard_map
	Annotated bool             `json:"annotated"` // the program itself has shardings
	Meshes    [][]subaxis.Axis `json:"meshes"`
	Plans     []Plan           `json:"-"`
	Twins     []Plan           `json:"-"` // those of models that are this one with shardings in the text, of activations too

	dir string
}

// Plan is what an expert wrote: the shardings of the inputs and results of a model on a mesh.
type Plan struct {
	Name    string         `json:"name"`
	Mesh    []subaxis.Axis `json:"mesh"`
	Args    []string       `json:"args"`    // in Shardy's text form
	Results []*string      `json:"results"` // nil is open

	twin *Model // whose text has the shardings; nil where Args and Results have them
}

// Shared returns the models of the shared folder.
func Shared() ([]Model, error) {
	manifests, err := site.Shared("models/manifest.json")
	if err != nil {
		return nil, err
	}
	return Read(filepath.Dir(manifests[0]))
}

// Matching returns those of them whose whole names a regular expression matches.
func Matching(expr string) ([]Model, error) {
	wanted, err := regexp.Compile("^(" + expr + ")$")
	if err != nil {
		return nil, fmt.Errorf("-models: %w", err)
	}
	models, err := Shared()
	var out []Model // the others stay where they are: plans point to their twins among them
	for _, m := range models {
		if wanted.MatchString(m.Name) {
			out = append(out, m)
		}
	}
	if err == nil && len(out) == 0 {
		err = fmt.Errorf("-models: no shared model is called %q; .* stands for any characters", expr)
	}
	return out, err
}

// Read returns the models of a folder in the order of its manifest.
func Read(dir string) ([]Model, error) {
	var models []Model
	var plans map[string][]Plan
	if err := read(filepath.Join(dir, "manifest.json"), &models); err != nil {
		return nil, err
	}
	if err := read(filepath.Join(dir, "expert_plans.json"), &plans); err != nil {
		return nil, err
	}
	for i := range models {
		models[i].dir = dir
		models[i].Plans = plans[models[i].Name]
	}
	for i := range models {
		if of := twinOf(models, &models[i]); of != nil {
			of.Twins = append(of.Twins, Plan{Name: models[i].Name, Mesh: models[i].Meshes[0], twin: &models[i]})
		}
	}
	return models, nil
}

func read(file string, into any) error {
	src, err := os.ReadFile(file)
	if err != nil {
		return err
	}
	return json.Unmarshal(src, into)
}

// twinOf returns the model that another one is with shardings in its text, nil if it is none of those: its name begins with
// the model's.
func twinOf(models []Model, m *Model) *Model {
	var of *Model
	for i := range models {
		base := &models[i]
		is := m.Annotated && !m.Manual && !base.Annotated && strings.HasPrefix(m.Name, base.Name+"_")
		if is && (of == nil || len(base.Name) > len(of.Name)) {
			of = base
		}
	}
	return of
}

// Path returns the path of a file of the model's folder.
func (m *Model) Path(file string) string { return filepath.Join(m.dir, file) }

// Text returns the program, unpacked.
func (m *Model) Text() ([]byte, error) { return site.ReadText(m.Path(m.File)) }

// ExpertMeshes returns the meshes of the plans, each once.
func (m *Model) ExpertMeshes() [][]subaxis.Axis {
	var meshes [][]subaxis.Axis
	for _, p := range m.Plans {
		if !slices.ContainsFunc(meshes, func(mesh []subaxis.Axis) bool { return slices.Equal(mesh, p.Mesh) }) {
			meshes = append(meshes, p.Mesh)
		}
	}
	return meshes
}

// PlansOn returns the plans for a mesh, those of twins last.
func (m *Model) PlansOn(mesh []subaxis.Axis) []Plan {
	return slices.DeleteFunc(slices.Concat(m.Plans, m.Twins), func(p Plan) bool { return !slices.Equal(p.Mesh, mesh) })
}

// Annotate returns the text of a model with the shardings of a plan.
func (p *Plan) Annotate(ctx context.Context, text []byte) ([]byte, error) {
	if p.twin != nil {
		return p.twin.Text()
	}
	m, err := mlir.Parse(ctx, text, mlir.Options{})
	if err != nil {
		return nil, err
	}
	mesh := m.AddMesh("mesh", subaxis.Mesh{Axes: p.Mesh}, nil, 0)
	f := m.MainFunc()
	for i, v := range m.BlockArgs(f.Body) {
		s, err := parse(m, mesh, len(m.Shape(v)), p.Args[i])
		if err != nil {
			return nil, err
		}
		m.SetSharding(v, s)
	}
	for i, spec := range p.Results {
		if spec == nil {
			continue
		}
		if f.ResultShardings[i], err = parse(m, mesh, len(m.TypeOf(f.ResultTypes[i]).Dims), *spec); err != nil {
			return nil, err
		}
	}
	return mlir.Write(ctx, m, mlir.PrintOptions{})
}

// EachPlan visits the plans of models. An error names its plan.
func EachPlan(models []Model, visit func(m *Model, p *Plan) error) error {
	for i := range models {
		m := &models[i]
		for p := range m.Plans {
			if err := visit(m, &m.Plans[p]); err != nil {
				return fmt.Errorf("%s, %s: %w", m.Name, m.Plans[p].Name, err)
			}
		}
	}
	return nil
}

// AsAnnotated returns the plan of the shardings of an expert's plan, propagated and lowered without a search, by a caller who gives up no
// inputs.
func (m *Model) AsAnnotated(ctx context.Context, p *Plan, hw cost.Hardware) (*autoshard.Plan, error) {
	text, err := m.Text()
	if err != nil {
		return nil, err
	}
	if text, err = p.Annotate(ctx, text); err != nil {
		return nil, err
	}
	source, err := mlir.Parse(ctx, text, mlir.Options{})
	if err != nil {
		return nil, err
	}
	for i, attrs := range source.MainFunc().ArgAttrs {
		source.MainFunc().ArgAttrs[i] = attrs.Without(ir.AliasAttr, ir.DonorAttr)
	}
	if text, err = mlir.Write(ctx, source, mlir.PrintOptions{}); err != nil {
		return nil, err
	}
	model, err := autoshard.ReadModel(ctx, m.Name, text)
	if err != nil {
		return nil, err
	}
	return autoshard.PlanAsAnnotated(ctx, model, autoshard.PlanOptions{Hardware: hw, Memory: 1 << 62})
}

func parse(m *ir.Module, mesh ir.MeshID, rank int, text string) (ir.ShardingID, error) {
	l, _, err := specfmt.Parse(specfmt.Sdy, m.Mesh(mesh), rank, text, diag.Position{})
	if err != nil {
		return 0, err
	}
	s := l.Sharding
	s.Mesh = mesh
	return m.InternSharding(s), nil
}
