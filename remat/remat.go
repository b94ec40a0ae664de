// Package remat makes values of a partitioned program again where they are needed, instead of holding them all the time: what a training
// step computes on its way forward and reads again on its way back.
//
//	%1 = stablehlo.tanh %0                        %1 = stablehlo.tanh %0
//	%2 = stablehlo.dot_general %1, %w             %2 = stablehlo.dot_general %1, %w
//	...                                           ...                                        %1 is not held here
//	                                              %8:2 = stablehlo.optimization_barrier %0, %7
//	                                              %9 = stablehlo.tanh %8#0 {autoshard.recomputed}
//	%10 = stablehlo.dot_general %1, %7            %10 = stablehlo.dot_general %9, %7
//
// The ops are the same, on the same operands, so that each element is computed as before, bit for bit. The barrier keeps compilers from
// finding that out, and lets %9 wait for %7, which is made just before it is needed.
//
// What a loop stacks up for a later loop is made again in that one ([Device.ChooseStacks]), in each of its iterations what it reads.
package remat

import (
	"slices"

	"autoshard/ir"
	"autoshard/ir/fusion"
	"autoshard/shardmap"
)

// Choice says which values of a module are made again, and where.
type Choice struct {
	// By value, in ascending order: the places of ops in the value's block, counted from 0, from which on ops read another copy. A copy is
	// made before the first op that reads it.
	from map[ir.ValueID][]int32
	// Short says that no choice was found that is small enough: this is the smallest.
	Short bool
}

// Len returns how many copies of values there are at most.
func (c *Choice) Len() (n int) {
	for _, from := range c.from {
		n += len(from)
	}
	return n
}

// clone returns an independent copy.
func (c *Choice) clone() Choice {
	out := Choice{from: make(map[ir.ValueID][]int32, len(c.from))}
	for v, from := range c.from {
		out.from[v] = slices.Clone(from)
	}
	return out
}

// add lets the ops of a value's block read another copy from a place on.
func (c *Choice) add(v ir.ValueID, from int32) {
	if c.from == nil {
		c.from = map[ir.ValueID][]int32{}
	}
	if i, found := slices.BinarySearch(c.from[v], from); !found {
		c.from[v] = slices.Insert(c.from[v], i, from)
	}
}

// drop takes back what add did.
func (c *Choice) drop(v ir.ValueID, from int32) {
	if i, found := slices.BinarySearch(c.from[v], from); found {
		c.from[v] = slices.Delete(c.from[v], i, i+1)
	}
	if len(c.from[v]) == 0 {
		delete(c.from, v)
	}
}

// copyAt returns which copy of a value ops read at a place; 0 is the value itself.
func (c *Choice) copyAt(v ir.ValueID, place int32) int {
	from := c.from[v]
	n := 0
	for n < len(from) && from[n] <= place {
		n++
	}
	return n
}

// Apply writes what was chosen into the module that it was chosen for, or a copy of it.
func (c *Choice) Apply(m *ir.Module) { write(m, c) }

// Repeats says whether ops of a module make values again.
func Repeats(m *ir.Module) bool {
	for op := range m.Within(m.MainFunc().Body) {
		if m.Attr(op, shardmap.RecomputedAttr) != nil {
			return true
		}
	}
	return false
}

// Repeated is an op of a module that makes a value again.
type Repeated struct {
	Op          ir.OpID
	Type        *ir.Type // of a device's block
	Runs        int64    // in one step
	Picoseconds int64    // that one run takes
}

// Repeated returns the ops that make values again, in program order.
func (d *Device) Repeated() (list []Repeated) {
	m, fused := d.module, fusion.Of(d.module).Fused
	m.Walk(m.MainFunc().Body, func(op ir.OpID) {
		if m.Attr(op, shardmap.RecomputedAttr) == nil {
			return
		}
		v, runs := m.Result(op, 0), int64(1)
		for around := m.ParentOp(op); around != 0; around = m.ParentOp(around) {
			if m.Kind(around) == ir.OpWhile {
				runs *= ir.Trips(m, around)
			}
		}
		list = append(list, Repeated{op, m.ValueType(v), runs, d.price(op, fused)})
	})
	return list
}
