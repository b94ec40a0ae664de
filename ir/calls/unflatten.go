package calls

import (
	"encoding/binary"
	"fmt"

	"autoshard/ir"
)

// manualAxes is the attribute of a function that says along which axes it runs per device.
const manualAxes = "sdy.func_manual_axes"

// Unflatten lets calls of functions that come from one original and are sharded alike call one of them: the one that
// is called first. With fully, functions that come from one original become one however they are sharded: the
// one whose shardings most calls share. The other functions stay, without calls. Functions forget what they
// came from. Shardy: -sdy-unflatten-call-graph, with dedup-functions-fully for fully.
func Unflatten(m *ir.Module, fully bool) {
	u := unflattener{Table: NewTable(m), chosen: map[string]ir.FuncID{}, counts: map[string]int{}, keys: map[keyed]string{}}
	all := All(m)
	for _, call := range all {
		u.count(call, fully)
	}
	for _, call := range all {
		if f := u.Callee(call); f != 0 {
			if chosen := u.chosen[u.key(f, fully)]; chosen != f {
				u.setCallee(call, m.Func(chosen).Name)
			}
		}
	}
	for f := range m.Funcs() {
		op := m.Func(f).Op
		m.SetAttrs(op, m.OpAttrs(op).Without(originalName, manualAxes))
	}
}

type unflattener struct {
	*Table
	chosen map[string]ir.FuncID // by key
	counts map[string]int       // calls by key with shardings
	keys   map[keyed]string
}

// keyed is what a key is of.
type keyed struct {
	f     ir.FuncID
	fully bool
}

func (u *unflattener) count(call ir.OpID, fully bool) {
	f := u.Callee(call)
	if f == 0 {
		return
	}
	key, alike := u.key(f, fully), u.key(f, false)
	u.counts[alike]++
	if best := u.chosen[key]; best == 0 || u.counts[alike] > u.counts[u.key(best, false)] {
		u.chosen[key] = f
	}
}

// key is equal for functions that may become one.
func (u *unflattener) key(f ir.FuncID, fully bool) string {
	of := keyed{f, fully}
	key, ok := u.keys[of]
	if !ok {
		key = u.makeKey(f, fully)
		u.keys[of] = key
	}
	return key
}

func (u *unflattener) makeKey(f ir.FuncID, fully bool) string {
	m := u.m
	b := fmt.Appendf(nil, "%q", u.Original(f))
	switch axes := m.Attr(m.Func(f).Op, manualAxes).(type) {
	case *ir.AxesAttr:
		b = fmt.Appendf(b, "{%s}", m.Mesh(axes.Mesh).FormatList(axes.Axes))
	case ir.OpaqueAttr:
		b = append(b, axes...)
	}
	if fully {
		return string(b)
	}
	for _, list := range [][]ir.ShardingID{ArgShardings(m, f), ResultShardings(m, f)} {
		b = append(b, '|')
		for _, id := range list {
			b = binary.AppendVarint(b, int64(id))
		}
	}
	return string(b)
}
