package specfmt

import (
	"fmt"
	"slices"
	"strings"

	"autoshard/internal/diag"
	"autoshard/ir"
	"autoshard/subaxis"
)

// formatPartitionSpec writes what JAX 0.12 evaluates: P('x', None, ('y', 'z')), without the None at the end. A
// dimension that is open and whole is P.UNCONSTRAINED.
func formatPartitionSpec(l *Layout) (string, []string, error) {
	s := &l.Sharding
	mesh := &l.Mesh.Mesh
	if mesh.IsMaximal() {
		return "", nil, noDevice(PartitionSpec, l.Mesh)
	}
	if err := wholeAxes(l); err != nil {
		return "", nil, err
	}
	var parts []string
	for _, d := range s.Dims {
		switch {
		case len(d.Axes) == 1:
			parts = append(parts, axis(mesh, d.Axes[0]))
		case len(d.Axes) > 1:
			parts = append(parts, "("+axes(mesh, d.Axes)+")")
		case d.Closed:
			parts = append(parts, "None")
		default:
			parts = append(parts, "P.UNCONSTRAINED")
		}
	}
	for len(parts) > 0 && parts[len(parts)-1] == "None" {
		parts = parts[:len(parts)-1]
	}
	if len(s.Unreduced) > 0 {
		parts = append(parts, "unreduced={"+axes(mesh, s.Unreduced)+"}")
		if s.Reduction != ir.ReduceSum {
			parts = append(parts, "unreduced_kind=UnreducedKind."+s.Reduction.String())
		}
	}
	var dropped left
	dropped.open(s, func(d ir.DimSharding) bool { return len(d.Axes) == 0 })
	dropped.priorities(s)
	dropped.axes("replicated", mesh, s.Replicated)
	dropped.axes("manual", mesh, l.Manual)
	return "P(" + strings.Join(parts, ", ") + ")", dropped.list, nil
}

// wholeAxes returns the error for a layout that a PartitionSpec cannot say: one with a part of an axis.
func wholeAxes(l *Layout) error {
	for i, d := range l.Sharding.Dims {
		if j := slices.IndexFunc(d.Axes, l.split); j >= 0 {
			return inexpressible(PartitionSpec, l, "dimension %d needs the sub-axis %s", i, l.Mesh.Format(d.Axes[j]))
		}
	}
	if j := slices.IndexFunc(l.Sharding.Unreduced, l.split); j >= 0 {
		return inexpressible(PartitionSpec, l, "the unreduced axes need the sub-axis %s", l.Mesh.Format(l.Sharding.Unreduced[j]))
	}
	return nil
}

// split says whether a ref is less than an axis.
func (l *Layout) split(r subaxis.Ref) bool { return !l.Mesh.IsFull(r) }

// partitionSpec reads P(…) as JAX prints and evaluates it, and as Notation writes it.
func (s *scanner) partitionSpec(rank int) (l Layout, dropped []string) {
	l.Mesh = s.mesh
	switch name := s.word(); name[strings.LastIndexByte(name, '.')+1:] {
	case "P", "PartitionSpec":
	default:
		s.at = 0
		s.expected("P(…)")
	}
	s.expect("(")
	p := specParser{scanner: s, sharding: &l.Sharding}
	s.list(")", p.argument)
	s.end()
	if p.kind && len(l.Sharding.Unreduced) == 0 {
		s.failf(diag.BadSharding, 0, "unreduced_kind needs unreduced axes")
	}
	var out left
	if len(p.reduced) > 0 {
		out.add("reduced axes are left out, they speak of gradients alone: %s", s.mesh.FormatList(p.reduced))
	}
	if !s.mesh.IsMaximal() || len(l.Sharding.Dims) > 0 {
		s.pad(&l.Sharding, rank)
	}
	return l, out.list
}

// specParser reads the arguments of P(…).
type specParser struct {
	*scanner
	sharding *ir.Sharding
	reduced  ir.ShardAxes
	keyword  bool // a named argument came
	kind     bool // unreduced_kind came
}

// argument reads a dimension or a named argument.
func (p *specParser) argument() {
	p.space()
	at := p.at
	name := p.word()
	if !p.next("=") {
		p.at = at
		if p.keyword {
			p.failf(diag.Syntax, at, "dimensions come before named arguments in a partition spec")
		}
		p.sharding.Dims = append(p.sharding.Dims, p.dimension())
		return
	}
	p.keyword = true
	p.named(name, at)
}

func (p *specParser) named(name string, at int) {
	switch name {
	case "device":
		if id := p.number(64); !p.mesh.IsMaximal() || p.mesh.DeviceIDs[0] != id {
			p.failf(diag.BadSharding, at, "mesh %s does not stand for device %d alone", p.mesh.FormatRef(), id)
		}
	case "replicated":
		p.names(&p.sharding.Replicated)
	case "reduced":
		p.names(&p.reduced)
	case "unreduced":
		if kind := p.word(); kind != "" && kind != "frozenset" && kind != "set" {
			p.reduction(&p.sharding.Reduction, kind)
		} else {
			p.at -= len(kind)
		}
		p.names(&p.sharding.Unreduced)
	case "unreduced_kind":
		p.kind = true
		kind := p.word()
		p.reduction(&p.sharding.Reduction, kind[strings.LastIndexByte(kind, '.')+1:])
	default:
		p.failf(diag.Syntax, at, "a partition spec has no argument %q", name)
	}
}

// names reads a set of axes: {'x'}, frozenset({'x'}) or set().
func (p *specParser) names(into *ir.ShardAxes) {
	if len(*into) > 0 {
		p.failf(diag.Syntax, p.at, "a set of axes is given twice")
	}
	wrapped := p.next("frozenset(") || p.next("set(")
	if wrapped && p.next(")") {
		return
	}
	if *into = p.set(pythonQuotes); wrapped {
		p.expect(")")
	}
}

const pythonQuotes = `'"`

// dimension reads what shards one dimension, with its priority.
func (p *specParser) dimension() ir.DimSharding {
	d := ir.DimSharding{Closed: true, Priority: ir.NoPriority}
	at := p.at
	switch name := p.word(); name[strings.LastIndexByte(name, '.')+1:] {
	case "None":
		return d
	case "UNCONSTRAINED":
		d.Closed = false
		return d
	}
	p.at = at
	switch {
	case p.next("?"):
		d.Closed = false
		return d
	case p.next("("):
		d.Axes, d.Closed = p.axes(")", pythonQuotes)
	case p.next("["):
		d.Axes, d.Closed = p.axes("]", pythonQuotes)
	default:
		d.Axes = ir.ShardAxes{p.axis(pythonQuotes)}
	}
	if p.next("p") {
		d.Priority = int32(p.number(32))
	}
	return d
}

// inexpressible returns the error for a layout that a form cannot say over this mesh, with the mesh over which it can.
func inexpressible(f Form, l *Layout, format string, args ...any) error {
	why := fmt.Sprintf(format, args...)
	refined, ok := Refine(l)
	if !ok {
		return diag.Unsupported(diag.NotSupported, diag.Position{}, "not expressible as %s: %s", f.title(), why)
	}
	err := diag.Unsupported(diag.NotSupported, diag.Position{}, "not expressible as %s: %s; refine the mesh as %s",
		f.title(), why, strings.Join(splitAxes(l, &refined), ", "))
	if text, _, e := Format(f, &refined); e == nil {
		err = err.WithNote(diag.Position{}, "over the mesh %s it is %s", FormatMesh(&refined.Mesh.Mesh), text)
	}
	return err
}
