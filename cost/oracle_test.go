package cost_test

import (
	"fmt"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"autoshard/collectives"
	"autoshard/cost"
	"autoshard/subaxis"
)

// network is a torus or mesh for the simulation of section 2.2 of cost.md: every transfer walks the dimensions in order,
// each the shorter way, half each way where both are as long; every directed link sums what it carries.
type network struct {
	dims  []int
	wraps []bool
	load  map[string]float64
}

func (n *network) coordinates(device int) []int {
	at := make([]int, len(n.dims))
	for k := len(n.dims) - 1; k >= 0; k-- {
		at[k] = device % n.dims[k]
		device /= n.dims[k]
	}
	return at
}

func (n *network) send(from, to int, bytes float64) {
	at, target := n.coordinates(from), n.coordinates(to)
	for k, size := range n.dims {
		forward := ((target[k]-at[k])%size + size) % size
		ways := []int{1}
		switch {
		case forward == 0:
			continue
		case !n.wraps[k] || size == 2:
			if target[k] < at[k] {
				ways = []int{-1}
			}
		case 2*forward > size:
			ways = []int{-1}
		case 2*forward == size:
			ways = []int{1, -1}
		}
		for _, way := range ways {
			here := slices.Clone(at)
			for here[k] != target[k] {
				n.load[fmt.Sprint(here, k, way)] += bytes / float64(len(ways))
				here[k] = ((here[k]+way)%size + size) % size
			}
		}
		at[k] = target[k]
	}
}

func (n *network) busiest() float64 {
	most := 0.0
	for _, bytes := range n.load {
		most = max(most, bytes)
	}
	return most
}

func newNetwork(dims []int, wraps []bool) *network {
	return &network{dims, wraps, map[string]float64{}}
}

// topologyOf is the mesh that has one axis per dimension.
func topologyOf(dims []int, wraps []bool, o cost.Options) fixture {
	mesh, shape := "", []int64{}
	for k, size := range dims {
		mesh += fmt.Sprintf(" %c%d", 'X'+k, size)
		shape = append(shape, int64(size))
	}
	hw := profile("tpu-v5p")
	return onHardware(hw, mesh, o, cost.SliceShape{Shape: shape, Wrap: wraps})
}

func TestAllToAllSimulation(t *testing.T) {
	for _, c := range []struct {
		dims  []int
		wraps []bool
		ratio float64 // of the busiest link to the asymptotic formula
	}{
		{[]int{8}, []bool{true}, 1},
		{[]int{16}, []bool{true}, 1},
		{[]int{4}, []bool{false}, 1},
		{[]int{8}, []bool{false}, 1},
		{[]int{7}, []bool{true}, 48. / 49},
		{[]int{5}, []bool{false}, 24. / 25},
		{[]int{4, 4}, []bool{true, true}, 1},
		{[]int{4, 8}, []bool{true, true}, 1},
		{[]int{4, 4, 8}, []bool{true, true, true}, 1},
		{[]int{2, 4}, []bool{false, false}, 1},
		{[]int{4, 4}, []bool{false, false}, 1},
		{[]int{4, 8}, []bool{false, true}, 1},
		{[]int{4, 8}, []bool{true, false}, 1},
	} {
		n := 1
		for _, size := range c.dims {
			n *= size
		}
		const chunk = 1024.0
		net := newNetwork(c.dims, c.wraps)
		for from := range n {
			for to := range n {
				net.send(from, to, chunk)
			}
		}
		v := int64(chunk) * int64(n) * int64(n)
		simulated := net.busiest() / profile("tpu-v5p").Torus.Link
		letters := "XYZ"[:len(c.dims)]
		book := topologyOf(c.dims, c.wraps, cost.Book()).cost(collectives.AllToAll, letters, v).Bandwidth
		if !near(simulated, c.ratio*book, 1e-9) {
			t.Errorf("%v %v: simulation %v, formula %v, ratio %.3f", c.dims, c.wraps, simulated, book, simulated/book)
		}
		got := topologyOf(c.dims, c.wraps, exact()).cost(collectives.AllToAll, letters, v).Bandwidth
		if !near(got, simulated, 1e-9) {
			t.Errorf("%v %v: exact formula %v, simulation %v", c.dims, c.wraps, got, simulated)
		}
	}
}

// TestSubAxisSimulation exchanges along parts of one ring of 16: the inner part is a line, the outer part interleaved
// rings that share links.
func TestSubAxisSimulation(t *testing.T) {
	f := wrapped("tpu-v5p", "X16", exact())
	for _, c := range []struct {
		ref    subaxis.Ref
		stride int
	}{
		{subaxis.Ref{Axis: 0, Pre: 4, Size: 4}, 1},
		{subaxis.Ref{Axis: 0, Pre: 8, Size: 2}, 1},
		{subaxis.Ref{Axis: 0, Pre: 2, Size: 8}, 1},
		{subaxis.Ref{Axis: 0, Pre: 1, Size: 4}, 4},
		{subaxis.Ref{Axis: 0, Pre: 1, Size: 8}, 2},
		{subaxis.Ref{Axis: 0, Pre: 1, Size: 2}, 8},
		{subaxis.Ref{Axis: 0, Pre: 2, Size: 2}, 4},
	} {
		const chunk = 1000.0
		net := newNetwork([]int{16}, []bool{true})
		size := int(c.ref.Size)
		for from := range 16 {
			at := from / c.stride % size
			for to := range size {
				net.send(from, from+(to-at)*c.stride, chunk)
			}
		}
		simulated := net.busiest() / f.Hardware().Torus.Link
		v := int64(chunk) * int64(size) * int64(size)
		if got := f.Collective(collectives.AllToAll, []subaxis.Ref{c.ref}, v).Bandwidth; !near(got, simulated, 1e-9) {
			t.Errorf("%+v: got %v, simulation %v", c.ref, got, simulated)
		}
	}
}

func TestPermutationSimulation(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		dims := rapid.SliceOfN(rapid.IntRange(1, 6), 1, 3).Draw(t, "dims")
		wraps := rapid.SliceOfN(rapid.Bool(), len(dims), len(dims)).Draw(t, "wraps")
		n := 1
		targets := []int{}
		for _, size := range dims {
			n *= size
		}
		for d := range n {
			targets = append(targets, d)
		}
		targets = rapid.Permutation(targets).Draw(t, "targets")
		f := topologyOf(dims, wraps, exact())
		net := newNetwork(dims, wraps)
		var pairs []cost.Pair
		moved := int64(0)
		for from, to := range targets {
			pairs = append(pairs, cost.Pair{Source: int64(from), Target: int64(to)})
			net.send(from, to, 1000)
			if from != to {
				moved++
			}
		}
		got := f.Permutation(pairs, 1000)
		if want := net.busiest() / f.Hardware().Torus.Link; !near(got.Bandwidth, want, 1e-9) {
			t.Errorf("got %v, simulation %v", got.Bandwidth, want)
		}
		if got.TotalBytes != 1000*moved {
			t.Errorf("total %d bytes, want %d", got.TotalBytes, 1000*moved)
		}
	})
}

// TestShift checks the shifts of cost.md section 2.1, and that the worst permute bounds them.
func TestShift(t *testing.T) {
	const v, w = 1e6, 9e10
	for _, c := range []struct {
		wrap bool
		k    int64
		want float64
		hops int64
	}{
		{true, 1, v / w, 1}, {true, 3, 3 * v / w, 3}, {true, 4, 8 * v / (4 * w), 4}, {true, 7, v / w, 1},
		{false, 1, v / w, 7},
	} {
		f := onHardware(profile("tpu-v5p"), "X8 Y2", exact(), cost.SliceShape{Shape: []int64{8, 2}, Wrap: []bool{c.wrap, false}})
		x := f.axes("X")
		got := f.Permutation(f.Shift(x[0], c.k), v)
		if !near(got.Bandwidth, c.want, 1e-9) || got.Hops != c.hops {
			t.Errorf("wrap %v, shift by %d: %v s and %d hops, want %v and %d", c.wrap, c.k, got.Bandwidth, got.Hops, c.want, c.hops)
		}
	}
	gpus := on("h100", "X16 Y4", exact())
	for _, c := range []struct {
		axis string
		k    int64
		want float64
	}{{"Y", 1, v / 4.5e11}, {"X", 1, 4 * v / 4e11}, {"X", 2, 8 * v / 4e11}} {
		got := gpus.Permutation(gpus.Shift(gpus.axes(c.axis)[0], c.k), v)
		if !near(got.Bandwidth, c.want, 1e-9) || got.TotalBytes != 64*v {
			t.Errorf("shift by %d along %s takes %v and sends %d, want %v", c.k, c.axis, got.Bandwidth, got.TotalBytes, c.want)
		}
		if worst := gpus.cost(collectives.Permute, c.axis, v); worst.Bandwidth < got.Bandwidth {
			t.Errorf("the worst permute along %s takes %v, less than a shift %v", c.axis, worst.Bandwidth, got.Bandwidth)
		}
	}
}

// TestSentBytes counts what the ring algorithms send, step by step.
func TestSentBytes(t *testing.T) {
	const block = 12
	for n := int64(1); n <= 6; n++ {
		gather, reduce, exchange := int64(0), int64(0), int64(0)
		for step := int64(1); step < n; step++ {
			for range n {
				gather += block   // every device passes on the block it got last
				reduce += block   // and a partially reduced one of n
				exchange += block // and hands one of its n blocks to the device that many places up
			}
		}
		for _, c := range []struct {
			kind    collectives.Kind
			operand int64
			want    int64
		}{
			{collectives.AllGather, block, gather}, {collectives.ReduceScatter, n * block, reduce},
			{collectives.AllReduce, n * block, reduce + gather},
			{collectives.AllToAll, n * block, exchange}, {collectives.AllSlice, block, 0},
		} {
			if got := collectives.SentBytes(c.kind, n, collectives.GroupBytes(c.kind, n, c.operand)); got != c.want {
				t.Errorf("%v over %d devices sends %d, want %d", c.kind, n, got, c.want)
			}
		}
	}
	if got := collectives.SentBytes(collectives.AllReduce, 1<<20, 1<<60); got != 1<<63-1 {
		t.Errorf("huge counts saturate, got %d", got)
	}
}

// TestPeakBruteForce compares with a count at every op.
func TestPeakBruteForce(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		const ops = 12
		var buffers []cost.Buffer
		for range rapid.IntRange(0, 10).Draw(t, "buffers") {
			buffers = append(buffers, cost.Buffer{
				Def: rapid.Int32Range(0, ops-1).Draw(t, "def"), Last: rapid.Int32Range(0, ops-1).Draw(t, "last"),
				Bytes: rapid.Int64Range(0, 100).Draw(t, "bytes"), Alias: rapid.Int32Range(0, 3).Draw(t, "alias"),
			})
		}
		scratch := rapid.SliceOfN(rapid.Int64Range(0, 50), 0, ops).Draw(t, "scratch")
		var want cost.MemoryPeak
		for op := int32(0); op < ops; op++ {
			live := int64(0)
			if int(op) < len(scratch) {
				live = scratch[op]
			}
			shared := map[int32]int64{}
			for _, b := range buffers {
				if b.Def > op || b.Last < op {
					continue
				}
				if b.Alias == 0 {
					live += b.Bytes
				} else {
					shared[b.Alias] = max(shared[b.Alias], b.Bytes)
				}
			}
			for _, bytes := range shared {
				live += bytes
			}
			if live > want.Bytes {
				want.Bytes, want.At = live, op
			}
		}
		got := cost.Peak(buffers, scratch)
		if got.Bytes != want.Bytes || got.At != want.At {
			t.Fatalf("peak %d at %d, want %d at %d", got.Bytes, got.At, want.Bytes, want.At)
		}
		counted := int64(0)
		if int(got.At) < len(scratch) {
			counted = scratch[got.At]
		}
		for i, b := range got.Live {
			counted += buffers[b].Bytes
			if i > 0 && buffers[got.Live[i-1]].Bytes < buffers[b].Bytes {
				t.Errorf("contributors are not sorted: %v", got.Live)
			}
		}
		if counted != got.Bytes && got.Bytes > 0 {
			t.Errorf("contributors sum to %d, the peak is %d", counted, got.Bytes)
		}
	})
}
