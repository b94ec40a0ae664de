package plan

import "autoshard/cost"

// Seal writes the hashes of a plan that was changed.
func Seal(p *Plan, hardware *cost.Hardware) { p.seal(p.Hashes.Model, hardware) }

// HashOf is the hash of a part of a plan.
func HashOf(value any) string { return hashOf(value) }
