package mlir

import (
	"math"
	"slices"
	"strconv"
	"strings"

	"autoshard/internal/diag"
	"autoshard/ir"
	"autoshard/ir/dtype"
)

// hashAttr reads an alias or an attribute of a dialect.
func (p *parser) hashAttr() ir.Attr {
	name := p.text()[1:]
	if !strings.Contains(name, ".") && p.peek(p.tok.end) != '<' {
		return p.aliasAttr(name)
	}
	switch name {
	case "stablehlo", "chlo":
		return p.enumAttr(name)
	case "sdy":
		return p.pendingAxes()
	}
	if read, ok := dialectAttrs[name]; ok {
		p.next()
		return read(p)
	}
	start := p.tok.start
	p.next()
	return ir.OpaqueAttr(strings.Clone(p.withoutAliases(start, p.skipBalanced(start))))
}

// dialectAttrs are the attributes that have a form of their own here. The name has been read.
var dialectAttrs map[string]func(*parser) ir.Attr

func init() {
	dialectAttrs = map[string]func(*parser) ir.Attr{
		"stablehlo.dot":                     func(p *parser) ir.Attr { return p.compound(&ir.DotDims{}) },
		"stablehlo.gather":                  func(p *parser) ir.Attr { return p.compound(&ir.GatherDims{}) },
		"stablehlo.scatter":                 func(p *parser) ir.Attr { return p.compound(&ir.ScatterDims{}) },
		"stablehlo.conv":                    (*parser).convAttr,
		"stablehlo.channel_handle":          (*parser).channelHandle,
		"stablehlo.output_operand_alias":    func(p *parser) ir.Attr { return p.compound(&ir.OutputAlias{}) },
		"stablehlo.replica_group_mesh_axes": (*parser).meshAxesGroups,
		"stablehlo.result_accuracy":         func(p *parser) ir.Attr { return p.compound(&ir.ResultAccuracy{}) },
		"stablehlo.result_accuracy_mode":    func(p *parser) ir.Attr { return p.angleEnum("stablehlo", "result_accuracy_mode") },
		"stablehlo.dot_algorithm":           func(p *parser) ir.Attr { return p.compound(&ir.DotAlgorithm{}) },
		"stablehlo.bounds":                  (*parser).bounds,
		"chlo.ragged_dot":                   func(p *parser) ir.Attr { return p.compound(&ir.RaggedDims{}) },
		"sdy.sharding":                      func(p *parser) ir.Attr { return ir.ShardingAttr(p.sharding()) },
		"sdy.sharding_per_value":            (*parser).shardingPerValue,
		"sdy.op_sharding_rule":              (*parser).shardingRule,
		"sdy.mesh":                          (*parser).meshAttr,
		"sdy.propagation_edges":             (*parser).propagationEdges,
	}
}

// enumAttr reads #stablehlo<comparison_direction LT>.
func (p *parser) enumAttr(dialect string) ir.Attr {
	p.next()
	p.expect(tokLess)
	at := p.tok
	enum := strings.Clone(p.ident("name of an enum"))
	if p.err == nil && ir.Enums[enum].Cases == nil {
		p.fail(at, diag.BadAttribute, "unknown attribute `%s` in dialect `%s`", enum, dialect)
		return nil
	}
	value := p.enumCase(enum)
	p.expect(tokGreater)
	return ir.EnumAttr{Dialect: dialect, Enum: enum, Value: value}
}

// angleEnum reads <CASE>.
func (p *parser) angleEnum(dialect, enum string) ir.Attr {
	p.expect(tokLess)
	value := p.enumCase(enum)
	p.expect(tokGreater)
	return ir.EnumAttr{Dialect: dialect, Enum: enum, Value: value}
}

// enumCase reads a case of an enum.
func (p *parser) enumCase(enum string) string {
	at := p.tok
	value := p.ident("a case of " + enum)
	if i := slices.Index(ir.Enums[enum].Cases, value); i >= 0 {
		return ir.Enums[enum].Cases[i]
	}
	p.fail(at, diag.BadAttribute, "expected %s to be one of: %s", enum, strings.Join(ir.Enums[enum].Cases, ", "))
	return ""
}

// int64 reads a signed integer.
func (p *parser) int64() int64 {
	at := p.tok
	negative := p.accept(tokMinus)
	if !p.at(tokInt) {
		p.expected("integer")
		return 0
	}
	lit := p.text()
	p.next()
	v, err := strconv.ParseInt(lit, 10, 64)
	if err != nil {
		p.fail(at, diag.Syntax, "integer `%s` is too large", clip(lit))
	}
	if negative {
		return -v
	}
	return v
}

// int64s reads [1, 2].
func (p *parser) int64s() []int64 {
	out := []int64{}
	if p.expect(tokLSquare) {
		p.list(tokRSquare, func() { out = append(out, p.int64()) })
	}
	return out
}

// fields reads <name = value, …>; each name once. The value is read by read.
func (p *parser) fields(read func(name string) bool) {
	if !p.expect(tokLess) {
		return
	}
	seen := map[string]bool{}
	p.list(tokGreater, func() {
		at := p.tok
		name := p.ident("name of a parameter")
		p.expect(tokEqual)
		if p.err == nil && (seen[name] || !read(name)) {
			p.fail(at, diag.BadAttribute, "unexpected parameter `%s`", name)
		}
		seen[name] = true
	})
}

// compound reads <name = value, …> into the fields of an attribute and returns it.
func (p *parser) compound(a ir.Attr) ir.Attr {
	fields := ir.Fields(a)
	p.fields(func(name string) bool {
		i := slices.IndexFunc(fields, func(f ir.Field) bool { return f.Name == name })
		return i >= 0 && p.field(fields[i].At)
	})
	return a
}

// field reads the value of a field. It is false for a value of another kind.
func (p *parser) field(at any) bool {
	switch at := at.(type) {
	case *[]int64:
		*at = p.int64s()
	case *int64:
		*at = p.int64()
	case *float64:
		*at = p.float64()
	case *bool:
		*at = p.boolean()
	case *ir.TypeID:
		*at = p.typ()
	case *string:
		e, ok := p.attr(0).(ir.EnumAttr)
		*at = e.Value
		return ok || p.err != nil
	}
	return true
}

func (p *parser) channelHandle() ir.Attr {
	var c ir.ChannelHandle
	p.compound(&c)
	return c
}

func (p *parser) boolean() bool {
	if p.acceptWord("true") {
		return true
	}
	p.expectWord("false")
	return false
}

// bounds reads <?, 7>.
func (p *parser) bounds() ir.Attr {
	var sizes []string
	p.expect(tokLess)
	p.list(tokGreater, func() {
		if p.accept(tokQuestion) {
			sizes = append(sizes, "?")
			return
		}
		sizes = append(sizes, strconv.FormatInt(p.int64(), 10))
	})
	return ir.OpaqueAttr("#stablehlo.bounds<" + strings.Join(sizes, ", ") + ">")
}

// convAttr reads <[b, f, 0, 1]x[o, i, 0, 1]->[b, f, 0, 1]>.
func (p *parser) convAttr() ir.Attr {
	p.expect(tokLess)
	d := p.convDims()
	p.expect(tokGreater)
	return d
}

// convDims reads [b, f, 0, 1]x[o, i, 0, 1]->[b, f, 0, 1].
func (p *parser) convDims() *ir.ConvDims {
	d := &ir.ConvDims{}
	d.InSpatial = p.convSide('b', 'f', &d.InBatch, &d.InFeature)
	p.expectWord("x")
	d.KernelSpatial = p.convSide('i', 'o', &d.KernelIn, &d.KernelOut)
	p.expect(tokArrow)
	d.OutSpatial = p.convSide('b', 'f', &d.OutBatch, &d.OutFeature)
	return d
}

// convSide reads one list of dimension names: two letters and the spatial dimensions by number.
func (p *parser) convSide(first, second byte, firstAt, secondAt *int64) []int64 {
	at := p.tok
	p.expect(tokLSquare)
	places := map[int64]int64{}
	i, letters := int64(0), 0
	p.list(tokRSquare, func() {
		defer func() { i++ }()
		switch {
		case p.acceptWord(string(first)):
			*firstAt = i
			letters |= 1
		case p.acceptWord(string(second)):
			*secondAt = i
			letters |= 2
		case p.accept(tokQuestion):
		default:
			n := p.int64()
			if _, twice := places[n]; twice {
				p.fail(at, diag.BadAttribute, "duplicate entries of spatial dimension %d", n)
			}
			places[n] = i
		}
	})
	if p.err == nil && letters != 3 {
		p.fail(at, diag.BadAttribute, "expected dimensions `%c` and `%c` in dimension numbers", first, second)
	}
	spatial := make([]int64, len(places))
	for n := range spatial {
		place, ok := places[int64(n)]
		if !ok && p.err == nil {
			p.fail(at, diag.BadAttribute, "spatial dimension %d is missing in dimension numbers", n)
		}
		spatial[n] = place
	}
	return spatial
}

// float64 reads a float literal.
func (p *parser) float64() float64 {
	return math.Float64frombits(p.scalarBits(dtype.F64))
}
