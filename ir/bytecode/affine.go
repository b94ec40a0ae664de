package bytecode

import (
	"fmt"
	"strconv"
	"strings"

	"autoshard/internal/lists"
	"autoshard/ir"
)

// Affine maps and sets (specification: bytecode.md section A.6.5) are kept as text.
type (
	affineMap struct {
		header  uint64 // number of dimensions and kind
		symbols uint64
		dims    []uint64 // of permutations
		results []expr
	}
	integerSet struct {
		dims, symbols uint64
		exprs         []expr
		equal         []bool
	}
	stridedLayout struct {
		offset  int64
		strides []int64
	}
	expr struct {
		kind     uint64
		position uint64
		constant int64
		args     []expr // of an operation
	}
)

// The kinds of maps, in the low bits of the header.
const (
	mapIdentity = iota
	mapPermutation
	mapProjection
	mapGeneral
)

// The kinds of expressions.
const (
	exprDim = iota
	exprSymbol
	exprConstant
	exprAdd
	exprMul
	exprMod
	exprFloorDiv
	exprCeilDiv
)

const (
	maxMapDims  = 1 << 12
	maxExprDeep = 500
)

func moveMap(c codec, v *affineMap) {
	c.varint(&v.header)
	n := v.header >> 2
	if n > maxMapDims {
		c.invalid("affine map has too many dimensions")
		return
	}
	switch v.header & 3 {
	case mapPermutation:
		if v.dims == nil {
			v.dims = make([]uint64, n)
		}
		for i := range v.dims {
			c.varint(&v.dims[i])
		}
	case mapProjection:
		list(c, &v.dims, codec.varint)
	case mapGeneral:
		c.varint(&v.symbols)
		list(c, &v.results, moveExpr)
	}
}

func moveSet(c codec, v *integerSet) {
	move(c, &v.dims, &v.symbols)
	list(c, &v.exprs, moveExpr)
	if v.equal == nil {
		v.equal = make([]bool, len(v.exprs))
	}
	for i := range v.equal {
		c.flag(&v.equal[i])
	}
}

func moveStrided(c codec, v *stridedLayout) { move(c, &v.offset, &v.strides) }

func moveExpr(c codec, v *expr) { moveDeepExpr(c, v, 0) }

func moveDeepExpr(c codec, v *expr, depth int) {
	c.varint(&v.kind)
	switch {
	case v.kind == exprDim || v.kind == exprSymbol:
		c.varint(&v.position)
	case v.kind == exprConstant:
		c.svarint(&v.constant)
	case v.kind > exprCeilDiv || depth > maxExprDeep:
		c.invalid("affine expression is of an unknown kind, or nested too deep")
	default:
		if v.args == nil {
			v.args = make([]expr, 2)
		}
		moveDeepExpr(c, &v.args[0], depth+1)
		moveDeepExpr(c, &v.args[1], depth+1)
	}
}

// identityMap is the layout that memrefs have by default.
func identityMap(dims int) ir.OpaqueAttr {
	names := prefixed("d", uint64(dims))
	return ir.OpaqueAttr("affine_map<(" + names + ") -> (" + names + ")>")
}

// prefixed returns d0, d1.
func prefixed(letter string, n uint64) string {
	return strings.Join(lists.Of(int(n), func(i int) string { return letter + strconv.Itoa(i) }), ", ")
}

func (d *decoder) affineMap(v affineMap) any {
	dims := v.header >> 2
	var results []string
	switch v.header & 3 {
	case mapIdentity:
		return identityMap(int(dims))
	case mapGeneral:
		for _, e := range v.results {
			results = append(results, d.exprText(e, dims, v.symbols, false))
		}
	default:
		for _, at := range v.dims {
			results = append(results, d.exprText(expr{kind: exprDim, position: at}, dims, 0, false))
		}
	}
	return ir.OpaqueAttr("affine_map<" + d.space(dims, v.symbols) + " -> (" + strings.Join(results, ", ") + ")>")
}

// space returns (d0)[s0].
func (d *decoder) space(dims, symbols uint64) string {
	if dims > maxMapDims || symbols > maxMapDims {
		d.invalid("affine map has too many dimensions")
		return ""
	}
	text := "(" + prefixed("d", dims) + ")"
	if symbols > 0 {
		text += "[" + prefixed("s", symbols) + "]"
	}
	return text
}

func (d *decoder) integerSet(v integerSet) any {
	text := make([]string, len(v.exprs))
	for i, e := range v.exprs {
		text[i] = d.exprText(e, v.dims, v.symbols, false) + map[bool]string{true: " == 0", false: " >= 0"}[v.equal[i]]
	}
	return ir.OpaqueAttr("affine_set<" + d.space(v.dims, v.symbols) + " : (" + strings.Join(text, ", ") + ")>")
}

func (d *decoder) strided(v stridedLayout) any {
	number := func(n int64) string {
		if n == ir.Dynamic {
			return "?"
		}
		return strconv.FormatInt(n, 10)
	}
	text := "strided<[" + lists.Joined(v.strides, number) + "]"
	if v.offset != 0 {
		text += ", offset: " + number(v.offset)
	}
	return ir.OpaqueAttr(text + ">")
}

// exprText returns an expression as MLIR writes it: sums bind weakly, everything else strongly; negative factors and
// constants in sums are subtracted.
func (d *decoder) exprText(e expr, dims, symbols uint64, strong bool) string {
	text := func(e expr, strong bool) string { return d.exprText(e, dims, symbols, strong) }
	switch e.kind {
	case exprDim, exprSymbol:
		n, letter := dims, "d"
		if e.kind == exprSymbol {
			n, letter = symbols, "s"
		}
		if e.position >= n {
			d.invalid("affine expression names a dimension or symbol that the map does not have")
		}
		return letter + strconv.FormatUint(e.position, 10)
	case exprConstant:
		return strconv.FormatInt(e.constant, 10)
	case exprAdd:
		return parenthesized(d.sumText(e, text), strong)
	}
	lhs, rhs := e.args[0], e.args[1]
	if e.kind == exprMul && rhs.kind == exprConstant && rhs.constant == -1 {
		return parenthesized("-"+text(lhs, true), strong)
	}
	symbol := map[uint64]string{exprMul: "*", exprMod: "mod", exprFloorDiv: "floordiv", exprCeilDiv: "ceildiv"}[e.kind]
	return parenthesized(text(lhs, true)+" "+symbol+" "+text(rhs, true), strong)
}

func parenthesized(text string, strong bool) string {
	if strong {
		return "(" + text + ")"
	}
	return text
}

func (d *decoder) sumText(e expr, text func(expr, bool) string) string {
	lhs, rhs := e.args[0], e.args[1]
	if rhs.kind == exprConstant && rhs.constant < 0 {
		return fmt.Sprintf("%s - %d", text(lhs, false), -rhs.constant)
	}
	if rhs.kind == exprMul && rhs.args[1].kind == exprConstant {
		switch factor := rhs.args[1].constant; {
		case factor == -1:
			return text(lhs, false) + " - " + text(rhs.args[0], rhs.args[0].kind == exprAdd)
		case factor < -1:
			return fmt.Sprintf("%s - %s * %d", text(lhs, false), text(rhs.args[0], true), -factor)
		}
	}
	return text(lhs, false) + " + " + text(rhs, false)
}
