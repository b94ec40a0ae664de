package report

import (
	"cmp"
	"fmt"

	"github.com/jedib0t/go-pretty/v6/table"

	"autoshard/answer"
	"autoshard/internal/diag"
	"autoshard/plan"
)

// outputTable leaves out results that take the place of inputs and are cut like them: the state of the next step.
func outputTable(p *plan.Plan, all bool) string {
	if all {
		return tensorTable("output", p.Outputs, outputRows, true)
	}
	var own []answer.Tensor
	state := 0
	for _, t := range p.Outputs {
		if t.Replaces != nil && p.Inputs[*t.Replaces].Spec == t.Spec {
			state++
		} else {
			own = append(own, t)
		}
	}
	out := ""
	if len(own) > 0 {
		out = tensorTable("output", own, outputRows, false)
	}
	if state > 0 {
		out += fmt.Sprintf("%s the place of inputs and %s cut like them\n", diag.Count(state, "output takes", "outputs take"),
			diag.Plural(state, "is", "are"))
	}
	return out
}

// tensorTable lists inputs or outputs, as kind says: in the program's order where all are asked for or few, otherwise
// folded and largest first. A star marks what the user wrote.
func tensorTable(kind string, tensors []answer.Tensor, rows int, all bool) string {
	all = all || len(tensors) <= rows
	families := page(tensors)
	if all {
		families = single(tensors)
		rows = len(families)
	}
	t := newTable(4)
	t.AppendHeader(table.Row{kind, "type", "sharding", "block", "per device"})
	written := false
	rest, restBytes := 0, int64(0)
	for i, f := range families {
		x := &tensors[f.members[0]]
		perDevice := x.Bytes * int64(len(f.members))
		if i >= rows {
			rest += len(f.members)
			restBytes += perDevice
			continue
		}
		spec := cmp.Or(x.Spec, "-")
		if x.User {
			spec, written = spec+" *", true
		}
		t.AppendRow(table.Row{f.label(), x.Type, spec, x.LocalType, diag.Bytes(perDevice)})
	}
	out := t.Render() + "\n"
	if written {
		out += "* the user's sharding\n"
	}
	if rest > 0 {
		out += fmt.Sprintf("%s, %s per device: --all\n", diag.Count(rest, "more "+kind, "more "+kind+"s"), diag.Bytes(restBytes))
	}
	return out
}

// single makes a family of every value, in the program's order.
func single(tensors []answer.Tensor) []family {
	out := make([]family, len(tensors))
	for i := range tensors {
		out[i] = family{name: tensors[i].Name, members: []int{i}, layers: 1, bytes: tensors[i].WholeBytes}
	}
	return out
}
