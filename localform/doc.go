// Package localform says how ops whose elements move between neighbouring blocks - windows, slices, paddings, reversals and
// concatenations - are computed in place: what every device along a cut dimension fetches from the others, and by which permutes.
//
//	for _, d := range localform.Dims(m, op, m.Shape) {
//		for _, p := range d.Pieces(4) { // blocks
//			p.Exchange() // rounds of permutes, and where what they bring belongs
//		}
//	}
//
// It also knows the network by which devices sort along a dimension that is cut ([Sorted], [Network]).
//
// It knows numbers only: shardmap emits the ops, cost/estimate prices them, ir/rule asks which dimensions have such a form.
// Sizes and numbers of blocks are independent of each other in all formulas; masks of what lies behind the end of a shorter
// last block are for the one who emits. Specification: localforms.md sections 1, 2, 3.4, 3.5, 3.7 and 3.8.
package localform
