package cost_test

import (
	"math"
	"math/rand/v2"
	"testing"

	"autoshard/collectives"
	"autoshard/cost"
	"autoshard/internal/lists"
	"autoshard/subaxis"

	"pgregory.net/rapid"
)

var kinds = []collectives.Kind{collectives.AllGather, collectives.ReduceScatter, collectives.AllReduce, collectives.AllToAll,
	collectives.Permute, collectives.Broadcast, collectives.Reduce}

// ordered is a mesh whose devices are in some order, beside one of the same axes whose devices are in that of the network.
type ordered struct {
	mesh           subaxis.Mesh
	plain, another *cost.Topology
	axes           []subaxis.Ref
}

func drawOrdered(t *rapid.T, ids func(mesh *subaxis.Mesh, axes []subaxis.Ref) []int64) ordered {
	s := draw(t, drawOptions(t))
	o := ordered{mesh: subaxis.Mesh{Axes: s.mesh}, plain: s.Topology, axes: s.axes}
	if o.mesh.Devices() > 1<<10 {
		t.Skip("many devices")
	}
	o.mesh.DeviceIDs = ids(&o.mesh, s.axes)
	var err error
	if o.another, err = cost.NewTopology(s.hw, o.mesh, s.Options()); err != nil {
		t.Fatal(err)
	}
	return o
}

// What groups send costs what it costs without device ids where these move whole groups, or devices within their groups.
func TestOrderWithinGroups(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		random := rand.New(rand.NewPCG(rapid.Uint64().Draw(t, "seed"), 0))
		o := drawOrdered(t, func(mesh *subaxis.Mesh, axes []subaxis.Ref) []int64 {
			ids := make([]int64, mesh.Devices())
			groups := mesh.Groups(axes)
			for i, to := range random.Perm(len(groups)) {
				for j, at := range random.Perm(len(groups[i])) {
					ids[groups[i][j]] = groups[to][at]
				}
			}
			return ids
		})
		v := rapid.Int64Range(0, 1<<40).Draw(t, "bytes")
		for _, kind := range kinds {
			if got, want := o.another.Collective(kind, o.axes, v), o.plain.Collective(kind, o.axes, v); got != want {
				t.Fatalf("%v over %s of %v costs %+v, in order %+v", kind, o.mesh.FormatList(o.axes), o.mesh, got, want)
			}
		}
	})
}

// In whatever order devices are, no collective is faster than what the links of a chip allow, and none takes forever.
func TestAnyOrder(t *testing.T) {
	scattered := 0
	rapid.Check(t, func(t *rapid.T) {
		random := rand.New(rand.NewPCG(rapid.Uint64().Draw(t, "seed"), 0))
		o := drawOrdered(t, func(mesh *subaxis.Mesh, _ []subaxis.Ref) []int64 {
			return lists.Map(random.Perm(int(mesh.Devices())), func(i int) int64 { return int64(i) })
		})
		const v = 1 << 30
		for _, kind := range kinds {
			c, plain := o.another.Collective(kind, o.axes, v), o.plain.Collective(kind, o.axes, v)
			if c.BytesPerDevice != plain.BytesPerDevice || c.TotalBytes != plain.TotalBytes {
				t.Fatalf("%v sends %+v, in order %+v", kind, c, plain)
			}
			if (c.Seconds > 0) != (plain.Seconds > 0) || math.IsInf(c.Seconds, 0) || math.IsNaN(c.Seconds) {
				t.Fatalf("%v over %s of %v takes %+v, in order %+v", kind, o.mesh.FormatList(o.axes), o.mesh, c, plain)
			}
			if c.Seconds > plain.Seconds {
				scattered++
			}
		}
	})
	if scattered == 0 {
		t.Error("no order cost anything")
	}
}

// Groups that run along axes cost the same, named by those or listed.
func TestAmong(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		s := draw(t, drawOptions(t))
		mesh := subaxis.Mesh{Axes: s.mesh}
		if mesh.Devices() > 1<<10 {
			t.Skip("many devices")
		}
		n, operand := subaxis.Product(s.axes), rapid.Int64Range(0, 1<<30).Draw(t, "bytes")
		for _, kind := range kinds {
			got := s.Among(kind, mesh.Groups(s.axes), operand)
			if want := s.Collective(kind, s.axes, collectives.GroupBytes(kind, n, operand)); got != want {
				t.Fatalf("%v costs %+v among the groups along %s of %v, %+v along those", kind, got, mesh.FormatList(s.axes), mesh.Axes, want)
			}
		}
	})
}

// Eight GPUs a node, two nodes: where the order of devices puts a group into both, it waits for the network between them.
func TestOrderOverNodes(t *testing.T) {
	mesh := subaxis.Mesh{Axes: meshOf("X2 Y8")}
	y := []subaxis.Ref{mesh.Full(1)}
	in := onMesh(t, "h100", mesh).Collective(collectives.AllGather, y, 1<<30)
	mesh.DeviceIDs = []int64{0, 2, 4, 6, 8, 10, 12, 14, 1, 3, 5, 7, 9, 11, 13, 15}
	across := onMesh(t, "h100", mesh)
	if c := across.Collective(collectives.AllGather, y, 1<<30); c.Seconds < 1.2*in.Seconds || len(across.Links(y)) != 2 {
		t.Errorf("a gather of half of either node takes %v, of one node %v; it uses %v", c.Seconds, in.Seconds, across.Links(y))
	}
	x := []subaxis.Ref{mesh.Full(0)} // pairs of neighbours now
	if links := across.Links(x); len(links) != 1 {
		t.Errorf("neighbours send over %v", links)
	}
}

// A ring of eight along an axis of a torus, cut in two: of neighbours, or of what a shuffle put together, which routes cross.
func TestOrderOnTorus(t *testing.T) {
	mesh := subaxis.Mesh{Axes: meshOf("X2 Y4")}
	y := []subaxis.Ref{mesh.Full(1)}
	line := onMesh(t, "tpu-v5e", mesh)
	mesh.DeviceIDs = []int64{0, 3, 5, 6, 1, 2, 4, 7}
	shuffled := onMesh(t, "tpu-v5e", mesh)
	for _, kind := range kinds {
		c, s := line.Collective(kind, y, 1<<30), shuffled.Collective(kind, y, 1<<30)
		t.Logf("%v: %v in order, %v shuffled", kind, c.Seconds, s.Seconds)
		if kind != collectives.AllToAll && s.Seconds < c.Seconds {
			t.Errorf("%v is faster where devices are shuffled: %v, in order %v", kind, s.Seconds, c.Seconds)
		}
	}
	around := line.Permutation(line.Shift(y[0], 1), 1<<20)
	if s := shuffled.Permutation(shuffled.Shift(y[0], 1), 1<<20); s.Seconds <= around.Seconds || s.TotalBytes != around.TotalBytes {
		t.Errorf("a shift of shuffled devices costs %+v, in order %+v", s, around)
	}
}

func onMesh(t *testing.T, hardware string, mesh subaxis.Mesh) *cost.Topology {
	topology, err := cost.NewTopology(profile(hardware), mesh, cost.Planning())
	if err != nil {
		t.Fatal(err)
	}
	return topology
}
