package mlir

import (
	"context"
	"strconv"
	"strings"

	"autoshard/ir"
)

// PrintOptions say what Print writes besides the program.
type PrintOptions struct {
	DebugInfo bool // locations of ops, arguments and the module
}

// Print returns the text of a module as MLIR prints it.
func Print(m *ir.Module, opts PrintOptions) []byte {
	text, _ := Write(context.Background(), m, opts) // which never ends
	return text
}

// printedPerOp and printedPerLoc are about how many bytes of text an op makes, and a location beside that.
const printedPerOp, printedPerLoc = 80, 120

// Write is Print for large modules: it ends with the context, whose error is the only one.
func Write(ctx context.Context, m *ir.Module, opts PrintOptions) ([]byte, error) {
	size := printedPerOp * m.NumOps()
	if opts.DebugInfo {
		size += printedPerLoc * m.NumLocs()
	}
	pr := newPrinter(m, make([]byte, 0, size))
	pr.ctx = ctx
	if opts.DebugInfo {
		pr.locs = newLocNames(m, pr.look)
	}
	if pr.err != nil {
		return nil, pr.err
	}
	pr.collectMaps()
	pr.module()
	if pr.err != nil {
		return nil, pr.err
	}
	return pr.out, nil
}

// printer writes one module.
type printer struct {
	ctx    context.Context
	err    error // the context's, once it has ended; ops are left out then
	m      *ir.Module
	out    []byte
	indent int
	inFunc bool // in the body of a function, where its dialect's prefix is not written

	names     []valueName // by ValueID
	typeText  []string    // by TypeID
	shardText []string    // by ShardingID
	meshOf    map[ir.OpID]ir.MeshID
	locs      *locNames
	labels    []int32           // numbers of blocks in regions of several, by BlockID
	maps      map[string]string // names of affine maps by their text
	mapOrder  []string
	mapCount  map[string]int // by kind of map
}

func newPrinter(m *ir.Module, dst []byte) *printer {
	pr := &printer{ctx: context.Background(), m: m, out: dst, names: make([]valueName, m.NumValues()),
		typeText: make([]string, m.NumTypes()), shardText: make([]string, m.NumShardings()), meshOf: map[ir.OpID]ir.MeshID{}}
	for id := ir.MeshID(1); int(id) < m.NumMeshes(); id++ {
		pr.meshOf[m.Mesh(id).Op] = id
	}
	return pr
}

func (pr *printer) str(s string) { pr.out = append(pr.out, s...) }

func (pr *printer) byte(c byte) { pr.out = append(pr.out, c) }

func (pr *printer) int(v int64) { pr.out = strconv.AppendInt(pr.out, v, 10) }

func (pr *printer) ints(v []int64) { pr.out = appendIntList(pr.out, v) }

// appendIntList appends [1, 2].
func appendIntList(out []byte, list []int64) []byte {
	out = append(out, '[')
	for i, v := range list {
		if i > 0 {
			out = append(out, ", "...)
		}
		out = strconv.AppendInt(out, v, 10)
	}
	return append(out, ']')
}

// each prints elements, separated by commas.
func each[T any](pr *printer, list []T, one func(T)) {
	for i, e := range list {
		if i > 0 {
			pr.str(", ")
		}
		one(e)
	}
}

const spaces = "                                                                "

// newline begins a line with the indentation at hand.
func (pr *printer) newline() {
	pr.byte('\n')
	for n := pr.indent; n > 0; n -= len(spaces) {
		pr.str(spaces[:min(n, len(spaces))])
	}
}

// look says whether the context has not ended yet.
func (pr *printer) look() bool {
	if pr.err == nil {
		pr.err = pr.ctx.Err()
	}
	return pr.err == nil
}

// op prints one op with its location; the line has been begun.
func (pr *printer) op(op ir.OpID) {
	m := pr.m
	switch m.Kind(op) {
	case ir.OpFunc:
		pr.function(op)
		pr.loc(m.OpLoc(op))
		return
	case ir.OpMesh:
		pr.mesh(op)
		pr.loc(m.OpLoc(op))
		return
	case ir.OpModule:
		pr.nestedModule(op)
		pr.loc(m.OpLoc(op))
		return
	}
	pr.results(op)
	k := m.Kind(op)
	if f := &formats[k]; f.print != nil && pr.fits(op) {
		name := k.String()
		if pr.inFunc {
			name = strings.TrimPrefix(name, "func.")
		}
		pr.str(name)
		f.print(pr, op)
	} else {
		pr.generic(op)
	}
	pr.loc(m.OpLoc(op))
}

// fits says whether an op has the operands, results and regions that its pretty form shows. Others are printed in
// generic form, so that a program that breaks the rules can be looked at.
func (pr *printer) fits(op ir.OpID) bool {
	m := pr.m
	for i := range m.NumRegions(op) {
		if m.RegionBlock(op, i) == 0 && m.Kind(op) != ir.OpComposite {
			return false
		}
	}
	switch m.Kind(op) {
	case ir.OpWhile:
		return m.NumRegions(op) == 2 && len(m.BlockArgs(m.RegionBlock(op, 0))) == m.NumOperands(op)
	case ir.OpReduce:
		return m.NumRegions(op) == 1 && m.NumOperands(op)%2 == 0 && len(m.BlockArgs(m.RegionBlock(op, 0))) == m.NumOperands(op)
	case ir.OpSdyManualComputation, ir.OpSdyNamedComputation, ir.OpChloScan:
		return m.NumRegions(op) == 1
	case ir.OpReturn, ir.OpStablehloReturn, ir.OpSdyReturn:
		return m.NumResults(op) == 0
	case ir.OpSdyShardingConstraint, ir.OpSdyReshard:
		return m.NumResults(op) == 1 && m.Sharding(m.Result(op, 0)) != 0
	case ir.OpTuple:
		return m.NumResults(op) == 1
	case ir.OpConvolution:
		return paddingFits(m, op)
	case ir.OpBranch, ir.OpCondBranch:
		return pr.branchFits(op)
	}
	if m.Kind(op).Declares("out_sharding") {
		return m.NumResults(op) == 1 && m.Sharding(m.Result(op, 0)) != 0
	}
	return true
}

// generic prints "dialect.op"(%a) <{properties}> ({regions}) {attributes} : (types) -> types.
func (pr *printer) generic(op ir.OpID) {
	m := pr.m
	pr.quoted(m.OpName(op))
	pr.parenOperands(op)
	pr.successors(op)
	properties, rest := pr.splitAttrs(op)
	if len(properties) > 0 {
		pr.str(" <")
		pr.dictBody(properties)
		pr.byte('>')
	}
	pr.regions(op)
	if len(rest) > 0 {
		pr.dict(rest)
	}
	pr.str(" : ")
	pr.functionType(op)
}

// regions prints ({ … }, { … }), nothing for an op without regions.
func (pr *printer) regions(op ir.OpID) {
	n := pr.m.NumRegions(op)
	for i := range n {
		pr.str(map[bool]string{true: " (", false: ", "}[i == 0])
		pr.region(op, i, true)
	}
	if n > 0 {
		pr.byte(')')
	}
}

// splitAttrs parts the attributes of an op into its own ones and the rest.
func (pr *printer) splitAttrs(op ir.OpID) (properties, rest ir.Attrs) {
	kind := pr.m.Kind(op)
	attrs := pr.genericAttrs(op)
	if kind == ir.OpUnregistered {
		d, _ := attrs.Get(propertiesAttr).(ir.DictAttr)
		return ir.Attrs(d), attrs.Without(propertiesAttr)
	}
	for _, e := range attrs {
		if kind.Declares(e.Name) {
			properties = append(properties, e)
		} else {
			rest = append(rest, e)
		}
	}
	return properties, rest
}

// genericAttrs returns the attributes of an op with the shardings that the generic form has among them.
func (pr *printer) genericAttrs(op ir.OpID) ir.Attrs {
	m := pr.m
	attrs := m.OpAttrs(op)
	name := ownSharding(m.Kind(op))
	switch {
	case name == "out_shardings":
		if in := pr.argShardingList(op); in != nil {
			attrs = attrs.With("in_shardings", in)
		}
		if pr.m.IsSharded(op) {
			attrs = attrs.With(name, pr.resultShardingList(op))
		}
	case name != "":
		if pr.m.IsSharded(op) {
			attrs = attrs.With(name, ir.ShardingAttr(m.Sharding(m.Result(op, 0))))
		}
	case pr.opSharding(op):
		attrs = attrs.With(shardingAttr, pr.resultShardingList(op))
	}
	return attrs
}

// operands prints the operands, separated by commas.
func (pr *printer) operands(op ir.OpID) { pr.values(op, 0, pr.m.NumOperands(op)) }

// values prints the operands from one to another.
func (pr *printer) values(op ir.OpID, from, to int) {
	for i := from; i < to; i++ {
		if i > from {
			pr.str(", ")
		}
		pr.value(pr.m.Operand(op, i))
	}
}

func (pr *printer) operandTypes(op ir.OpID) {
	for i := range pr.m.NumOperands(op) {
		if i > 0 {
			pr.str(", ")
		}
		pr.typ(pr.m.Type(pr.m.Operand(op, i)))
	}
}

// functionType prints the types of operands and results.
func (pr *printer) functionType(op ir.OpID) {
	pr.byte('(')
	pr.operandTypes(op)
	pr.str(") -> ")
	pr.resultTypes(op)
}

func (pr *printer) resultTypes(op ir.OpID) {
	m := pr.m
	n := m.NumResults(op)
	one := n == 1 && m.TypeOf(m.Type(m.Result(op, 0))).Kind != ir.FunctionKind
	if !one {
		pr.byte('(')
	}
	for i := range n {
		if i > 0 {
			pr.str(", ")
		}
		pr.typ(m.Type(m.Result(op, i)))
	}
	if !one {
		pr.byte(')')
	}
}

// colonTypes prints the types in one of the forms, with the colon.
func (pr *printer) colonTypes(op ir.OpID, form typeForm) {
	m := pr.m
	pr.str(" : ")
	switch form {
	case fnTypes:
		pr.functionType(op)
	case sameType:
		if m.NumResults(op) != 1 || !pr.sameTypes(op) {
			pr.functionType(op)
			return
		}
		pr.typ(m.Type(m.Result(op, 0)))
	case resultType:
		pr.typ(m.Type(m.Result(op, 0)))
	case operandType:
		pr.operandTypes(op)
	case oneOperand:
		pr.typ(m.Type(m.Operand(op, 0)))
	case chloTypes:
		pr.operandTypes(op)
		pr.str(" -> ")
		pr.resultTypes(op)
	}
}

func (pr *printer) sameTypes(op ir.OpID) bool {
	t := pr.m.Type(pr.m.Result(op, 0))
	for i := range pr.m.NumOperands(op) {
		if pr.m.Type(pr.m.Operand(op, i)) != t {
			return false
		}
	}
	return true
}

// clauses prints `, key = value` for the clauses whose attribute is there.
func (pr *printer) clauses(op ir.OpID, clauses []clause, comma bool) {
	for i, c := range clauses {
		a := pr.m.Attr(op, c.attr)
		if a == nil || c.optional && isClauseDefault(c, a) {
			continue
		}
		if comma || i > 0 {
			pr.str(", ")
		}
		pr.str(c.key)
		pr.str(" = ")
		c.codec.print(pr, a)
	}
}

// isClauseDefault says whether an optional clause is not printed because its value is the default.
func isClauseDefault(c clause, a ir.Attr) bool {
	switch v := a.(type) {
	case ir.BoolAttr:
		return c.attr == "lower" && !bool(v)
	case ir.IntAttr:
		return c.attr == "min_ulp_difference" && v.Value == 0
	}
	return false
}

// region prints { … }, with the header of the entry block where it is wanted and the block has arguments.
func (pr *printer) region(op ir.OpID, i int, header bool) {
	m := pr.m
	outer := pr.inFunc
	pr.inFunc = m.Kind(op) == ir.OpFunc
	blocks := m.Blocks(m.Region(op, i))
	pr.byte('{')
	predecessors := pr.labelBlocks(blocks)
	for n, b := range blocks {
		if n > 0 || header && (len(m.BlockArgs(b)) > 0 || m.FirstOp(b) == 0) {
			pr.newline()
			pr.blockHeader(b, n, predecessors[b])
		}
		pr.indent += 2
		for inner := range m.Ops(b) {
			if !pr.look() {
				break
			}
			pr.newline()
			pr.op(inner)
		}
		pr.indent -= 2
	}
	pr.newline()
	pr.byte('}')
	pr.inFunc = outer
}

// labelBlocks numbers the blocks of a region and returns for each the numbers of those that may go to it.
func (pr *printer) labelBlocks(blocks []ir.BlockID) map[ir.BlockID][]int {
	if len(blocks) < 2 {
		return nil
	}
	if pr.labels == nil {
		pr.labels = make([]int32, pr.m.NumBlocks())
	}
	predecessors := map[ir.BlockID][]int{}
	for n, b := range blocks {
		pr.labels[b] = int32(n)
		if last := pr.m.LastOp(b); last != 0 {
			for _, to := range pr.m.Successors(last) {
				predecessors[to] = append(predecessors[to], n)
			}
		}
	}
	return predecessors
}

// successors prints [^bb1, ^bb2] for a terminator that goes to other blocks.
func (pr *printer) successors(op ir.OpID) {
	for i, b := range pr.m.Successors(op) {
		pr.str(map[bool]string{true: "[", false: ", "}[i == 0])
		pr.label(b)
	}
	if len(pr.m.Successors(op)) > 0 {
		pr.byte(']')
	}
}

func (pr *printer) label(b ir.BlockID) {
	n := int32(0)
	if pr.labels != nil {
		n = pr.labels[b]
	}
	pr.str("^bb")
	pr.int(int64(n))
}

func (pr *printer) blockHeader(b ir.BlockID, n int, predecessors []int) {
	pr.str("^bb")
	pr.int(int64(n))
	if args := pr.m.BlockArgs(b); len(args) > 0 {
		pr.byte('(')
		each(pr, args, pr.blockArg)
		pr.byte(')')
	}
	pr.byte(':')
	if n > 0 {
		pr.predecessors(predecessors)
	}
}

// predecessors prints the comment behind the label of a block.
func (pr *printer) predecessors(blocks []int) {
	switch len(blocks) {
	case 0:
		pr.str("  // no predecessors")
		return
	case 1:
		pr.str("  // pred: ")
	default:
		pr.str("  // " + strconv.Itoa(len(blocks)) + " preds: ")
	}
	each(pr, blocks, func(n int) { pr.str("^bb" + strconv.Itoa(n)) })
}

// blockArg prints %arg0: T.
func (pr *printer) blockArg(v ir.ValueID) {
	pr.value(v)
	pr.str(": ")
	pr.typ(pr.m.Type(v))
	pr.argLoc(v)
}
