package ir

import "cmp"

// Types of channels.
const (
	deviceToDevice = 1
	deviceToHost   = 2
	hostToDevice   = 3
)

// transfer checks that the channel of a transfer leads to the host, which is the given type, or not.
func (v *verifier) transfer(op OpID, toHost int64) error {
	c := v.m.Attr(op, "channel_handle").(ChannelHandle)
	host := v.m.OpAttrs(op).Bool("is_host_transfer")
	want := int64(deviceToDevice)
	if host {
		want = toHost
	}
	if c.Type != want {
		return badAttr("channel_type should be %s when is_host_transfer is %t, but it is %d",
			[...]string{deviceToDevice: "DEVICE_TO_DEVICE", deviceToHost: "DEVICE_TO_HOST", hostToDevice: "HOST_TO_DEVICE"}[want], host, c.Type)
	}
	return nil
}

// tokenLast checks the operands of an op: tensors and then a token.
func (v *verifier) tokenLast(op OpID) error {
	n := v.m.NumOperands(op)
	for i := range n {
		if i == n-1 && v.in(op, i).Kind != TokenKind {
			return badType("operand #%d must be token, but got '%s'", i, v.inText(op, i))
		}
	}
	if v.out(op, 0).Kind != TokenKind {
		return badType("result #0 must be token, but got '%s'", v.outText(op, 0))
	}
	return nil
}

// resultsTokenLast checks an op with one token for an operand and results that are tensors and then a token.
func (v *verifier) resultsTokenLast(op OpID) error {
	if v.in(op, 0).Kind != TokenKind {
		return badType("operand #0 must be token, but got '%s'", v.inText(op, 0))
	}
	n := v.m.NumResults(op)
	for i := range n {
		switch t := v.out(op, i); {
		case i == n-1 && t.Kind != TokenKind:
			return badType("last element of result types is expected to be of token type, but got '%s'", v.outText(op, i))
		case i < n-1 && t.Kind != TensorKind:
			return badType("everything but the last element of result types is expected to be of tensor type, but got '%s'", v.outText(op, i))
		}
	}
	return nil
}

func checkSend(v *verifier, op OpID) error {
	return cmp.Or(v.tokenLast(op), v.transfer(op, deviceToHost))
}

func checkRecv(v *verifier, op OpID) error {
	return cmp.Or(v.resultsTokenLast(op), v.transfer(op, hostToDevice))
}

func checkOutfeed(v *verifier, op OpID) error { return v.tokenLast(op) }

func checkInfeed(v *verifier, op OpID) error {
	if err := v.resultsTokenLast(op); err != nil {
		return err
	}
	layout, ok := v.m.Attr(op, "layout").(ArrayAttr)
	if !ok {
		return nil
	}
	if n := v.m.NumResults(op) - 1; len(layout) != n {
		return badAttr("layout-attribute size must be %d (which is the number of op-results - 1 (for token result)), but got %d", n, len(layout))
	}
	for _, l := range layout {
		list, ok := l.(ArrayAttr)
		if !ok {
			return badAttr("layout-attribute expected to have elements of type array")
		}
		for _, e := range list {
			if _, ok := e.(IntAttr); !ok {
				return badAttr("layout-attribute's leaf elements are expected to be of type integer")
			}
		}
	}
	return nil
}

// asyncOps are the ops that may run beside others.
var asyncOps = map[Kind]bool{OpAllGather: true, OpAllReduce: true, OpAllToAll: true, OpCollectiveBroadcast: true, OpCollectivePermute: true,
	OpCollectiveReduce: true, OpReduceScatter: true, OpSlice: true, OpDynamicSlice: true, OpDynamicUpdateSlice: true}

// futureOf returns the text of the type that stands for a value of another type before it is there.
func (v *verifier) futureOf(t TypeID) string { return "!stablehlo.future<" + v.m.FormatType(t) + ">" }

func checkAsyncStart(v *verifier, op OpID) error {
	m := v.m
	body := m.RegionBlock(op, 0)
	args := m.BlockArgs(body)
	if len(args) != m.NumOperands(op) {
		return badOp("number of operands (%d) must match number of region arguments (%d)", m.NumOperands(op), len(args))
	}
	for i, a := range args {
		if m.Type(a) != m.Type(m.Operand(op, i)) {
			return badType("operand #%d is '%s', but argument #%d of the region '%s'", i, v.inText(op, i), i, m.FormatType(m.Type(a)))
		}
	}
	last := m.LastOp(body)
	if last == 0 || m.PrevOp(last) == 0 || m.PrevOp(last) != m.FirstOp(body) {
		return badOp("region must contain exactly one operation and a return")
	}
	if !asyncOps[m.Kind(m.FirstOp(body))] {
		return badOp("region must contain a collective or slice operation")
	}
	for inner := range m.Ops(body) {
		for i := range m.NumOperands(inner) {
			if x := m.Operand(inner, i); m.ArgBlock(x) != body && m.DefiningOp(x) != m.FirstOp(body) {
				return badOp("region uses a value defined outside: operand #%d of '%s'", i, m.OpName(inner))
			}
		}
	}
	if m.NumOperands(last) != 1 {
		return badOp("region must return exactly one value, but got %d", m.NumOperands(last))
	}
	if want := v.futureOf(m.Type(m.Operand(last, 0))); v.outText(op, 0) != want {
		return badType("inferred type(s) '%s' are incompatible with return type(s) of operation '%s'", want, v.outText(op, 0))
	}
	return nil
}

func checkAsyncDone(v *verifier, op OpID) error {
	if have := v.inText(op, 0); have != v.futureOf(v.m.Type(v.m.Result(op, 0))) {
		return badType("operand #0 must be a future of the result, which is '%s', but got '%s'", v.outText(op, 0), have)
	}
	return nil
}
