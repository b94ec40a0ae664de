package limits

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"autoshard/internal/diag"
	"autoshard/internal/lists"
)

// rule is a kind of limit.
type rule struct {
	name  string // in findings, and in a limit without what follows it
	unit  unit
	def   float64 // what a plan may have where the limit has no number; negative: it needs one
	title string
	text  string
	check func(*checker, float64)
}

// unit is what the number of a limit counts.
type unit uint8

const (
	none unit = iota
	size
	percent
)

// rules are all kinds of limits.
var rules = []rule{
	{"no-gather", size, 0, "an all-gather makes a large value on every device",
		"Limit: `no-gather > 64MiB`, or `no-gather` for any. What counts is the value that one gather leaves on a device. Cut the value's " +
			"users along the same dimension, or pin the value as it should be.", (*checker).gathers},
	{"no-replicate", size, 1 << 20, "a large input is whole on every device",
		"Limit: `no-replicate`, of inputs of more than 1 MiB, or `no-replicate > 64KiB`. Cut the input along an axis, or pin it so.",
		(*checker).whole},
	{"no-implicit-replicate", size, 1 << 20, "a large input is whole on every device, and nobody asked for it",
		"Limit: `no-implicit-replicate`, of inputs of more than 1 MiB, or `no-implicit-replicate > 64KiB`. Give the input a sharding, or " +
			"write one without axes, such as P(), where it should be whole.", (*checker).replicated},
	{"peak", size, -1, "a step holds too much memory", "Limit: `peak < 14GiB` on a device.", (*checker).peak},
	{"axis-unused", none, 0, "an axis of the mesh cuts no input or output, and no collective runs along it",
		"Limit: `axis-unused`. All devices along the axis do the same work.", (*checker).axes},
	{"uneven-waste", percent, 0, "blocks of an input are padded",
		"Limit: `uneven-waste > 5 %` of what all devices hold of the input. Its size is no multiple of the devices that it is cut over.",
		(*checker).waste},
	{"batch-inputs-disagree", none, 0, "inputs of one batch are cut along different axes",
		"Limit: `batch-inputs-disagree`, of the first dimension of the inputs whose role is batch. Every step sends one of them where the " +
			"other lies.", (*checker).batch},
}

// Rules describes the kinds of limits, as reports do.
func Rules() []diag.Rule {
	return lists.Map(rules, func(r rule) diag.Rule {
		return diag.Rule{ID: diag.Code(r.name), Severity: diag.SeverityError, Name: r.title, Text: r.text}
	})
}

// Limit is what a plan may have at most.
type Limit struct {
	rule *rule
	most float64 // bytes, or percent
}

// Parse reads a limit, such as `no-gather > 64MiB`, `peak < 14GiB` or `batch inputs disagree`. Errors are of class diag.ErrInvalid.
func Parse(text string) (Limit, error) {
	name, number, limited := text, "", false
	if i := strings.IndexAny(text, "<>"); i >= 0 {
		name, number, limited = text[:i], strings.TrimSpace(strings.TrimPrefix(text[i+1:], "=")), true
	}
	name = strings.Join(strings.Fields(name), "-")
	i := slices.IndexFunc(rules, func(r rule) bool { return r.name == name })
	if i < 0 {
		known := lists.Map(rules, func(r rule) string { return r.name })
		return Limit{}, diag.Invalid(diag.BadOption, diag.Position{}, "%q is no limit: there is no rule `%s`%s", text, name,
			diag.DidYouMean(name, known)).WithNote(diag.Position{}, "rules are %s", strings.Join(known, ", "))
	}
	r := &rules[i]
	switch {
	case !limited && r.def < 0:
		return Limit{}, diag.Invalid(diag.BadOption, diag.Position{}, "the limit `%s` needs a number, such as `%s < 14GiB`", name, name)
	case !limited:
		return Limit{r, r.def}, nil
	case r.unit == none:
		return Limit{}, diag.Invalid(diag.BadOption, diag.Position{}, "the limit `%s` takes no number", name)
	}
	most, err := r.unit.parse(number)
	if err != nil {
		return Limit{}, diag.Invalid(diag.BadOption, diag.Position{}, "%q is no limit: %v", text, err)
	}
	return Limit{r, most}, nil
}

// parse reads a number of the unit.
func (u unit) parse(text string) (float64, error) {
	if u == size {
		n, err := diag.ParseSize(text)
		return float64(n), err
	}
	digits, isPercent := strings.CutSuffix(text, "%")
	x, err := strconv.ParseFloat(strings.TrimSpace(digits), 64)
	if err != nil || !isPercent || !(x >= 0 && x <= 100) {
		return 0, fmt.Errorf("it needs a number of percent from 0 to 100, such as 5 %%, not %q", text)
	}
	return x, nil
}
