package canonical_test

import (
	"fmt"
	"math/rand"
	"slices"
	"strings"
)

// generator writes random programs of reshards, collectives, reshapes and transposes, in which canonicalization finds
// something to do. Axes are whole ones or halves of "a".
type generator struct {
	r      *rand.Rand
	body   strings.Builder
	values []value
	next   int
}

// value is a tensor of f32. axes is nil where it has no sharding.
type value struct {
	name      string
	dims      []int
	axes      [][]string
	unreduced []string
	uses      int
}

const meshes = "sdy.mesh @m = <[\"a\"=4, \"b\"=2, \"c\"=2, \"d\"=3]>\nsdy.mesh @n = <[\"a\"=4, \"b\"=2]>\n"

// randomProgram returns the text of a module.
func randomProgram(seed int64) string {
	g := &generator{r: rand.New(rand.NewSource(seed))}
	shape := [][]int{{8, 8}, {16, 4}, {2, 4, 4}, {6, 8}, {4, 2, 2, 4}, {5, 8}}[g.r.Intn(6)]
	arg := value{name: "%arg0", dims: shape, axes: g.axes(len(shape))}
	g.values = []value{arg, {name: "%arg1", dims: shape}}
	for range 3 + g.r.Intn(12) {
		g.op()
	}
	var names, types []string
	for _, v := range g.values[2:] {
		if v.uses == 0 && g.r.Intn(4) > 0 || g.r.Intn(6) == 0 {
			names, types = append(names, v.name), append(types, v.typ())
		}
	}
	if names == nil {
		names, types = []string{"%arg0"}, []string{arg.typ()}
	}
	return fmt.Sprintf("%sfunc.func @main(%%arg0: %s {sdy.sharding = #sdy.sharding%s}, %%arg1: %s) -> (%s) {\n%s  return %s : %s\n}\n",
		meshes, arg.typ(), arg.sharding(), arg.typ(), strings.Join(types, ", "), g.body.String(), strings.Join(names, ", "),
		strings.Join(types, ", "))
}

func (v *value) typ() string {
	return "tensor<" + strings.Trim(strings.ReplaceAll(fmt.Sprint(v.dims), " ", "x"), "[]") + "xf32>"
}

func lists(axes [][]string) string {
	out := make([]string, len(axes))
	for i, a := range axes {
		out[i] = "{" + strings.Join(a, ", ") + "}"
	}
	return "[" + strings.Join(out, ", ") + "]"
}

func (v *value) sharding() string {
	s := "<@m, " + lists(v.axes)
	if len(v.unreduced) > 0 {
		s += ", unreduced={" + strings.Join(v.unreduced, ", ") + "}"
	}
	return s + ">"
}

// pick returns a recent value more often than others.
func (g *generator) pick() *value {
	i := len(g.values) - 1 - g.r.Intn(min(len(g.values), 3))
	if g.r.Intn(3) == 0 {
		i = g.r.Intn(len(g.values))
	}
	g.values[i].uses++
	return &g.values[i]
}

func (g *generator) emit(v value, format string, args ...any) {
	v.name = fmt.Sprintf("%%%d", g.next)
	g.next++
	fmt.Fprintf(&g.body, "  %s = %s\n", v.name, fmt.Sprintf(format, args...))
	g.values = append(g.values, v)
}

// axes returns a random choice of axes for some dimensions.
func (g *generator) axes(rank int) [][]string {
	pool := []string{`"a"`, `"b"`, `"c"`}
	switch g.r.Intn(6) {
	case 0:
		pool = []string{`"a":(1)2`, `"a":(2)2`, `"b"`}
	case 1:
		pool = []string{`"d"`, `"b"`}
	}
	g.r.Shuffle(len(pool), func(i, j int) { pool[i], pool[j] = pool[j], pool[i] })
	out := make([][]string, rank)
	for _, a := range pool[:g.r.Intn(len(pool)+1)] {
		d := g.r.Intn(rank)
		if n := len(out[d]); n > 0 && out[d][n-1] == `"a":(1)2` && a == `"a":(2)2` {
			out[d][n-1] = `"a"`
			continue
		}
		out[d] = append(out[d], a)
	}
	return out
}

func clone(axes [][]string) [][]string {
	out := make([][]string, len(axes))
	for i := range axes {
		out[i] = slices.Clone(axes[i])
	}
	return out
}

// free returns whole axes that a value does not use.
func (g *generator) free(v *value) []string {
	used := strings.Join(slices.Concat(slices.Concat(v.axes...), v.unreduced), " ")
	var out []string
	for _, a := range []string{`"a"`, `"b"`, `"c"`} {
		if !strings.Contains(used, a) {
			out = append(out, a)
		}
	}
	g.r.Shuffle(len(out), func(i, j int) { out[i], out[j] = out[j], out[i] })
	return out
}

func (g *generator) op() {
	v := *g.pick()
	kinds := []func(value){g.reshard, g.reshard, g.reshape, g.reshape, g.transpose, g.add, g.constant}
	if v.axes != nil {
		kinds = append(kinds, g.gather, g.gather, g.slice, g.slice, g.slice, g.reduce, g.reduce, g.allToAll, g.allToAll, g.permute,
			g.shardedToUnreduced, g.replicatedToUnreduced, g.scatter)
	}
	kinds[g.r.Intn(len(kinds))](v)
}

func (g *generator) reshard(v value) {
	from := v
	v.axes, v.unreduced = g.axes(len(v.dims)), nil
	if g.r.Intn(3) == 0 { // as an earlier one of the rank
		for _, o := range g.values {
			if o.axes != nil && len(o.axes) == len(v.axes) && g.r.Intn(2) == 0 {
				v.axes = clone(o.axes)
			}
		}
	}
	text := v.sharding()
	if g.r.Intn(4) == 0 {
		text = strings.ReplaceAll(text, "{}", "{?}")
	}
	g.emit(v, "sdy.reshard %s %s : %s", from.name, text, v.typ())
}

func (g *generator) reshape(v value) {
	from := v
	total := 1
	for _, d := range v.dims {
		total *= d
	}
	v.dims, v.axes, v.unreduced = nil, nil, nil
	for total > 1 && len(v.dims) < 4 {
		d := []int{2, 3, 4, 8, total}[g.r.Intn(5)]
		if total%d == 0 {
			v.dims, total = append(v.dims, d), total/d
		}
	}
	if total > 1 || g.r.Intn(5) == 0 {
		v.dims = append(v.dims, total)
	}
	g.emit(v, "stablehlo.reshape %s : (%s) -> %s", from.name, from.typ(), v.typ())
}

func (g *generator) transpose(v value) {
	from := v
	perm := g.r.Perm(len(v.dims))
	v.dims, v.axes, v.unreduced = slices.Clone(v.dims), nil, nil
	for i, p := range perm {
		v.dims[i] = from.dims[p]
	}
	g.emit(v, "stablehlo.transpose %s, dims = %s : (%s) -> %s", from.name, strings.ReplaceAll(fmt.Sprint(perm), " ", ", "), from.typ(),
		v.typ())
}

func (g *generator) add(v value) {
	other := v
	for i := range g.values {
		if slices.Equal(g.values[i].dims, v.dims) && g.r.Intn(2) == 0 {
			other = g.values[i]
			g.values[i].uses++
		}
	}
	g.emit(value{dims: v.dims}, "stablehlo.add %s, %s : %s", v.name, other.name, v.typ())
}

func (g *generator) constant(v value) {
	g.emit(value{dims: v.dims}, "stablehlo.constant dense<%d.0> : %s", g.r.Intn(3), v.typ())
}

func (g *generator) gather(v value) {
	from := v
	v.axes = clone(v.axes)
	taken := make([][]string, len(v.axes))
	for d, axes := range v.axes {
		n := g.r.Intn(len(axes) + 1)
		taken[d], v.axes[d] = axes[n:], axes[:n]
	}
	g.emit(v, "sdy.all_gather %s %s out_sharding=%s : %s", lists(taken), from.name, v.sharding(), v.typ())
}

// slice takes a random choice of axes, that of an earlier slice of the same value, or those that a gather took.
func (g *generator) slice(v value) {
	from := v
	taken := make([][]string, len(v.axes))
	for _, a := range g.free(&v) {
		if g.r.Intn(2) == 0 {
			d := g.r.Intn(len(taken))
			taken[d] = append(taken[d], a)
		}
	}
	for range 1 + g.r.Intn(3) {
		v.axes = clone(from.axes)
		for d := range taken {
			v.axes[d] = append(v.axes[d], taken[d]...)
		}
		g.emit(v, "sdy.all_slice %s %s out_sharding=%s : %s", lists(taken), from.name, v.sharding(), v.typ())
	}
}

func (g *generator) reduce(v value) {
	from := v
	axes := v.unreduced
	if len(axes) == 0 {
		free := g.free(&v)
		axes = free[:g.r.Intn(len(free)+1)]
	}
	axes = slices.Sorted(slices.Values(axes))
	v.unreduced = nil
	g.emit(v, "sdy.all_reduce {%s} %s out_sharding=%s : %s", strings.Join(axes, ", "), from.name, v.sharding(), v.typ())
	if len(axes) > 0 && g.r.Intn(2) == 0 {
		g.slice(g.values[len(g.values)-1])
	}
}

func (g *generator) scatter(v value) {
	from := v
	taken := make([][]string, len(v.axes))
	v.axes, v.unreduced = clone(v.axes), nil
	for _, a := range g.free(&from) {
		d := g.r.Intn(len(taken))
		if g.r.Intn(2) == 0 {
			taken[d], v.axes[d] = append(taken[d], a), append(v.axes[d], a)
		}
	}
	g.emit(v, "sdy.reduce_scatter %s %s out_sharding=%s : %s", lists(taken), from.name, v.sharding(), v.typ())
}

func (g *generator) allToAll(v value) {
	for range 1 + g.r.Intn(2) {
		from := v
		dims := g.r.Perm(len(v.dims))
		src, dst := dims[0], dims[len(dims)-1]
		if src == dst || len(v.axes[src]) == 0 {
			return
		}
		v.axes = clone(v.axes)
		n := len(v.axes[src]) - 1
		a := v.axes[src][n]
		v.axes[src], v.axes[dst] = v.axes[src][:n], append(v.axes[dst], a)
		g.emit(v, "sdy.all_to_all [{%s}: %d->%d] %s out_sharding=%s : %s", a, src, dst, from.name, v.sharding(), v.typ())
		v = g.values[len(g.values)-1]
	}
}

func (g *generator) permute(v value) {
	from := v
	text := v.sharding()
	switch g.r.Intn(3) {
	case 0:
		text = strings.ReplaceAll(text, "{}", "{?}")
	case 1:
		text = strings.NewReplacer(`"b"`, `"c"`, `"c"`, `"b"`).Replace(text)
		v.axes = clone(v.axes)
		for d := range v.axes {
			for i, a := range v.axes[d] {
				v.axes[d][i] = strings.NewReplacer("b", "c", "c", "b").Replace(a)
			}
		}
	}
	g.emit(v, "sdy.collective_permute %s out_sharding=%s : %s", from.name, text, v.typ())
}

func (g *generator) shardedToUnreduced(v value) {
	from := v
	taken := make([][]string, len(v.axes))
	v.axes = clone(v.axes)
	for d, axes := range v.axes {
		n := g.r.Intn(len(axes) + 1)
		taken[d], v.axes[d] = axes[n:], axes[:n]
	}
	v.unreduced = slices.Sorted(slices.Values(slices.Concat(v.unreduced, slices.Concat(taken...))))
	g.emit(v, "sdy.sharded_to_unreduced %s %s out_sharding=%s : %s", lists(taken), from.name, v.sharding(), v.typ())
	g.reduce(g.values[len(g.values)-1])
}

func (g *generator) replicatedToUnreduced(v value) {
	from := v
	free := g.free(&v)
	if len(free) == 0 {
		return
	}
	axes := slices.Sorted(slices.Values(free[:1+g.r.Intn(len(free))]))
	v.unreduced = slices.Sorted(slices.Values(slices.Concat(v.unreduced, axes)))
	g.emit(v, "sdy.replicated_to_unreduced {%s} %s out_sharding=%s : %s", strings.Join(axes, ", "), from.name, v.sharding(), v.typ())
	g.reduce(g.values[len(g.values)-1])
}
