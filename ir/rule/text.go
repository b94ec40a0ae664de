package rule

import (
	"cmp"
	"fmt"
	"slices"

	"autoshard/internal/diag"
	"autoshard/ir"
)

// Text is a sharding rule as people write it, in the manner of an einsum:
//
//	(b s h d, b t h d, b t h d) -> (b s h d) reduction={t}
//
// Operands, an arrow, results; each a list of factors, one for a dimension, or several in parentheses, from major to
// minor: (a b). Behind them come the special factors, reduction, need_replication, permutation and blocked, and sizes
// that do not follow from the types: a=4. Sizes may also stand at a factor: (a=4 b). A scalar has no factors: (b, ).
type Text struct {
	operands, results [][]dimText
	groups            []groupText
	pins              []factorText // with sizes
	pos               diag.Position
	source            string // the line that pos speaks of
}

// dimText is a dimension: its factors from major to minor.
type dimText struct {
	at      int // byte in the text
	factors []factorText
}

// factorText is the name of a factor, with a size if one is written behind it.
type factorText struct {
	at   int
	name string
	size int64 // 0: not given
}

// groupText is a list of special factors.
type groupText struct {
	name    string
	factors []factorText
}

// groupNames are the names of the lists of special factors; blocked may be written as in Shardy's own text.
var groupNames = []string{"reduction", "need_replication", "permutation", "blocked", "blocked_propagation"}

// ParseText reads a rule. pos is where the text begins, for errors, which are of class diag.ErrInvalid; source is the
// line around it, or "" for the text itself.
func ParseText(text string, pos diag.Position, source string) (*Text, error) {
	source = cmp.Or(source, text)
	p := &textParser{text: text, pos: pos, source: source}
	t := p.rule()
	if p.err != nil {
		return nil, p.err
	}
	return t, nil
}

// Rule returns the rule of an op: sizes of factors that the text does not give follow from the types. Errors point into
// the text.
func (t *Text) Rule(m *ir.Module, op ir.OpID) (*ir.Rule, error) {
	r := &resolver{Text: t, m: m, op: op, index: map[string]int32{}, rule: &ir.Rule{Custom: true}}
	r.tensors("operand", t.operands, m.Operands(op), &r.rule.Operands)
	r.tensors("result", t.results, m.ResultValues(op), &r.rule.Results)
	r.infer()
	r.special()
	if r.err != nil {
		return nil, r.err.WithNote(m.OpPos(op), "the rule is for this `%s`", m.OpName(op))
	}
	return r.rule, nil
}

// failAt returns a diagnostic at a byte of the text.
func failAt(pos diag.Position, source string, at int, format string, args ...any) *diag.Error {
	pos.Col += at
	err := diag.Invalid(diag.BadRule, pos, format, args...)
	err.Diagnostics[0].Source = source
	return err
}

// resolver finds the factors of a rule for one op.
type resolver struct {
	*Text
	m     *ir.Module
	op    ir.OpID
	index map[string]int32
	named []factorText // by index: where the factor stands first
	dims  []resolvedDim
	rule  *ir.Rule
	err   *diag.Error
}

// resolvedDim is a dimension with its size and factors.
type resolvedDim struct {
	at      int
	what    string
	size    int64
	factors []int32
}

func (r *resolver) fail(at int, format string, args ...any) {
	r.err = cmp.Or(r.err, failAt(r.pos, r.source, at, format, args...))
}

// tensors gives the operands or results of the op their factors.
func (r *resolver) tensors(what string, texts [][]dimText, values []ir.ValueID, out *[][][]int32) {
	if len(texts) != len(values) {
		r.fail(0, "rule has %d %ss, the operation has %d", len(texts), what, len(values))
		return
	}
	for i, dims := range texts {
		t := r.m.ValueType(values[i])
		name := fmt.Sprintf("%s %d", what, i)
		at := 0
		if len(dims) > 0 {
			at = dims[0].at
		}
		if t.Kind != ir.TensorKind || !t.IsStatic() {
			r.fail(at, "%s has type %s, a rule is for tensors of known shape", name, r.m.FormatType(r.m.Type(values[i])))
			return
		}
		if len(dims) != t.Rank() {
			r.fail(at, "%s has %d dimensions in the rule, its type is %s", name, len(dims), r.m.FormatType(r.m.Type(values[i])))
			return
		}
		mapping := make([][]int32, len(dims))
		seen := map[int32]bool{}
		for d, dim := range dims {
			mapping[d] = r.factors(name, dim, seen)
			r.dims = append(r.dims, resolvedDim{dim.at, fmt.Sprintf("dimension %d of %s", d, name), t.Dims[d], mapping[d]})
		}
		*out = append(*out, mapping)
	}
}

// factors returns the indices of a dimension's factors; new names get new ones.
func (r *resolver) factors(tensor string, dim dimText, seen map[int32]bool) []int32 {
	var out []int32
	for _, f := range dim.factors {
		i, ok := r.index[f.name]
		if !ok {
			i = int32(len(r.named))
			r.index[f.name] = i
			r.named = append(r.named, f)
			r.rule.Sizes = append(r.rule.Sizes, 0)
		}
		if seen[i] {
			r.fail(f.at, "factor `%s` stands twice in %s", f.name, tensor)
		}
		seen[i] = true
		r.pin(f, i)
		out = append(out, i)
	}
	return out
}

// pin sets a size that the text gives.
func (r *resolver) pin(f factorText, i int32) {
	switch have := r.rule.Sizes[i]; {
	case f.size == 0:
	case have != 0 && have != f.size:
		r.fail(f.at, "factor `%s` has size %d and size %d", f.name, have, f.size)
	default:
		r.rule.Sizes[i] = f.size
	}
}

// infer finds the sizes of factors from dimensions in which one is unknown, until nothing changes, and checks the rest.
func (r *resolver) infer() {
	for _, f := range r.pins {
		i, ok := r.lookup(f)
		if !ok {
			return
		}
		r.pin(f, i)
	}
	for changed := true; changed && r.err == nil; {
		changed = false
		for _, d := range r.dims {
			known, unknown := r.split(d)
			if len(unknown) != 1 || known == 0 || d.size%known != 0 || d.size == 0 {
				continue
			}
			r.rule.Sizes[unknown[0]] = d.size / known
			changed = true
		}
	}
	for _, d := range r.dims {
		r.checkDim(d)
	}
}

// split returns the product of the known sizes in a dimension, and the factors without one.
func (r *resolver) split(d resolvedDim) (known int64, unknown []int32) {
	known = 1
	for _, f := range d.factors {
		size := r.rule.Sizes[f]
		switch {
		case size == 0:
			unknown = append(unknown, f)
		case known > d.size/size:
			known = d.size + 1 // too large in any case
		default:
			known *= size
		}
	}
	return known, unknown
}

func (r *resolver) checkDim(d resolvedDim) {
	known, unknown := r.split(d)
	switch {
	case d.size == 0:
		r.fail(d.at, "%s has size 0, which has no factors", d.what)
	case len(unknown) > 0 && len(d.factors) > 1 && d.size%known == 0:
		name := r.named[unknown[0]].name
		r.fail(d.at, "the size of factor `%s` does not follow from %s of size %d: add a size such as `%s=2`", name, d.what, d.size, name)
	case len(unknown) > 0 || known != d.size && len(d.factors) > 1:
		r.fail(d.at, "%s has size %d, which its factors do not divide into", d.what, d.size)
	case known != d.size:
		f := d.factors[0]
		r.fail(d.at, "factor `%s` has size %d, %s has size %d: give it another name", r.named[f].name, r.rule.Sizes[f], d.what, d.size)
	case len(d.factors) > 1 && slices.ContainsFunc(d.factors, func(f int32) bool { return r.rule.Sizes[f] == 1 }):
		r.fail(d.at, "%s has a factor of size 1 beside others: leave it out", d.what)
	}
}

func (r *resolver) lookup(f factorText) (int32, bool) {
	i, ok := r.index[f.name]
	if !ok {
		r.fail(f.at, "factor `%s` is in no operand or result", f.name)
	}
	return i, ok
}

// special sets the lists of special factors, sorted.
func (r *resolver) special() {
	kinds := map[int32]string{}
	for _, g := range r.groups {
		list := map[string]*[]int32{"reduction": &r.rule.Reduction, "need_replication": &r.rule.NeedReplication,
			"permutation": &r.rule.Permutation, "blocked": &r.rule.Blocked}[g.name]
		for _, f := range g.factors {
			i, ok := r.lookup(f)
			if !ok {
				return
			}
			switch other := kinds[i]; {
			case slices.Contains(*list, i):
				r.fail(f.at, "factor `%s` stands twice in `%s`", f.name, g.name)
			case g.name != "blocked" && other != "":
				r.fail(f.at, "factor `%s` is in `%s` and in `%s`", f.name, other, g.name)
			case g.name == "reduction" && r.inResult(i):
				r.fail(f.at, "reduction factor `%s` is in a result: what is summed away has no dimension there", f.name)
			}
			if g.name != "blocked" {
				kinds[i] = g.name
			}
			*list = append(*list, i)
		}
		slices.Sort(*list)
	}
}

func (r *resolver) inResult(f int32) bool {
	return slices.ContainsFunc(r.rule.Results, func(mapping [][]int32) bool { return holds(mapping, f) })
}
