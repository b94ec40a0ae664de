package interp

import (
	"cmp"
	"slices"

	"autoshard/internal/diag"
	"autoshard/ir"
	"autoshard/ir/dtype"
)

// mostHeld bounds the values that an error about the limit of bytes lists.
const mostHeld = 3

// tooLarge is the error of a process that holds too much, or would with so many bytes more. It lists the largest values of the frame.
func (f *frame) tooLarge(more int64) error {
	p := f.p
	err := diag.TooLarge(diag.InputTooLarge, diag.Position{}, "%s of live values are over the limit of %s",
		diag.Bytes(p.live+more), diag.Bytes(p.in.opts.MaxBytes))
	if f.fn == nil {
		return err
	}
	m := p.in.m
	for _, s := range f.largest() {
		t, at := &f.slots[s].t, site{name: "an input"}
		if op := m.DefiningOp(f.fn.values[s]); op != 0 {
			at = siteOf(m, op)
			at.name = "the result of " + at.name
		}
		err = err.WithNote(at.pos, "%s are a %s, %s", diag.Bytes(f.slots[s].buf.bytes), dtype.Format(t.DType, t.Shape), at.name)
	}
	return err
}

// largest returns the slots of the largest values of a frame, each buffer once.
func (f *frame) largest() []int32 {
	var slots []int32
	seen := map[*buffer]bool{foreign: true, nil: true}
	for s := range f.slots {
		if b := f.slots[s].buf; !seen[b] && b.bytes > 0 && f.fn.values[s] != ir.ValueID(0) {
			seen[b] = true
			slots = append(slots, int32(s))
		}
	}
	slices.SortStableFunc(slots, func(a, b int32) int { return cmp.Compare(f.slots[b].buf.bytes, f.slots[a].buf.bytes) })
	return slots[:min(len(slots), mostHeld)]
}
