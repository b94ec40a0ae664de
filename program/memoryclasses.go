package program

import (
	"cmp"
	"slices"

	"autoshard/answer"
	"autoshard/cost/estimate"
	"autoshard/ir"
	"autoshard/shardmap"
)

// classifier sorts what a program holds into classes.
type classifier struct {
	p      *Program
	device *shardmap.Program
	held   *estimate.Memory
	names  []string
	class  []int // of each value that is held; -1: kept or working, which depends on the time
}

// classify finds the class of each value.
func (c *classifier) classify() {
	m := c.device.Module
	moved := map[ir.OpID]bool{}
	for i := range c.device.Collectives {
		if k := c.device.Collectives[i]; m.NumOperands(k.Op) > 0 && k.Size > 1 {
			moved[k.Op] = m.ValueType(m.Result(k.Op, 0)).Bytes() > m.ValueType(m.Operand(k.Op, 0)).Bytes()
		}
	}
	returned := map[ir.ValueID]bool{}
	for op := range m.Ops(m.Func(c.device.Main).Body) {
		if m.Kind(op).IsTerminator() {
			for _, v := range m.Operands(op) {
				returned[v] = true
			}
		}
	}
	for i := range c.held.Lives {
		v := c.held.Lives[i].Value
		switch input := c.input(v); {
		case input >= 0:
			c.class = append(c.class, c.index(c.role(input, v)))
		case moved[m.DefiningOp(v)]:
			c.class = append(c.class, c.index(gathered))
		case returned[v]:
			c.class = append(c.class, c.index(results))
		default:
			c.class = append(c.class, -1)
		}
	}
	for _, name := range []string{kept, working, sending} {
		c.index(name)
	}
}

// index returns the number of a class.
func (c *classifier) index(name string) int {
	i := slices.Index(c.names, name)
	if i < 0 {
		i = len(c.names)
		c.names = append(c.names, name)
	}
	return i
}

// input returns which input a value is, -1 for none.
func (c *classifier) input(v ir.ValueID) int {
	m := c.device.Module
	if m.DefiningOp(v) != 0 || m.ArgBlock(v) != m.Func(c.device.Main).Body {
		return -1
	}
	return m.Index(v)
}

// role is what an input is for: what the model says or, of inputs that results replace, parameters where a product or a look-up reads them,
// and the state of an optimizer otherwise.
func (c *classifier) role(input int, v ir.ValueID) string {
	replaced := slices.ContainsFunc(c.p.Outputs, func(t answer.Tensor) bool { return t.Replaces != nil && *t.Replaces == input })
	role := c.p.Inputs[input].Role
	if role == "" && replaced && len(c.device.Module.Shape(v)) > 0 {
		role = "opt_state"
		if c.multiplied(v, 0) {
			role = "param"
		}
	}
	return answer.RoleName(role, replaced)
}

// multiplied says whether a product, a convolution or a look-up reads a value, or what only moves or converts its elements.
func (c *classifier) multiplied(v ir.ValueID, depth int) bool {
	const deepest = 16
	m := c.device.Module
	for u := range m.Uses(v) {
		switch k := m.Kind(u.Op); {
		case slices.Contains(products, k):
			return true
		case slices.Contains(movers, k) && depth < deepest && m.NumResults(u.Op) == 1 && c.multiplied(m.Result(u.Op, 0), depth+1):
			return true
		}
	}
	return false
}

var (
	products = []ir.Kind{ir.OpDot, ir.OpDotGeneral, ir.OpConvolution, ir.OpGather}
	movers   = []ir.Kind{ir.OpConvert, ir.OpTranspose, ir.OpReshape, ir.OpBroadcastInDim, ir.OpSlice, ir.OpDynamicSlice,
		ir.OpShardMapAllGather, ir.OpShardMapAllGatherInvariant, ir.OpShardMapPscatter, ir.OpShardMapAllToAll, ir.OpShardMapPpermute}
)

// classAt returns the class of a value at an op. What is neither input, gathered nor returned is read or written there, or kept.
func (c *classifier) classAt(i int, at int32) int {
	if c.class[i] >= 0 {
		return c.class[i]
	}
	at = min(at, int32(len(c.held.Ops)-1))
	if slices.Contains(c.touched(at), i) {
		return c.touching(c.held.Ops[at])
	}
	return c.index(kept)
}

// touching returns the class of what an op reads and writes.
func (c *classifier) touching(op ir.OpID) int {
	if c.held.Collective(op) != nil {
		return c.index(sending)
	}
	return c.index(working)
}

// at returns the values that are held at an op, the largest first.
func (c *classifier) at(at int32) (list []int) {
	for i, l := range c.held.Lives {
		if l.Def <= at && at <= l.Last && l.Bytes > 0 {
			list = append(list, i)
		}
	}
	slices.SortStableFunc(list, func(i, j int) int { return cmp.Compare(c.held.Lives[j].Bytes, c.held.Lives[i].Bytes) })
	return list
}

// bytesAt returns what is held at an op, by class.
func (c *classifier) bytesAt(at int32) []int64 {
	out := make([]int64, len(c.names))
	for _, i := range c.at(at) {
		out[c.classAt(i, at)] += c.held.Lives[i].Bytes
	}
	return out
}

// curve returns what is held, by class, at each op where that changes.
func (c *classifier) curve() (samples []Sample) {
	fixed := make([]int64, len(c.names))
	starts, ends := map[int32][]int{}, map[int32][]int{}
	for i, l := range c.held.Lives {
		starts[l.Def], ends[l.Last+1] = append(starts[l.Def], i), append(ends[l.Last+1], i)
	}
	loose := int64(0) // of values whose class depends on the time
	for n := range c.held.Ops {
		at := int32(n)
		for _, change := range []struct {
			lives []int
			sign  int64
		}{{starts[at], 1}, {ends[at], -1}} {
			for _, i := range change.lives {
				if bytes := change.sign * c.held.Lives[i].Bytes; c.class[i] >= 0 {
					fixed[c.class[i]] += bytes
				} else {
					loose += bytes
				}
			}
		}
		bytes := slices.Clone(fixed)
		now := int64(0)
		for _, i := range c.touched(at) {
			now += c.held.Lives[i].Bytes
		}
		bytes[c.touching(c.held.Ops[at])], bytes[c.index(kept)] = now, loose-now
		if len(samples) == 0 || !slices.Equal(samples[len(samples)-1].Bytes, bytes) {
			samples = append(samples, Sample{n, bytes})
		}
	}
	return samples
}

// touched returns those values of no class that the op of a number reads or writes, each once: what a loop starts with and what it returns
// are one in memory.
func (c *classifier) touched(at int32) (lives []int) {
	m, op := c.device.Module, c.held.Ops[at]
	for _, v := range slices.Concat(m.ResultValues(op), m.Operands(op)) {
		if i, ok := c.held.Find(v); ok && c.class[i] < 0 && c.held.Lives[i].Def <= at && at <= c.held.Lives[i].Last {
			lives = append(lives, i)
		}
	}
	slices.Sort(lives)
	return slices.Compact(lives)
}
