package propagate_test

import (
	"fmt"
	"slices"
	"strings"

	"autoshard/subaxis"
)

// attributes returns the attributes of an operation: perhaps shardings of its results, and perhaps a user's rule.
func (g *generator) attributes(name string, operands []value, results []shape) string {
	var list []string
	if len(results) > 0 && g.chance(g.features.density) {
		list = append(list, "sdy.sharding = "+g.perValue(results))
	}
	if g.features.rules && len(operands)+len(results) > 0 && (g.chance(6) || name == "stablehlo.custom_call" && g.chance(2)) {
		if rule := g.rule(shapesOf(operands), results); rule != "" {
			list = append(list, "sdy.sharding_rule = "+rule)
		}
	}
	if len(list) == 0 {
		return ""
	}
	return " {" + strings.Join(list, ", ") + "}"
}

func (g *generator) perValue(results []shape) string {
	return "#sdy.sharding_per_value<[" + g.shardings(results) + "]>"
}

func (g *generator) shardings(of []shape) string {
	var list []string
	for _, s := range of {
		list = append(list, g.sharding(s.dims))
	}
	return strings.Join(list, ", ")
}

func (g *generator) argSharding(dims []int64) string {
	if !g.chance(2) {
		return ""
	}
	return " {sdy.sharding = #sdy.sharding" + g.sharding(dims) + "}"
}

// sharding returns the text of a random sharding of a tensor.
func (g *generator) sharding(dims []int64) string {
	if g.features.odd && g.chance(12) {
		return "<@one, []>"
	}
	if g.features.odd && g.chance(12) {
		return "<@empty, [" + strings.Join(slices.Repeat([]string{"{?}"}, len(dims)), ", ") + "]>"
	}
	pool := g.pool()
	var texts []string
	for range dims {
		var axes []subaxis.Ref
		axes, pool = g.take(pool)
		texts = append(texts, g.dim(axes))
	}
	return g.shardingText(texts, pool)
}

// take takes axes for a dimension from those that are left.
func (g *generator) take(pool []subaxis.Ref) (axes, rest []subaxis.Ref) {
	for len(pool) > 0 && g.chance(2) {
		if n := len(axes); n > 0 && axes[n-1].CanMerge(pool[0]) {
			break
		}
		axes, pool = append(axes, pool[0]), pool[1:]
	}
	return axes, pool
}

// shardingText puts dimensions together, some of the axes that are left being replicated or unreduced.
func (g *generator) shardingText(dims []string, left []subaxis.Ref) string {
	s := "<" + g.word(g.meshes...) + ", [" + strings.Join(dims, ", ") + "]"
	if len(left) > 0 && g.chance(5) {
		n := g.separate(left, 1+g.r.Intn(len(left)))
		s += ", replicated={" + g.mesh.FormatList(n) + "}"
		left = left[len(n):]
	}
	if len(left) > 0 && g.features.unreduced && g.chance(3) {
		s += ", unreduced" + g.word("=", "=", "=max", "=min") + "{" + g.mesh.FormatList(left[:1]) + "}"
	}
	return s + ">"
}

// separate returns up to n axes in the order of the mesh; it stops before parts that belong together.
func (g *generator) separate(list []subaxis.Ref, n int) []subaxis.Ref {
	for i := 1; i < n; i++ {
		if slices.ContainsFunc(list[:i], func(r subaxis.Ref) bool { return r.Axis == list[i].Axis }) {
			n = i
		}
	}
	sorted := list[:n]
	slices.SortFunc(sorted, func(a, b subaxis.Ref) int { return int(a.Axis) - int(b.Axis) })
	return sorted
}

func (g *generator) dim(axes []subaxis.Ref) string {
	s := "{" + g.mesh.FormatList(axes)
	closed := g.chance(3)
	if !closed {
		if len(axes) > 0 {
			s += ", "
		}
		s += "?"
	}
	s += "}"
	if g.features.priorities && (g.depth == 0 || g.chance(16)) && g.chance(2) && !(closed && len(axes) == 0) {
		s += fmt.Sprintf("p%d", g.r.Intn(3))
	}
	return s
}

// pool returns the axes that may be used in random order, some of them cut in two or three.
func (g *generator) pool() []subaxis.Ref {
	var list []subaxis.Ref
	for i, a := range g.mesh.Axes {
		if slices.Contains(g.manual, a.Name) {
			continue
		}
		r := g.mesh.Full(i)
		cut := int32(g.pick(1, 1, 2, 3))
		if !g.features.subAxes || cut == 1 || cut >= r.Size || r.Size%cut != 0 {
			list = append(list, r)
			continue
		}
		list = append(list, subaxis.Ref{Axis: r.Axis, Pre: 1, Size: cut})
		if rest := r.Size / cut; rest%2 == 0 && rest > 2 && g.chance(2) {
			list = append(list, subaxis.Ref{Axis: r.Axis, Pre: cut, Size: 2}, subaxis.Ref{Axis: r.Axis, Pre: 2 * cut, Size: rest / 2})
		} else {
			list = append(list, subaxis.Ref{Axis: r.Axis, Pre: cut, Size: rest})
		}
	}
	g.r.Shuffle(len(list), func(i, j int) { list[i], list[j] = list[j], list[i] })
	return list
}

// ruleText collects a rule while its factors are drawn.
type ruleText struct {
	sizes    []int64
	inResult []bool
}

// rule returns the text of a random rule, or nothing where there would be no factor.
func (g *generator) rule(operands, results []shape) string {
	var t ruleText
	sides := make([]string, 2)
	for side, shapes := range [][]shape{operands, results} {
		var list []string
		for _, s := range shapes {
			var used []int
			var dims []string
			for _, d := range s.dims {
				dims = append(dims, g.factors(&t, &used, d, side == 1))
			}
			list = append(list, "["+strings.Join(dims, ", ")+"]")
		}
		sides[side] = strings.Join(list, ", ")
	}
	if len(operands) == 0 || len(results) == 0 || len(t.sizes) == 0 || len(t.sizes) > 18 {
		return ""
	}
	var sizes []string
	special := make([][]string, 4)
	for f, size := range t.sizes {
		sizes = append(sizes, fmt.Sprintf("%s=%d", symbol(f), size))
		if kind := g.r.Intn(9); kind < 2 || kind == 2 && !t.inResult[f] {
			special[(kind+1)%3] = append(special[(kind+1)%3], symbol(f))
		}
		if g.chance(9) {
			special[3] = append(special[3], symbol(f))
		}
	}
	text := fmt.Sprintf("#sdy.op_sharding_rule<(%s)->(%s) {%s}", sides[0], sides[1], strings.Join(sizes, ", "))
	for i, name := range []string{"reduction", "need_replication", "permutation", "blocked_propagation"} {
		if len(special[i]) > 0 {
			text += " " + name + "={" + strings.Join(special[i], ", ") + "}"
		}
	}
	return text + g.word(", custom>", ", custom>", ">")
}

func symbol(factor int) string { return string(rune('i' + factor)) }

// factors draws the factors of a dimension, old ones of that size where they fit.
func (g *generator) factors(t *ruleText, used *[]int, size int64, result bool) string {
	for _, part := range []int64{2, 3, 4} {
		if size%part == 0 && size > part && g.chance(6) {
			return g.factor(t, used, part, result) + g.factor(t, used, size/part, result)
		}
	}
	if g.chance(20) {
		size += 2
	}
	return g.factor(t, used, size, result)
}

func (g *generator) factor(t *ruleText, used *[]int, size int64, result bool) string {
	var fit []int
	for f, s := range t.sizes {
		if s == size && !slices.Contains(*used, f) {
			fit = append(fit, f)
		}
	}
	f := len(t.sizes)
	if len(fit) > 0 && !g.chance(5) {
		f = fit[g.r.Intn(len(fit))]
	} else {
		t.sizes, t.inResult = append(t.sizes, size), append(t.inResult, false)
	}
	t.inResult[f] = t.inResult[f] || result
	*used = append(*used, f)
	return symbol(f)
}
