package ir

import (
	"strconv"
	"strings"

	"autoshard/internal/lists"
)

// FactorName returns the symbol of a factor: i to z for the first 18, then z_1, z_2 and so on.
func FactorName(f int32) string {
	if f < 18 {
		return string(rune('i' + f))
	}
	return "z_" + strconv.Itoa(int(f)-17)
}

// Format returns the text of the rule between the angle brackets of #sdy.op_sharding_rule, such as
// ([i, k], [k, j])->([i, j]) {i=8, j=16, k=4} reduction={k} (source: shardy.md section 1.9).
func (r *Rule) Format() string {
	var b strings.Builder
	b.WriteString(tensorsText(r.Operands) + "->" + tensorsText(r.Results))
	if len(r.Sizes) > 0 {
		sizes := make([]string, len(r.Sizes))
		for f, size := range r.Sizes {
			sizes[f] = FactorName(int32(f)) + "=" + strconv.FormatInt(size, 10)
		}
		b.WriteString(" {" + strings.Join(sizes, ", ") + "}")
	}
	for _, g := range r.Groups() {
		if len(*g.Factors) > 0 {
			b.WriteString(" " + g.Name + "={" + lists.Joined(*g.Factors, FactorName) + "}")
		}
	}
	if r.Custom {
		b.WriteString(", custom")
	}
	return b.String()
}

func tensorsText(tensors [][][]int32) string {
	return "(" + lists.Joined(tensors, func(dims [][]int32) string { return "[" + lists.Joined(dims, factorsText) + "]" }) + ")"
}

// factorsText returns the symbols of factors, written together.
func factorsText(factors []int32) string {
	text := ""
	for _, f := range factors {
		text += FactorName(f)
	}
	return text
}

// RuleGroup is a list of special factors of a rule, by the name that Shardy gives it.
type RuleGroup struct {
	Name    string
	Factors *[]int32
}

// Groups returns the lists of special factors in the order in which they are written.
func (r *Rule) Groups() []RuleGroup {
	return []RuleGroup{{"reduction", &r.Reduction}, {"need_replication", &r.NeedReplication}, {"permutation", &r.Permutation},
		{"blocked_propagation", &r.Blocked}}
}
