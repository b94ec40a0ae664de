package mlir

import (
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"autoshard/internal/diag"
	"autoshard/internal/lists"
	"autoshard/ir"
	"autoshard/subaxis"
)

// shardingAttr is the name under which shardings stand in dictionaries.
const shardingAttr = "sdy.sharding"

// axisText is an axis or a part of one as it is written.
type axisText struct {
	at        token
	name      string
	part      bool
	pre, size int64
}

// String returns the axis as MLIR writes it: "x" or "x":(2)4.
func (a axisText) String() string {
	if a.part {
		return fmt.Sprintf("%s:(%d)%d", subaxis.Quote(a.name), a.pre, a.size)
	}
	return subaxis.Quote(a.name)
}

// unresolvedAxes are axes in the generic form of an op, whose mesh is not known where they stand.
type unresolvedAxes struct {
	list  []axisText
	dims  [][]axisText
	moves []moveText
}

type moveText struct {
	axes     []axisText
	src, dst int64
}

// String returns the axes as MLIR writes them.
func (a unresolvedAxes) String() string {
	switch {
	case a.moves != nil:
		return "[" + lists.Joined(a.moves, func(m moveText) string {
			return fmt.Sprintf("%s: %d->%d", axesText(m.axes), m.src, m.dst)
		}) + "]"
	case a.dims != nil:
		return "[" + lists.Joined(a.dims, axesText) + "]"
	}
	return axesText(a.list)
}

func axesText(list []axisText) string {
	return "{" + lists.Joined(list, axisText.String) + "}"
}

// axis reads "x" or "x":(2)4.
func (p *parser) axis() axisText {
	a := axisText{at: p.tok}
	a.name = p.str("axis name")
	if p.accept(tokColon) {
		a.part = true
		a.pre, a.size = p.subAxis()
	}
	return a
}

// subAxis reads (pre)size.
func (p *parser) subAxis() (pre, size int64) {
	p.expect(tokLParen)
	pre = p.int64()
	p.expect(tokRParen)
	return pre, p.int64()
}

// axisList reads {"x", "y":(1)2}.
func (p *parser) axisList() []axisText {
	var out []axisText
	p.expect(tokLBrace)
	p.list(tokRBrace, func() { out = append(out, p.axis()) })
	return out
}

// axisLists reads [{"x"}, {}].
func (p *parser) axisLists() [][]axisText {
	out := [][]axisText{}
	p.expect(tokLSquare)
	p.list(tokRSquare, func() { out = append(out, p.axisList()) })
	return out
}

// resolveAxis finds an axis in its mesh.
func (p *parser) resolveAxis(mesh ir.MeshID, a axisText) (ref subaxis.Ref, ok bool) {
	if p.err != nil {
		return ref, false
	}
	d := p.m.Mesh(mesh)
	if ref, ok = d.Lookup(a.name); !ok {
		names := lists.Map(d.Axes, func(a subaxis.Axis) string { return a.Name })
		p.problem(a.at, diag.UnknownAxis, "unknown axis name: %q; mesh %s has %s%s", a.name, meshName(d), axisNames(names),
			didYouMean(a.name, names))
		return ref, false
	}
	if !a.part {
		return ref, true
	}
	size := d.Axes[ref.Axis].Size
	text := a.String()
	switch {
	case a.pre < 1:
		p.problem(a.at, diag.BadSubAxis, "sub-axis pre-size must be at least 1: %s", text)
	case a.size <= 1:
		p.problem(a.at, diag.BadSubAxis, "sub-axis sizes must be greater than 1: %s", text)
	case a.size == size && a.pre == 1:
		p.problem(a.at, diag.BadSubAxis, "sub-axis size is equal to the full axis size: %s; write %q", text, a.name)
	case a.size > size || a.pre > size || size%(a.pre*a.size) != 0:
		p.problem(a.at, diag.BadSubAxis, "sub-axis %s must divide axis %q, whose size is %d", text, a.name, size)
	default:
		return subaxis.Ref{Axis: ref.Axis, Pre: int32(a.pre), Size: int32(a.size)}, true
	}
	return ref, false
}

func meshName(d *ir.MeshDecl) string {
	if d.Name != "" {
		return "@" + d.Name
	}
	return d.FormatContent()
}

func axisNames(names []string) string {
	if len(names) == 0 {
		return "no axes"
	}
	quoted := make([]string, 0, len(names))
	for i, n := range names {
		if i == 8 {
			return strings.Join(quoted, ", ") + " and " + strconv.Itoa(len(names)-8) + " more"
		}
		quoted = append(quoted, strconv.Quote(n))
	}
	return strings.Join(quoted, ", ")
}

// resolveAxes finds axes in their mesh. Those that are wrong are left out.
func (p *parser) resolveAxes(mesh ir.MeshID, list []axisText) ir.ShardAxes {
	if len(list) == 0 {
		return nil
	}
	out := make(ir.ShardAxes, 0, len(list))
	for _, a := range list {
		if ref, ok := p.resolveAxis(mesh, a); ok {
			out = append(out, ref)
		}
	}
	return out
}

// meshRef reads @name and finds the mesh, which may be declared further down.
func (p *parser) meshRef() ir.MeshID {
	at := p.tok
	name := p.symbol("mesh name")
	if p.err != nil {
		return 0
	}
	if id, ok := p.meshes[name]; ok {
		return id
	}
	p.scanMeshes()
	if id, ok := p.meshes[name]; ok {
		return id
	}
	if p.err == nil {
		names := slices.Sorted(maps.Keys(p.meshes))
		p.fail(at, diag.UnknownMesh, "unknown mesh: @%s%s", name, didYouMean(name, names))
	}
	return 0
}

// scanMeshes adds all meshes of the module at hand, also those that are declared behind the current token, once.
func (p *parser) scanMeshes() {
	if p.scanned {
		return
	}
	p.scanned = true
	here := p.lexer
	depth, body := 0, 0
	if p.lexer = p.start; p.at(tokLBrace) {
		body = 1
	} else {
		p.lexer = lexer{src: here.src, line: 1}
		p.next()
	}
	for !p.at(tokEOF) && p.err == nil {
		start := p.tok
		word := depth == body && p.at(tokIdent) && p.text() == "sdy.mesh"
		quoted := depth == body && p.at(tokString) && p.text() == `"sdy.mesh"`
		switch p.tok.kind {
		case tokLBrace:
			depth++
		case tokRBrace:
			depth--
		}
		if depth < body {
			break
		}
		p.next()
		switch {
		case word && p.at(tokSymbol):
			p.scanMesh(start, p.symbol("mesh name"), func() { p.expect(tokEqual) })
		case quoted && p.at(tokLParen):
			p.scanGenericMesh(start)
		}
	}
	if p.err == nil {
		p.lexer = here
	}
}

func (p *parser) scanMesh(start token, name string, before func()) {
	before()
	if mesh, ok := p.meshContent(); ok {
		if _, twice := p.meshes[name]; !twice {
			p.addMesh(start, name, mesh)
		}
	}
}

// addMesh declares a mesh; its op is filled when the parser comes to it.
func (p *parser) addMesh(at token, name string, mesh subaxis.Mesh) ir.MeshID {
	name = strings.Clone(name)
	id := p.m.AddMesh(name, mesh, nil, 0)
	if p.body != p.m.Body() {
		p.m.MoveToEnd(p.m.Mesh(id).Op, p.body)
	}
	p.meshes[name] = id
	p.m.SetPos(p.m.Mesh(id).Op, p.position(at))
	return id
}

// meshOp reads sdy.mesh @name = <["x"=2]> {attributes}.
func (p *parser) meshOp(o *opState) {
	at := p.tok
	name := p.symbol("mesh name")
	p.expect(tokEqual)
	mesh, ok := p.meshContent()
	if !ok {
		return
	}
	p.optionalAttrDict(o)
	p.declareMesh(o, at, name, mesh)
}

func (p *parser) declareMesh(o *opState, at token, name string, mesh subaxis.Mesh) {
	loc := p.trailingLoc()
	if p.err != nil || !p.defineSymbol(at, name) {
		return
	}
	id, ok := p.meshes[name]
	if !ok {
		id = p.addMesh(o.at, name, mesh)
	}
	op := p.m.Mesh(id).Op
	p.m.MoveToEnd(op, p.body)
	p.m.SetAttrs(op, ir.MakeAttrs(o.attrs...))
	p.m.SetLoc(op, loc)
}

// defineSymbol notes the name of a function or mesh, which must be new.
func (p *parser) defineSymbol(at token, name string) bool {
	if old, ok := p.symbols[name]; ok {
		p.fail(at, diag.Redefined, "redefinition of symbol named '%s'", name)
		p.note(old, "see existing symbol definition here")
		return false
	}
	p.symbols[name] = at
	return true
}

// meshAttr reads the attribute #sdy.mesh<…> and interns the mesh without a name.
func (p *parser) meshAttr() ir.Attr {
	mesh, ok := p.meshContent()
	if !ok {
		return nil
	}
	return ir.OpaqueAttr("#sdy.mesh" + (&ir.MeshDecl{Mesh: mesh}).FormatContent())
}

// meshContent reads <["x"=2, "y"=4], device_ids=[…]>.
func (p *parser) meshContent() (mesh subaxis.Mesh, ok bool) {
	at := p.tok
	p.expect(tokLess)
	p.expect(tokLSquare)
	p.list(tokRSquare, func() {
		name := p.str("axis name")
		p.expect(tokEqual)
		mesh.Axes = append(mesh.Axes, subaxis.Axis{Name: name, Size: p.int64()})
	})
	if p.accept(tokComma) {
		p.expectWord("device_ids")
		p.expect(tokEqual)
		mesh.DeviceIDs = p.int64s()
	}
	p.expect(tokGreater)
	return mesh, p.err == nil && p.checkMesh(at, &mesh)
}

// checkMesh applies the rules of meshes (specification: shardy.md section 1.1) and drops ids that count up from 0.
func (p *parser) checkMesh(at token, mesh *subaxis.Mesh) bool {
	if p.err != nil {
		return false
	}
	if len(mesh.DeviceIDs) == 0 {
		mesh.DeviceIDs = nil
	}
	if err := ir.CheckMesh(mesh); err != nil {
		p.fail(at, diag.BadMesh, "%s", err)
		return false
	}
	if len(mesh.Axes) > 0 && isIota(mesh.DeviceIDs) {
		mesh.DeviceIDs = nil
	}
	return true
}

func isIota(ids []int64) bool {
	for i, id := range ids {
		if id != int64(i) {
			return false
		}
	}
	return true
}

// sharding reads <@mesh, [{"x", ?}p1, {}], replicated={"y"}, unreduced=max{"z"}> (specification: shardy.md section
// 1.4).
func (p *parser) sharding() ir.ShardingID {
	p.expect(tokLess)
	var s ir.Sharding
	s.Mesh = p.shardingMesh()
	p.expect(tokComma)
	p.expect(tokLSquare)
	s.Dims = []ir.DimSharding{}
	p.list(tokRSquare, func() { s.Dims = append(s.Dims, p.dimSharding(s.Mesh)) })
	for p.err == nil && p.accept(tokComma) {
		switch {
		case p.atWord("replicated") && s.Replicated == nil:
			p.next()
			p.expect(tokEqual)
			s.Replicated = p.resolveAxes(s.Mesh, p.axisList())
		case p.atWord("unreduced") && s.Unreduced == nil:
			p.next()
			s.Reduction = p.reductionKind()
			s.Unreduced = p.resolveAxes(s.Mesh, p.axisList())
		default:
			p.expected("valid named axis list, replicated={…} or unreduced={…}, each once, after the comma")
		}
	}
	p.expect(tokGreater)
	if p.err != nil {
		return 0
	}
	return p.m.InternSharding(s)
}

func (p *parser) reductionKind() ir.Reduction {
	if !p.accept(tokEqual) || p.at(tokLBrace) {
		return ir.ReduceSum
	}
	return p.reductionWord()
}

func (p *parser) reductionWord() ir.Reduction {
	r, ok := ir.ParseReduction(p.text())
	if !ok {
		p.expected("reduction: sum, max or min")
		return r
	}
	p.next()
	return r
}

func (p *parser) shardingMesh() ir.MeshID {
	if !p.acceptWord("mesh") {
		return p.meshRef()
	}
	mesh, ok := p.meshContent()
	if !ok {
		return 0
	}
	return p.m.AddMesh("", mesh, nil, 0)
}

// dimSharding reads {"x", "y", ?}p1.
func (p *parser) dimSharding(mesh ir.MeshID) ir.DimSharding {
	d := ir.DimSharding{Closed: true, Priority: ir.NoPriority}
	var axes []axisText
	p.expect(tokLBrace)
	for !p.at(tokRBrace) && p.err == nil {
		if p.accept(tokQuestion) {
			d.Closed = false
			break
		}
		axes = append(axes, p.axis())
		if !p.accept(tokComma) {
			break
		}
		if p.at(tokRBrace) {
			p.expected("axis name or '?'")
		}
	}
	p.expect(tokRBrace)
	if p.at(tokIdent) {
		d.Priority = p.priority()
	}
	d.Axes = p.resolveAxes(mesh, axes)
	return d
}

// priority reads p1.
func (p *parser) priority() int32 {
	text := p.text()
	n, err := strconv.ParseInt(text[1:], 10, 32)
	switch {
	case text[0] != 'p' || text == "p" || !isDigit(text[1]):
		p.fail(p.tok, diag.BadSharding, "expecting priority in format p<number>, got: %s", clip(text))
	case len(text) > 2 && text[1] == '0':
		p.fail(p.tok, diag.BadSharding, "priority must not have leading zeros, got: %s", clip(text))
	case err != nil:
		p.fail(p.tok, diag.BadSharding, "expecting integer priority, got: %s", clip(text))
	}
	p.next()
	return int32(n)
}

func (p *parser) shardingPerValue() ir.Attr {
	p.expect(tokLess)
	list := p.shardingList()
	p.expect(tokGreater)
	return list
}

// shardingList reads [<@mesh, [{}]>, …].
func (p *parser) shardingList() ir.ShardingsAttr {
	list := ir.ShardingsAttr{}
	p.expect(tokLSquare)
	p.list(tokRSquare, func() { list = append(list, p.sharding()) })
	return list
}
