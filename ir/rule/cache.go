package rule

import (
	"encoding/binary"
	"strconv"

	"autoshard/ir"
)

// Cache derives each rule once for all ops with the same signature: family, types, and those attributes that the
// family reads, and whether partial results combine. It is for one module and one mode.
type Cache struct {
	conservative bool
	of           func(*ir.Module, ir.OpID) *ir.Rule // nil for Of
	rules        map[string]*ir.Rule
	key          []byte
	shapes       []ir.TypeID // by type: the first static tensor type of the same shape, 0 if unknown yet
	shape        map[string]ir.TypeID
}

// NewCache returns an empty cache for rules that are conservative or not.
func NewCache(conservative bool) *Cache {
	return &Cache{conservative: conservative, rules: make(map[string]*ir.Rule, 64), shape: make(map[string]ir.TypeID, 64)}
}

// NewCompleteCache returns an empty cache for the rules that Complete returns.
func NewCompleteCache() *Cache {
	c := NewCache(false)
	c.of = Complete
	return c
}

// NewComputingCache returns an empty cache for the rules that Computing returns.
func NewComputingCache() *Cache {
	c := NewCache(false)
	c.of = Computing
	return c
}

// Of returns what the function Of, Complete or Computing returns.
func (c *Cache) Of(m *ir.Module, op ir.OpID) *ir.Rule {
	f := FamilyOf(m, op)
	if f == nil || !f.local || m.Attr(op, Attr) != nil || !c.sign(m, op, f) {
		return c.derive(m, op)
	}
	if r, ok := c.rules[string(c.key)]; ok {
		return r
	}
	r := c.derive(m, op)
	c.rules[string(c.key)] = r
	return r
}

func (c *Cache) derive(m *ir.Module, op ir.OpID) *ir.Rule {
	if c.of != nil {
		return c.of(m, op)
	}
	return Of(m, op, c.conservative)
}

// sign sets key to the signature of an op; false where an attribute has an unknown form.
func (c *Cache) sign(m *ir.Module, op ir.OpID, f *Family) bool {
	c.key = append(append(c.key[:0], f.Name...), byte(m.NumOperands(op)))
	for i := range m.NumOperands(op) {
		c.key = binary.AppendVarint(c.key, int64(c.shapeOf(m, m.Type(m.Operand(op, i)))))
	}
	for _, v := range m.Results(op) {
		c.key = binary.AppendVarint(c.key, int64(c.shapeOf(m, m.Type(v))))
	}
	if f.combine != nil {
		_, combines := f.combine(m, op)
		c.key = strconv.AppendBool(c.key, combines)
	}
	for _, name := range f.reads {
		switch a := m.Attr(op, name).(type) {
		case ir.Ints:
			c.ints(a)
		case ir.IntAttr:
			c.ints([]int64{a.Value})
		case *ir.DotDims:
			c.ints(a.LhsBatch)
			c.ints(a.RhsBatch)
			c.ints(a.LhsContract)
			c.ints(a.RhsContract)
		default:
			return false
		}
	}
	return true
}

// shapeOf returns the first type with the shape of a tensor type, and other types as they are: of tensors, local families
// see the shapes alone.
func (c *Cache) shapeOf(m *ir.Module, t ir.TypeID) ir.TypeID {
	if len(c.shapes) < m.NumTypes() {
		c.shapes = append(c.shapes, make([]ir.TypeID, m.NumTypes()-len(c.shapes))...)
	}
	if c.shapes[t] != 0 {
		return c.shapes[t]
	}
	c.shapes[t] = t
	if content := m.TypeOf(t); content.IsStatic() {
		var key []byte
		for _, size := range content.Dims {
			key = binary.AppendVarint(key, size)
		}
		if first, ok := c.shape[string(key)]; ok {
			c.shapes[t] = first
		} else {
			c.shape[string(key)] = t
		}
	}
	return c.shapes[t]
}

func (c *Cache) ints(list []int64) {
	c.key = binary.AppendVarint(c.key, int64(len(list)))
	for _, i := range list {
		c.key = binary.AppendVarint(c.key, i)
	}
}
