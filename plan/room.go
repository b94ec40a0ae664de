package plan

import (
	"fmt"
	"slices"

	"autoshard/internal/diag"
	"autoshard/search"
	"autoshard/search/space"
)

// DefaultSearchMemory is the most bytes that planning holds where nothing else is asked for.
const DefaultSearchMemory int64 = 2 << 30

// programBytes is what an op takes in the model, in the baselines, and in the best plan and the latest, in all the forms of their
// programs, measured.
const programBytes = 3000

// room is the account of the memory that planning may hold.
type room struct {
	limit    int64
	programs int64     // bytes of the programs
	level    int64     // of the latest level with its problem, without what searches it
	among    string    // how the phases are told from others of their names, "" for those among all plans
	refused  []refused // in the order in which they were
}

// refused is a phase that was left out.
type refused struct {
	phase string
	need  int64 // bytes, with what is held; at least so many
}

// beside returns the bytes that are left beside the programs and others, negative where they take all.
func (r *room) beside(others int64) int64 {
	if left := r.limit - r.programs - others; left != 0 {
		return left
	}
	return -1
}

// refuse notes a phase that was left out, each once.
func (r *room) refuse(phase string, need int64) {
	phase += r.among
	if !slices.ContainsFunc(r.refused, func(other refused) bool { return other.phase == phase }) {
		r.refused = append(r.refused, refused{phase, r.programs + need})
	}
}

// admit says whether a problem and its search fit beside the programs and what else is held; the phase is refused if not.
func (r *room) admit(phase string, held int64, z search.Size) bool {
	need := held + z.Bytes() + z.Solving()
	if need > r.beside(0) {
		r.refuse(phase, need)
		return false
	}
	return true
}

// tree returns what is left for the open nodes of a search, beside the space and the search itself.
func (r *room) tree(held int64, z search.Size) int64 {
	const most = 1 << 30
	return min(max(r.beside(held+z.Bytes()+z.Solving()), 1), most)
}

// phaseOf names the search of one of some levels.
func phaseOf(l space.Level, levels []space.Level) string {
	split := slices.Contains(levels, space.Level{Apart: true})
	switch {
	case l.Groups > 0:
		return fmt.Sprintf("the search of %d parts of the mesh, its leading axes together", l.Groups)
	case l.Apart:
		return "the search of parts of axes, each on its own"
	case split && !l.Whole:
		return "the search of parts of axes"
	}
	return "the search of every axis on its own"
}

// said says what was left out for want of memory.
func (r *room) said() []string {
	var out []string
	for _, x := range r.refused {
		out = append(out, fmt.Sprintf("the search memory of %s is too little for %s, which needs about %s or more: that was left out",
			diag.Bytes(r.limit), x.phase, diag.Bytes(x.need)))
	}
	return out
}
