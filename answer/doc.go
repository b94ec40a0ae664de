// Package answer holds what plans and propagations have in common: the program that is asked about, its mesh, inputs and
// outputs in their shardings, and findings about what an answer does not keep.
//
//	m, said, err := source.Inlined(ctx, axes)
//	mesh, err := answer.ChooseMesh(m, axes)
//	inputs, outputs := answer.Tensors(m, answer.Written(before, m))
package answer
