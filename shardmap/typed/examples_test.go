package typed_test

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"

	"autoshard/backend/run"
	"autoshard/backend/tensor"
	"autoshard/ir"
	"autoshard/ir/dtype"
	"autoshard/shardmap/typed"
	"autoshard/subaxis"
)

// The longer examples of the documents behind shardmap.md section 14, with the figures given there. The short ones are
// in testdata/golden.

// figure is what section 14 says about a result: its shape, first and last element, and two checksums.
type figure struct {
	dims                   []int64
	first, last, sum, wsum float64
}

func (f figure) compare(t *testing.T, x tensor.Tensor) {
	t.Helper()
	v := x.Floats()
	sum, wsum := checksums(x)
	near := func(a, b float64) bool { return math.Abs(a-b) <= 1e-5*math.Max(1, math.Abs(b)) }
	if !slices.Equal(x.Shape, f.dims) || !near(v[0], f.first) || !near(v[len(v)-1], f.last) || !near(sum, f.sum) || !near(wsum, f.wsum) {
		t.Errorf("got %s, want %v", figures(x), f)
	}
}

func number(v float64) figure { return figure{nil, v, v, v, v} }

// array is an argument: its name, shape and spec, and its values as TestGolden reads them.
type array struct {
	name   string
	dims   []int64
	spec   typed.Spec
	values string
}

// example is a program with its result and what it communicates, or the rule that refuses it.
type example struct {
	mesh      []subaxis.Axis
	unchecked bool
	in        []array
	out       typed.Spec
	body      func(b *ops, in []ir.ValueID) ir.ValueID
	want      figure
	moves     string
	refused   string
}

// ops are the operations that the examples are written with. They communicate along the first axis of the mesh.
type ops struct {
	*typed.Builder
	axis string
	n    int64 // size of the axis
}

func (b *ops) i32(v int64) ir.ValueID { return b.Constant(dtype.I32, nil, float64(v)) }

func (b *ops) dot(x, y ir.ValueID) ir.ValueID {
	return b.Dot(x, y, ir.DotDims{LhsContract: []int64{1}, RhsContract: []int64{0}})
}

func (b *ops) add(x, y ir.ValueID) ir.ValueID { return b.Binary(ir.OpAdd, x, y) }

// place returns ((k + t) mod n)·rows, where k is this device's place along the axis.
func (b *ops) place(t int64, rows int64) ir.ValueID {
	k := b.Binary(ir.OpRemainder, b.add(b.AxisIndex(b.axis), b.i32((t+2*b.n)%b.n)), b.i32(b.n))
	return b.Binary(ir.OpMultiply, k, b.i32(rows))
}

// rows and columns return a block that begins at a row or column.
func (b *ops) rows(x ir.ValueID, at ir.ValueID, rows, columns int64) ir.ValueID {
	return b.DynamicSlice(x, []int64{rows, columns}, at, b.i32(0))
}

func (b *ops) columns(x ir.ValueID, at ir.ValueID, rows, columns int64) ir.ValueID {
	return b.DynamicSlice(x, []int64{rows, columns}, b.i32(0), at)
}

// shift sends to the member that is that many places further.
func (b *ops) shift(x ir.ValueID, by int64) ir.ValueID {
	var perm [][2]int64
	for k := range b.n {
		perm = append(perm, [2]int64{k, (k + by + b.n) % b.n})
	}
	return b.Ppermute(x, perm, b.axis)
}

// run builds, types, prints, reads, runs and compares an example.
func (e *example) run(t *testing.T) {
	b := &ops{typed.NewBuilder("example", subaxis.Mesh{Axes: e.mesh}, typed.Setup{Unchecked: e.unchecked}), e.mesh[0].Name, e.mesh[0].Size}
	var in []ir.ValueID
	var args []tensor.Tensor
	for _, a := range e.in {
		in = append(in, b.Param(a.name, dtype.F32, a.dims, a.spec))
		args = append(args, values(t, a.values, dtype.F32, a.dims))
	}
	b.Result(e.body(b, in), e.out)
	p, err := b.Finish()
	if err == nil {
		_, err = p.Elaborate(typed.Options{})
	}
	if e.refused != "" {
		if err == nil || !strings.Contains(err.Error(), e.refused) {
			t.Fatalf("got %v, want %s", err, e.refused)
		}
		return
	}
	if err != nil {
		t.Fatal(err)
	}
	roundTrip(t, p)
	outputs, err := execute(t.Context(), p, args, run.Options{Debug: true})
	if err != nil {
		t.Fatal(err)
	}
	e.want.compare(t, outputs[0])
	if got := moves(p); got != e.moves {
		t.Errorf("communicates %s, want %s", got, e.moves)
	}
}

// moves returns the collectives of a program with how often it has each.
func moves(p *typed.Program) string {
	counts := map[string]int{}
	for _, c := range p.Communications() {
		counts[c.Format(p)]++
	}
	return strings.Trim(strings.TrimPrefix(fmt.Sprint(counts), "map"), "[]")
}

var (
	line       = []subaxis.Axis{{Name: "i", Size: 4}}
	pi         = "3:1:4:1:5:9:2:6:5:3:5:8:9:7:1:2"
	product    = figure{[]int64{8, 4}, 588, 8736, 138432, 3003840}
	lhsRows    = array{"lhs", []int64{8, 8}, typed.P("i", ""), "arange"}
	lhsColumns = array{"lhs", []int64{8, 8}, typed.P("", "i"), "arange"}
	rhsRows    = array{"rhs", []int64{8, 4}, typed.P("i", ""), "arange+1"}
)

// Matrix products that overlap with gathers and scatters compute and send what the specification says of them.
func TestCollectiveMatmul(t *testing.T) {
	g9 := []array{{"lhs", []int64{8, 3}, typed.P("i", ""), "arange"}, {"rhs", []int64{3, 5}, typed.P(), "arange+1"}}
	large := []array{{"lhs", []int64{64, 32}, typed.P("i", ""), "mod:7:3:5:2"}, {"rhs", []int64{32, 16}, typed.P(), "mod:5:1:7:3"}}
	repeated := figure{[]int64{32, 5}, 28, 670, 45760, 1971760}
	tests := map[string]example{
		"G9-collective-matmul": {line, true, g9, typed.P(), gatherRows(2, 8, 5), figure{[]int64{8, 5}, 28, 670, 11440, 312880}, "ppermute(i):3",
			""},
		"G9-checked":   {line, false, g9, typed.P(), gatherRows(2, 8, 5), figure{}, "", "E_REP"},
		"G9-typed":     {line, false, g9, typed.P("i"), gatherRows(2, 8, 5), repeated, "ppermute(i):3", ""},
		"G9-scan-form": {line, false, g9, typed.P("i"), gatherRowsLoop, repeated, "ppermute(i):1", ""},
		"G9-document-size": {[]subaxis.Axis{{Name: "i", Size: 8}}, true, large, typed.P(), gatherRows(8, 64, 16),
			figure{[]int64{64, 16}, 4, -5, 12, 159}, "ppermute(i):7", ""},
		"G10b-overlapped":    {line, false, []array{lhsRows, rhsRows}, typed.P("i", ""), gatherContracting, product, "ppermute(i):3", ""},
		"G10c-bidirectional": {line, false, []array{lhsRows, rhsRows}, typed.P("i", ""), gatherBothWays, product, "ppermute(i):6", ""},
		"G11b-overlapped":    {line, false, []array{lhsColumns, rhsRows}, typed.P("i", ""), scatterRows, product, "ppermute(i):3", ""},
		"G11c-bidirectional": {line, false, []array{lhsColumns, rhsRows}, typed.P("i", ""), scatterBothWays, product, "ppermute(i):6", ""},
	}
	for name, e := range tests {
		t.Run(name, e.run)
	}
}

// gatherRows multiplies the rows that come round the ring and writes them to their place.
func gatherRows(rows, all, columns int64) func(*ops, []ir.ValueID) ir.ValueID {
	return func(b *ops, in []ir.ValueID) ir.ValueID {
		lhs, acc := in[0], b.Constant(dtype.F32, []int64{all, columns}, 0)
		for step := range b.n {
			acc = b.DynamicUpdateSlice(acc, b.dot(lhs, in[1]), b.place(step, rows), b.i32(0))
			if step < b.n-1 {
				lhs = b.shift(lhs, -1)
			}
		}
		return acc
	}
}

// gatherRowsLoop is gatherRows as a loop with one permute per round.
func gatherRowsLoop(b *ops, in []ir.ValueID) ir.ValueID {
	k := b.AxisIndex("i")
	init := []ir.ValueID{b.i32(0), b.Constant(dtype.F32, []int64{8, 5}, 0), in[0]}
	last, _ := b.Scan(init, nil, 4, false, func(c, _ []ir.ValueID) (next, out []ir.ValueID) {
		at := b.Binary(ir.OpMultiply, b.Binary(ir.OpRemainder, b.add(k, c[0]), b.i32(4)), b.i32(2))
		return []ir.ValueID{b.add(c[0], b.i32(1)), b.DynamicUpdateSlice(c[1], b.dot(c[2], in[1]), at, b.i32(0)), b.shift(c[2], -1)}, nil
	})
	return last[1]
}

func gatherContracting(b *ops, in []ir.ValueID) ir.ValueID {
	lhs, rhs := in[0], in[1]
	out := b.dot(b.columns(lhs, b.place(0, 2), 2, 2), rhs)
	for step := int64(1); step < b.n; step++ {
		rhs = b.shift(rhs, 1)
		out = b.add(out, b.dot(b.columns(lhs, b.place(-step, 2), 2, 2), rhs))
	}
	return out
}

func gatherBothWays(b *ops, in []ir.ValueID) ir.ValueID {
	half := func(k int64) ir.ValueID { return b.Slice(in[1], []int64{k, 0}, []int64{k + 1, 4}, nil) }
	lo, hi := half(0), half(1)
	products := func(step int64) ir.ValueID {
		high := b.add(b.place(step, 2), b.i32(1))
		return b.add(b.dot(b.columns(in[0], b.place(-step, 2), 2, 1), lo), b.dot(b.columns(in[0], high, 2, 1), hi))
	}
	out := products(0)
	for step := int64(1); step < b.n; step++ {
		lo, hi = b.shift(lo, 1), b.shift(hi, -1)
		out = b.add(out, products(step))
	}
	return out
}

func scatterRows(b *ops, in []ir.ValueID) ir.ValueID {
	sum := b.dot(b.rows(in[0], b.place(1, 2), 2, 2), in[1])
	for step := int64(1); step < b.n; step++ {
		sum = b.add(b.shift(sum, -1), b.dot(b.rows(in[0], b.place(step+1, 2), 2, 2), in[1]))
	}
	return sum
}

func scatterBothWays(b *ops, in []ir.ValueID) ir.ValueID {
	part := func(t, half int64) ir.ValueID {
		return b.dot(b.rows(in[0], b.add(b.place(t, 2), b.i32(half)), 1, 2), in[1])
	}
	lo, hi := part(-1, 0), part(1, 1)
	for step := int64(1); step < b.n; step++ {
		lo, hi = b.add(b.shift(lo, 1), part(-step-1, 0)), b.add(b.shift(hi, -1), part(step+1, 1))
	}
	return b.Concatenate(0, lo, hi)
}

// Sums, gathers and halos that are written as permutes compute and send what the specification says of them.
func TestRings(t *testing.T) {
	in := []array{{"x", []int64{16}, typed.P("i"), pi}}
	tests := map[string]example{
		"G12-ring-psum-scatter": {line, false, in, typed.P("i"), func(b *ops, in []ir.ValueID) ir.ValueID { return b.ringScatter(in[0]) },
			figure{[]int64{4}, 22, 17, 71, 166}, "ppermute(i):3", ""},
		"G12-ring-all-gather": {line, false, []array{{"x", []int64{4}, typed.P("i"), "3:9:5:2"}}, typed.P("i"),
			func(b *ops, in []ir.ValueID) ir.ValueID { return b.ringGather(in[0]) }, figure{[]int64{16}, 3, 2, 76, 632}, "ppermute(i):3", ""},
		"G12-ring-psum": {line, false, in, typed.P("i"), func(b *ops, in []ir.ValueID) ir.ValueID { return b.ringGather(b.ringScatter(in[0])) },
			figure{[]int64{16}, 22, 17, 284, 2368}, "ppermute(i):6", ""},
		"G20-halo": {line, false, []array{{"x", []int64{8}, typed.P("i"), "arange+1"}}, typed.P("i"), halo,
			figure{[]int64{8}, 3, 15, 99, 540}, "ppermute(i):2", ""},
	}
	for name, e := range tests {
		t.Run(name, e.run)
	}
}

// ringScatter adds up the pieces of x on their way round the ring.
func (b *ops) ringScatter(x ir.ValueID) ir.ValueID {
	piece := func(t int64) ir.ValueID { return b.DynamicSlice(x, []int64{1}, b.place(t, 1)) }
	sum := piece(1)
	for step := int64(1); step < b.n; step++ {
		sum = b.add(b.shift(sum, -1), piece(step+1))
	}
	return sum
}

func (b *ops) ringGather(x ir.ValueID) ir.ValueID {
	out := b.DynamicUpdateSlice(b.Constant(dtype.F32, []int64{4}, 0), x, b.place(0, 1))
	for step := int64(1); step < b.n; step++ {
		x = b.shift(x, 1)
		out = b.DynamicUpdateSlice(out, x, b.place(-step, 1))
	}
	return out
}

// halo gets an element from each neighbour and adds every three in a row.
func halo(b *ops, in []ir.ValueID) ir.ValueID {
	part := func(x ir.ValueID, from, to int64) ir.ValueID { return b.Slice(x, []int64{from}, []int64{to}, nil) }
	left := b.Ppermute(part(in[0], 1, 2), [][2]int64{{0, 1}, {1, 2}, {2, 3}}, "i")
	right := b.Ppermute(part(in[0], 0, 1), [][2]int64{{1, 0}, {2, 1}, {3, 2}}, "i")
	y := b.Concatenate(0, left, in[0], right)
	return b.add(b.add(part(y, 0, 2), part(y, 1, 3)), part(y, 2, 4))
}
