package modeljson

import (
	"slices"
	"strings"

	"autoshard/internal/diag"
)

// The dimensions that "..." stands for have the letters ellipsis, ellipsis+1, … from the last one on, so that those of
// several operands meet as in broadcasting.
const (
	ellipsis    = byte(0x80)
	maxEllipsis = 64 // dimensions
)

// parseEquation splits an equation and pairs its terms with the operands. Without an arrow the result has the dimensions
// of "..." and then, in the order of the alphabet, the letters that stand once, as in NumPy.
func (o *opReader) parseEquation(n *node) (inputs []term, out []byte, ok bool) {
	left, right, arrow := strings.Cut(n.text, "->")
	terms := strings.Split(left, ",")
	if len(terms) != len(o.operands) {
		o.fail(n.at, diag.BadModel, "equation %q has %d terms for %d operands", n.text, len(terms), len(o.operands))
		return nil, nil, false
	}
	broadcast := 0
	for i, t := range terms {
		v := o.operands[i]
		rank := o.m.ValueType(v).Rank()
		letters, dims, ok := o.letters(n, t, func(named int) int { return rank - named })
		if !ok {
			return nil, nil, false
		}
		if len(letters) != rank || dims < 0 {
			o.fail(n.at, diag.TypeMismatch, "term %q has %d letters, operand %q has type %s", strings.TrimSpace(t), len(letters),
				o.n.get("operands").elems[i].text, o.typeText(o.m.Type(v)))
			return nil, nil, false
		}
		broadcast = max(broadcast, dims)
		inputs = append(inputs, term{v, letters})
	}
	if !arrow {
		return inputs, implicitOutput(inputs, broadcast), true
	}
	out, dims, ok := o.letters(n, right, func(int) int { return broadcast })
	return inputs, out, ok && o.checkOutput(n, inputs, out, broadcast-dims)
}

// checkOutput refuses letters that no operand has or that stand twice, and a result without a place for dimensions of
// "...", of which missing have none.
func (o *opReader) checkOutput(n *node, inputs []term, out []byte, missing int) bool {
	for i, l := range out {
		switch {
		case slices.Contains(out[:i], l):
			o.fail(n.at, diag.BadModel, "letter %q stands twice in the result", string(rune(l)))
			return false
		case l < ellipsis && !slices.ContainsFunc(inputs, func(t term) bool { return slices.Contains(t.letters, l) }):
			o.fail(n.at, diag.BadModel, "letter %q of the result is in no operand", string(rune(l)))
			return false
		}
	}
	if missing > 0 {
		o.fail(n.at, diag.BadModel, "equation %q keeps no \"...\" in the result, its %d dimensions cannot be dropped: write letters to sum "+
			"over them", n.text, missing)
		return false
	}
	return true
}

// letters reads the letters of a term. more says how many dimensions "..." stands for beside so many letters; dims
// returns that, 0 where there is none.
func (o *opReader) letters(n *node, t string, more func(named int) int) (letters []byte, dims int, ok bool) {
	t = strings.TrimSpace(t)
	before, after, found := strings.Cut(t, "...")
	before, after = strings.ReplaceAll(before, " ", ""), strings.ReplaceAll(after, " ", "")
	for _, c := range before + after {
		if (c < 'a' || c > 'z') && (c < 'A' || c > 'Z') {
			o.fail(n.at, diag.BadModel, "equation %q has %q: use one letter for each dimension, and \"...\" once in a term", n.text, string(c))
			return nil, 0, false
		}
	}
	letters = []byte(before)
	if found {
		dims = more(len(before) + len(after))
		if dims > maxEllipsis {
			o.fail(n.at, diag.NotSupported, "\"...\" stands for %d dimensions in equation %q, at most %d are supported", dims, n.text, maxEllipsis)
			return nil, 0, false
		}
		for d := dims - 1; d >= 0; d-- {
			letters = append(letters, ellipsis+byte(d))
		}
	}
	return append(letters, after...), dims, true
}

func implicitOutput(inputs []term, broadcast int) (out []byte) {
	for d := broadcast - 1; d >= 0; d-- {
		out = append(out, ellipsis+byte(d))
	}
	count := [ellipsis]int{}
	for _, in := range inputs {
		for _, l := range in.letters {
			if l < ellipsis {
				count[l]++
			}
		}
	}
	for l, n := range count {
		if n == 1 {
			out = append(out, byte(l))
		}
	}
	return out
}

// letterSizes returns the sizes of the letters. The operands' types agree in elements, and in sizes but for those of 1,
// which go with any other size in another operand.
func (o *opReader) letterSizes(n *node, inputs []term) (map[byte]int64, bool) {
	sizes := map[byte]int64{}
	element := o.m.ValueType(inputs[0].value).DType
	for i, in := range inputs {
		t := o.m.ValueType(in.value)
		name := o.n.get("operands").elems[i].text
		switch {
		case !t.IsStatic():
			o.fail(n.at, diag.TypeMismatch, "operand %q has type %s, einsum needs known sizes", name, o.typeText(o.m.Type(in.value)))
			return nil, false
		case t.DType != element:
			o.fail(n.at, diag.TypeMismatch, "operand %q has elements of type %s, the first has %s: convert it", name, t.DType, element)
			return nil, false
		}
		for j, l := range in.letters {
			size, seen := sizes[l]
			if k := slices.Index(in.letters, l); t.Dims[k] != t.Dims[j] {
				o.fail(n.at, diag.TypeMismatch, "%s has sizes %d and %d in operand %q, a diagonal needs equal ones", describeLetter(l),
					t.Dims[k], t.Dims[j], name)
				return nil, false
			}
			if seen && size != t.Dims[j] && size != 1 && t.Dims[j] != 1 {
				o.fail(n.at, diag.TypeMismatch, "%s has size %d and, in operand %q, %d", describeLetter(l), size, name, t.Dims[j])
				return nil, false
			}
			if !seen || size == 1 {
				sizes[l] = t.Dims[j]
			}
		}
	}
	return sizes, true
}

func describeLetter(l byte) string {
	if l >= ellipsis {
		return "a dimension of \"...\""
	}
	return "letter \"" + string(rune(l)) + "\""
}
