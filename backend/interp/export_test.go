package interp

import "testing"

// SetMostTile makes tiles smaller for the time of a test.
func SetMostTile(t *testing.T, elements int64) {
	before := mostTile
	mostTile = elements
	t.Cleanup(func() { mostTile = before })
}

// Leftovers returns how many slots, and values on their way between slots, what runs have left behind still has: none, if every value is
// released once.
func Leftovers(in *Interpreter) int {
	s := in.scratch.Get().(*scratch)
	defer in.scratch.Put(s)
	n := len(s.taken) + len(s.operands)
	for _, frames := range s.frames {
		for _, f := range frames {
			for _, v := range f.slots {
				if v.buf != nil {
					n++
				}
			}
		}
	}
	return n
}
