// Package notation reads and writes sharded arrays and products as "How to Scale Your Model" writes them:
//
//	A[I_X, J_Y] · B[J_Y, K] -> C[I_X, K]    dimension I is cut along mesh axis X, J along Y
//	bf16[B_XY, D]                           an array that is called by its type
//	C[I, K]{U_X}                            partial sums: those of all devices along X add up to C
//
// Several axes of a dimension stand one behind the other, the major one first, or in braces with commas: I_{data,model}. A product is
// written with ·, *, @ or ×, an arrow with -> or →. A dimension may be a number, which is its size.
package notation
