package certify

import (
	"encoding/json"
	"math"
	"slices"

	"autoshard/internal/diag"
)

const (
	forbidden = 100_000_000_000_000_000 // costs from here up forbid what they price
	hard      = math.MaxInt64           // stands for them, and for the bound of a model without solutions
	largest   = 1 << 60                 // every sum of costs or usages stays below
)

// problem is the JSON of the contest as it was read: lists by node and by edge. Segment s of time lasts from times[s] to times[s+1].
type problem struct {
	intervals, costs, usages, ends, tables [][]int64
	limit                                  *int64
	times                                  []int64 // distinct ends of the non-empty intervals, ascending
	floor                                  int64   // no choice that uses a forbidden entry costs less
}

func invalid(format string, args ...any) error {
	return diag.Invalid(diag.BadFile, diag.Position{}, format, args...)
}

func readProblem(raw []byte) (*problem, error) {
	p := &problem{}
	objects := [5]map[string]json.RawMessage{{"": raw}}
	for _, f := range []struct {
		in  int
		key string
		to  any
	}{
		{0, "", &objects[1]}, {1, "problem", &objects[2]}, {2, "nodes", &objects[3]}, {2, "edges", &objects[4]}, {3, "intervals", &p.intervals},
		{3, "costs", &p.costs}, {3, "usages", &p.usages}, {4, "nodes", &p.ends}, {4, "costs", &p.tables}, {2, "usage_limit", &p.limit},
	} {
		if raw, found := objects[f.in][f.key]; found || f.key != "usage_limit" {
			if err := json.Unmarshal(raw, f.to); err != nil {
				return nil, invalid("problem: %q: %v", f.key, err)
			}
		}
	}
	if len(p.costs) != len(p.intervals) || len(p.costs) != len(p.usages) || len(p.ends) != len(p.tables) {
		return nil, invalid("problem: lists of nodes or edges differ in length")
	}
	least, negative, usage := int64(hard), int64(0), 0.0
	scan := func(costs []int64) bool {
		for _, c := range costs {
			if c >= forbidden {
				least = min(least, c)
			}
		}
		low := min(slices.Min(costs), 0)
		negative += max(low, -largest)
		return low > -forbidden && negative > -largest
	}
	for i, interval := range p.intervals {
		if k := len(p.costs[i]); k == 0 || len(p.usages[i]) != k || len(interval) != 2 || slices.Min(p.usages[i]) < 0 || !scan(p.costs[i]) {
			return nil, invalid("problem: node %d is malformed", i)
		}
		if interval[0] < interval[1] {
			p.times = append(p.times, interval...)
			usage += float64(slices.Max(p.usages[i]))
		}
	}
	for e, ends := range p.ends {
		size := 1
		for _, i := range ends {
			if i < 0 || i >= int64(len(p.costs)) || size > math.MaxInt32 {
				return nil, invalid("problem: edge %d is malformed", e)
			}
			size *= len(p.costs[i])
		}
		if len(p.tables[e]) != size || !scan(p.tables[e]) {
			return nil, invalid("problem: edge %d is malformed", e)
		}
	}
	if usage >= largest {
		return nil, invalid("problem: the usages are too large")
	}
	if p.floor = least; least < hard {
		p.floor += negative
	}
	slices.Sort(p.times)
	p.times = slices.Compact(p.times)
	return p, nil
}
