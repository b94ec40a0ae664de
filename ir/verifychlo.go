package ir

import (
	"slices"
	"strings"

	"autoshard/ir/dtype"
)

// chloChecks are the rules of CHLO (specification: stablehlo.md section 2.13).
var chloChecks = func() map[Kind]func(*verifier, OpID) error {
	checks := map[Kind]func(*verifier, OpID) error{OpChloTopK: checkTopK, OpChloScan: checkScan, OpChloRaggedDot: checkRaggedDot,
		OpChloBroadcastSelect: checkBroadcastSelect, OpChloIsInf: checkIsInf,
		OpChloIsPosInf: checkIsInf, OpChloIsNegInf: checkIsInf}
	for k := Kind(1); k < NumKinds; k++ {
		name := k.String()
		switch {
		case checks[k] != nil:
		case strings.HasPrefix(name, "chlo.broadcast_"):
			checks[k] = checkBroadcastBinary
		case strings.HasPrefix(name, "chlo.") && (k.IsUnary() || k.IsBinary()):
			checks[k] = checkChloElementwise
		}
	}
	return checks
}()

// chloClasses are the element types that the operands of CHLO's ops have; the others take all.
var chloClasses = map[Kind]elemClass{
	OpChloAcos: floatElem | complexElem, OpChloAcosh: floatElem | complexElem, OpChloAsin: floatElem | complexElem,
	OpChloAsinh: floatElem | complexElem, OpChloAtan: floatElem | complexElem, OpChloAtanh: floatElem | complexElem, OpChloBesselI1e: floatElem | complexElem,
	OpChloConj: floatElem | complexElem, OpChloSquare: floatElem | complexElem,
	OpChloCosh: floatElem | complexElem, OpChloDigamma: floatElem, OpChloErf: floatElem, OpChloErfInv: floatElem, OpChloErfc: floatElem,
	OpChloIsInf: floatElem, OpChloIsNegInf: floatElem, OpChloIsPosInf: floatElem, OpChloLgamma: floatElem, OpChloSinh: floatElem | complexElem,
	OpChloTan: floatElem | complexElem, OpChloMulhi: intElem, OpChloNextAfter: floatElem, OpChloPolygamma: floatElem, OpChloZeta: floatElem,
	OpChloBroadcastAnd: boolElem | intElem, OpChloBroadcastOr: boolElem | intElem, OpChloBroadcastXor: boolElem | intElem,
	OpChloBroadcastComplex: floatElem,
}

// chloOperands checks that the operands have elements that the op takes.
func (v *verifier) chloOperands(op OpID) error {
	want, limited := chloClasses[v.m.Kind(op)]
	for i := range v.m.NumOperands(op) {
		if t := v.in(op, i); limited && classOf(t)&want == 0 {
			return badType("operand #%d must be tensor of other elements, but got '%s'", i, v.inText(op, i))
		}
	}
	return nil
}

// checkChloElementwise checks an op whose result is like its operands.
func checkChloElementwise(v *verifier, op OpID) error {
	if err := v.chloOperands(op); err != nil {
		return err
	}
	x := v.in(op, 0)
	for i := range v.m.NumOperands(op) {
		if !sameElem(v.in(op, i), x) {
			return badType("requires compatible types for all operands and results: '%s' vs '%s'", v.inText(op, 0), v.inText(op, i))
		}
	}
	if !sameElem(v.out(op, 0), x) {
		return badType("requires compatible types for all operands and results: '%s' vs '%s'", v.inText(op, 0), v.outText(op, 0))
	}
	return v.sameShapes(op)
}

func checkIsInf(v *verifier, op OpID) error {
	if err := v.chloOperands(op); err != nil {
		return err
	}
	return v.infers(op, 0, elemOf(dtype.I1), v.in(op, 0).Dims)
}

// checkBroadcastBinary checks an op that broadcasts its operands first: trailing dimensions with trailing dimensions, or
// those of the operand of lower rank with the dimensions that broadcast_dimensions says.
func checkBroadcastBinary(v *verifier, op OpID) error {
	if v.m.NumOperands(op) != 2 || v.m.NumResults(op) != 1 {
		return badOp("expected 2 operands and 1 result, but found %d and %d", v.m.NumOperands(op), v.m.NumResults(op))
	}
	if err := v.chloOperands(op); err != nil {
		return err
	}
	x, y := v.in(op, 0), v.in(op, 1)
	if !sameElem(x, y) {
		return badType("mismatched operand types: '%s' vs '%s'", v.inText(op, 0), v.inText(op, 1))
	}
	large, small := x, y
	if y.Rank() > x.Rank() {
		large, small = y, x
	}
	at, ok := v.ints(op, "broadcast_dimensions")
	if !ok {
		at = trailing(large.Rank(), small.Rank())
	}
	if len(at) != small.Rank() || !within(at, large.Rank()) || !unique(at) {
		return badAttr("broadcast_dimensions must be one dimension of the larger operand for each of the smaller one, but got %v", at)
	}
	dims, err := broadcastShape(large.Dims, small.Dims, at)
	if err != nil {
		return err
	}
	switch v.m.Kind(op) {
	case OpChloBroadcastCompare:
		return v.infers(op, 0, elemOf(dtype.I1), dims)
	case OpChloBroadcastComplex:
		return v.infers(op, 0, elemOf(map[dtype.Type]dtype.Type{dtype.F32: dtype.C64, dtype.F64: dtype.C128}[x.DType]), dims)
	}
	return v.infers(op, 0, x, dims)
}

// trailing returns the last n of so many dimensions.
func trailing(rank, n int) []int64 {
	dims := make([]int64, n)
	for d := range dims {
		dims[d] = int64(rank - n + d)
	}
	return dims
}

// broadcastShape returns the shape of two operands, of which the one of lower rank has its dimensions at those of the
// other.
func broadcastShape(large, small, at []int64) ([]int64, error) {
	dims := append([]int64{}, large...)
	for i, d := range at {
		n, ok := broadcastSize(dims[d], small[i])
		if !ok {
			return nil, badType("operands cannot be broadcast: dimension %d has sizes %d and %d", d, dims[d], small[i])
		}
		dims[d] = n
	}
	return dims, nil
}

// checkBroadcastSelect checks a select whose branches are broadcast to one shape, and to that of the predicate unless it
// is a scalar.
func checkBroadcastSelect(v *verifier, op OpID) error {
	if v.m.NumOperands(op) != 3 || v.m.NumResults(op) != 1 {
		return badOp("expected 3 operands and 1 result, but found %d and %d", v.m.NumOperands(op), v.m.NumResults(op))
	}
	pred, yes, no := v.in(op, 0), v.in(op, 1), v.in(op, 2)
	if classOf(pred) != boolElem {
		return badType("operand #0 must be tensor of bool values, but got '%s'", v.inText(op, 0))
	}
	if !sameElem(yes, no) {
		return badType("mismatched operand types: '%s' vs '%s'", v.inText(op, 1), v.inText(op, 2))
	}
	var dims []int64
	for _, t := range []*Type{yes, no, pred} {
		large, small := dims, t.Dims
		if len(small) > len(large) {
			large, small = small, large
		}
		var err error
		if dims, err = broadcastShape(large, small, trailing(len(large), len(small))); err != nil {
			return err
		}
	}
	return v.infers(op, 0, yes, dims)
}

// broadcastSize returns the size of a dimension that two operands share.
func broadcastSize(a, b int64) (int64, bool) {
	switch {
	case a == b, b == 1:
		return a, true
	case a == 1:
		return b, true
	case a == Dynamic || b == Dynamic:
		return Dynamic, true
	}
	return 0, false
}

// checkTopK checks that the last dimension of both results has size k.
func checkTopK(v *verifier, op OpID) error {
	x, k := v.in(op, 0), v.m.OpAttrs(op).Int("k", -1)
	if v.m.NumOperands(op) != 1 || v.m.NumResults(op) != 2 {
		return badOp("expected 1 operand and 2 results, but found %d and %d", v.m.NumOperands(op), v.m.NumResults(op))
	}
	if x.Rank() < 1 {
		return badType("operand's rank must be at least 1")
	}
	dims := append([]int64{}, x.Dims...)
	last := &dims[len(dims)-1]
	if k < 0 || *last != Dynamic && *last < k {
		return badAttr("operand's last dimension must be at least %d", k)
	}
	*last = k
	if err := v.infers(op, 0, x, dims); err != nil {
		return err
	}
	return v.infers(op, 1, elemOf(dtype.I32), dims)
}

// checkScan checks the inputs and carries of a scan against its results: outputs have the scanned dimension, carries come
// out as they went in.
func checkScan(v *verifier, op OpID) error {
	m := v.m
	if m.NumRegions(op) != 1 || m.RegionBlock(op, 0) == 0 {
		return badOp("expected 1 region with a block")
	}
	d := m.OpAttrs(op).Int("dimension", -1)
	body := m.RegionBlock(op, 0)
	last := m.LastOp(body)
	if len(m.BlockArgs(body)) != m.NumOperands(op) || last == 0 || m.NumOperands(last) != m.NumResults(op) {
		return badOp("takes %d operands and has %d results, which its body must take and return", m.NumOperands(op), m.NumResults(op))
	}
	size, err := v.scanSize(op, d)
	if err != nil {
		return err
	}
	for i := range m.NumResults(op) {
		out, have := v.out(op, i), m.ValueType(m.Operand(last, i))
		want := have.Dims
		if out.Rank() > have.Rank() && d >= 0 && int(d) < out.Rank() {
			want = slices.Insert(slices.Clone(want), int(d), size)
		}
		if err := v.infers(op, i, have, want); err != nil {
			return err
		}
	}
	return nil
}

// scanSize returns how many steps a scan has: the size of dimension d of the operands that are not carries.
func (v *verifier) scanSize(op OpID, d int64) (int64, error) {
	size := Dynamic
	for i, a := range v.m.BlockArgs(v.m.RegionBlock(op, 0)) {
		x, arg := v.in(op, i), v.m.ValueType(a)
		if sameElem(x, arg) && x.Rank() == arg.Rank() && sameShape(x.Dims, arg.Dims) {
			continue // a carry
		}
		if d < 0 || d >= int64(x.Rank()) {
			return 0, badAttr("scan dimension of operand %d is out of bounds: %d of rank %d", i, d, x.Rank())
		}
		if !agree(size, x.Dims[d]) {
			return 0, badType("scanned operands have sizes %d and %d", size, x.Dims[d])
		}
		size = x.Dims[d]
	}
	return size, nil
}
