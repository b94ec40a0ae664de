package mlir

import (
	"slices"
	"strconv"
	"strings"

	"autoshard/internal/diag"
	"autoshard/ir"
)

// opState collects what an op is made of while its text is read.
type opState struct {
	kind      ir.Kind
	name      string
	at        token // of the name
	operands  []operand
	values    []ir.ValueID
	results   []ir.TypeID
	attrs     []ir.NamedAttr
	regions   []ir.RegionID
	branches  []ir.BlockID    // of a terminator
	shardings []ir.ShardingID // of the results, where the op's own syntax has them
	types     []ir.TypeID     // scratch
}

// resultNames is one entry of the list before the equals sign: %name or %name:2.
type resultNames struct {
	at token
	n  int
}

// push returns a fresh state; pop gives it back.
func (p *parser) push() *opState {
	if p.nested == len(p.states) {
		p.states = append(p.states, &opState{})
	}
	o := p.states[p.nested]
	p.nested++
	*o = opState{operands: o.operands[:0], values: o.values[:0], results: o.results[:0], attrs: o.attrs[:0], regions: o.regions[:0],
		branches: o.branches[:0], shardings: o.shardings[:0], types: o.types[:0]}
	return o
}

func (p *parser) pop() { p.nested-- }

// op reads one operation and appends it to the builder's block.
func (p *parser) op(b *ir.Builder) {
	var names [4]resultNames
	results := names[:0]
	start := p.tok
	if p.at(tokValue) {
		results = p.resultNames(results)
		p.expect(tokEqual)
	}
	o, before := p.push(), len(p.problems)
	defer func() {
		if len(p.problems) > before {
			p.blame(o)
		}
		p.pop()
	}()
	switch p.tok.kind {
	case tokString:
		if p.genericOp(b, o) {
			return
		}
	case tokIdent:
		if p.prettyOp(b, o, results) {
			return
		}
	default:
		p.expected("operation name in quotes")
		return
	}
	if p.err == nil {
		p.finish(b, o, results, start)
	}
}

func (p *parser) resultNames(out []resultNames) []resultNames {
	for {
		r := resultNames{at: p.tok, n: 1}
		if !p.at(tokValue) {
			p.expected("SSA value")
			return out
		}
		p.next()
		if p.accept(tokColon) {
			n, err := strconv.ParseInt(p.text(), 10, 32)
			if !p.at(tokInt) || err != nil || n < 1 {
				p.expected("number of results, at least 1,")
				return out
			}
			r.n = int(n)
			p.next()
		}
		out = append(out, r)
		if !p.accept(tokComma) {
			return out
		}
	}
}

// finish makes the op, with the location that may follow, and gives names to its results.
func (p *parser) finish(b *ir.Builder, o *opState, names []resultNames, start token) {
	b.Loc = p.trailingLoc()
	if p.err != nil {
		return
	}
	op := p.build(b, o)
	p.nameResults(op, names, start)
}

// build makes an op of its parts.
func (p *parser) build(b *ir.Builder, o *opState) (op ir.OpID) {
	attrs := p.extractShardings(o)
	if o.kind == ir.OpUnregistered {
		op = b.Unregistered(strings.Clone(o.name), o.results, attrs, 0, o.values...)
	} else {
		op = b.Op(o.kind, o.results, attrs, o.values...)
	}
	if len(o.regions) > 0 {
		p.m.AdoptRegions(op, o.regions)
	}
	if len(o.branches) > 0 {
		p.m.SetSuccessors(op, slices.Clone(o.branches))
	}
	p.m.SetPos(op, p.position(o.at))
	for i, s := range o.shardings {
		p.m.SetSharding(p.m.Result(op, i), s)
	}
	return op
}

// extractShardings sorts the attributes and takes out the shardings that belong to the results.
func (p *parser) extractShardings(o *opState) ir.Attrs {
	if len(o.attrs) == 0 {
		return nil
	}
	attrs := ir.MakeAttrs(o.attrs...)
	if len(o.shardings) == 0 && len(o.results) > 0 {
		if list, ok := attrs.Get(shardingAttr).(ir.ShardingsAttr); ok && len(list) == len(o.results) {
			o.shardings = append(o.shardings, list...)
			attrs = attrs.Without(shardingAttr)
		}
	}
	if len(attrs) == 0 {
		return nil
	}
	return attrs
}

func (p *parser) nameResults(op ir.OpID, names []resultNames, start token) {
	have := p.m.NumResults(op)
	if len(names) == 0 {
		return
	}
	if have == 0 {
		p.fail(start, diag.Syntax, "cannot name an operation with no results")
		return
	}
	i := 0
	for _, r := range names {
		if i+r.n > have {
			break
		}
		p.define(r.at, p.m.Result(op, i), r.n)
		i += r.n
	}
	if i != have || i != total(names) {
		p.fail(start, diag.Syntax, "operation defines %d results but was provided %d to bind", have, total(names))
	}
}

func total(names []resultNames) int {
	n := 0
	for _, r := range names {
		n += r.n
	}
	return n
}

// resolveAll finds the values of the operands, given their types.
func (p *parser) resolveAll(o *opState, types []ir.TypeID) {
	if p.err != nil {
		return
	}
	if len(types) != len(o.operands) {
		p.fail(o.at, diag.TypeMismatch, "expected %d operand types but had %d", len(o.operands), len(types))
		return
	}
	for i, use := range o.operands {
		o.values = append(o.values, p.resolve(use, types[i]))
		if p.err != nil {
			return
		}
	}
}

// attr adds an attribute.
func (o *opState) attr(name string, value ir.Attr) {
	o.attrs = append(o.attrs, ir.NamedAttr{Name: name, Value: value})
}

// genericOp reads "dialect.op"(%a) [^bb1] <{properties}> ({regions}) {attributes} : (types) -> types. It reports true
// if the op is complete, as functions and meshes are.
func (p *parser) genericOp(b *ir.Builder, o *opState) bool {
	o.at, o.name = p.tok, unescape(p.text())
	p.setKind(o, true)
	p.next()
	if p.err != nil {
		return true
	}
	switch o.kind {
	case ir.OpModule:
		p.nestedModule(b, o, true)
		return true
	case ir.OpFunc, ir.OpMesh:
		if !p.inModule {
			p.fail(o.at, diag.BadOp, "'%s' op must stand directly in a module", o.name)
			return true
		}
		p.genericSymbol(o)
		return true
	}
	p.expect(tokLParen)
	o.operands = p.operands(o.operands)
	p.expect(tokRParen)
	if p.accept(tokLSquare) {
		o.branches = append(o.branches, p.successor())
		for p.accept(tokComma) {
			o.branches = append(o.branches, p.successor())
		}
		p.expect(tokRSquare)
	}
	if p.accept(tokLess) {
		p.properties(o)
	}
	if p.accept(tokLParen) {
		p.regions(o)
	}
	if p.at(tokLBrace) {
		o.attrs = p.attrDict(o.attrs)
	}
	p.expect(tokColon)
	p.functionTypeOf(o)
	p.fromGeneric(o)
	return p.err != nil
}

// propertiesAttr keeps the properties of an op of a dialect that is not known, for printing.
const propertiesAttr = "<properties>"

func (p *parser) properties(o *opState) {
	if !p.at(tokLBrace) {
		p.expected("'{'")
		return
	}
	p.addProperties(o, p.attrDict(nil))
	p.expect(tokGreater)
}

// addProperties adds properties to an op. As in MLIR, those that the op does not have are lost.
func (p *parser) addProperties(o *opState, entries []ir.NamedAttr) {
	if o.kind == ir.OpUnregistered {
		if entries != nil {
			o.attr(propertiesAttr, ir.DictAttr(ir.MakeAttrs(entries...)))
		}
		return
	}
	for _, e := range entries {
		if o.kind.Declares(e.Name) {
			o.attrs = append(o.attrs, e)
		}
	}
}

// regions reads the regions of an op up to the closing parenthesis.
func (p *parser) regions(o *opState) {
	for p.err == nil {
		if o.kind == ir.OpUnregistered {
			p.inGraph(func() { o.regions = append(o.regions, p.region(nil, nil)) })
		} else {
			o.regions = append(o.regions, p.region(nil, nil))
		}
		if !p.accept(tokComma) {
			break
		}
	}
	p.expect(tokRParen)
}

// functionTypeOf reads (A, B) -> C and finds the operands' values.
func (p *parser) functionTypeOf(o *opState) {
	o.types, o.results = p.functionType(o.types[:0], o.results)
	p.resolveAll(o, o.types)
}

// setKind finds the kind for the name of an op.
func (p *parser) setKind(o *opState, generic bool) {
	if kind, ok := ir.ParseKind(o.name); ok {
		o.kind = kind
		return
	}
	dialect, _, dotted := strings.Cut(o.name, ".")
	switch {
	case registered[dialect] && dotted:
		p.failUnknownOp(o, generic)
	case !generic && dotted:
		p.fail(o.at, diag.UnknownOp, "Dialect '%s' not found for custom op '%s'; write it in generic form", dialect, o.name)
	case !generic:
		p.failUnknownOp(o, false)
	case o.name == "":
		p.fail(o.at, diag.UnknownOp, "operation has an empty name")
	}
}

// registered are the dialects whose ops are all known: another name is a mistake.
var registered = map[string]bool{"builtin": true, "func": true, "stablehlo": true, "chlo": true, "sdy": true, "check": true,
	"interpreter": true}

func (p *parser) failUnknownOp(o *opState, generic bool) {
	what := "custom op '" + o.name + "' is unknown"
	if generic {
		what = "unregistered operation '" + o.name + "' in a dialect that does not allow unknown operations"
	}
	if near := nearestOp(o.name); near != "" {
		what += "; did you mean '" + near + "'?"
	}
	p.fail(o.at, diag.UnknownOp, "%s", what)
}

// prettyOp reads an op in its own syntax. It reports true if the op is complete, as functions and meshes are.
func (p *parser) prettyOp(b *ir.Builder, o *opState, results []resultNames) bool {
	o.at, o.name = p.tok, p.text()
	if !strings.Contains(o.name, ".") {
		o.name = p.dialect + "." + o.name
	}
	p.setKind(o, false)
	p.next()
	if p.err != nil {
		return true
	}
	if (o.kind == ir.OpFunc || o.kind == ir.OpMesh || o.kind == ir.OpModule) && (len(results) > 0 || !p.inModule) {
		p.fail(o.at, diag.BadOp, "'%s' op must stand directly in a module and has no results", o.name)
		return true
	}
	switch o.kind {
	case ir.OpFunc:
		p.function(o)
		return true
	case ir.OpMesh:
		p.meshOp(o)
		return true
	case ir.OpModule:
		p.nestedModule(b, o, false)
		return true
	}
	f := &formats[o.kind]
	if f.parse == nil {
		p.fail(o.at, diag.UnknownOp, "'%s' op has no custom form: write it in generic form, with its name in quotes", o.name)
		return true
	}
	f.parse(p, o)
	return p.err != nil
}

// optionalAttrDict reads {…} if it is there.
func (p *parser) optionalAttrDict(o *opState) {
	if p.at(tokLBrace) {
		o.attrs = p.attrDict(o.attrs)
	}
}
