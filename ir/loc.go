package ir

// LocKind is the form of a source location.
type LocKind uint8

// The forms of locations (specification: stablehlo.md section 1.10). The zero location is unknown.
const (
	LocUnknown  LocKind = iota
	LocFile             // "file":line:col, perhaps with an end
	LocName             // "name" with an optional child
	LocCallSite         // callee at caller
	LocFused            // several, with optional metadata
)

// Location says where an op came from. Children are the name's child, callee and caller, or the fused parts.
type Location struct {
	Kind            LocKind
	File            string
	Line, Col       int
	EndLine, EndCol int // 0 where no range is given
	Name            string
	Metadata        Attr
	Children        []LocID
}

// AddLoc appends a location.
func (m *Module) AddLoc(l Location) LocID {
	m.locs = append(m.locs, l)
	return LocID(len(m.locs) - 1)
}

// LocOf returns the content of a location.
func (m *Module) LocOf(id LocID) *Location { return &m.locs[id] }

// FileLoc returns the innermost file location of a location, or an unknown one: the place to show to a person.
func (m *Module) FileLoc(id LocID) *Location {
	l := &m.locs[id]
	if l.Kind == LocFile {
		return l
	}
	for _, c := range l.Children {
		if f := m.FileLoc(c); f.Kind == LocFile {
			return f
		}
	}
	return &m.locs[0]
}

// LocateByText gives every op that has no location the place where it stands in the text it was read from, so that
// what is made of it later can still be traced to a line.
func (m *Module) LocateByText() {
	for op := OpID(1); int(op) < len(m.ops); op++ {
		pos := m.OpPos(op)
		if m.ops[op].loc == 0 && pos.Line > 0 {
			m.ops[op].loc = m.AddLoc(Location{Kind: LocFile, File: pos.File, Line: pos.Line, Col: pos.Col})
		}
	}
}
