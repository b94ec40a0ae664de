package plan

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"

	"autoshard/answer"
	"autoshard/internal/diag"
	"autoshard/ir"
	"autoshard/program"
	"autoshard/subaxis"
)

// TriedMesh is a mesh on which a plan was looked for, with the figures of the best one found there. Quick searches do not look at budgets.
type TriedMesh struct {
	Mesh      []answer.MeshAxis `json:"mesh"`      // from major to minor
	Full      bool              `json:"full"`      // the search went to its end; else it was a first, quick one
	Fits      bool              `json:"fits"`      // within the memory limit
	Seconds   float64           `json:"seconds"`   // of a step
	PeakBytes int64             `json:"peakBytes"` // that a device holds; of the plan that needs least where none fits
}

// meshNames are what the axes of a mesh of so many axes are called, from major to minor.
var meshNames = [...][]string{{"data"}, {"data", "model"}, {"data", "fsdp", "model"}}

// mostMeshes bounds the meshes that are tried, and finalists those that are searched to the end. Of the time until a deadline, and of a
// budget of steps, the quick searches may take a part.
const (
	mostMeshes = 24
	finalists  = 4
	quickPart  = 0.4
)

// candidate is a mesh that is tried.
type candidate struct {
	axes  []subaxis.Axis
	rank  int // 0 is the simplest
	total int64
	peak  int64
	fits  bool
	kept  bool // budgets are
	full  bool
	given bool // the model declares it

	refused error // why there is no plan, where that is for the memory or the time
}

// meshSearch looks for the best mesh of some devices.
type meshSearch struct {
	Options
	late   context.Context
	source *answer.Source
	tried  []*candidate
	best   *choice // of the best mesh so far, nil while no plan fits
	chosen *candidate
}

// makeOnBestMesh makes a plan on the mesh of o.Devices devices on which a step is fastest. A quick search on each mesh decides on which of
// them plans are searched to the end.
func makeOnBestMesh(ctx, late context.Context, source *answer.Source, o Options) (*Plan, error) {
	s := &meshSearch{Options: o, late: late, source: source}
	meshes, err := o.meshes(ctx, source)
	if err != nil {
		return nil, err
	}
	if err := s.screen(ctx, meshes); err != nil {
		return nil, err
	}
	if err := s.search(ctx); err != nil {
		return nil, err
	}
	return s.finish(ctx)
}

// meshes returns the mesh that the model declares, or those that the hardware has a place for, the simplest first.
func (o *Options) meshes(ctx context.Context, source *answer.Source) ([][]subaxis.Axis, error) {
	m, _, err := source.Shardy(ctx, nil)
	if err != nil {
		return nil, err
	}
	if id, _, err := answer.CommonMesh(m, nil); err == nil {
		mesh := m.Mesh(id)
		if n := mesh.Devices(); n != o.Devices {
			return nil, diag.Invalid(diag.BadMesh, diag.Position{}, "the model declares the mesh %s of %d devices, the request asks for %d",
				answer.FormatAxes(mesh.Axes), n, o.Devices)
		}
		return [][]subaxis.Axis{nil}, nil
	}
	sizes, err := o.Hardware.OrDefault().MeshSizes(o.Devices, len(meshNames))
	if err != nil {
		return nil, err
	}
	var out [][]subaxis.Axis
	for _, list := range sizes[:min(len(sizes), mostMeshes)] {
		axes := make([]subaxis.Axis, len(list))
		for i, size := range list {
			axes[i] = subaxis.Axis{Name: meshNames[len(list)-1][i], Size: size}
		}
		out = append(out, axes)
	}
	return out, nil
}

// screen searches quickly on every mesh, if there are more than can be searched to the end. Meshes on which the pins have no meaning are
// left out.
func (s *meshSearch) screen(ctx context.Context, meshes [][]subaxis.Axis) error {
	for i, axes := range meshes {
		s.tried = append(s.tried, &candidate{axes: axes, rank: i, given: len(axes) == 0})
	}
	if len(meshes) <= finalists {
		return nil
	}
	ctx, cancel := s.part(ctx, quickPart)
	defer cancel()
	for i, x := range slices.Clone(s.tried) {
		if ctx.Err() != nil && s.best != nil {
			s.drop(x)
			continue
		}
		s.tell()
		o := s.Options
		o.Mesh, o.Progress = x.axes, nil
		if o.Steps > 0 {
			o.Steps = max(int64(float64(o.Steps)*quickPart)/int64(len(meshes)), 1)
		}
		share, cancel := s.part(ctx, 1/float64(len(meshes)-i))
		err := s.try(share, x, o, false)
		cancel()
		if err := s.pass(x, err); err != nil {
			return err
		}
	}
	return nil
}

// pass returns the error of a mesh unless it is that pins have no meaning there: others may do, if there are any.
func (s *meshSearch) pass(x *candidate, err error) error {
	if errors.Is(err, diag.ErrInvalid) {
		if s.drop(x); len(s.tried) > 0 {
			return nil
		}
	}
	return err
}

// drop leaves a mesh out.
func (s *meshSearch) drop(x *candidate) {
	s.tried = slices.DeleteFunc(s.tried, func(y *candidate) bool { return y == x })
}

// try searches on a mesh, to the end if that is wanted, and takes what it finds if that is better.
func (s *meshSearch) try(ctx context.Context, x *candidate, o Options, full bool) error {
	p, err := newPlanner(s.late, s.source, o)
	if err != nil {
		return err
	}
	p.screening = !full
	c, err := p.decide(ctx, s.late)
	x.axes, x.full = p.module.Mesh(p.mesh).Axes, full && ctx.Err() == nil
	if err != nil {
		if p.nearest != nil {
			x.peak = p.nearest.step.Peak
		}
		return err
	}
	if c.best == nil {
		x.peak = c.least.step.Peak
		return nil
	}
	c.best = c.thriftiest()
	step, kept := &c.best.step, c.within(c.best)
	if x.fits && (x.kept && !kept || x.kept == kept && step.Total() > x.total) { // the quick search was lucky
		return nil
	}
	x.fits, x.kept, x.total, x.peak = true, kept, step.Total(), step.Peak
	if kept && (s.chosen == nil || x == s.chosen || s.better(x, s.chosen)) {
		s.best, s.chosen = c, x
	}
	return nil
}

// rename calls the only axis of the best mesh as people do where it cuts no batch, unless the request or the model knows its name.
func (s *meshSearch) rename(ctx context.Context) error {
	x := s.chosen
	if x.given || len(x.axes) > 1 || len(s.Pins)+len(s.Forbidden) > 0 || s.best.cutsBatch() || ctx.Err() != nil {
		return nil
	}
	o := s.Options
	o.Mesh = []subaxis.Axis{{Name: "model", Size: x.axes[0].Size}}
	return s.try(ctx, x, o, true)
}

// cutsBatch says whether the best plan cuts an input of the batch.
func (c *choice) cutsBatch() bool {
	layouts := inputLayouts(c.best.annotated)
	return slices.ContainsFunc(batchInputs(c.module), func(v ir.ValueID) bool { return layouts[c.module.Index(v)].Shards() > 1 })
}

// better says whether a mesh is so much faster than another one that it is worth its axes, or as good and simpler.
func (s *meshSearch) better(x, than *candidate) bool {
	if x.rank < than.rank {
		return float64(x.total) <= float64(than.total)*(1+s.taste())
	}
	return float64(x.total) < float64(than.total)*(1-s.taste())
}

// search searches to the end on the best meshes, the simplest of them first. It fails as planning on the mesh whose plans need least memory
// does where nothing fits on any of them.
func (s *meshSearch) search(ctx context.Context) error {
	list := s.finalists()
	for i, x := range list {
		if ctx.Err() != nil && s.best != nil {
			s.tried = slices.DeleteFunc(s.tried, func(x *candidate) bool { return x.peak == 0 })
			return nil
		}
		o := s.Options
		o.Mesh = x.axes
		if o.Steps > 0 {
			o.Steps = max(int64(float64(o.Steps)*(1-quickPart))/int64(len(list)), 1)
		}
		share, cancel := s.part(ctx, 1/float64(len(list)-i))
		err := s.try(share, x, o, true)
		cancel()
		late := errors.Is(err, context.DeadlineExceeded) && ctx.Err() == nil // the time of this mesh alone is over
		switch {
		case late || errors.Is(err, diag.ErrInfeasible):
			x.refused, x.full = err, x.full && !x.fits // where budgets are broken what is known is that of the quick search
		default:
			if err := s.pass(x, err); err != nil {
				return err
			}
		}
	}
	if s.best == nil {
		if x := s.fastest(); x != nil {
			return fmt.Errorf("of %s, a step is fastest on %s: %w", diag.Count(len(s.tried), "mesh", "meshes"), answer.FormatAxes(x.axes),
				x.refused)
		}
		least := slices.MinFunc(list, func(a, b *candidate) int { return cmp.Compare(a.peak, b.peak) })
		return fmt.Errorf("of %s, %s needs the least memory: %w", diag.Count(len(s.tried), "mesh", "meshes"), answer.FormatAxes(least.axes),
			least.refused)
	}
	return s.rename(ctx)
}

// fastest returns the mesh with the fastest plan that fits, which breaks the budgets and was searched to the end; nil for none.
func (s *meshSearch) fastest() *candidate {
	s.sort()
	if x := s.tried[0]; x.fits && x.refused != nil {
		return x
	}
	return nil
}

// finalists returns the meshes on which quick searches found the fastest plans, or those that need the least memory, the simplest first.
func (s *meshSearch) finalists() []*candidate {
	s.sort()
	out := slices.Clone(s.tried[:min(len(s.tried), finalists)])
	slices.SortFunc(out, func(a, b *candidate) int { return cmp.Compare(a.rank, b.rank) })
	return out
}

// sort puts the best meshes first; those that are as good as equally fast are in the order of their ranks.
func (s *meshSearch) sort() {
	fastest := int64(0)
	for _, x := range s.tried {
		if x.fits && (fastest == 0 || x.total < fastest) {
			fastest = x.total
		}
	}
	class := func(x *candidate) int {
		switch {
		case !x.fits:
			return 2
		case float64(x.total) > float64(fastest)*(1+s.taste()):
			return 1
		}
		return 0
	}
	slices.SortStableFunc(s.tried, func(a, b *candidate) int {
		if c := cmp.Compare(class(a), class(b)); c != 0 {
			return c
		}
		switch class(a) {
		case 0:
			return cmp.Compare(a.rank, b.rank)
		case 1:
			return cmp.Or(cmp.Compare(a.total, b.total), cmp.Compare(a.rank, b.rank))
		}
		return cmp.Or(cmp.Compare(a.peak, b.peak), cmp.Compare(a.rank, b.rank))
	})
}

// finish puts the plan together, with the list of meshes and what was asked for.
func (s *meshSearch) finish(ctx context.Context) (*Plan, error) {
	plan, _, err := s.best.finish(ctx)
	if err != nil {
		return nil, err
	}
	s.sort()
	for _, x := range s.tried {
		t := TriedMesh{Mesh: x.axes, Full: x.full, Fits: x.fits, Seconds: float64(x.total) / program.Picoseconds, PeakBytes: x.peak}
		if x == s.chosen {
			plan.Meshes = slices.Insert(plan.Meshes, 0, t)
		} else {
			plan.Meshes = append(plan.Meshes, t)
		}
	}
	plan.Options.Steps = s.Steps
	plan.seal(s.source.Hash, &s.best.Hardware)
	return plan, nil
}

// tell reports that meshes are compared, and the best plan so far.
func (s *meshSearch) tell() {
	if s.Progress == nil {
		return
	}
	report := Progress{Stage: "meshes"}
	if s.chosen != nil {
		report.Seconds = float64(s.chosen.total) / program.Picoseconds
	}
	s.Progress(report)
}
