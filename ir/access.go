package ir

import (
	"slices"
	"strings"

	"autoshard/internal/diag"
)

// sources says where the ops of a module stand in the text that it was read from. Only diagnostics use it.
type sources struct {
	file string
	text string
	ops  []place // by OpID, possibly shorter than the op table
}

// place is a line and a column; in a binary file inBinary and the offset of a byte.
type place struct{ line, col int32 }

const inBinary = -1

// SetSource remembers the name and the text of the file that the module was read from, for diagnostics.
func (m *Module) SetSource(file, text string) { m.sources.file, m.sources.text = file, text }

// SetPos remembers where an op stands in the source text, op 0 where the module does.
func (m *Module) SetPos(op OpID, pos diag.Position) {
	s := &m.sources
	if pos.File != "" && s.file == "" {
		s.file = pos.File
	}
	for len(s.ops) <= int(op) {
		s.ops = append(s.ops, place{})
	}
	s.ops[op] = place{int32(pos.Line), int32(pos.Col)}
	if pos.Binary {
		s.ops[op] = place{inBinary, int32(pos.Offset)}
	}
}

// InheritPos gives an op that no reader made, unless it is 0, the place of another one.
func (m *Module) InheritPos(op, from OpID) {
	if pos := m.OpPos(op); op != 0 && pos.Line == 0 && !pos.Binary {
		m.SetPos(op, m.OpPos(from))
	}
}

// Position returns where an op stands: in the source text, or else where its location says that it came from.
func (m *Module) Position(op OpID) diag.Position {
	if pos := m.OpPos(op); pos.Line > 0 {
		return pos
	}
	pos, _ := m.FilePos(m.OpLoc(op))
	return pos
}

// FilePos returns the place that a location names, false where it names none.
func (m *Module) FilePos(id LocID) (diag.Position, bool) {
	l := m.FileLoc(id)
	return diag.Position{File: l.File, Line: l.Line, Col: l.Col}, l.Kind == LocFile
}

// OpPos returns where an op stands in the source text; the Line is 0 for ops that no reader made.
func (m *Module) OpPos(op OpID) diag.Position {
	s := &m.sources
	if int(op) >= len(s.ops) {
		return diag.Position{File: s.file}
	}
	p := s.ops[op]
	if p.line == inBinary {
		return diag.Position{File: s.file, Binary: true, Offset: int64(p.col)}
	}
	return diag.Position{File: s.file, Line: int(p.line), Col: int(p.col)}
}

// SourceLine returns a line of the source text without its newline, "" where the text is not known.
func (m *Module) SourceLine(line int) string { return LineOf(m.sources.text, line) }

// LineOf returns line n of a text, counted from 1, without its newline and cut to a length that a terminal can show.
func LineOf(text string, n int) string {
	if n < 1 {
		return ""
	}
	for ; n > 1; n-- {
		i := strings.IndexByte(text, '\n')
		if i < 0 {
			return ""
		}
		text = text[i+1:]
	}
	if i := strings.IndexByte(text, '\n'); i >= 0 {
		text = text[:i]
	}
	const longest = 400
	if len(text) > longest {
		text = text[:longest] + "..."
	}
	return strings.TrimSuffix(text, "\r")
}

// Resource is the content of a dense_resource: its bytes, and the alignment that it asks for.
type Resource struct {
	Name  string
	Align uint32
	Data  []byte
}

// AddResource remembers the content of a dense_resource.
func (m *Module) AddResource(r Resource) { m.resources = append(m.resources, r) }

// Resources returns the contents of the dense_resources in the order in which they were added.
func (m *Module) Resources() []Resource { return m.resources }

// ArgLoc returns the location of a block argument, the unknown one where none was given.
func (m *Module) ArgLoc(v ValueID) LocID { return m.argLocs[v] }

// SetArgLoc remembers the location of a block argument.
func (m *Module) SetArgLoc(v ValueID, l LocID) {
	if l == 0 {
		return
	}
	if m.argLocs == nil {
		m.argLocs = map[ValueID]LocID{}
	}
	m.argLocs[v] = l
}

// DetachedRegion returns a new region that belongs to no op yet, for readers that meet regions before the op around
// them is complete. AdoptRegions gives it to an op.
func (m *Module) DetachedRegion() RegionID { return m.newRegion(0) }

// AdoptRegions moves the blocks of detached regions into new regions of an op that has none.
func (m *Module) AdoptRegions(op OpID, detached []RegionID) {
	m.ops[op].regions = span{int32(len(m.regions)), int32(len(detached))}
	for _, from := range detached {
		to := m.newRegion(op)
		m.regions[to].blocks = m.regions[from].blocks
		m.regions[from].blocks = nil
		for _, b := range m.regions[to].blocks {
			m.blocks[b].region = to
		}
	}
}

// NumUses bounds how many operands all ops have together.
func (m *Module) NumUses() int { return len(m.operands) - 1 }

// NumBlocks bounds the block ids in use.
func (m *Module) NumBlocks() int { return len(m.blocks) }

// NumTypes bounds the type ids in use.
func (m *Module) NumTypes() int { return len(m.types.rows) }

// NumShardings bounds the sharding ids in use.
func (m *Module) NumShardings() int { return len(m.shardings.rows) }

// NumLocs bounds the location ids in use.
func (m *Module) NumLocs() int { return len(m.locs) }

// SetLoc replaces the source location of an op.
func (m *Module) SetLoc(op OpID, l LocID) { m.ops[op].loc = l }

// Reserve makes room for that many more ops, values and operands.
func (m *Module) Reserve(ops, values, operands int) {
	m.ops = slices.Grow(m.ops, ops)
	m.values = slices.Grow(m.values, values)
	m.operands = slices.Grow(m.operands, operands)
	m.sources.ops = slices.Grow(m.sources.ops, ops)
}
