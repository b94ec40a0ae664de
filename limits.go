package autoshard

import (
	"autoshard/ir"
	"autoshard/limits"
)

type (
	// Limit is what a plan may have at most, such as peak < 14GiB.
	Limit = limits.Limit
	// Known is a set of findings that are known and accepted.
	Known = limits.Known
)

// ParseLimit reads a limit, such as `no-gather > 64MiB`; docs/ci.md lists the rules. Errors are of class ErrInvalid.
func ParseLimit(text string) (Limit, error) { return limits.Parse(text) }

// CheckLimits returns what of a plan is beyond limits, as errors at lines of the user's program. The model is the one that was planned; it
// may be nil, and inputs have no lines then.
func CheckLimits(p *Plan, model *Model, list []Limit) []Diagnostic {
	var m *ir.Module
	if model != nil {
		m = model.module
	}
	return limits.Check(p, m, list)
}

// LimitRules describes the rules of limits.
func LimitRules() []Rule { return limits.Rules() }

// NewKnown accepts findings of CheckLimits or Lint.
func NewKnown(found []Diagnostic) *Known { return limits.NewKnown(found) }

// ReadKnown reads a baseline from JSON. Errors are of class ErrInvalid.
func ReadKnown(file string, text []byte) (*Known, error) { return limits.ReadKnown(file, text) }
