package ir

import (
	"strconv"
	"strings"
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
	formatTensors(&b, r.Operands)
	b.WriteString("->")
	formatTensors(&b, r.Results)
	if len(r.Sizes) > 0 {
		b.WriteString(" {")
		for f, size := range r.Sizes {
			if f > 0 {
				b.WriteString(", ")
			}
			b.WriteString(FactorName(int32(f)) + "=" + strconv.FormatInt(size, 10))
		}
		b.WriteString("}")
	}
	formatGroup(&b, "reduction", r.Reduction)
	formatGroup(&b, "need_replication", r.NeedReplication)
	formatGroup(&b, "permutation", r.Permutation)
	formatGroup(&b, "blocked_propagation", r.Blocked)
	if r.Custom {
		b.WriteString(", custom")
	}
	return b.String()
}

func formatTensors(b *strings.Builder, tensors [][][]int32) {
	b.WriteString("(")
	for i, dims := range tensors {
		if i > 0 {
			b.WriteString(", ")
		}
		b.WriteString("[")
		for d, factors := range dims {
			if d > 0 {
				b.WriteString(", ")
			}
			for _, f := range factors {
				b.WriteString(FactorName(f))
			}
		}
		b.WriteString("]")
	}
	b.WriteString(")")
}

func formatGroup(b *strings.Builder, name string, factors []int32) {
	if len(factors) == 0 {
		return
	}
	names := make([]string, len(factors))
	for i, f := range factors {
		names[i] = FactorName(f)
	}
	b.WriteString(" " + name + "={" + strings.Join(names, ", ") + "}")
}
