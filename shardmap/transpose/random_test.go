package transpose_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"autoshard/ir"
	"autoshard/ir/dtype"
	"autoshard/shardmap/transpose"
	"autoshard/shardmap/typed"
	"autoshard/subaxis"
)

var meshes = [][]subaxis.Axis{
	{{Name: "i", Size: 4}},
	{{Name: "i", Size: 2}, {Name: "j", Size: 2}},
	{{Name: "i", Size: 1}, {Name: "j", Size: 2}},
	{{Name: "i", Size: 2}, {Name: "j", Size: 1}, {Name: "k", Size: 2}},
}

// drawing makes a program over f64[4] blocks that is linear in its first inputs; the last input is a factor.
type drawing struct {
	*typed.Builder
	t      *rapid.T
	axes   []subaxis.Axis
	factor ir.ValueID
	linear []ir.ValueID
}

// names draws some axes, in any order.
func (d *drawing) names(least int) []string {
	var all []string
	for _, a := range d.axes {
		all = append(all, a.Name)
	}
	all = rapid.Permutation(all).Draw(d.t, "axes")
	return all[:rapid.IntRange(least, len(all)).Draw(d.t, "number of axes")]
}

func (d *drawing) size(axes []string) int64 {
	n := int64(1)
	for _, a := range d.axes {
		if slices.Contains(axes, a.Name) {
			n *= a.Size
		}
	}
	return n
}

func (d *drawing) any() ir.ValueID { return rapid.SampledFrom(d.linear).Draw(d.t, "operand") }

func (d *drawing) quarter(x ir.ValueID) ir.ValueID {
	n := d.Program().Module.Shape(x)[0]
	return d.Slice(x, []int64{n - 4}, []int64{n}, nil)
}

func (d *drawing) repeat(x ir.ValueID, n int64) ir.ValueID {
	return d.Concatenate(0, slices.Repeat([]ir.ValueID{x}, int(n))...)
}

var steps = map[string]func(d *drawing) ir.ValueID{
	"add":    func(d *drawing) ir.ValueID { return d.Binary(ir.OpAdd, d.any(), d.any()) },
	"sub":    func(d *drawing) ir.ValueID { return d.Binary(ir.OpSubtract, d.any(), d.any()) },
	"factor": func(d *drawing) ir.ValueID { return d.Binary(ir.OpMultiply, d.factor, d.any()) },
	"total":  func(d *drawing) ir.ValueID { return d.Broadcast(d.Reduce(ir.OpAdd, d.any(), 0), []int64{4}) },
	"psum":   func(d *drawing) ir.ValueID { return d.Psum(d.any(), d.names(1)...) },
	"pmean":  func(d *drawing) ir.ValueID { return d.Pmean(d.any(), d.names(1)...) },
	"cast":   func(d *drawing) ir.ValueID { return d.Cast(d.any(), d.names(1)...) },
	"gather": func(d *drawing) ir.ValueID {
		return d.quarter(d.AllGather(d.any(), 0, true, typed.ToVarying, nil, d.names(1)...))
	},
	"gather_invariant": func(d *drawing) ir.ValueID {
		return d.quarter(d.AllGather(d.any(), 0, true, typed.ToInvariant, nil, d.names(1)...))
	},
	"psum_scatter": func(d *drawing) ir.ValueID {
		axes := d.names(1)
		return d.repeat(d.PsumScatter(d.any(), 0, true, nil, axes...), d.size(axes))
	},
	"pscatter": func(d *drawing) ir.ValueID {
		axes := d.names(1)
		return d.repeat(d.Pscatter(d.any(), 0, true, axes...), d.size(axes))
	},
	"all_to_all": func(d *drawing) ir.ValueID { return d.AllToAll(d.any(), 0, 0, true, nil, d.names(1)...) },
	"pbroadcast": func(d *drawing) ir.ValueID {
		axes := d.names(1)
		return d.Pbroadcast(d.Cast(d.Psum(d.any(), axes...), axes...), rapid.Int64Range(0, d.size(axes)-1).Draw(d.t, "source"), axes...)
	},
	"ppermute": func(d *drawing) ir.ValueID {
		axes := slices.Sorted(slices.Values(d.names(1)))
		order := rapid.Permutation(first(int(d.size(axes)))).Draw(d.t, "perm")
		var perm [][2]int64
		for to, from := range order[:rapid.IntRange(1, len(order)).Draw(d.t, "pairs")] {
			perm = append(perm, [2]int64{int64(from), int64(to)})
		}
		return d.Ppermute(d.any(), perm, axes...)
	},
	"scan": func(d *drawing) ir.ValueID {
		x, y, z := d.any(), d.any(), d.any()
		last, rows := d.Scan([]ir.ValueID{x, d.Constant(dtype.F64, nil, 1)}, []ir.ValueID{d.Reshape(y, 2, 2)}, 2,
			rapid.Bool().Draw(d.t, "reverse"),
			func(c, row []ir.ValueID) (next, out []ir.ValueID) {
				wide := d.Concatenate(0, row[0], row[0])
				sum := d.Binary(ir.OpAdd, d.Binary(ir.OpMultiply, c[0], c[1]), d.Binary(ir.OpAdd, wide, z))
				return []ir.ValueID{sum, d.Binary(ir.OpAdd, c[1], c[1])}, []ir.ValueID{d.Slice(c[0], []int64{1}, []int64{3}, nil)}
			})
		if rows == nil {
			return 0
		}
		return d.Binary(ir.OpAdd, last[0], d.Reshape(rows[0], 4))
	},
	"cond": func(d *drawing) ir.ValueID {
		x, y := d.any(), d.any()
		positive := d.Compare("GT", d.Reduce(ir.OpAdd, d.factor, 0), d.Constant(dtype.F64, nil, 0))
		return d.Cond(positive, func() []ir.ValueID { return []ir.ValueID{d.Binary(ir.OpMultiply, x, d.factor)} },
			func() []ir.ValueID { return []ir.ValueID{d.Unary(ir.OpNegate, y)} })[0]
	},
}

var stepNames = func() []string {
	var out []string
	for name := range steps {
		out = append(out, name)
	}
	slices.Sort(out)
	return out
}()

// draw draws a program with n linear inputs, and nil for one that is refused.
func draw(t *rapid.T, unchecked bool) (p *typed.Program, n int) {
	d := &drawing{t: t, axes: rapid.SampledFrom(meshes).Draw(t, "mesh")}
	d.Builder = typed.NewBuilder("f", subaxis.Mesh{Axes: d.axes}, typed.Setup{Unchecked: unchecked})
	n = rapid.IntRange(1, 2).Draw(t, "inputs")
	for k := range n + 1 {
		axes := d.names(0)
		v := d.Param(fmt.Sprint("x", k), dtype.F64, []int64{4 * d.size(axes)}, typed.P(strings.Join(axes, ",")))
		if k == n {
			d.factor = v
		} else {
			d.linear = append(d.linear, v)
		}
	}
	for range rapid.IntRange(0, 7).Draw(t, "steps") {
		if v := steps[rapid.SampledFrom(stepNames).Draw(t, "step")](d); v != 0 {
			d.linear = append(d.linear, v)
		}
	}
	all := d.linear[n-1]
	for _, v := range append(d.linear[:n-1:n-1], d.linear[len(d.linear)-1]) {
		all = d.Binary(ir.OpAdd, all, v)
	}
	var every []string
	for _, a := range d.axes {
		every = append(every, a.Name)
	}
	d.Result(all, typed.P(strings.Join(every, ",")))
	p, err := d.Finish()
	if err != nil {
		t.SkipNow()
	}
	if _, err := p.Elaborate(typed.Options{}); err != nil {
		t.SkipNow() // mixed axes, casts of what varies
	}
	return p, n
}

// Random linear programs obey the laws of transposition, with the check on and off.
func TestRandomPrograms(t *testing.T) {
	for _, unchecked := range []bool{false, true} {
		t.Run(fmt.Sprint("unchecked=", unchecked), func(t *testing.T) {
			rapid.Check(t, func(r *rapid.T) {
				p, n := draw(r, unchecked)
				lawful(r, p, n)
				if p.Check {
					thrifty(r, p, n)
				}
			})
		})
	}
}

// thrifty checks that a transpose has no more sums than the program has casts, that transposing twice more does not
// add communication, and that nothing else appears or goes.
func thrifty(t *rapid.T, p *typed.Program, n int) {
	q, err := transpose.Linear(p, first(n))
	if err != nil {
		t.Fatal(err)
	}
	if a, b := count(q)[ir.OpShardMapPsum], casts(p); a > b+count(p)[ir.OpShardMapPbroadcast] {
		t.Fatalf("%d sums for %d casts in\n%s\n%s", a, b, p, q)
	}
	twice, err := transpose.Linear(q, []int{0})
	if err != nil {
		t.Fatal(err)
	}
	for kind, k := range count(twice) {
		if before := count(p)[kind]; k > before && count(p)[ir.OpShardMapPbroadcast] == 0 {
			t.Fatalf("%d %s, transposed twice %d in\n%s\n%s", before, kind.ShardMapName(), k, p, twice)
		}
	}
}

func count(p *typed.Program) map[ir.Kind]int {
	out := map[ir.Kind]int{}
	for _, c := range p.Communications() {
		out[c.Kind]++
	}
	return out
}

func casts(p *typed.Program) (n int) {
	p.Module.Walk(p.Body(), func(op ir.OpID) {
		if p.Module.Kind(op) == ir.OpShardMapPvary {
			n++
		}
	})
	return n
}
