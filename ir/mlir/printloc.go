package mlir

import (
	"encoding/binary"
	"slices"
	"strconv"

	"autoshard/internal/lists"
	"autoshard/ir"
)

// locNames are the aliases of locations (specification: stablehlo.md section 1.10).
type locNames struct {
	look   func() bool // goes on
	m      *ir.Module
	ids    map[string]int // by content
	key    []byte         // scratch
	byLoc  []int          // index into rows by LocID, -1 if not visited
	rows   []locRow
	number []int // of each row
}

type locRow struct {
	id    ir.LocID
	depth int
	early bool // an argument has it, or a part of it: its definition stands before the module
}

// newLocNames numbers the locations of a module: by nesting depth, then in the order in which a walk meets them. They are
// not complete if the printer looks at its context and that has ended.
func newLocNames(m *ir.Module, look func() bool) *locNames {
	n := &locNames{m: m, look: look, ids: map[string]int{}, byLoc: make([]int, m.NumLocs())}
	for i := range n.byLoc {
		n.byLoc[i] = -1
	}
	n.visitLoc(m.Loc)
	n.visitBlock(m.Body())
	order := lists.Range[int](len(n.rows))
	slices.SortStableFunc(order, func(a, b int) int { return n.rows[a].depth - n.rows[b].depth })
	n.number = make([]int, len(order))
	for number, row := range order {
		n.number[row] = number
	}
	return n
}

func (n *locNames) visitBlock(b ir.BlockID) {
	for op := range n.m.Ops(b) {
		n.visitOp(op)
	}
}

// visitOp meets the locations of an op and of what is printed inside it: arguments that are not printed have none, nor
// does the body of a reduction in its short form.
func (n *locNames) visitOp(op ir.OpID) {
	if !n.look() {
		return
	}
	m := n.m
	n.visitLoc(m.OpLoc(op))
	switch m.Kind(op) {
	case ir.OpWhile:
	case ir.OpReduce:
		if _, short := shortReducer(m, op); short {
			return
		}
		n.visitArgs(reducerArgs(m, op))
	default:
		for b := range m.InnerBlocks(op) {
			n.visitArgs(m.BlockArgs(b))
			n.visitBlock(b)
		}
		return
	}
	for i := range m.NumRegions(op) {
		n.visitBlock(m.RegionBlock(op, i))
	}
}

func (n *locNames) visitArgs(args []ir.ValueID) {
	for _, v := range args {
		n.visitLoc(n.m.ArgLoc(v))
		n.markEarly(n.m.ArgLoc(v))
	}
}

// markEarly notes that a location is printed before the module, and with it what it is made of.
func (n *locNames) markEarly(id ir.LocID) {
	if row := &n.rows[n.byLoc[id]]; !row.early {
		row.early = true
		for _, c := range n.m.LocOf(id).Children {
			n.markEarly(c)
		}
	}
}

// visitLoc numbers the parts of a location and then itself, and returns its row.
func (n *locNames) visitLoc(id ir.LocID) int {
	if n.byLoc[id] >= 0 {
		return n.byLoc[id]
	}
	l := n.m.LocOf(id)
	depth := 0
	for _, c := range l.Children {
		depth = max(depth, n.rows[n.visitLoc(c)].depth+1)
	}
	n.sign(l)
	row, ok := n.ids[string(n.key)]
	if !ok {
		row = len(n.rows)
		n.rows = append(n.rows, locRow{id: id, depth: depth})
		n.ids[string(n.key)] = row
	}
	n.byLoc[id] = row
	return row
}

// sign makes the key of a location whose parts are numbered.
func (n *locNames) sign(l *ir.Location) {
	key := append(n.key[:0], byte(l.Kind))
	for _, at := range []int{l.Line, l.Col, l.EndLine, l.EndCol} {
		key = binary.AppendVarint(key, int64(at))
	}
	metadata := ""
	if l.Metadata != nil {
		metadata = FormatAttr(n.m, l.Metadata)
	}
	for _, text := range []string{l.File, l.Name, metadata} {
		key = append(binary.AppendUvarint(key, uint64(len(text))), text...)
	}
	for _, c := range l.Children {
		key = binary.AppendUvarint(key, uint64(n.byLoc[c]))
	}
	n.key = key
}

// name returns the alias of a row.
func (n *locNames) name(row int) string {
	if n.number[row] == 0 {
		return "#loc"
	}
	return "#loc" + strconv.Itoa(n.number[row])
}

// loc prints the location of an op, if locations are wanted.
func (pr *printer) loc(id ir.LocID) {
	if pr.locs != nil {
		pr.str(" loc(" + pr.locs.name(pr.locs.byLoc[id]) + ")")
	}
}

// argLoc prints the location of an argument in place.
func (pr *printer) argLoc(v ir.ValueID) {
	if pr.locs != nil {
		pr.str(" loc(")
		pr.locText(pr.m.ArgLoc(v))
		pr.byte(')')
	}
}

// locAttr prints a location that is the value of an attribute.
func (pr *printer) locAttr(id ir.LocID) {
	pr.str("loc(")
	pr.locInPlace(id)
	pr.byte(')')
}

// locDefinitions prints the definitions of the aliases that stand before the module, or of those behind it.
func (pr *printer) locDefinitions(early bool) {
	if pr.locs == nil {
		return
	}
	rows := make([]int, len(pr.locs.rows))
	for row, number := range pr.locs.number {
		rows[number] = row
	}
	for _, row := range rows {
		if !pr.look() {
			return
		}
		r := pr.locs.rows[row]
		if r.early == early {
			pr.str(pr.locs.name(row) + " = loc(")
			pr.locText(r.id)
			pr.str(")\n")
		}
	}
}

// locText prints the content of a location; its parts are aliases.
func (pr *printer) locText(id ir.LocID) {
	pr.locContent(id, func(c ir.LocID) { pr.str(pr.locs.name(pr.locs.byLoc[c])) })
}

// locInPlace prints a location with all its parts.
func (pr *printer) locInPlace(id ir.LocID) { pr.locContent(id, pr.locInPlace) }

func (pr *printer) locContent(id ir.LocID, child func(ir.LocID)) {
	l := pr.m.LocOf(id)
	switch l.Kind {
	case ir.LocUnknown:
		pr.str("unknown")
	case ir.LocFile:
		pr.fileLoc(l)
	case ir.LocName:
		pr.quoted(l.Name)
		for _, c := range l.Children {
			pr.byte('(')
			child(c)
			pr.byte(')')
		}
	case ir.LocCallSite:
		pr.str("callsite(")
		child(l.Children[0])
		pr.str(" at ")
		child(l.Children[1])
		pr.byte(')')
	case ir.LocFused:
		pr.str("fused")
		if l.Metadata != nil {
			pr.byte('<')
			pr.attr(l.Metadata, typed)
			pr.byte('>')
		}
		pr.byte('[')
		each(pr, l.Children, child)
		pr.byte(']')
	}
}

// fileLoc prints "file":line:col, with the end of a range.
func (pr *printer) fileLoc(l *ir.Location) {
	pr.quoted(l.File)
	pr.byte(':')
	pr.int(int64(l.Line))
	pr.byte(':')
	pr.int(int64(l.Col))
	if l.EndLine == 0 {
		return
	}
	pr.str(" to ")
	if l.EndLine != l.Line {
		pr.int(int64(l.EndLine))
	}
	pr.byte(':')
	pr.int(int64(l.EndCol))
}
