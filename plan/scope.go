package plan

import (
	"fmt"
	"slices"
	"strings"

	"autoshard/answer"
	"autoshard/rewrites"
)

// Scope says which plans the bound of a certificate is about, "" for all that were searched: on the mesh that was chosen of several, those
// of the plan's number of microbatches that compute nothing twice or, where the plan does so itself and comes to no less than the bound,
// that save no time in this way. What is computed again need not be written and read, so that it may save time where memory is not short,
// too.
func (p *Plan) Scope() string {
	var words []string
	if len(p.Meshes) > 1 {
		words = append(words, "on this mesh")
	}
	switch {
	case p.Microbatches > 0:
		words = append(words, fmt.Sprintf("in %d microbatches", p.Microbatches))
	case slices.ContainsFunc(p.Inputs, func(t answer.Tensor) bool { return t.IsBatch() }):
		words = append(words, "of the whole batch")
	}
	below := p.Certificate.Gap == 0 && !p.Certificate.Optimal()
	switch {
	case slices.Contains(p.Options.Without, rewrites.RecomputeActivations.String()):
	case len(p.Recomputed) == 0 || below:
		words = append(words, "that computes nothing twice")
	default:
		words = append(words, "that saves no time by computing something twice")
	}
	return strings.Join(words, " ")
}
