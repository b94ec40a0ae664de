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
		"stablehlo.dot":                     (*parser).dotDims,
		"stablehlo.gather":                  (*parser).gatherDims,
		"stablehlo.scatter":                 (*parser).scatterDims,
		"stablehlo.conv":                    (*parser).convAttr,
		"stablehlo.channel_handle":          (*parser).channelHandle,
		"stablehlo.output_operand_alias":    (*parser).outputAlias,
		"stablehlo.replica_group_mesh_axes": (*parser).meshAxesGroups,
		"stablehlo.result_accuracy":         (*parser).resultAccuracy,
		"stablehlo.result_accuracy_mode":    func(p *parser) ir.Attr { return p.angleEnum("stablehlo", "result_accuracy_mode") },
		"stablehlo.dot_algorithm":           func(p *parser) ir.Attr { return p.dotAlgorithm() },
		"stablehlo.bounds":                  (*parser).bounds,
		"chlo.ragged_dot":                   (*parser).raggedDot,
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

// listField reads a field that is a list of integers, where the name is one of the lists'.
func (p *parser) listField(name string, lists []dimList) bool {
	for _, l := range lists {
		if l.name == name {
			*l.list = p.int64s()
			return true
		}
	}
	return false
}

// dimList is a named list of dimensions of an attribute.
type dimList struct {
	name string
	list *[]int64
}

func dotLists(d *ir.DotDims) []dimList {
	return []dimList{{"lhs_batching_dimensions", &d.LhsBatch}, {"rhs_batching_dimensions", &d.RhsBatch},
		{"lhs_contracting_dimensions", &d.LhsContract}, {"rhs_contracting_dimensions", &d.RhsContract}}
}

func gatherLists(d *ir.GatherDims) []dimList {
	return []dimList{{"offset_dims", &d.Offset}, {"collapsed_slice_dims", &d.Collapsed}, {"operand_batching_dims", &d.OperandBatch},
		{"start_indices_batching_dims", &d.IndicesBatch}, {"start_index_map", &d.StartIndexMap}}
}

func scatterLists(d *ir.ScatterDims) []dimList {
	return []dimList{{"update_window_dims", &d.UpdateWindow}, {"inserted_window_dims", &d.InsertedWindow},
		{"input_batching_dims", &d.InputBatch}, {"scatter_indices_batching_dims", &d.IndicesBatch},
		{"scatter_dims_to_operand_dims", &d.ToOperand}}
}

func (p *parser) dotDims() ir.Attr {
	d := &ir.DotDims{}
	lists := dotLists(d)
	p.fields(func(name string) bool { return p.listField(name, lists) })
	return d
}

func (p *parser) gatherDims() ir.Attr {
	d := &ir.GatherDims{}
	lists := gatherLists(d)
	p.fields(func(name string) bool {
		if name == "index_vector_dim" {
			d.IndexVectorDim = p.int64()
			return true
		}
		return p.listField(name, lists)
	})
	return d
}

func (p *parser) scatterDims() ir.Attr {
	d := &ir.ScatterDims{}
	lists := scatterLists(d)
	p.fields(func(name string) bool {
		if name == "index_vector_dim" {
			d.IndexVectorDim = p.int64()
			return true
		}
		return p.listField(name, lists)
	})
	return d
}

func (p *parser) channelHandle() ir.Attr {
	var c ir.ChannelHandle
	p.fields(func(name string) bool {
		switch name {
		case "handle":
			c.Handle = p.int64()
		case "type":
			c.Type = p.int64()
		default:
			return false
		}
		return true
	})
	return c
}

func (p *parser) outputAlias() ir.Attr {
	a := &ir.OutputAlias{}
	p.fields(func(name string) bool {
		switch name {
		case "output_tuple_indices":
			a.OutputIndices = p.int64s()
		case "operand_index":
			a.OperandIndex = p.int64()
		case "operand_tuple_indices":
			a.OperandIndices = p.int64s()
		default:
			return false
		}
		return true
	})
	return a
}

func (p *parser) resultAccuracy() ir.Attr {
	a := &ir.ResultAccuracy{}
	p.fields(func(name string) bool {
		switch name {
		case "atol":
			a.Atol = p.float64()
		case "rtol":
			a.Rtol = p.float64()
		case "ulps":
			a.Ulps = p.int64()
		case "mode":
			e, ok := p.attr(0).(ir.EnumAttr)
			a.Mode = e.Value
			return ok || p.err != nil
		default:
			return false
		}
		return true
	})
	return a
}

// dotAlgorithm reads <lhs_precision_type = tf32, …>.
func (p *parser) dotAlgorithm() *ir.DotAlgorithm {
	a := &ir.DotAlgorithm{}
	p.fields(func(name string) bool {
		switch name {
		case "lhs_precision_type":
			a.LhsType = p.typ()
		case "rhs_precision_type":
			a.RhsType = p.typ()
		case "accumulation_type":
			a.AccumulationType = p.typ()
		case "lhs_component_count":
			a.LhsCount = p.int64()
		case "rhs_component_count":
			a.RhsCount = p.int64()
		case "num_primitive_operations":
			a.Operations = p.int64()
		case "allow_imprecise_accumulation":
			a.AllowImprecise = p.boolean()
		default:
			return false
		}
		return true
	})
	return a
}

// raggedNames are the lists of #chlo.ragged_dot in their order; empty ones are not printed.
var raggedNames = []string{"lhs_batching_dimensions", "rhs_batching_dimensions", "lhs_contracting_dimensions", "rhs_contracting_dimensions",
	"lhs_ragged_dimensions", "rhs_group_dimensions"}

// raggedDot reads the dimension numbers of chlo.ragged_dot, kept as text in their canonical form.
func (p *parser) raggedDot() ir.Attr {
	lists := map[string][]int64{}
	p.fields(func(name string) bool {
		lists[name] = p.int64s()
		return slices.Contains(raggedNames, name)
	})
	var text []string
	for _, name := range raggedNames {
		if len(lists[name]) > 0 {
			text = append(text, name+" = "+string(appendIntList(nil, lists[name])))
		}
	}
	return ir.OpaqueAttr("#chlo.ragged_dot<" + strings.Join(text, ", ") + ">")
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
