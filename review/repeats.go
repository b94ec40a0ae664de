package review

import (
	"cmp"
	"encoding/binary"
	"fmt"
	"hash/fnv"
	"maps"
	"slices"

	"autoshard/ir"
)

// mix makes one number of several.
func mix(parts ...uint64) uint64 {
	h := fnv.New64a()
	var b []byte
	for _, p := range parts {
		b = binary.LittleEndian.AppendUint64(b, p)
	}
	_, _ = h.Write(b) // which never fails
	return h.Sum64()
}

// signature is the same for operations that do the same to values of the same types, as those of equal layers do.
func signature(m *ir.Module, op ir.OpID) uint64 {
	parts := []uint64{uint64(m.Kind(op))}
	for _, v := range m.Operands(op) {
		parts = append(parts, uint64(m.Type(v)))
	}
	for _, v := range m.ResultValues(op) {
		parts = append(parts, uint64(m.Type(v)), 1)
	}
	return mix(parts...)
}

// What counts as a layer, and how much work finding them is.
const (
	fewestProducts = 3       // of a layer that has some
	fewestOps      = 8       // of another one
	comparisons    = 4 << 20 // of operations of a part
)

// byRepetition makes parts of the operations of the program's body that repeat one after the other, as unrolled layers do, and of those
// between. Layers are found by their products: the first and the last may have some more operations around them. What has no products is a
// layer where all operations repeat. Operations in regions are in the part of what they belong to.
func (s *scoper) byRepetition() {
	var top []int32 // numbers of operations, without constants, which may stand anywhere
	for i, inside := range s.d.Ops.Inside {
		if inside < 0 && s.m.NumOperands(s.ops[i]) > 0 {
			top = append(top, int32(i))
		}
	}
	s.d.Ops.Scope = make([]int32, len(s.ops))
	signs := make([]uint64, len(top))
	for i, op := range top {
		signs[i] = signature(s.m, s.ops[op])
	}
	r := &repeats{scoper: s, top: top, signs: signs}
	r.split(0, len(top))
	next := int32(0)
	for i, inside := range slices.Backward(s.d.Ops.Inside) { // constants are in the part of what comes behind them
		switch {
		case inside >= 0:
		case s.m.NumOperands(s.ops[i]) > 0:
			next = s.d.Ops.Scope[i]
		default:
			s.d.Ops.Scope[i] = next
		}
	}
	for i, inside := range s.d.Ops.Inside {
		if inside >= 0 {
			s.d.Ops.Scope[i] = s.d.Ops.Scope[inside]
		}
	}
}

// repeats finds what repeats itself in a sequence of operations.
type repeats struct {
	*scoper
	top   []int32
	signs []uint64
}

// repeat is a part of a sequence: so many times the same length.
type repeat struct{ start, length, times int }

// split makes parts of a stretch: of the longest repetition in it, of what is before and what is behind.
func (r *repeats) split(from, to int) {
	bounds := r.layers(from, to)
	if bounds == nil {
		r.part(from, to, 0, "")
		return
	}
	if from < bounds[0] {
		r.split(from, bounds[0])
	}
	group := r.add(r.text(fmt.Sprintf("%d layers", len(bounds)-1)), 0)
	for i, at := range bounds[1:] {
		r.part(bounds[i], at, group, fmt.Sprintf("layer %d", i+1))
	}
	if end := bounds[len(bounds)-1]; end < to {
		r.split(end, to)
	}
}

// layers returns where the layers of a stretch begin, and where the last one ends; nil where there are none.
func (r *repeats) layers(from, to int) (bounds []int) {
	var at []int
	var signs []uint64
	for i := from; i < to; i++ {
		if slices.Contains(products, r.m.Kind(r.ops[r.top[i]])) {
			at, signs = append(at, i), append(signs, r.signs[i])
		}
	}
	if best := longest(signs, fewestProducts); best.times > 1 {
		for i := range best.times {
			bounds = append(bounds, at[best.start+(i+1)*best.length-1]+1)
		}
		first := max(from, 2*bounds[0]-bounds[1]) // as long as the second one
		if best.start > 0 {
			first = max(first, at[best.start-1]+1)
		}
		return append([]int{first}, bounds...)
	}
	if best := longest(r.signs[from:to], fewestOps); best.times > 1 {
		for i := range best.times + 1 {
			bounds = append(bounds, from+best.start+i*best.length)
		}
	}
	return bounds
}

var products = []ir.Kind{ir.OpDot, ir.OpDotGeneral, ir.OpConvolution}

// part makes a scope of a stretch, called by its operations where it has no name.
func (r *repeats) part(from, to int, parent int32, name string) {
	if from >= to {
		return
	}
	at := r.add(r.text(cmp.Or(name, fmt.Sprintf("ops %d – %d", r.top[from]+1, r.top[to-1]+1))), parent)
	for _, op := range r.top[from:to] {
		r.d.Ops.Scope[op] = at
	}
}

// longest returns the repetition that covers most of a sequence, of two the one of shorter layers, which have at least so many members.
func longest(signs []uint64, shortest int) (best repeat) {
	for _, n := range lengths(signs, shortest) {
		run := 0
		for i := len(signs) - n - 1; i >= 0; i-- {
			if signs[i] != signs[i+n] {
				run = 0
				continue
			}
			run++
			found := repeat{i, n, (run + n) / n}
			covered, most := found.times*n, best.times*best.length
			if found.times >= 2 && (covered > most || covered == most && n <= best.length) {
				best = found
			}
		}
	}
	return best
}

// lengths returns the distances at which members of a sequence most often occur again, ascending.
func lengths(signs []uint64, shortest int) []int {
	count, next := map[int]int{}, map[uint64]int{}
	for i, sign := range slices.Backward(signs) {
		if at, ok := next[sign]; ok && at-i >= shortest {
			count[at-i]++
		}
		next[sign] = i
	}
	out := slices.Collect(maps.Keys(count))
	slices.SortFunc(out, func(a, b int) int { return cmp.Or(cmp.Compare(count[b]*b, count[a]*a), cmp.Compare(a, b)) })
	out = out[:min(len(out), comparisons/max(1, len(signs)))]
	slices.Sort(out)
	return out
}
