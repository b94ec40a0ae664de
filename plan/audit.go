package plan

import (
	"context"
	"fmt"
	"math"
	"slices"

	"autoshard/answer"
	"autoshard/cost"
	"autoshard/cost/estimate"
	"autoshard/internal/diag"
	"autoshard/microbatch"
	"autoshard/program"
)

// AuditSchema identifies the JSON form of an Audit.
const AuditSchema = "autoshard.planaudit/v1"

// Audit is what was found by working out again what a plan says.
type Audit struct {
	Schema string  `json:"schema"`
	Plan   string  `json:"plan"`   // name of the model
	Passed bool    `json:"passed"` // no item has faults
	Items  []Point `json:"items"`
}

// Point is one thing that was worked out again.
type Point struct {
	Name   string   `json:"name"`           // hashes, program, shardings, prices, certificate, model
	Note   string   `json:"note,omitempty"` // what was compared, or why nothing could be
	Faults []string `json:"faults"`         // what is otherwise than the plan says
}

// Evidence is what a plan is worked out from again.
type Evidence struct {
	Hardware *cost.Hardware // that it was priced with; nil where it is not known
	Model    string         // hash of the model's file now; "" where it is not known
}

// Check works out again what a plan says: hashes, that its program is legal and has the inputs, outputs and shardings that are listed,
// prices of every collective and of a step, and that its certificate agrees with them. Faults are no error: errors are the context's.
func (p *Plan) Check(ctx context.Context, e Evidence) (audit *Audit, err error) {
	defer diag.Recover("check", &err)
	audit = &Audit{Schema: AuditSchema, Plan: p.Model, Items: []Point{p.checkHashes(e), p.checkModel(e)}}
	for _, check := range []func(context.Context, Evidence) (Point, error){p.checkProgram, p.checkPrices} {
		item, err := check(ctx, e)
		if ctx.Err() != nil {
			return nil, ctx.Err()
		}
		if err != nil {
			item.fault("%v", err)
		}
		audit.Items = append(audit.Items, item)
	}
	audit.Items = append(audit.Items, p.checkCertificate())
	audit.Passed = !slices.ContainsFunc(audit.Items, func(i Point) bool { return len(i.Faults) > 0 })
	return audit, nil
}

func point(name, note string) Point { return Point{Name: name, Note: note, Faults: []string{}} }

func (i *Point) fault(format string, args ...any) {
	i.Faults = append(i.Faults, fmt.Sprintf(format, args...))
}

// same notes a fault where what a plan says is not what was found.
func (i *Point) same(what string, says, found any) {
	if s, f := fmt.Sprint(says), fmt.Sprint(found); s != f {
		i.fault("%s is %s in the plan, and %s when it is worked out", what, s, f)
	}
}

func (p *Plan) checkHashes(e Evidence) Point {
	item := point("hashes", "of the plan and its options")
	for _, name := range p.Unknown {
		item.fault("%s is no field that this version knows: no hash of this version covers it", name)
	}
	if got := p.contentHash(); got != p.Hashes.Plan {
		item.fault("the plan was changed after it was made: its hash is %s, not %s", got, p.Hashes.Plan)
	}
	if got := p.optionsHash(); got != p.Hashes.Options {
		item.fault("the options were changed after the plan was made: their hash is %s, not %s", got, p.Hashes.Options)
	}
	if e.Hardware != nil && hashOf(e.Hardware) != p.Hashes.Hardware {
		item.fault("the hardware profile %s is not the one that the plan was priced with: its hash is %s, not %s", e.Hardware.Name,
			hashOf(e.Hardware), p.Hashes.Hardware)
	}
	return item
}

func (p *Plan) checkModel(e Evidence) Point {
	item := point("model", "the file is the one that was planned")
	switch e.Model {
	case "":
		item.Note = "not compared: the file is not there"
	case p.Hashes.Model:
	default:
		item.fault("%s is another program than the one that was planned: its hash is %s, not %s", p.Options.Model.File, e.Model, p.Hashes.Model)
	}
	return item
}

// checkProgram compares the lists of a plan with its program.
func (p *Plan) checkProgram(ctx context.Context, _ Evidence) (Point, error) {
	item := point("program", "legal, and of the inputs, outputs and shardings that are listed")
	m, mesh, err := program.Parse(ctx, p.Program)
	if err != nil {
		return item, err
	}
	item.same("the mesh", answer.FormatAxes(p.Mesh), answer.FormatAxes(m.Mesh(mesh).Axes))
	inputs, outputs := answer.Tensors(m, func(int, int) bool { return false })
	item.tensors("input", p.Inputs, inputs)
	item.tensors("output", p.Outputs, outputs)
	for i := range p.Outputs {
		if r := p.Outputs[i].Replaces; r != nil && (*r < 0 || *r >= len(p.Inputs)) {
			item.fault("output %s takes the place of input %d, which is none", p.Outputs[i].Name, *r)
		}
	}
	return item, nil
}

// tensors compares inputs or outputs with those of a program. Roles are the model's alone, and so is what its user wrote.
func (i *Point) tensors(kind string, says, found []answer.Tensor) {
	if len(says) != len(found) {
		i.fault("the plan lists %d %ss, its program has %d", len(says), kind, len(found))
		return
	}
	for n := range says {
		s, f := says[n], found[n]
		f.Role, f.User, f.Replaces, f.RefinedSpec = s.Role, s.User, s.Replaces, s.RefinedSpec
		if hashOf(s) != hashOf(f) {
			i.fault("%s %s is %s as %s in blocks of %s in the plan, and %s is %s as %s in blocks of %s in its program", kind, s.Name, s.Type,
				s.Spec, s.LocalType, f.Name, f.Type, f.Spec, f.LocalType)
		}
	}
}

// checkPrices works out every collective and the step again.
func (p *Plan) checkPrices(ctx context.Context, e Evidence) (Point, error) {
	item := point("prices", "of every collective and of a step")
	if e.Hardware == nil || hashOf(e.Hardware) != p.Hashes.Hardware {
		item.Note = "not compared: the hardware profile is not the one that the plan was priced with"
		return item, nil
	}
	found, err := p.reprice(ctx, e.Hardware)
	if err != nil {
		return item, err
	}
	item.same("the step", fmt.Sprintf("%+v", p.Estimate), fmt.Sprintf("%+v", found.Estimate))
	item.same("what is made again", fmt.Sprintf("%+v", p.Recomputed), fmt.Sprintf("%+v", found.Recomputed))
	item.same("the number of microbatches", p.Microbatches, found.Microbatches)
	item.same("the timeline", fmt.Sprintf("%+v", p.Timeline), fmt.Sprintf("%+v", found.Timeline))
	if len(p.Collectives) != len(found.Collectives) {
		item.fault("the plan lists %d collectives, its program has %d", len(p.Collectives), len(found.Collectives))
		return item, nil
	}
	for i := range p.Collectives {
		item.same(fmt.Sprintf("collective %d", i), fmt.Sprintf("%+v", p.Collectives[i]), fmt.Sprintf("%+v", found.Collectives[i]))
	}
	return item, nil
}

// reprice prices the program of a plan on a hardware.
func (p *Plan) reprice(ctx context.Context, hardware *cost.Hardware) (*Plan, error) {
	m, mesh, err := program.Parse(ctx, p.Program)
	if err != nil {
		return nil, err
	}
	model, err := estimate.New(*hardware, m.Mesh(mesh).Mesh)
	if err != nil {
		return nil, err
	}
	recomputed, err := describeRecomputed(ctx, model, m, mesh)
	if err != nil {
		return nil, err
	}
	device, err := program.PerDevice(ctx, m, mesh)
	if err != nil {
		return nil, err
	}
	step, err := model.Program(ctx, device)
	if err != nil {
		return nil, err
	}
	out := &Plan{Recomputed: recomputed, Microbatches: microbatch.Count(m),
		Estimate: program.EstimateOf(device, &step), Collectives: describeCollectives(&lowered{program: device, step: step})}
	line, err := model.Simulate(ctx, device, program.DefaultAhead)
	if err != nil {
		return nil, err
	}
	out.Timeline = timelineOf(program.OverlapOf(device, line, program.DefaultAhead, out.Estimate.Seconds))
	return out, nil
}

// checkCertificate compares the certificate with the prices.
func (p *Plan) checkCertificate() Point {
	item := point("certificate", "agrees with the step, the memory limit and budgets")
	c := &p.Certificate
	item.same("the cost", c.Cost, int64(math.Round(p.Estimate.Seconds*program.Picoseconds)))
	if c.Bound < 0 || c.Bound > c.Cost {
		item.fault("the bound is %d, not between 0 and the cost, %d", c.Bound, c.Cost)
	}
	gap := 0.0
	if c.Cost > 0 {
		gap = float64(c.Cost-c.Bound) / float64(c.Cost)
	}
	item.same("the gap", c.Gap, gap)
	if c.Scope != "" { // versions before it had no such field
		item.same("what the bound is about", c.Scope, p.Scope())
	}
	below := c.Bound == c.Cost && len(p.Recomputed) > 0 // what is made again may save time, so that the bound proves nothing
	if c.Optimal() != (c.Bound == c.Cost) && !below {
		item.fault("the status is %s, the cost %d and the bound %d", c.Status, c.Cost, c.Bound)
	}
	devices := int64(1)
	for _, a := range p.Mesh {
		devices *= a.Size
	}
	for i := range p.Options.Budgets {
		b := &p.Options.Budgets[i]
		if sent, _ := b.sends(p.Collectives, devices); sent > b.Bytes {
			item.fault("a step sends %s, and the budget `%s` has %s", diag.Bytes(sent), b, diag.Bytes(b.Bytes))
		}
	}
	if p.Estimate.PeakBytes > p.Memory {
		item.fault("a device holds %s, and may hold %s", diag.Bytes(p.Estimate.PeakBytes), diag.Bytes(p.Memory))
	}
	return item
}
