package plan

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"autoshard/answer"
	"autoshard/cost/estimate"
	"autoshard/internal/diag"
	"autoshard/ir"
	"autoshard/ir/modeljson"
	"autoshard/ir/names"
	"autoshard/shardmap"
	"autoshard/subaxis"
)

// memoryError is the error of class diag.ErrInfeasible that no plan fits: by how much the one that needs least misses the
// limit, how far below it none can be, what it holds at its peak, and what would help.
func (p *planner) memoryError(ctx context.Context, least *lowered, bound int64, relaxations []string) error {
	if err := shardmap.LowerAxes(ctx, least.program); err != nil { // names ops as the program that runs does
		return err
	}
	need := least.step.Peak
	err := p.noneFits(need)
	switch {
	case bound == 0: // nothing was searched
	case least.again > 0:
		err = err.WithNote(diag.Position{}, "no plan of those that were searched, which compute nothing twice, can need less than %s",
			diag.Bytes(bound))
		err = err.WithNote(diag.Position{}, "%s made again for that: `--without recompute-activations` says what is needed otherwise",
			diag.Count(least.again, "value is", "values are"))
	case bound < need:
		err = err.WithNote(diag.Position{}, "no plan of those that were searched can need less than %s", diag.Bytes(bound))
	default:
		err = err.WithNote(diag.Position{}, "no plan of those that were searched needs less")
	}
	for _, line := range relaxations {
		err = err.WithNote(diag.Position{}, "%s", line)
	}
	h := p.holdings(least.program)
	for _, line := range h.lines() {
		err = err.WithNote(diag.Position{}, "%s", line)
	}
	for _, line := range p.help(h, need) {
		err = err.WithNote(diag.Position{}, "%s", line)
	}
	return err
}

// noneFits says that no plan does, and how much the one needs that needs least.
func (p *planner) noneFits(need int64) *diag.Error {
	return diag.Infeasible(diag.MemoryLimit, diag.Position{},
		"no plan found that fits in %s per device; the smallest limit known to work is %s, %s more",
		diag.Bytes(p.Memory), diag.Bytes(need), diag.Bytes(need-p.Memory))
}

// holdings are the values that a device holds at the peak, in groups.
type holdings struct {
	program *shardmap.Program
	list    []estimate.Held
	groups  []holding
	loose   int64 // bytes of inputs that results replace, but that are not donated
}

// holding is a group of values: inputs of one role, or what is computed.
type holding struct {
	name    string
	bytes   int64
	largest []string
}

const computed = "computed values"

// shownHeld bounds the values of a group that are named.
const shownHeld = 3

// holdings groups what a program holds at its peak, the largest group first.
func (p *planner) holdings(program *shardmap.Program) *holdings {
	m := program.Module
	h := &holdings{program: program, list: estimate.Peak(program)}
	main := program.Main
	args := names.Args(m, main)
	replaced := map[int]bool{}
	for _, arg := range p.state {
		replaced[arg] = true
	}
	index := map[string]int{}
	for _, x := range h.list {
		group, name := computed, p.madeBy(m, x.Value)
		if i, ok := inputOf(m, main, x.Value); ok {
			attrs := m.Func(main).ArgAttrs[i]
			group, name = answer.RoleName(attrs.Str(modeljson.RoleAttr), replaced[i]), args.Names[i]
			if replaced[i] && attrs.Get("tf.aliasing_output") == nil && !attrs.Bool("jax.buffer_donor") {
				h.loose += x.Bytes
			}
		}
		at, ok := index[group]
		if !ok {
			at = len(h.groups)
			index[group] = at
			h.groups = append(h.groups, holding{name: group})
		}
		g := &h.groups[at]
		if g.bytes += x.Bytes; len(g.largest) < shownHeld {
			g.largest = append(g.largest, fmt.Sprintf("%s %s", name, diag.Bytes(x.Bytes)))
		}
	}
	slices.SortStableFunc(h.groups, func(a, b holding) int { return cmp.Compare(b.bytes, a.bytes) })
	return h
}

// inputOf returns which input of the main function a value is.
func inputOf(m *ir.Module, main ir.FuncID, v ir.ValueID) (int, bool) {
	if m.DefiningOp(v) != 0 || m.ArgBlock(v) != m.Func(main).Body {
		return 0, false
	}
	return m.Index(v), true
}

// madeBy names a computed value by the op that makes it and its place.
func (p *planner) madeBy(m *ir.Module, v ir.ValueID) string {
	op := m.OpOf(v)
	name := fmt.Sprintf("`%s` %s", m.OpName(op), answer.FormatType(m.ValueType(v), m.Shape(v)))
	if at := cmp.Or(answer.Line(m, m.OpLoc(op)), m.OpPos(op).String()); at != "" {
		name += " (" + at + ")"
	}
	return name
}

// lines say what each group holds.
func (h *holdings) lines() []string {
	var out []string
	for _, g := range h.groups {
		out = append(out, fmt.Sprintf("%s of it are %s, the largest %s", diag.Bytes(g.bytes), g.name, strings.Join(g.largest, ", ")))
	}
	return out
}

// help says what would lower the need: more devices along the axis that cuts most, donation, and recomputation.
func (p *planner) help(h *holdings, need int64) []string {
	out := []string{fmt.Sprintf("`--memory %s` has a plan", atLeast(need))}
	if axis, saved := h.bestAxis(); saved > 0 {
		out = append(out, fmt.Sprintf("twice the devices along %q would save up to %s of the inputs", axis, diag.Bytes(saved)))
	}
	if h.loose > 0 {
		out = append(out, fmt.Sprintf("results replace inputs of %s that are not donated: `jax.jit(f, donate_argnums=…)` would save up to that",
			diag.Bytes(h.loose)))
	}
	if h.groups[0].name == computed {
		out = append(out, "most is computed: a smaller batch has smaller values")
	}
	return out
}

// bestAxis returns the axis along which twice the devices would halve most of the inputs at the peak, and the bytes saved.
func (h *holdings) bestAxis() (name string, saved int64) {
	m, mesh := h.program.Module, &h.program.Mesh
	for a, axis := range mesh.Axes {
		bytes := int64(0)
		for _, x := range h.list {
			i, ok := inputOf(m, h.program.Main, x.Value)
			if ok && takesTwice(&h.program.Inputs[i], int32(a)) {
				bytes += x.Bytes / 2
			}
		}
		if bytes > saved {
			name, saved = axis.Name, bytes
		}
	}
	return name, saved
}

// takesTwice says whether a dimension of an input that is cut along an axis could be cut into twice the blocks.
func takesTwice(p *shardmap.Port, axis int32) bool {
	for d, refs := range p.Layout.Dims {
		uses := slices.ContainsFunc(refs, func(r subaxis.Ref) bool { return r.Axis == axis })
		if uses && p.Dims[d]%(2*subaxis.Product(refs)) == 0 {
			return true
		}
	}
	return false
}

// atLeast returns a size of at most two decimals and a unit that is not less than n, as --memory reads it.
func atLeast(n int64) string {
	unit, name := int64(1), "B"
	for _, next := range []string{"KiB", "MiB", "GiB", "TiB"} {
		if n < 1024*unit {
			break
		}
		unit, name = unit*1024, next
	}
	hundredths := n / unit * 100
	rest := n % unit * 100
	hundredths += (rest + unit - 1) / unit
	whole := strconv.FormatInt(hundredths/100, 10)
	if cents := hundredths % 100; cents > 0 {
		whole += strings.TrimRight(fmt.Sprintf(".%02d", cents), "0")
	}
	return whole + name
}
