// Package typed holds shard_map programs: the program of one device over the axes of a mesh, with specs that say how
// inputs are split and outputs joined, and with types that say along which axes a value varies between devices.
//
// The body is a function of package ir over block types. Computation is StableHLO; collectives and casts are the ops
// shard_map.psum, shard_map.pvary and so on, whose attribute axes holds axes of the mesh; loops are stablehlo.while and
// shard_map.scan, branches stablehlo.if and stablehlo.case. The text form is one equation a
// line, in the style of a jaxpr:
//
//	shard_map @matmul mesh=(i=4, j=2) manual=(i, j) check=true
//	  in_specs=(P('i', 'j'), P('j', None))
//	  out_specs=(P('i', None),)
//	lambda a:f32[2,8]{i,j} b:f32[8,32]{j}
//	  c:f32[8,32]{i,j} = pvary[axes=(i,)] b
//	  y:f32[2,32]{i,j} = dot_general[dot_dimension_numbers=(((1,), (0,)), ((), ()))] a c
//	  z:f32[2,32]{i} = psum[axes=(j,)] y
//	  return z
//
// # Types
//
// A type is an element type, the shape of a block, and in braces the axes along which the block may differ between
// devices: b is equal on all devices that differ only in their place along i. An axis that stands behind "U:" holds
// partial values, of which the value is the sum ("Umax:" and "Umin:" for the other reductions); one behind "R:" holds
// equal values whose cotangent may be partial. No value varies less than it says and none is converted silently: the
// step from invariant to varying is an op, pvary, because its transpose is a psum.
//
// # Ops
//
//	op                        axes before → after   value
//	psum pmax pmin            V → I                 sum, maximum, minimum of all members
//	all_gather                V → V                 blocks joined along dimension dim
//	all_gather_invariant      V → I                 the same
//	all_gather_reduced        V → R                 the same
//	psum_scatter              V → V                 sum, of which member m keeps chunk m along dim
//	all_to_all                V → V                 chunk m along split of every member, joined along concat
//	ppermute                  V → V                 of the member that perm names; zeros where it names none
//	pbroadcast                V → V                 of member source
//	ragged_all_to_all         V → V                 slices of any length (shardmap.md section 2.10)
//	pscatter                  I → V                 chunk m along dim
//	axis_index                  → V                 the member's number, i32
//	pvary                     I → V                 itself
//	preduced                  I → R                 itself
//	reduced_vary_cast         R → V                 itself
//	vary_unreduced_cast       V → U                 itself, as one of the terms
//	unreduced_psum (pmax …)   U → I                 sum of the terms
//	unreduced_psum_scatter    U → V                 sum, of which member m keeps chunk m
//
// Groups of members lie along the axes in the order in which they are written, the first major. The untiled forms,
// pmean and pshuffle are written with these ops, by [Builder] and where the text form has them: tiled=false as attribute,
// pmean[axes=(i,)], and pshuffle[axes=(i,), perm=(2, 0, 3, 1)] with the source of every member.
//
// [Program.Elaborate] takes a body without casts, finds the types and inserts the casts; [Program.Typecheck] checks a
// body whose casts are explicit; package backend/run runs the program on virtual devices. Programs come from a [Builder],
// from text ([Parse]), from a manual computation of Shardy ([Import]) or from a per-device program ([FromDevice]).
//
// # Grammar
//
//	program = "shard_map" "@" name "mesh=(" {axis "=" size} ")" "manual=(" {axis} ")" "check=" bool
//	          "in_specs=(" {spec} ")" "out_specs=(" {spec} ")" lambda
//	spec    = "P(" {"None" | "'" axis "'" | "(" {"'" axis "'"} ")"} ["unreduced={" axes "}"] ["reduced={" axes "}"] ")"
//	lambda  = "lambda" {var ":" type} {equation} "return" {var}
//	equation = {var ":" type} "=" op ["[" {attribute} "]"] {var} ["{" {lambda} "}"]
//	type    = element "[" {size} "]" ["{" {axis} ["U:" axes] ["R:" axes] "}"]
//
// Braces, brackets and parentheses enclose lists separated by commas; variables are separated by blanks. The header
// may be broken into lines anywhere, every lambda, equation and return is a line. A # at the beginning of a line, or
// between blanks outside brackets, begins a comment. Ops of StableHLO are written without their dialect, others with
// it. Attributes are written as in MLIR, apart from lists of integers, (1, 2), numbers of type i64, lists of axes, and
// the dimension numbers of dot_general.
//
// Specification: shardmap.md sections 1 to 3 and 8 to 11.
package typed
