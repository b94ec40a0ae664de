package specfmt

import (
	"strconv"
	"strings"

	"autoshard/internal/diag"
	"autoshard/ir"
	"autoshard/subaxis"
)

// Parse reads the PartitionSpec form of a sharding of a tensor of some rank over a mesh. Dimensions that the text
// leaves out at the end are closed and whole, as in JAX. pos is the place of the text's first character, for errors,
// which are of class diag.ErrInvalid.
func Parse(m *ir.Module, mesh ir.MeshID, rank int, text string, pos diag.Position) (ir.ShardingID, error) {
	p := &parser{mesh: m.Mesh(mesh), text: text, start: pos}
	s, err := p.sharding(rank)
	if err != nil {
		return 0, err
	}
	s.Mesh = mesh
	return m.InternSharding(s), nil
}

type parser struct {
	mesh  *ir.MeshDecl
	text  string
	at    int
	start diag.Position
	used  []subaxis.Ref
}

func (p *parser) errorf(code diag.Code, at int, format string, args ...any) error {
	pos := p.start
	pos.Col += at
	return diag.Invalid(code, pos, format, args...)
}

func (p *parser) space() {
	for p.at < len(p.text) && (p.text[p.at] == ' ' || p.text[p.at] == '\t') {
		p.at++
	}
}

// next consumes a word if it follows.
func (p *parser) next(word string) bool {
	p.space()
	if strings.HasPrefix(p.text[p.at:], word) {
		p.at += len(word)
		return true
	}
	return false
}

func (p *parser) expect(word string) error {
	if p.next(word) {
		return nil
	}
	found := "the end"
	if p.at < len(p.text) {
		found = strconv.Quote(p.text[p.at:min(p.at+12, len(p.text))])
	}
	return p.errorf(diag.Syntax, p.at, "expected %q in partition spec %q, found %s", word, p.text, found)
}

func (p *parser) sharding(rank int) (ir.Sharding, error) {
	var s ir.Sharding
	if err := p.expect("P("); err != nil {
		return s, err
	}
	for first := true; !p.next(")"); first = false {
		if !first {
			if err := p.expect(","); err != nil {
				return s, err
			}
			if p.next(")") { // a comma may stand behind the last dimension
				break
			}
		}
		if err := p.part(&s); err != nil {
			return s, err
		}
	}
	if p.space(); p.at < len(p.text) {
		return s, p.errorf(diag.Syntax, p.at, "unexpected %q behind the partition spec", p.text[p.at:])
	}
	if p.mesh.IsMaximal() && len(s.Dims) == 0 {
		return s, nil
	}
	if len(s.Dims) > rank {
		return s, p.errorf(diag.BadShardingRank, 0, "partition spec %q has %d dimensions, the tensor has %d", p.text, len(s.Dims), rank)
	}
	for len(s.Dims) < rank {
		s.Dims = append(s.Dims, ir.DimSharding{Closed: true, Priority: ir.NoPriority})
	}
	return s, nil
}

// part reads a dimension or a named list.
func (p *parser) part(s *ir.Sharding) (err error) {
	at := p.at
	switch {
	case p.next("device="):
		id, err := p.number()
		if err == nil && (!p.mesh.IsMaximal() || p.mesh.DeviceIDs[0] != id) {
			err = p.errorf(diag.BadSharding, at, "mesh %s does not stand for device %d alone", p.mesh.FormatRef(), id)
		}
		return err
	case p.next("replicated="):
		s.Replicated, err = p.set()
	case p.next("unreduced="):
		switch {
		case p.next("max"):
			s.Reduction = ir.ReduceMax
		case p.next("min"):
			s.Reduction = ir.ReduceMin
		}
		s.Unreduced, err = p.set()
	case len(s.Replicated)+len(s.Unreduced) > 0:
		return p.errorf(diag.Syntax, at, "dimensions come before replicated and unreduced axes in a partition spec")
	default:
		var d ir.DimSharding
		d, err = p.dimension()
		s.Dims = append(s.Dims, d)
	}
	return err
}

func (p *parser) dimension() (d ir.DimSharding, err error) {
	d = ir.DimSharding{Closed: true, Priority: ir.NoPriority}
	switch {
	case p.next("None"):
		return d, nil
	case p.next("?"):
		d.Closed = false
		return d, nil
	case p.next("("):
		if d.Axes, d.Closed, err = p.list(")"); err != nil {
			return d, err
		}
	default:
		r, err := p.axis()
		if err != nil {
			return d, err
		}
		d.Axes = ir.ShardAxes{r}
	}
	if p.at < len(p.text) && p.text[p.at] == 'p' {
		p.at++
		n, err := p.number()
		if err != nil {
			return d, err
		}
		d.Priority = int32(n)
	}
	return d, nil
}

func (p *parser) set() (ir.ShardAxes, error) {
	if err := p.expect("{"); err != nil {
		return nil, err
	}
	at := p.at
	refs, closed, err := p.list("}")
	if err == nil && !closed {
		err = p.errorf(diag.Syntax, at, "a set of axes cannot be open")
	}
	return refs, err
}

// list reads axes up to an end; a last "?" leaves the list open.
func (p *parser) list(end string) (refs ir.ShardAxes, closed bool, err error) {
	for first := true; !p.next(end); first = false {
		if !first {
			if err := p.expect(","); err != nil {
				return nil, false, err
			}
			if p.next(end) {
				break
			}
		}
		if p.next("?") {
			return refs, false, p.expect(end)
		}
		r, err := p.axis()
		if err != nil {
			return nil, false, err
		}
		refs = append(refs, r)
	}
	return refs, true, nil
}

func (p *parser) axis() (subaxis.Ref, error) {
	if err := p.expect("'"); err != nil {
		return subaxis.Ref{}, err
	}
	at := p.at - 1
	var name strings.Builder
	for ; ; p.at++ {
		if p.at < len(p.text) && p.text[p.at] == '\'' {
			break
		}
		if p.at < len(p.text) && p.text[p.at] == '\\' {
			p.at++
		}
		if p.at >= len(p.text) {
			return subaxis.Ref{}, p.errorf(diag.Syntax, at, "name of an axis does not end in partition spec %q", p.text)
		}
		name.WriteByte(p.text[p.at])
	}
	p.at++
	r, ok := p.mesh.Lookup(name.String())
	if !ok {
		return r, p.errorf(diag.UnknownAxis, at, "mesh %s has no axis %q", p.mesh.FormatRef(), name.String())
	}
	if strings.HasPrefix(p.text[p.at:], ":(") {
		if err := p.subAxis(&r, at); err != nil {
			return r, err
		}
	}
	if other, ok := subaxis.Overlapping(p.used, r); ok {
		return r, p.errorf(diag.DuplicateAxis, at, "axis %s is used twice: it overlaps %s", axis(&p.mesh.Mesh, r), axis(&p.mesh.Mesh, other))
	}
	p.used = append(p.used, r)
	return r, nil
}

// subAxis narrows an axis to the part written :(pre-size)size.
func (p *parser) subAxis(r *subaxis.Ref, at int) error {
	p.at += len(":(")
	pre, err := p.number()
	if err != nil {
		return err
	}
	if err := p.expect(")"); err != nil {
		return err
	}
	size, err := p.number()
	if err != nil {
		return err
	}
	if pre < 1 || size < 2 || pre*size > int64(r.Size) || int64(r.Size)%(pre*size) != 0 {
		return p.errorf(diag.BadSubAxis, at, "(%d)%d is not a part of axis %q of size %d", pre, size, p.mesh.Axes[r.Axis].Name, r.Size)
	}
	r.Pre, r.Size = int32(pre), int32(size)
	return nil
}

func (p *parser) number() (int64, error) {
	start := p.at
	for p.at < len(p.text) && p.text[p.at] >= '0' && p.text[p.at] <= '9' {
		p.at++
	}
	n, err := strconv.ParseInt(p.text[start:p.at], 10, 32)
	if err != nil {
		return 0, p.errorf(diag.Syntax, start, "expected a number in partition spec %q", p.text)
	}
	return n, nil
}
