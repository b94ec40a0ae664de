package cost

import (
	"cmp"
	"slices"
)

// Buffer is a value in memory from the op that defines it to the last that uses it, both included. Buffers of one
// positive alias set share their memory: of those alive, the largest counts.
type Buffer struct {
	Def, Last int32
	Bytes     int64
	Alias     int32
}

// MemoryPeak is where a program needs the most memory.
type MemoryPeak struct {
	Bytes int64
	At    int32 // the first op of the peak
	Live  []int // the buffers that count there, the largest first; scratch is the rest
}

// Peak returns the peak over a linear order of ops, of which op i needs scratch[i] bytes of its own. Buffers with
// Last before Def never live (specification: cost.md section 5.4).
func Peak(buffers []Buffer, scratch []int64) MemoryPeak {
	var changes []change
	sets := map[int32][]int{}
	for i, b := range buffers {
		switch {
		case b.Last < b.Def:
		case b.Alias > 0:
			sets[b.Alias] = append(sets[b.Alias], i)
		default:
			changes = append(changes, change{int64(b.Def), b.Bytes}, change{int64(b.Last) + 1, -b.Bytes})
		}
	}
	for _, members := range sets { // in any order: the changes are sorted
		changes = appendShared(changes, buffers, members)
	}
	for i, s := range scratch {
		if s > 0 {
			changes = append(changes, change{int64(i), s}, change{int64(i) + 1, -s})
		}
	}
	slices.SortFunc(changes, func(a, b change) int {
		return cmp.Or(cmp.Compare(a.at, b.at), cmp.Compare(a.bytes, b.bytes))
	})
	var peak MemoryPeak
	now := int64(0)
	for i, c := range changes {
		now += c.bytes
		settled := i+1 == len(changes) || changes[i+1].at != c.at
		if settled && now > peak.Bytes {
			peak.Bytes, peak.At = now, int32(c.at)
		}
	}
	peak.Live = alive(buffers, peak)
	return peak
}

// change is what an op adds to the bytes alive.
type change struct {
	at    int64
	bytes int64
}

// appendShared adds the changes of one alias set: after every op at which a member starts or ends, the largest alive.
func appendShared(changes []change, buffers []Buffer, members []int) []change {
	var times []int64
	for _, i := range members {
		times = append(times, int64(buffers[i].Def), int64(buffers[i].Last)+1)
	}
	slices.Sort(times)
	now := int64(0)
	for _, at := range slices.Compact(times) {
		most := int64(0)
		for _, i := range members {
			if b := buffers[i]; int64(b.Def) <= at && at <= int64(b.Last) {
				most = max(most, b.Bytes)
			}
		}
		changes = append(changes, change{at, most - now})
		now = most
	}
	return changes
}

// alive returns the buffers that count at the peak, of every alias set the first of the largest.
func alive(buffers []Buffer, peak MemoryPeak) []int {
	var out []int
	if peak.Bytes == 0 {
		return out
	}
	for i, b := range buffers {
		if b.Def <= peak.At && peak.At <= b.Last && b.Bytes > 0 {
			out = append(out, i)
		}
	}
	slices.SortStableFunc(out, func(i, j int) int { return cmp.Compare(buffers[j].Bytes, buffers[i].Bytes) })
	seen := map[int32]bool{}
	return slices.DeleteFunc(out, func(i int) bool {
		set := buffers[i].Alias
		again := set > 0 && seen[set]
		seen[set] = true
		return again
	})
}
