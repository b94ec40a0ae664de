package plan

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"

	"autoshard/answer"
	"autoshard/cost/estimate"
	"autoshard/internal/lint"
	"autoshard/internal/parallel"
	"autoshard/ir"
	"autoshard/ir/mlir"
	"autoshard/ir/modeljson"
	"autoshard/program"
	"autoshard/search"
)

// plan puts the answer together, its program and a simulated step beside what it says of them. The bound of a search does not hold for
// programs that it has not seen, because something was moved out of loops that these only read. It fails with the context's error where
// that ends.
func (p *planner) plan(ctx context.Context, chosen *lowered, baselines []baseline, certificate Certificate, gains []Gain) (*Plan, error) {
	if chosen.rewritten.FromOutside {
		certificate.Bound, certificate.Gap, certificate.Status = 0, 1, search.Feasible.String()
		p.found.Add(lint.NoBound, 0, "", "no lower bound is known: what a loop reads from outside it is moved once, before the loop")
	}
	p.report("write", certificate.Cost, certificate.Bound)
	if p.shown != nil {
		baselines = p.shown
	}
	plan := &Plan{Certificate: certificate, Microbatches: p.parts, Rewrites: gains, Meshes: []TriedMesh{}}
	for _, b := range baselines {
		plan.Baselines = append(plan.Baselines, b.describe(p.Memory))
	}
	var text []byte
	var line *estimate.Timeline
	var errs [3]error
	parallel.Each(len(errs), func(i int) {
		switch i {
		case 0:
			errs[i] = p.fill(ctx, plan, chosen)
		case 1:
			text, errs[i] = writeProgram(ctx, chosen)
		case 2:
			line, errs[i] = p.model.Simulate(ctx, chosen.program, program.DefaultAhead)
		}
	})
	if err := errors.Join(errs[:]...); err != nil {
		return nil, err
	}
	plan.Program = string(text)
	plan.Timeline = timelineOf(program.OverlapOf(chosen.program, line, program.DefaultAhead, plan.Estimate.Seconds))
	plan.seal(p.source.Hash, &p.Hardware)
	return plan, nil
}

// writeProgram returns the text of a program. It keeps the places of the model's ops, which messages and emitted programs name.
func writeProgram(ctx context.Context, chosen *lowered) ([]byte, error) {
	return mlir.Write(ctx, chosen.explicit, mlir.PrintOptions{DebugInfo: true})
}

// fill adds to a plan what it says of its program.
func (p *planner) fill(ctx context.Context, plan *Plan, chosen *lowered) (err error) {
	plan.Schema, plan.Model, plan.Mesh = Schema, p.source.Name, p.module.Mesh(p.mesh).Axes
	plan.Hardware, plan.Memory, plan.Dropped = p.Hardware.Name, p.Memory, append([]string{}, p.source.Dropped...)
	plan.Inputs, plan.Outputs = answer.Tensors(chosen.annotated, answer.Written(p.module, chosen.annotated))
	for i, arg := range p.state {
		if arg >= 0 {
			plan.Outputs[i].Replaces = &arg
		}
	}
	for _, arg := range batchInputs(p.module) {
		if t := &plan.Inputs[p.module.Index(arg)]; t.Role == "" {
			t.Role = modeljson.BatchRole
		}
	}
	plan.Estimate = program.EstimateOf(chosen.program, &chosen.step)
	plan.Collectives, plan.Merged = describeCollectives(chosen), chosen.merging
	if plan.Recomputed, err = describeRecomputed(ctx, p.model, chosen.explicit, p.mesh); err != nil {
		return err
	}
	if err := p.finding(ctx, chosen); err != nil {
		return err
	}
	plan.Findings = p.found.Sorted()
	p.record(plan, chosen)
	return nil
}

// finding notes what is to be said of the chosen program.
func (p *planner) finding(ctx context.Context, chosen *lowered) error {
	p.found.Adopt(lint.LeftWhole(p.source.Module, p.module.Mesh(p.mesh).Axes))
	priced := findings{Findings: answer.Findings{Module: chosen.program.Module}}
	priced.prices(chosen.program)
	p.found.Join(&priced.Findings)
	p.found.whole()
	p.separate(chosen)
	return p.found.gathered(ctx, chosen)
}

func describeCollectives(l *lowered) []Collective {
	m := l.program.Module
	out := make([]Collective, 0, len(l.program.Collectives))
	for i := range l.program.Collectives {
		c := &l.program.Collectives[i]
		out = append(out, Collective{Kind: c.Kind.String(), Axes: answer.FormatRefs(&l.program.Mesh, c.Axes),
			Groups: answer.FormatGroups(&l.program.Mesh, c.Members), Type: operandType(m, c.Op), Count: c.Runs, Bytes: c.TotalBytes(),
			Seconds: float64(l.step.Collectives[i]) / program.Picoseconds, Source: answer.Scoped(m, c.Source)})
	}
	return out
}

// operandType returns the type of a collective's operand, and how many more it has.
func operandType(m *ir.Module, op ir.OpID) string {
	t := m.ValueType(m.Operand(op, 0))
	name := answer.FormatType(t, t.Dims)
	if more := m.NumResults(op) - 1; more > 0 {
		return fmt.Sprintf("%s and %d more", name, more)
	}
	return name
}

// JSON returns the bytes of plan.json: the same plan gives the same bytes. The program, most of them, stands last; it is written there at
// once, as indenting what is around it would look at every character of it.
func (p *Plan) JSON() []byte {
	head := *p
	head.Program = ""
	var out bytes.Buffer
	out.Grow(len(p.Program) + len(p.Program)/4)
	e := encoder(&out)
	e.SetIndent("", "  ")
	encode(e, &head)
	const end = "\"\n}\n"
	out.Truncate(out.Len() - len(end))
	encodeText(&out, p.Program)
	out.WriteString(end)
	return out.Bytes()
}

// encodeText writes what stands between the quotes of a JSON string, some lines at a time: buffers for all of a program may be large.
func encodeText(out *bytes.Buffer, text string) {
	const least = 64 << 10
	var quoted bytes.Buffer
	for e := encoder(&quoted); text != ""; quoted.Reset() {
		piece := text
		start := min(least, len(text))
		if end := strings.IndexByte(text[start:], '\n'); end >= 0 {
			piece = text[:start+end+1]
		}
		encode(e, piece)
		out.Write(quoted.Bytes()[len(`"`) : quoted.Len()-len("\"\n")])
		text = text[len(piece):]
	}
}

// encoder writes characters of types and of names like <lambda> as they are.
func encoder(w io.Writer) *json.Encoder {
	e := json.NewEncoder(w)
	e.SetEscapeHTML(false)
	return e
}

func encode(e *json.Encoder, value any) {
	if err := e.Encode(value); err != nil {
		panic(err) // a Plan has no values that JSON lacks
	}
}
