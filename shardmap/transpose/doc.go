// Package transpose turns shard_map programs into the programs of their derivatives.
//
// [Linear] transposes a program in inputs in which it is linear: the result takes the cotangents of the outputs and
// returns those of the inputs. Every op has its mirror image, so that the specs of inputs and outputs swap roles, and
// communication happens only where the types say that blocks differ:
//
//	lambda x:f32[2]{i} c:f32[2]{i}          lambda ct:f32[]{} c:f32[2]{i}
//	  w:f32[]{i} = dot_general x c            w:f32[]{i} = pvary ct
//	  y:f32[]{} = psum w                      d:f32[2]{i} = multiply (broadcast w) c
//	  return y                                return d
//
// [JVP] adds to a program the derivative in a direction, which is linear in the direction; [VJP] transposes that, and
// [Gradient] is the gradient of a scalar output.
//
// # Collectives
//
// With the check on, the transpose of an op from axes in one state to another goes back between the states of the
// cotangents, where reduced and unreduced are swapped:
//
//	psum                 ↔ pvary
//	all_gather           ↔ psum_scatter
//	all_gather_invariant ↔ pscatter
//	ppermute             ↔ ppermute with the pairs reversed
//	all_to_all           ↔ all_to_all with split and concat swapped
//	preduced             ↔ unreduced_psum
//	reduced_vary_cast    ↔ vary_unreduced_cast
//	all_gather_reduced   ↔ unreduced_psum_scatter
//
// With the check off nothing is known about copies: cotangents of outputs are divided by the number of copies, psum is
// its own transpose, and cotangents of inputs are summed over the axes that their specs leave out.
//
// # Loops
//
// The transpose of a scan runs it backwards: carries hold cotangents of carries and sums for what the body takes from
// outside. What is not linear in the body runs in a scan before, forwards, which stacks what is needed.
//
// # What has no derivative
//
// Loops whose number of rounds is not known before the run, since the rounds back would need what each round forth has
// computed; pmax and pmin; products over windows; and scatters that multiply or compare, or replace elements without
// unique indices. Ops that no output needs are left out first, and need no derivative. Where several elements are the
// result of a maximum, conventions are those of JAX: reductions share the tangent, windows give it to the first one.
//
// Specification: shardmap.md section 4.
package transpose
