package main

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"autoshard"
	"autoshard/internal/diag"
	"autoshard/internal/lists"
	"autoshard/subaxis"
)

// words says in sentences how a plan cuts its model, what that costs, and beside what it was chosen.
func words(p *autoshard.Plan) string {
	var out []string
	for _, s := range []string{meshWords(p), batchWords(p), stateWords(p), trafficWords(p), baselineWords(p)} {
		if s != "" {
			out = append(out, "- "+s)
		}
	}
	return strings.Join(out, "\n") + "\n"
}

// meshWords says which mesh was chosen, and by how much.
func meshWords(p *autoshard.Plan) string {
	text := fmt.Sprintf("The mesh is %s of %d tried.", axesOf(p.Mesh), len(p.Meshes))
	if at := slices.IndexFunc(p.Meshes[1:], func(m autoshard.TriedMesh) bool { return m.Fits }); at >= 0 {
		next := p.Meshes[1+at]
		switch more := next.Seconds/p.Estimate.Seconds - 1; {
		case more < 0.001:
			text += fmt.Sprintf(" On %s, too, a step takes %s: of such the one with the fewest axes is taken.", axesOf(next.Mesh),
				diag.Seconds(next.Seconds))
		default:
			text += fmt.Sprintf(" The next best, %s, takes %.2g %% more.", axesOf(next.Mesh), 100*more)
		}
	}
	return text
}

// batchWords says how the inputs are cut that are new in every step.
func batchWords(p *autoshard.Plan) string {
	groups := shares(p, true)
	switch {
	case len(groups) == 0:
		return ""
	case len(groups) == 1 && groups[0].axes == "":
		return "Inputs that are new in every step are whole on every device."
	case len(groups) == 1:
		return fmt.Sprintf("Inputs that are new in every step are cut alike, along %s: each device has one of %d parts.", groups[0].axes,
			groups[0].parts)
	}
	return "Inputs that are new in every step are not cut alike: " + described(groups) + "."
}

// stateWords says how parameters and other state are cut, and what people call that.
func stateWords(p *autoshard.Plan) string {
	groups := shares(p, false)
	if len(groups) == 0 {
		return ""
	}
	batch := map[string]bool{}
	for _, g := range shares(p, true) {
		for _, axis := range g.list {
			batch[axis] = true
		}
	}
	text := "Of the bytes of parameters and other state " + described(groups) + "."
	with, apart := int64(0), int64(0)
	for _, g := range groups {
		if len(g.list) == 0 {
			continue
		}
		if slices.ContainsFunc(g.list, func(axis string) bool { return batch[axis] }) {
			with += g.bytes
		} else {
			apart += g.bytes
		}
	}
	if with > 0 && kind(p, "all_gather") > 0 {
		text += " Along axes of the batch it lies in blocks that are gathered where they are used, as in fully sharded data parallelism or ZeRO."
	}
	if apart > 0 {
		text += " Along other axes products are computed in parts, as in tensor parallelism."
	}
	if kind(p, "all_to_all") > 0 {
		text += " All-to-alls move values between cuts of different dimensions."
	}
	return text
}

// trafficWords says what a step waits for of collectives.
func trafficWords(p *autoshard.Plan) string {
	if len(p.Collectives) == 0 {
		return "Nothing is sent."
	}
	type group struct {
		name    string
		seconds float64
	}
	var groups []group
	for _, c := range p.Collectives {
		name := c.Kind + " along " + strings.Join(c.Axes, ",")
		at := slices.IndexFunc(groups, func(g group) bool { return g.name == name })
		if at < 0 {
			at = len(groups)
			groups = append(groups, group{name: name})
		}
		groups[at].seconds += c.Seconds
	}
	slices.SortStableFunc(groups, func(a, b group) int { return cmp.Compare(b.seconds, a.seconds) })
	const shown = 3
	parts := lists.Map(groups[:min(shown, len(groups))], func(g group) string {
		return fmt.Sprintf("%s %s", g.name, diag.Seconds(g.seconds))
	})
	return fmt.Sprintf("Of a step of %s, collectives take %s that nothing hides (%.2g %%): %s.", diag.Seconds(p.Estimate.Seconds),
		diag.Seconds(p.Estimate.CollectiveSeconds), 100*p.Estimate.CollectiveSeconds/p.Estimate.Seconds, strings.Join(parts, ", "))
}

// baselineWords says what data parallelism would be.
func baselineWords(p *autoshard.Plan) string {
	for _, b := range p.Baselines {
		switch {
		case b.Name != "data parallel" || b.Estimate.Seconds == 0:
		case !b.Fits:
			return fmt.Sprintf("Data parallelism alone would hold %s of %s a device and take %s.", diag.Bytes(b.Estimate.PeakBytes),
				diag.Bytes(p.Memory), diag.Seconds(b.Estimate.Seconds))
		default:
			return fmt.Sprintf("Data parallelism alone would hold %s of %s a device and take %s, %.2f times as long.",
				diag.Bytes(b.Estimate.PeakBytes), diag.Bytes(p.Memory), diag.Seconds(b.Estimate.Seconds), b.Estimate.Seconds/p.Estimate.Seconds)
		}
	}
	return ""
}

// share is what inputs that are cut along the same axes have of the bytes.
type share struct {
	axes  string
	list  []string
	parts int64
	bytes int64
	part  float64
}

// shares returns the inputs that are new in every step, or the others, by the axes that cut them; the largest share is first. Of others,
// those below a hundredth are left out; scalars count for nothing.
func shares(p *autoshard.Plan, fresh bool) (out []share) {
	all := int64(0)
	for i := range p.Inputs {
		x := &p.Inputs[i]
		if x.IsBatch() != fresh || x.WholeBytes <= 8 {
			continue
		}
		axes := strings.Join(x.Axes, ",")
		at := slices.IndexFunc(out, func(s share) bool { return s.axes == axes })
		if at < 0 {
			at = len(out)
			out = append(out, share{axes: axes, list: x.Axes, parts: x.WholeBytes / max(x.Bytes, 1)})
		}
		out[at].bytes += x.WholeBytes
		all += x.WholeBytes
	}
	for i := range out {
		out[i].part = float64(out[i].bytes) / float64(all)
	}
	slices.SortStableFunc(out, func(a, b share) int { return cmp.Compare(b.bytes, a.bytes) })
	const least = 0.01
	if fresh {
		return out
	}
	return slices.DeleteFunc(out, func(s share) bool { return s.part < least })
}

func described(list []share) string {
	return lists.Joined(list, func(s share) string {
		if s.axes == "" {
			return fmt.Sprintf("%.0f %% are whole", 100*s.part)
		}
		return fmt.Sprintf("%.0f %% lie along %s", 100*s.part, s.axes)
	})
}

// kind counts the collectives of a kind.
func kind(p *autoshard.Plan, name string) (n int) {
	for _, c := range p.Collectives {
		if c.Kind == name {
			n++
		}
	}
	return n
}

func axesOf(mesh []autoshard.MeshAxis) string { return lists.Joined(mesh, subaxis.Axis.String) }
