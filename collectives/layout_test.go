package collectives

import (
	"math"
	"slices"
	"testing"

	"autoshard/ir"
	"autoshard/subaxis"
)

// A layout is what is left of a sharding when it is closed.
func TestLayoutOfSharding(t *testing.T) {
	x, y := full("x"), full("y")
	s := ir.Sharding{Mesh: 1, Unreduced: axes(y), Dims: []ir.DimSharding{{Axes: axes(x), Priority: 2},
		{Closed: true, Priority: ir.NoPriority}}}
	l := LayoutOf(&s)
	closed := l.Sharding(1)
	again := LayoutOf(&closed)
	if !l.Equal(&again) || !closed.Dims[0].Closed || closed.Dims[0].Priority != ir.NoPriority {
		t.Errorf("%v became %v", s, closed)
	}
	if got := l.LocalDims([]int64{8, 3}); l.Shards() != 4 || !slices.Equal(got, []int64{2, 3}) {
		t.Errorf("%d blocks of %v, want 4 of [2 3]", l.Shards(), got)
	}
	whole := layout(nil, nil)
	if l.Equal(&whole) {
		t.Error("a cut tensor lies like a whole one")
	}
}

// Bytes are counted by following blocks around a ring.
func TestBytesOfRings(t *testing.T) {
	const n, operand = 4, 96
	for kind, want := range map[Kind]int64{
		AllSlice:      0,
		AllGather:     n * (n - 1) * operand,       // every block goes to all others
		ReduceScatter: (n - 1) * operand,           // n-1 rounds in which each device sends the n-th part
		AllReduce:     2 * (n - 1) * operand,       // scatter, then gather
		AllToAll:      n * (n - 1) * (operand / n), // the n-th part from each to each
		Permute:       n * operand,                 // each device sends what it has
	} {
		if got := SentBytes(kind, n, GroupBytes(kind, n, operand)); got != want {
			t.Errorf("%s of %d bytes on %d devices sends %d, want %d", kind, operand, n, got, want)
		}
	}
}

// Groups of any sizes send what each of them does, up to the largest int64.
func TestSentAmong(t *testing.T) {
	groups := [][]int64{{0, 3}, {1, 2, 4}, {5}}
	for kind := AllSlice; kind <= Reduce; kind++ {
		want := int64(0)
		for _, n := range []int64{2, 3, 1} {
			want += SentBytes(kind, n, GroupBytes(kind, n, 96))
		}
		if got := SentAmong(kind, groups, 96); got != want {
			t.Errorf("%s in %v sends %d bytes, want %d", kind, groups, got, want)
		}
	}
	if got := SentAmong(AllGather, groups, math.MaxInt64/2); got != math.MaxInt64 {
		t.Errorf("more than can be counted is %d", got)
	}
}

// Products of counts are exact up to the largest int64, which stands for everything beyond.
func TestTimes(t *testing.T) {
	for _, c := range []struct{ a, b, want int64 }{
		{0, 7, 0}, {6, 7, 42}, {1 << 31, 1 << 31, 1 << 62}, {1 << 32, 1 << 31, math.MaxInt64}, {math.MaxInt64, 1, math.MaxInt64},
		{math.MaxInt64, math.MaxInt64, math.MaxInt64},
	} {
		if got := Times(c.a, c.b); got != c.want {
			t.Errorf("%d times %d is %d, want %d", c.a, c.b, got, c.want)
		}
	}
}

// The factors of a product say how its tensors are cut; a factor that does not divide, or a minor one of a dimension whose
// major one is not cut to single elements, cannot be cut.
func TestProject(t *testing.T) {
	x, y := full("x"), full("y")
	dot := &ir.Rule{Sizes: []int64{8, 16, 4}, Operands: [][][]int32{{{0}, {2}}, {{2}, {1}}}, Results: [][][]int32{{{0}, {1}}},
		Reduction: []int32{2}}
	operands, results, ok := Project(dot, Factors{nil, axes(y), axes(x)}, ir.ReduceMax)
	want := []Layout{layout(nil, axes(x)), layout(axes(x), axes(y)), layout(nil, axes(y))}
	want[2].Unreduced, want[2].Reduction = axes(x), ir.ReduceMax
	got := append(operands, results...)
	if !ok || !slices.EqualFunc(got, want, func(a, b Layout) bool { return a.Equal(&b) && a.Reduction == b.Reduction }) {
		t.Errorf("the product is cut %v, want %v", got, want)
	}
	joined := &ir.Rule{Sizes: []int64{4, 6}, Operands: [][][]int32{{{0}, {1}}}, Results: [][][]int32{{{0, 1}}}}
	for _, c := range []struct {
		factors Factors
		ok      bool
	}{
		{Factors{axes(x), axes(y)}, true},
		{Factors{axes(y), nil}, true},
		{Factors{nil, axes(y)}, false},
		{Factors{nil, axes(x)}, false},
	} {
		if _, _, ok := Project(joined, c.factors, ir.ReduceSum); ok != c.ok {
			t.Errorf("4x6 to 24 along %v: %v, want %v", c.factors, ok, c.ok)
		}
	}
}

// The factors of a settled op come from where most of its bytes lie; axes that do not fit a minor factor stay behind.
func TestSplitAxes(t *testing.T) {
	x := full("x")
	x1, x2 := subaxis.Ref{Axis: 0, Pre: 1, Size: 2}, subaxis.Ref{Axis: 0, Pre: 2, Size: 2}
	if got := splitAxes(axes(x), []int32{0, 1}, []int64{2, 6}, 12); !slices.Equal(got[0], axes(x1)) || !slices.Equal(got[1], axes(x2)) {
		t.Errorf("2x6 cut by x is %v", got)
	}
	if got := splitAxes(axes(x), []int32{0, 1}, []int64{6, 4}, 24); !slices.Equal(got[0], axes(x1)) || len(got[1]) > 0 {
		t.Errorf("6x4 cut by x is %v", got)
	}
	if got := splitAxes(axes(x), []int32{0, 1}, []int64{3, 2}, 6); !slices.Equal(got[0], axes(x)) || len(got[1]) > 0 {
		t.Errorf("3x2, which x does not divide, is cut by %v", got)
	}
}

// A layout is independent where parts of one axis are whole axes of one finer mesh: the halves of four devices go with its even and
// odd ones, those of six do not.
func TestIndependent(t *testing.T) {
	part := func(pre, size int32) subaxis.Ref { return subaxis.Ref{Axis: 0, Pre: pre, Size: size} }
	for _, c := range []struct {
		l    Layout
		want bool
	}{
		{layout(nil, nil), true},
		{layout(axes(part(1, 2)), axes(part(2, 2))), true},
		{layout(axes(part(2, 2)), axes(part(1, 2))), true},
		{layout(axes(part(1, 2)), axes(part(3, 2))), false},
		{Layout{Dims: [][]subaxis.Ref{axes(part(1, 2))}, Unreduced: axes(part(3, 2))}, false},
	} {
		if got := c.l.Independent(); got != c.want {
			t.Errorf("%v is independent: %v, want %v", c.l, got, c.want)
		}
	}
}

// Where a layout divides a tensor, its blocks have together as many elements as the tensor; else they have more.
func TestDivides(t *testing.T) {
	l := layout(axes(full("x")), axes(full("y"))) // 4 by 2 blocks
	for _, c := range []struct {
		dims []int64
		want bool
	}{{[]int64{8, 6}, true}, {[]int64{4, 2}, true}, {[]int64{0, 2}, true}, {[]int64{6, 2}, false}, {[]int64{4, 3}, false}} {
		if got := l.Divides(c.dims); got != c.want {
			t.Errorf("%v is divided: %v, want %v", c.dims, got, c.want)
		}
		block := l.LocalDims(c.dims)
		if got := l.LocalElements(c.dims); got != block[0]*block[1] {
			t.Errorf("blocks %v have %d elements", block, got)
		}
		if whole := block[0]*block[1]*l.Shards() == c.dims[0]*c.dims[1]; whole != c.want {
			t.Errorf("blocks %v of %v make up the whole: %v", block, c.dims, whole)
		}
	}
}
