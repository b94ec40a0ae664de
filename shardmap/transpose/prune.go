package transpose

import (
	"autoshard/ir"
	"autoshard/shardmap/typed"
)

// pruning finds what of a scan is used: results, carries, rows, and the ops of the body that they come from.
type pruning struct {
	p    *typed.Program
	m    *ir.Module
	body ir.BlockID
	live map[ir.ValueID]bool // values of the body
}

// reach marks a value of the body and all that it is made from.
func (u *pruning) reach(v ir.ValueID) {
	if u.live[v] {
		return
	}
	u.live[v] = true
	if def := u.m.DefiningOp(v); def != 0 && u.m.OpBlock(def) == u.body {
		for _, x := range u.p.Captures(def) {
			u.reach(x)
		}
	}
}

// pruneScan puts in the place of a scan one without unused results, carries and rows.
func pruneScan(p *typed.Program, op ir.OpID) {
	m, info, body := p.Module, p.ScanOf(op), p.Module.RegionBlock(op, 0)
	u := &pruning{p, m, body, map[ir.ValueID]bool{}}
	args, ret, results := m.BlockArgs(body), m.LastOp(body), m.ResultValues(op)
	for i, v := range results {
		if m.HasUses(v) {
			u.reach(m.Operand(ret, i))
			if i < info.Carries {
				u.reach(args[i])
			}
		}
	}
	for again := true; again; {
		n := len(u.live)
		for k, v := range args[:info.Carries] {
			if u.live[v] {
				u.reach(m.Operand(ret, k))
			}
		}
		again = len(u.live) > n
	}
	var ins, outs []int
	for i, v := range args {
		if u.live[v] {
			ins = append(ins, i)
		}
	}
	for i, v := range results {
		if i < info.Carries && u.live[args[i]] || i >= info.Carries && m.HasUses(v) {
			outs = append(outs, i)
		}
	}
	if len(ins) < len(args) || len(outs) < len(results) {
		op = u.rebuild(op, ins, outs)
	}
	sweepDead(p, m.RegionBlock(op, 0))
}

// rebuild puts a scan with some of the operands and results in the place of a scan, and returns it.
func (u *pruning) rebuild(op ir.OpID, ins, outs []int) (made ir.OpID) {
	p, m, info := u.p, u.m, u.p.ScanOf(op)
	args, ret := m.BlockArgs(u.body), m.LastOp(u.body)
	env := map[ir.ValueID]ir.ValueID{}
	b := typed.Edit(p, op)
	var carry, xs []ir.ValueID
	for _, i := range ins {
		if i < info.Carries {
			carry = append(carry, m.Operand(op, i))
		} else {
			xs = append(xs, m.Operand(op, i))
		}
	}
	last, stacked := b.Scan(carry, xs, info.Length, info.Reverse, func(carry, row []ir.ValueID) (next, out []ir.ValueID) {
		for n, v := range append(carry, row...) {
			env[args[ins[n]]] = v
		}
		for inner := range m.Ops(u.body) {
			for _, v := range m.ResultValues(inner) {
				if u.live[v] {
					b.Copy(inner, env)
					break
				}
			}
		}
		for _, i := range outs {
			v := m.Operand(ret, i)
			if w, ok := env[v]; ok {
				v = w
			}
			if i < info.Carries {
				next = append(next, v)
			} else {
				out = append(out, v)
			}
		}
		return next, out
	})
	for n, v := range append(last, stacked...) {
		p.Replace(m.Result(op, outs[n]), v)
		made = m.DefiningOp(v)
	}
	rename(p, env)
	m.Erase(op)
	return made
}

// rename gives values the names of those that they replace.
func rename(p *typed.Program, by map[ir.ValueID]ir.ValueID) {
	for v, w := range by {
		if n, ok := p.Names[v]; ok {
			delete(p.Names, v)
			p.Names[w] = n
		}
	}
}
