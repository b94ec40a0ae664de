// Package canonical brings programs into a simpler form of the same meaning: it fuses and cancels communication of the
// sdy dialect, merges equal constants, and removes dead operations. With
//
//	%0 = sdy.all_gather [{"x"}, {}] %arg0 out_sharding=<@mesh, [{}, {}]> : tensor<16x8xf32>
//	%1 = sdy.all_slice [{"x"}, {}] %0 out_sharding=<@mesh, [{"x"}, {}]> : tensor<16x8xf32>
//
// every use of %1 becomes one of %arg0. Operations of other dialects are left as they are.
//
// Rules are rows of a table; a driver applies them until none fits any more, in the order in which MLIR's
// canonicalizer would, since the order decides which of several equal operations stays.
//
// Specification: shardy.md section 1.6, canonicalisation patterns.
package canonical

import (
	"slices"

	"autoshard/ir"
)

// The labels under which the patterns for communication can be switched on and off.
const (
	LabelReshard    = "sdy-reshard"
	LabelCollective = "sdy-collective"
)

// Labels returns the labels of all patterns that have one.
func Labels() []string { return []string{LabelCollective, LabelReshard} }

// Options of Run. The zero value is what MLIR's -canonicalize does.
type Options struct {
	BottomUp bool                    // visit operations backwards
	Skip     func(label string) bool // patterns to leave out; those without a label have the label ""
}

// pattern rewrites one op. It says whether it did.
type pattern struct {
	label string
	apply func(*rewriter, ir.OpID) bool
}

// patterns are tried in order.
var patterns = [ir.NumKinds][]pattern{
	ir.OpSdyReshard:           {{LabelReshard, reshardOfReshard}, {"", repeatedReshard}},
	ir.OpSdyAllGather:         {{LabelCollective, overNoAxes}},
	ir.OpSdyAllSlice:          {{LabelCollective, overNoAxes}, {LabelCollective, sliceOfGather}, {LabelCollective, sliceOfReduce}},
	ir.OpSdyAllReduce:         {{LabelCollective, overNoAxes}, {LabelCollective, reduceOfReplicated}, {LabelCollective, reduceOfSharded}},
	ir.OpSdyReduceScatter:     {{LabelCollective, overNoAxes}},
	ir.OpSdyCollectivePermute: {{LabelCollective, permuteToSame}},
	ir.OpSdyAllToAll:          {{LabelCollective, unusedAllToAll}, {LabelCollective, allToAllOfAllToAll}},
	ir.OpSdyManualComputation: {{"", unusedArguments}},
}

// maxRounds bounds how often the whole program is visited.
const maxRounds = 10

// Run rewrites the functions of a module until nothing changes, or as often as MLIR would.
func Run(m *ir.Module, o Options) {
	for range maxRounds {
		r := &rewriter{m: m, options: o}
		r.mergeConstants()
		if r.mayRewrite() {
			r.fill()
			r.drain()
		}
		if !r.changed {
			return
		}
	}
}

// mayRewrite says whether some op is dead or of a kind that has patterns: of most programs, none is.
func (r *rewriter) mayRewrite() bool {
	found := false
	r.m.Walk(r.m.Body(), func(op ir.OpID) {
		found = found || ir.IsDead(r.m, op) || slices.ContainsFunc(patterns[r.m.Kind(op)], r.takes)
	})
	return found
}

// takes says whether a pattern is not left out.
func (r *rewriter) takes(p pattern) bool { return r.options.Skip == nil || !r.options.Skip(p.label) }

// fill puts all ops on the worklist, so that the first one to be visited is on top.
func (r *rewriter) fill() {
	all := make([]ir.OpID, 0, r.m.NumOps())
	r.m.Walk(r.m.Body(), func(op ir.OpID) { all = append(all, op) })
	r.stack, r.place = make([]ir.OpID, 0, len(all)), make([]int32, r.m.NumOps())
	if !r.options.BottomUp {
		slices.Reverse(all)
	}
	for _, op := range all {
		r.push(op)
	}
}

func (r *rewriter) drain() {
	for op := r.pop(); op != 0; op = r.pop() {
		if ir.IsDead(r.m, op) {
			r.erase(op)
			continue
		}
		for _, p := range patterns[r.m.Kind(op)] {
			if r.takes(p) && p.apply(r, op) {
				r.changed = true
				break
			}
		}
	}
}
