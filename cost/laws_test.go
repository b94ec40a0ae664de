package cost_test

import (
	"fmt"
	"math"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"autoshard/collectives"
	"autoshard/cost"
	"autoshard/subaxis"
)

var groupKinds = []collectives.Kind{collectives.AllGather, collectives.ReduceScatter, collectives.AllReduce, collectives.AllToAll,
	collectives.Permute}

// setting is a random topology with some of its axes or parts of axes.
type setting struct {
	fixture
	hw   cost.Hardware
	axes []subaxis.Ref
	v    int64
}

func drawMesh(t *rapid.T) []subaxis.Axis {
	sizes := rapid.SliceOfN(rapid.SampledFrom([]int64{1, 2, 3, 4, 6, 8, 16}), 1, 4).Draw(t, "mesh")
	mesh := make([]subaxis.Axis, len(sizes))
	for i, s := range sizes {
		mesh[i] = subaxis.Axis{Name: fmt.Sprint("a", i), Size: s}
	}
	return mesh
}

// drawRefs draws parts of axes that do not overlap, at most one of each axis.
func drawRefs(t *rapid.T, mesh []subaxis.Axis) []subaxis.Ref {
	var refs []subaxis.Ref
	for i, a := range mesh {
		if !rapid.Bool().Draw(t, "use") {
			continue
		}
		pre := rapid.SampledFrom(divisorsOf(a.Size)).Draw(t, "pre")
		size := rapid.SampledFrom(divisorsOf(a.Size/pre)).Draw(t, "size")
		refs = append(refs, subaxis.Ref{Axis: int32(i), Pre: int32(pre), Size: int32(size)})
	}
	return refs
}

func divisorsOf(n int64) []int64 {
	var out []int64
	for d := int64(1); d <= n; d++ {
		if n%d == 0 {
			out = append(out, d)
		}
	}
	return out
}

func draw(t *rapid.T, o cost.Options) setting {
	hw := rapid.SampledFrom(cost.Profiles()).Draw(t, "hardware").Hardware
	mesh := drawMesh(t)
	topology, err := cost.NewTopology(hw, subaxis.Mesh{Axes: mesh}, o)
	if err != nil {
		t.Fatal(err)
	}
	v := rapid.Int64Range(0, 1<<40).Draw(t, "v")
	return setting{fixture{topology, mesh}, hw, drawRefs(t, mesh), v}
}

func drawOptions(t *rapid.T) cost.Options {
	return cost.Options{
		Ring:      rapid.SampledFrom([]cost.Ring{cost.Exact, cost.Asymptotic}).Draw(t, "ring"),
		Latency:   rapid.SampledFrom([]cost.Latency{cost.AddLatency, cost.MaxLatency}).Draw(t, "latency"),
		Reduction: rapid.SampledFrom([]cost.Reduction{cost.RingReduction, cost.IdealReduction, cost.MeasuredReduction}).Draw(t, "reduction"),
		Fitted:    rapid.Bool().Draw(t, "fitted"),
	}
}

// remake returns the same mesh and axes on other hardware or options.
func (s setting) remake(t *rapid.T, hw cost.Hardware, o cost.Options) setting {
	topology, err := cost.NewTopology(hw, subaxis.Mesh{Axes: s.mesh}, o)
	if err != nil {
		t.Fatal(err)
	}
	s.Topology = topology
	return s
}

func (s setting) of(kind collectives.Kind) cost.Cost { return s.Collective(kind, s.axes, s.v) }

func TestCollectiveLaws(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		o := drawOptions(t)
		s := draw(t, o)
		kind := rapid.SampledFrom(groupKinds).Draw(t, "kind")
		c := s.of(kind)
		n := subaxis.Product(s.axes)
		if c.TotalBytes != collectives.SentBytes(kind, n, s.v)*(s.Devices()/n) {
			t.Errorf("total bytes %d", c.TotalBytes)
		}
		if c.BytesPerDevice*s.Devices() < c.TotalBytes {
			t.Errorf("%d devices send %d each but %d in all", s.Devices(), c.BytesPerDevice, c.TotalBytes)
		}
		if n == 1 && c != (cost.Cost{}) {
			t.Errorf("a group of one costs %+v", c)
		}
		if n > 1 && s.v > 0 && !(c.Bandwidth > 0) {
			t.Errorf("no bandwidth term: %+v", c)
		}
		if c.Seconds < max(c.Latency, c.Bandwidth) || c.Seconds > c.Overhead+c.Latency+c.Bandwidth {
			t.Errorf("seconds out of bounds: %+v", c)
		}
		if more := s.Collective(kind, s.axes, s.v+1024); more.Seconds < c.Seconds {
			t.Errorf("more bytes take less time: %v < %v", more.Seconds, c.Seconds)
		}
		if twice := s.Collective(kind, s.axes, 2*s.v); !near(twice.Bandwidth, 2*c.Bandwidth, 1e-9) {
			t.Errorf("twice the bytes take %v instead of %v", twice.Bandwidth, 2*c.Bandwidth)
		}
	})
}

func TestReduceIsScatterAndGather(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		o := drawOptions(t)
		o.Reduction = cost.RingReduction
		s := draw(t, o)
		reduce, scatter, gather := s.of(collectives.AllReduce), s.of(collectives.ReduceScatter), s.of(collectives.AllGather)
		if !near(reduce.Bandwidth, scatter.Bandwidth+gather.Bandwidth, 1e-9) {
			t.Errorf("bandwidth %v, not %v + %v", reduce.Bandwidth, scatter.Bandwidth, gather.Bandwidth)
		}
		if reduce.TotalBytes != scatter.TotalBytes+gather.TotalBytes {
			t.Errorf("bytes %d, not %d + %d", reduce.TotalBytes, scatter.TotalBytes, gather.TotalBytes)
		}
		all := setting{s.fixture, s.hw, nil, s.v}
		for i := range s.mesh {
			all.axes = append(all.axes, subaxis.Ref{Axis: int32(i), Pre: 1, Size: int32(s.mesh[i].Size)})
		}
		if exchange, gather := all.of(collectives.AllToAll).Bandwidth, all.of(collectives.AllGather).Bandwidth; exchange > gather*(1+1e-9) {
			t.Errorf("all-to-all %v takes longer than a gather %v", exchange, gather)
		}
		if s.hw.Torus != nil && o.Ring == cost.Exact && s.inOrder() < gather.Bandwidth*(1-1e-9) {
			t.Errorf("walking the axes in order takes %v, less than %v", s.inOrder(), gather.Bandwidth)
		}
	})
}

// inOrder returns the bandwidth seconds of an all-gather that walks the axes one after the other, the last one first,
// instead of splitting the payload over all of them: an upper bound (specification: cost.md section 2.2).
func (s setting) inOrder() float64 {
	seconds, have := 0.0, 1/float64(subaxis.Product(s.axes))
	for i := len(s.axes) - 1; i >= 0; i-- {
		have *= float64(s.axes[i].Size)
		seconds += have * s.Collective(collectives.AllGather, s.axes[i:i+1], s.v).Bandwidth
	}
	return seconds
}

func TestOptionLaws(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		s := draw(t, exact())
		kind := rapid.SampledFrom(groupKinds).Draw(t, "kind")
		c := s.of(kind)
		if loose := s.remake(t, s.hw, cost.Book()).of(kind); loose.Bandwidth < c.Bandwidth*(1-1e-12) {
			t.Errorf("the asymptotic form %v is below the exact %v", loose.Bandwidth, c.Bandwidth)
		}
		o := exact()
		o.Fitted = true
		if slow := s.remake(t, s.hw, o).of(kind); slow.Seconds < c.Seconds {
			t.Errorf("fitted %v is below nominal %v", slow.Seconds, c.Seconds)
		}
		o = exact()
		o.Latency = cost.AddLatency
		if added := s.remake(t, s.hw, o).of(kind); added.Seconds < c.Seconds {
			t.Errorf("added latency gives %v, less than %v", added.Seconds, c.Seconds)
		}
		fast := s.hw
		if fast.Torus != nil {
			torus := *fast.Torus
			torus.Link, torus.DCN = 2*torus.Link, 2*torus.DCN
			fast.Torus, fast.PCIe = &torus, 2*fast.PCIe
		} else {
			fast.Levels = slices.Clone(fast.Levels)
			for i := range fast.Levels {
				fast.Levels[i].Bandwidth *= 2
			}
		}
		if half := s.remake(t, fast, exact()).of(kind); !near(2*half.Bandwidth, c.Bandwidth, 1e-9) {
			t.Errorf("twice the bandwidth gives %v, not half of %v", half.Bandwidth, c.Bandwidth)
		}
	})
}

func TestAxesLaws(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		s := draw(t, drawOptions(t))
		kind := rapid.SampledFrom(groupKinds).Draw(t, "kind")
		want := s.of(kind)
		s.axes = rapid.Permutation(s.axes).Draw(t, "order")
		if got := s.of(kind); !near(got.Seconds, want.Seconds, 1e-12) {
			t.Errorf("axes in another order: %v, not %v", got.Seconds, want.Seconds)
		}
		s.axes = append(s.axes, subaxis.Ref{Axis: 0, Pre: 1, Size: 1})
		if got := s.of(kind); !near(got.Seconds, want.Seconds, 1e-12) {
			t.Errorf("with a part of size 1: %v, not %v", got.Seconds, want.Seconds)
		}
		axis := int32(rapid.IntRange(0, len(s.mesh)-1).Draw(t, "axis"))
		size := s.mesh[axis].Size
		cut := int32(rapid.SampledFrom(divisorsOf(size)).Draw(t, "cut"))
		whole := []subaxis.Ref{{Axis: axis, Pre: 1, Size: int32(size)}}
		parts := []subaxis.Ref{{Axis: axis, Pre: 1, Size: cut}, {Axis: axis, Pre: cut, Size: int32(size) / cut}}
		a, b := s.Collective(kind, whole, s.v), s.Collective(kind, parts, s.v)
		if s.aligned(axis, cut) && !near(a.Seconds, b.Seconds, 1e-9) {
			t.Errorf("an axis takes %v, its two parts together %v", a.Seconds, b.Seconds)
		}
	})
}

// aligned says whether a cut of an axis falls on the links of the network: powers of two on networks of such sizes.
func (s setting) aligned(axis, cut int32) bool {
	powers := func(n int64) bool { return n&(n-1) == 0 }
	for _, a := range s.mesh {
		if !powers(a.Size) {
			return false
		}
	}
	return powers(int64(cut)) && s.hw.Name != "gb200"
}

func TestRingsAndLines(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		n := rapid.Int64Range(3, 16).Draw(t, "n")
		v := rapid.Int64Range(1, 1<<40).Draw(t, "v")
		mesh := fmt.Sprint("X", n)
		line := lines("tpu-v5e", mesh, exact()).cost(collectives.AllGather, "X", v)
		ring := wrapped("tpu-v5e", mesh, cost.Book()).cost(collectives.AllGather, "X", v)
		if want := 2 * float64(n-1) / float64(n) * ring.Bandwidth; !near(line.Bandwidth, want, 1e-9) {
			t.Errorf("a line takes %v, want 2(n-1)/n of a ring, %v", line.Bandwidth, want)
		}
		if book := lines("tpu-v5e", mesh, cost.Book()).cost(collectives.AllGather, "X", v); book != line {
			t.Errorf("lines keep (n-1)/n: %v, not %v", book, line)
		}
	})
	one := wrapped("tpu-v5p", "X16", exact()).seconds(collectives.AllGather, "X", 1e9)
	two := wrapped("tpu-v5p", "X4 Y4", exact()).seconds(collectives.AllGather, "XY", 1e9)
	if !near(one, 2*two, 1e-3) {
		t.Errorf("two rings of 4 take %v, want half of a ring of 16, %v", two, one)
	}
}

// TestLatency checks hops and steps: to the farthest chip, there and back for a reduction, over the chips of interleaved
// rings; on switches a ring of children at every level.
func TestLatency(t *testing.T) {
	ring := wrapped("tpu-v5p", "X16 Y2", cost.Planning())
	part := func(pre, size int32) []subaxis.Ref { return []subaxis.Ref{{Axis: 0, Pre: pre, Size: size}} }
	gpus := on("h100", "X4 Y8", cost.Planning())
	o := cost.Planning()
	o.Reduction = cost.MeasuredReduction
	sharp := on("h100", "X4 Y8", o)
	for _, c := range []struct {
		what    string
		got     cost.Cost
		hops    int64
		seconds float64
	}{
		{"gather on a ring", ring.cost(collectives.AllGather, "X", 1), 8, 8e-6},
		{"all-reduce on a ring", ring.cost(collectives.AllReduce, "X", 1), 16, 16e-6},
		{"gather on a torus", ring.cost(collectives.AllGather, "XY", 1), 9, 9e-6},
		{"inner line", ring.Collective(collectives.AllGather, part(4, 4), 1), 3, 3e-6},
		{"outer rings", ring.Collective(collectives.AllGather, part(1, 4), 1), 8, 8e-6},
		{"middle lines", ring.Collective(collectives.AllGather, part(2, 4), 1), 6, 6e-6},
		{"gather in a node", gpus.cost(collectives.AllGather, "Y", 1), 7, 7 * 1.9e-6},
		{"all-reduce over nodes", gpus.cost(collectives.AllReduce, "XY", 1), 20, 14*1.9e-6 + 6*4e-6},
		{"all-reduce in the switches", sharp.cost(collectives.AllReduce, "XY", 1), 10, 7*1.9e-6 + 3*4e-6},
		{"permute over nodes", gpus.cost(collectives.Permute, "X", 1), 1, 4e-6},
	} {
		if c.got.Hops != c.hops || !near(c.got.Latency, c.seconds, 1e-9) {
			t.Errorf("%s: %d hops in %v s, want %d in %v", c.what, c.got.Hops, c.got.Latency, c.hops, c.seconds)
		}
	}
}

func TestOverlapLaws(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		math, net := rapid.Float64Range(0, 1).Draw(t, "math"), rapid.Float64Range(0, 1).Draw(t, "net")
		m := rapid.Int64Range(2, 64).Draw(t, "m")
		lower, upper := cost.Largest.Of(math, net), cost.Sum.Of(math, net)
		if upper > 2*lower {
			t.Errorf("sum %v is over twice the largest %v", upper, lower)
		}
		got := CollectiveMatmul(math, net, m, 0, false)
		if got < lower*(1-1e-9) || got > upper*(1+1e-9) {
			t.Errorf("overlapped %v is not within %v and %v", got, lower, upper)
		}
		if one := CollectiveMatmul(math, net, m, 0, true); one < got {
			t.Errorf("one way %v is faster than both ways %v", one, got)
		}
		if rest := Prefetched(net, math); rest != max(0, net-math) {
			t.Errorf("prefetched leaves %v", rest)
		}
	})
	if got := CollectiveMatmul(4, 12, 4, 0, true); got != 1+3*8 {
		t.Errorf("one way takes %v, want 25", got)
	}
	if got := CollectiveMatmul(3, 100, 1, 1, false); got != 4 {
		t.Errorf("one chunk takes %v, want 4", got)
	}
}

func TestMatmulOptionLaws(t *testing.T) {
	sides := []cost.Side{cost.Nowhere, cost.OnI, cost.OnJ, cost.OnK, cost.OnBatch}
	rows := 0
	for _, a := range sides {
		for _, b := range sides {
			f := on("tpu-v5p", "X4 Y4 Z4", cost.Planning())
			m := cost.Matmul{Batch: 8, I: 512, J: 1024, K: 2048, SizeA: 2, SizeB: 2, SizeC: 4}
			options, err := f.options(m, "X", a, b)
			if err != nil {
				continue
			}
			rows++
			for _, o := range options {
				if o.Seconds(cost.Largest) != o.Lower || o.Seconds(cost.Sum) != o.Upper || o.Upper > 2*o.Lower {
					t.Errorf("%v/%v %s: bounds %v %v", a, b, o.Names, o.Lower, o.Upper)
				}
				share := o.FLOPs / m.FLOPs()
				if replicated := o.A[0] == cost.Nowhere && o.B[0] == cost.Nowhere; replicated && share != 1 || !replicated && share != 0.25 {
					t.Errorf("%v/%v %s: share of the work %v", a, b, o.Names, share)
				}
			}
		}
	}
	if rows != 12 {
		t.Errorf("the table has %d rows, want 12", rows)
	}
}

// TestMatmulMoves checks what every option of the table sends.
func TestMatmulMoves(t *testing.T) {
	f := wrapped("tpu-v5p", "X4", cost.Book())
	m := bf16(512, 1024, 2048)
	want := map[[2]cost.Side]string{
		{cost.OnI, cost.Nowhere}: "1[] 1 gather C[C all_gather] 1 gather A[A all_gather]",
		{cost.OnJ, cost.Nowhere}: "2a[A all_gather] 2a'[A all_gather] 2b[C all_reduce] 2b'[C reduce_scatter] 2b'[C reduce_scatter] 2c[A " +
			"all_to_all]",
		{cost.Nowhere, cost.OnJ}: "2a[B all_gather] 2a'[B all_gather] 2b[C all_reduce] 2b'[C reduce_scatter] 2b'[C reduce_scatter] 2c[B " +
			"all_to_all]",
		{cost.OnJ, cost.OnJ}: "3a[C all_reduce] 3b[C reduce_scatter] 3b[C reduce_scatter] 3c[]",
		{cost.OnI, cost.OnK}: "4a[A all_gather] 4b[B all_gather] 4c[A all_to_all B all_to_all C reduce_scatter] 4c[A all_to_all B " +
			"all_to_all C reduce_scatter]",
		{cost.OnI, cost.OnJ}:         "fsdp gather B[B all_gather] fsdp exchange A[A all_to_all C reduce_scatter]",
		{cost.OnJ, cost.OnK}:         "megatron gather A[A all_gather] megatron exchange B[B all_to_all C reduce_scatter]",
		{cost.OnBatch, cost.Nowhere}: "batch slice B[]",
	}
	for sides, text := range want {
		options, err := f.options(m, "X", sides[0], sides[1])
		if err != nil {
			t.Fatal(err)
		}
		got := ""
		for i, o := range options {
			var moves []string
			for _, move := range o.Moves {
				moves = append(moves, fmt.Sprintf("%c %v", move.Operand, move.Kind))
			}
			if i > 0 {
				got += " "
			}
			got += fmt.Sprint(o.Names[0], moves)
		}
		if got != text {
			t.Errorf("%v: %s\nwant %s", sides, got, text)
		}
	}
	options, _ := f.options(m, "X", cost.OnI, cost.OnK)
	if i := cost.Fastest(options, []cost.Side{cost.OnK}, cost.Sum); options[i].Names[0] != "4a" {
		t.Errorf("gathering the smaller A is fastest, not %s", options[i].Names)
	}
	options[2].Net, options[2].Result = options[0].Net, []cost.Side{cost.OnK}
	options[2].Local = options[0].Local
	if i := cost.Fastest(options, []cost.Side{cost.OnK}, cost.Sum); i != 0 {
		t.Errorf("of two equal options the first wins, not %d", i)
	}
	if i := cost.Fastest(options, []cost.Side{cost.Unreduced}, cost.Sum); i != -1 {
		t.Errorf("no option leaves the result unreduced, but %d does", i)
	}
}

// TestTrainingLimits checks that compute and communication take equally long at every limit.
func TestTrainingLimits(t *testing.T) {
	const c, w, d, f = 4.59e14, 1.8e11, 8192.0, 32768.0
	alpha := CriticalIntensity(c, w)
	check := func(name string, b BlockTime) {
		t.Helper()
		if !near(b.Math, b.Net, 1e-9) {
			t.Errorf("%s: math %v, communication %v", name, b.Math, b.Net)
		}
	}
	limit := DataParallelLimit(alpha, 3)
	check("data parallel", Block{B: limit * 64, D: d, F: f}.DataParallel(64, c, 3*w))
	check("fully sharded", Block{B: limit * 64, D: d, F: f}.FullySharded(64, c, 3*w))
	check("tensor parallel", Block{B: 1e5, D: d, F: f}.TensorParallel(TensorParallelLimit(alpha, f, 2, false), c, 2*w))
	if got := TensorParallelLimit(alpha, f, 2, true); !near(got, 1.5*2*f/alpha, 1e-12) {
		t.Errorf("a gated block has limit %v", got)
	}
	for _, axes := range []cost.Combine{cost.Sum, cost.Largest} {
		const n = 4096.0
		b := MixedLimit(alpha, f, 2, axes) * n
		x := BestFullySharded(b, f, 2, n)
		block := Block{B: b, D: d, F: f}.Mixed(x, n/x, c, 2*w, w, axes)
		check("mixed", block)
		if got := BestRatio(b, f, 2, n, alpha, axes); !near(got, 1, 1e-9) {
			t.Errorf("ratio at the limit is %v", got)
		}
	}
	slice := BetweenSlicesLimit(c, 6.25e9)
	check("between slices", Block{B: slice * 4, D: d, F: f}.BetweenSlices(4*256, 256, c, 6.25e9))
	check("experts", Block{B: ExpertsReplicatedLimit(alpha, 32, 4) * 64, D: d, F: f}.ExpertsReplicated(64, 32, 4, c, w))
	check("experts on a ring", Block{B: 1e5, D: d, F: f}.ExpertsOnRing(ExpertsOnRingLimit(alpha, f), 4, c, w))
	for _, z := range []float64{32, 512} {
		check("experts on nodes", Block{B: 1e5, D: d, F: ExpertsOnNodesLimit(alpha, z, 8)}.ExpertsOnNodes(z, 8, c, w))
	}
	block := Block{B: 1e5, D: d, F: f}
	if got := block.PipelineNet(8, 4, w); !near(got, 2*1e5*d/(w*8)*10, 1e-12) {
		t.Errorf("pipeline communication %v", got)
	}
	if got := PipelineBubble(8, 4); got != 3./11 {
		t.Errorf("pipeline bubble %v", got)
	}
}

func TestPicoseconds(t *testing.T) {
	for _, c := range []struct {
		seconds float64
		want    int64
	}{
		{0, 0}, {1e-12, 1}, {1.4e-12, 1}, {1.5e-12, 2}, {1, 1e12}, {-1, 0}, {math.NaN(), 0},
		{1e7, math.MaxInt64}, {math.Inf(1), math.MaxInt64}, {math.Inf(-1), 0},
	} {
		if got := cost.Picoseconds(c.seconds); got != c.want {
			t.Errorf("%v s is %d, want %d", c.seconds, got, c.want)
		}
	}
}

// What devices take to meet is paid for each of a group but one, and by all of the mesh for a permute.
func TestMeeting(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		o := drawOptions(t)
		s := draw(t, o)
		kind := rapid.SampledFrom(groupKinds).Draw(t, "kind")
		hosts := s.hw
		hosts.Meeting = 3e-6
		before, after := s.of(kind), s.remake(t, hosts, o).of(kind)
		n := subaxis.Product(s.axes)
		want := float64(n-1) * 3e-6
		switch {
		case n == 1 || !o.Fitted:
			want = 0
		case kind == collectives.Permute:
			want = float64(s.Devices()-1) * 3e-6
		}
		if got := after.Overhead - before.Overhead; !near(got, want, 1e-6) || after.Bandwidth != before.Bandwidth {
			t.Errorf("%s over %v takes %v s more to begin, want %v", kind, s.axes, got, want)
		}
	})
}
