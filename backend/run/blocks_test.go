package run_test

import (
	"math/rand/v2"
	"slices"
	"testing"

	"autoshard/backend/interp"
	"autoshard/backend/run"
	"autoshard/backend/tensor"
	"autoshard/collectives"
	"autoshard/ir"
	"autoshard/ir/dtype"
	"autoshard/subaxis"
)

func mesh() *subaxis.Mesh {
	return &subaxis.Mesh{Axes: []subaxis.Axis{{Name: "x", Size: 2}, {Name: "y", Size: 4}}, DeviceIDs: []int64{3, 1, 0, 2, 7, 6, 5, 4}}
}

// split returns the block of each device, by partition id.
func split(c *run.Cut, whole *tensor.Tensor) []*tensor.Tensor { return devices(c.Split(whole, nil)) }

// devices returns the block of each of eight devices.
func devices(b interp.Blocks) []*tensor.Tensor {
	out := make([]*tensor.Tensor, 8)
	for d := range out {
		block := b.Of(d)
		out[d] = &block
	}
	return out
}

// ref returns a part of an axis.
func ref(axis, pre, size int32) subaxis.Ref { return subaxis.Ref{Axis: axis, Pre: pre, Size: size} }

func counted(dims ...int64) *tensor.Tensor {
	n := int64(1)
	for _, d := range dims {
		n *= d
	}
	values := make([]float64, n)
	for k := range values {
		values[k] = float64(k)
	}
	t := tensor.FromFloats(dtype.F32, dims, values...)
	return &t
}

// Blocks go where the layout says, also along parts of axes and where the mesh lists device ids, and join to what was split.
func TestSplitAndJoin(t *testing.T) {
	m := mesh()
	x, y, major, minor := m.Full(0), m.Full(1), ref(1, 1, 2), ref(1, 2, 2)
	layouts := [][][]subaxis.Ref{{nil, nil}, {{x}, {y}}, {{y, x}, nil}, {{minor}, {major}}, {{x, minor}, {major}}, {{major, x}, {minor}}}
	for _, dims := range layouts {
		l, whole := &collectives.Layout{Dims: dims}, counted(8, 4)
		blocks := split(run.NewCut(m, l, whole.Shape), whole)
		for logical := range m.Devices() {
			block := blocks[m.DeviceID(logical)]
			start, _ := run.Start(m, l, logical, whole.Shape)
			if want := float64(start[0]*4 + start[1]); !slices.Equal(block.Shape, l.LocalDims(whole.Shape)) || block.Floats()[0] != want {
				t.Errorf("%v: device %d has a block of shape %v that begins with %v, want %v",
					dims, m.DeviceID(logical), block.Shape, block.Floats()[0], want)
			}
		}
		if got := run.NewCut(m, l, whole.Shape).Join(whole.Shape, blocks); !got.Equal(*whole) {
			t.Errorf("%v: joined to %v", dims, got.Floats())
		}
	}
}

// Blocks put to where they start make up the tensor that they were split from, as when they are joined.
func TestPutBlocksBack(t *testing.T) {
	m, whole := mesh(), counted(8, 4)
	l := &collectives.Layout{Dims: [][]subaxis.Ref{{m.Full(0), ref(1, 2, 2)}, {ref(1, 1, 2)}}}
	got := tensor.New(whole.DType, whole.Shape)
	seen := map[int64]bool{}
	for logical, blocks := int64(0), split(run.NewCut(m, l, whole.Shape), whole); logical < m.Devices(); logical++ {
		start, index := run.Start(m, l, logical, whole.Shape)
		run.Put(&got, blocks[m.DeviceID(logical)], start)
		seen[index] = true
	}
	if !got.Equal(*whole) || int64(len(seen)) != l.Shards() {
		t.Errorf("%d blocks, numbered %v, make %v", l.Shards(), seen, got.Floats())
	}
}

// What pads blocks is what it is filled with, and is left out where they are joined. A device may have nothing else.
func TestSplitAndJoinPadded(t *testing.T) {
	m, whole := mesh(), counted(9, 3)
	l := &collectives.Layout{Dims: [][]subaxis.Ref{{m.Full(1)}, {m.Full(0)}}}
	blocks := devices(run.NewCut(m, l, []int64{16, 4}).Split(whole, func(block *tensor.Tensor) {
		for i := range block.Data {
			block.Data[i] = 0xff
		}
	}))
	last := blocks[m.DeviceID(7)] // at the end of both dimensions
	if got := last.Floats(); len(got) != 8 || slices.ContainsFunc(got, func(x float64) bool { return x == x }) {
		t.Errorf("the last device has %v, want eight times what is not a number", got)
	}
	if got := run.NewCut(m, l, []int64{16, 4}).Join(whole.Shape, blocks); !got.Equal(*whole) {
		t.Errorf("joined to %v", got.Floats())
	}
}

// Terms are combined by their reduction, and each counts once however many devices hold it.
func TestJoinOfTerms(t *testing.T) {
	m := mesh()
	combiners := map[ir.Reduction]func(x, y tensor.Tensor) tensor.Tensor{
		ir.ReduceSum: tensor.Add, ir.ReduceMax: tensor.Maximum, ir.ReduceMin: tensor.Minimum,
	}
	for r, combine := range combiners {
		l := &collectives.Layout{Dims: [][]subaxis.Ref{{m.Full(1)}}, Unreduced: []subaxis.Ref{m.Full(0)}, Reduction: r}
		terms, want := make([]*tensor.Tensor, 2), tensor.Tensor{}
		blocks := make([]*tensor.Tensor, m.Devices())
		for k := range terms {
			values := make([]float64, 8)
			for i := range values {
				values[i] = float64(rand.IntN(100))
			}
			term := tensor.FromFloats(dtype.F32, []int64{8}, values...)
			split := split(run.NewCut(m, &collectives.Layout{Dims: l.Dims}, term.Shape), &term)
			for logical := range m.Devices() {
				if id := m.DeviceID(logical); m.Coordinate(logical, m.Full(0)) == int64(k) {
					blocks[id] = split[id]
				}
			}
			if want = term; k > 0 {
				want = combine(*terms[0], term)
			}
			terms[k] = &term
		}
		if got := run.NewCut(m, l, []int64{8}).Join([]int64{8}, blocks); !got.Equal(want) {
			t.Errorf("%v: %v, want %v", r, got.Floats(), want.Floats())
		}
	}
}

// Blocks that should be copies are compared, and the first two devices that differ are named; terms are no copies.
func TestCopies(t *testing.T) {
	m, whole := mesh(), counted(8)
	l := &collectives.Layout{Dims: [][]subaxis.Ref{{m.Full(1)}}}
	blocks := split(run.NewCut(m, l, whole.Shape), whole)
	if first, second, ok := run.Copies(m, l, whole.Shape, blocks); !ok {
		t.Errorf("devices %d and %d differ", first, second)
	}
	other := blocks[6].Clone()
	other.Data[0]++
	blocks[6] = &other
	if first, second, ok := run.Copies(m, l, whole.Shape, blocks); ok || first != 1 || second != 6 {
		t.Errorf("devices %d and %d differ, %t; want 1 and 6", first, second, ok)
	}
	l.Unreduced = []subaxis.Ref{m.Full(0)}
	if _, _, ok := run.Copies(m, l, whole.Shape, blocks); !ok {
		t.Error("terms are compared as if they were copies")
	}
}
