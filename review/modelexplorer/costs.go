package modelexplorer

import (
	"math"

	"autoshard/internal/lists"
	"autoshard/ir"
	"autoshard/program"
)

// bearer is what the costs of an operation of a device are of: an operation of the model, or an argument of it.
type bearer struct {
	op  ir.OpID
	arg ir.ValueID
}

// costs are sums by bearer.
type costs struct {
	model *ir.Module
	m     *ir.Module // what a device runs
	from  origins
	sums  map[bearer]float64
	known map[ir.ValueID][]bearer // of values of m
	lost  float64                 // of what has no bearer
	all   float64
}

// costs writes what operations take.
func (w *writer) costs(m *ir.Module, list []program.OpCost, from origins) {
	c := &costs{model: w.model, m: m, from: from, sums: map[bearer]float64{}, known: map[ir.ValueID][]bearer{}}
	for i := range list {
		amount := float64(list[i].Picoseconds)
		if w.q == Sent {
			amount = float64(list[i].Sent)
		}
		c.add(list[i].Op, amount)
	}
	if c.all > 0 {
		w.d.Elsewhere = c.lost / c.all
	}
	for _, g := range w.graphs {
		for _, n := range g.nodes {
			b := bearer{op: n.op}
			if n.op == 0 {
				b.arg = n.values[0]
			}
			if sum, ok := c.sums[b]; ok && (w.q != Sent || sum > 0) {
				w.result(g.name, n.id, Result{Value: w.number(sum)})
			}
		}
	}
}

// add adds what an operation takes. What comes from several is divided among them. What the model has not, such as communications, is of
// what makes the values that it moves, each by its bytes.
func (c *costs) add(op ir.OpID, amount float64) {
	c.all += amount
	if of := c.from[op]; len(of) > 0 {
		c.divide(c.bearers(of), amount)
		return
	}
	moved, whole := []ir.ValueID{}, 0.0
	for _, v := range c.m.Operands(op) {
		if len(c.of(v)) > 0 {
			moved, whole = append(moved, v), whole+float64(c.m.ValueType(v).Bytes())
		}
	}
	if whole == 0 {
		c.lost += amount
		return
	}
	for _, v := range moved {
		c.divide(c.of(v), amount*float64(c.m.ValueType(v).Bytes())/whole)
	}
}

func (c *costs) divide(of []bearer, amount float64) {
	for _, b := range of {
		c.sums[b] += amount / float64(len(of))
	}
}

func (c *costs) bearers(of []ir.OpID) []bearer {
	return lists.Map(of, func(op ir.OpID) bearer { return bearer{op: shown(c.model, op)} })
}

// of returns what a value comes from in the model.
func (c *costs) of(v ir.ValueID) []bearer {
	found, ok := c.known[v]
	if !ok {
		found = c.find(v)
		c.known[v] = found
	}
	return found
}

// find looks for what makes a value and, where the model has not that, for what makes the first of its operands that comes from the model;
// of a collective that moves several, the one that becomes the value.
func (c *costs) find(v ir.ValueID) []bearer {
	op := c.m.DefiningOp(v)
	switch {
	case op == 0:
		return c.argument(v)
	case len(c.from[op]) > 0:
		return c.bearers(c.from[op])
	case c.m.NumResults(op) > 1 && c.m.NumResults(op) == c.m.NumOperands(op):
		return c.of(c.m.Operand(op, c.m.Index(v)))
	}
	for _, operand := range c.m.Operands(op) {
		if found := c.of(operand); len(found) > 0 {
			return found
		}
	}
	return nil
}

// argument returns what an argument comes from: one of the model or, of a region, the operation around it.
func (c *costs) argument(v ir.ValueID) []bearer {
	block := c.m.ArgBlock(v)
	around := c.m.BlockOp(block)
	args := c.model.BlockArgs(c.model.MainFunc().Body)
	switch {
	case len(c.from[around]) > 0:
		return c.bearers(c.from[around])
	case c.m.FuncOf(around) != 0 && len(args) == len(c.m.BlockArgs(block)):
		return []bearer{{arg: args[c.m.Index(v)]}}
	}
	return nil
}

// number writes bytes whole, and picoseconds as microseconds.
func (w *writer) number(sum float64) any {
	if w.q == Sent {
		return int64(math.Round(sum))
	}
	return math.Round(sum) / 1e6
}
