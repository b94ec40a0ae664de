// Package rewrites names what autoshard changes in sharded programs so that they need less. Each rewrite can be switched off by its name;
// plans say which were, and what those that changed something gain.
//
//	without, _ := rewrites.Parse([]string{"hoist-reshards", "merge-collectives"})
//	without.Has(rewrites.HoistReshards) // true
//
// Those of reshards are made by package collectives, the others by microbatch, remat, shardmap/ring and shardmap/merge.
package rewrites

import (
	"slices"

	"autoshard/internal/lists"
)

// Rewrite is one kind of change, in the order in which they are made.
type Rewrite uint8

// The rewrites; docs/rewrites.md says more of each.
const (
	Microbatches         Rewrite = iota // the batch is computed in parts where memory is short
	ShareReshards                       // reads of a value in one layout share a copy
	DeferReductions                     // what is added up is reduced once, after the additions
	SinkReshards                        // what makes less of a value comes before its reshard
	HoistReshards                       // what loops do not change is resharded before them
	SkipLayouts                         // a value passes no layout in which nothing reads it
	RecomputeActivations                // values are made again where memory is short
	CollectiveMatmul                    // products overlap with the collectives beside them
	MergeCollectives                    // collectives are sent as one
)

var names = [...]string{
	Microbatches:         "microbatches",
	ShareReshards:        "share-reshards",
	DeferReductions:      "defer-reductions",
	SinkReshards:         "sink-reshards",
	HoistReshards:        "hoist-reshards",
	SkipLayouts:          "skip-layouts",
	RecomputeActivations: "recompute-activations",
	CollectiveMatmul:     "collective-matmul",
	MergeCollectives:     "merge-collectives",
}

// String returns the name of a rewrite.
func (r Rewrite) String() string { return names[r] }

// All returns the rewrites in the order in which they are made.
func All() []Rewrite { return lists.Range[Rewrite](len(names)) }

// Set is a set of rewrites.
type Set uint16

// Of returns the set of some rewrites.
func Of(list ...Rewrite) (s Set) {
	for _, r := range list {
		s |= 1 << r
	}
	return s
}

// Has says whether a rewrite is in the set.
func (s Set) Has(r Rewrite) bool { return s>>r&1 == 1 }

// List returns the rewrites of the set, in order.
func (s Set) List() []Rewrite { return lists.Filter(All(), s.Has) }

// Names returns the names of all rewrites.
func Names() []string { return slices.Clone(names[:]) }

// Parse returns the rewrites of some names, or the first name that is none.
func Parse(names []string) (s Set, unknown string) {
	for _, name := range names {
		i := slices.Index(Names(), name)
		if i < 0 {
			return 0, name
		}
		s |= Of(Rewrite(i))
	}
	return s, ""
}
