package bytecode

import (
	"context"
	"encoding/binary"
	"errors"

	"autoshard/internal/diag"
	"autoshard/ir"
	"autoshard/ir/dtype"
	"autoshard/ir/mlir"
	"autoshard/ir/vhlo"
)

// reader makes a module of a file.
type reader struct {
	*tables
	ctx   context.Context
	m     *ir.Module
	opts  Options
	asm   *mlir.Assembler
	vhlo  *vhlo.Reader
	blobs map[string][]byte // of the resources, by key

	attrRows   []memo[any]
	typeRows   []memo[ir.TypeID]
	pool       []int32 // lists of numbers of ops are cut from it
	undefined  ir.ValueID
	openValues int // of the regions around the op at hand
	entries    int // of the dictionaries of all ops, and of the signatures of functions
	depth      int // of entries inside others
	distincts  int // how many there are
}

// memo is an entry of the tables that has been decoded, or is being decoded.
type memo[T any] struct {
	state  state
	value  T
	weight int // how many parts it has, those that it shares counted again
}

// maxWeight bounds the parts of an attribute or a type: a small file can hold one of 2^60 parts, by sharing.
const maxWeight = 1 << 22

type state uint8

const (
	unknown state = iota
	busy
	done
)

// dialects are the forms of entries by dialect and code.
var attrForms, typeForms = map[string][]form{
	"builtin":   byCode(builtinAttrs),
	"stablehlo": byCode(stablehloAttrs),
	"chlo":      byCode(chloAttrs),
	"sdy":       byCode(sdyAttrs),
	"vhlo":      byCode(vhloAttrs),
}, map[string][]form{
	"builtin":   byCode(builtinTypes),
	"stablehlo": byCode(stablehloTypes),
	"quant":     byCode(quantTypes),
	"vhlo":      byCode(vhloTypes),
}

func byCode(forms []form) []form {
	var out []form
	for _, f := range forms {
		for uint64(len(out)) <= f.code {
			out = append(out, form{})
		}
		out[f.code] = f
	}
	return out
}

// decoder reads one entry. It implements codec.
type decoder struct {
	cursor
	*reader
	start  int // of the entry
	weight int // of what it refers to
}

func (d *decoder) module() *ir.Module { return d.m }

func (d *decoder) invalid(what string) { d.fail(d.start, what) }

func (d *decoder) varint(v *uint64) { *v = d.cursor.varint() }
func (d *decoder) svarint(v *int64) { *v = d.cursor.svarint() }
func (d *decoder) byte(v *uint64)   { *v = uint64(d.cursor.byte()) }
func (d *decoder) flag(v *bool)     { *v = d.cursor.flag() }
func (d *decoder) count(n *int)     { *n = d.cursor.count() }
func (d *decoder) blob(v *[]byte)   { *v = d.cursor.blob() }
func (d *decoder) str(v *string)    { *v = d.tables.str(&d.cursor) }

func (d *decoder) flagged(v *uint64, flag *bool) { *v, *flag = d.cursor.flagged() }

func (d *decoder) fits(want int64, n *int) {
	if want < 0 || want > int64(d.left()) {
		d.fail(d.off, "more elements than bytes in the rest of the entry")
		want = 0
	}
	*n = int(want)
}

func (d *decoder) ref(v *any) {
	at := d.off
	*v = d.attrAt(at, d.cursor.varint())
}

func (d *decoder) optional(v *any) {
	at := d.off
	i, present := d.cursor.flagged()
	*v = nil
	if present {
		*v = d.attrAt(at, i)
	}
}

func (d *decoder) attrAt(at int, i uint64) any {
	i = uint64(d.inTable(at, i, len(d.attrs), "attributes"))
	if d.err != nil {
		return nil
	}
	a, err := d.attr(int(i))
	d.weight += d.attrRows[i].weight
	if err != nil && d.err == nil {
		d.fail(at, "")
		d.err = err
	}
	return a
}

func (d *decoder) typ(v *ir.TypeID) {
	i := d.index(len(d.types), "types")
	if d.err != nil {
		return
	}
	t, err := d.reader.typ(i)
	d.weight += d.typeRows[i].weight
	if err != nil && d.err == nil {
		d.fail(d.off, "")
		d.err = err
	}
	*v = t
}

func (d *decoder) resource(v *string) {
	i := d.index(len(d.resources), "resources")
	if d.err == nil {
		*v = d.resources[i].key
	}
}

// parseAttr and parseType read what the representation has a text reader for.
func (d *decoder) parseAttr(text string) any {
	if d.err != nil {
		return nil
	}
	a, err := d.asm.At(d.position(d.start)).Attr(text)
	if err != nil {
		d.fail(d.start, "")
		d.err = err
		return nil
	}
	return a
}

func (d *decoder) parseType(text string) ir.TypeID {
	if d.err != nil {
		return 0
	}
	t, err := d.asm.At(d.position(d.start)).Type(text)
	if err != nil {
		d.fail(d.start, "")
		d.err = err
	}
	return t
}

// position returns the place of a byte of the file.
func (r *reader) position(at int) diag.Position {
	return diag.Position{File: r.opts.File, Binary: true, Offset: int64(r.opts.Base + at)}
}

// attr returns an attribute by its index: an ir.Attr, or a part of one.
func (r *reader) attr(i int) (any, error) {
	return decodeEntry(r, &r.attrRows[i], r.attrs[i], attrForms, func(text string, at int) (any, error) {
		return r.asm.At(r.position(at)).Attr(text)
	})
}

// typ returns a type by its index.
func (r *reader) typ(i int) (ir.TypeID, error) {
	return decodeEntry(r, &r.typeRows[i], r.types[i], typeForms, func(text string, at int) (ir.TypeID, error) {
		return r.asm.At(r.position(at)).Type(text)
	})
}

// decodeEntry returns what an entry means, decoding it and what it refers to if that has not been done.
func decodeEntry[T any](r *reader, m *memo[T], e entry, forms map[string][]form, parse func(text string, at int) (T, error)) (T, error) {
	if m.state == done {
		return m.value, nil
	}
	var zero T
	if m.state == busy {
		return zero, &problem{e.body.off, "attribute or type contains itself"}
	}
	m.state = busy
	r.depth++
	defer func() { r.depth-- }()
	if r.depth > r.opts.MaxDepth {
		return zero, diag.TooLarge(diag.NestingTooDeep, r.position(e.body.off), "nesting is deeper than %d levels", r.opts.MaxDepth)
	}
	var v T
	var err error
	if e.custom {
		v, m.weight, err = decodeForm[T](r, e, forms)
	} else {
		c := e.body
		text := c.cString()
		if err = c.finish("text of an attribute or type"); err == nil {
			v, err = parse(text, e.body.off)
		}
	}
	if err != nil {
		return zero, err
	}
	m.state, m.value = done, v
	m.weight += 1 + len(e.body.data[e.body.off:e.body.end])/16
	if m.weight > max(maxWeight, r.size) {
		return zero, diag.TooLarge(diag.InputTooLarge, r.position(e.body.off), "attribute or type has more than %d parts", max(maxWeight, r.size))
	}
	return v, nil
}

// decodeForm returns what an entry in its dialect's own encoding means, and how many parts it refers to.
func decodeForm[T any](r *reader, e entry, forms map[string][]form) (v T, weight int, err error) {
	c := e.body
	d := &decoder{cursor: c, reader: r, start: c.off}
	code := d.cursor.varint()
	table := forms[e.dialect]
	if d.err == nil && (code >= uint64(len(table)) || table[code].read == nil) {
		d.invalid("unknown attribute or type of dialect " + e.dialect)
	}
	if d.err != nil {
		return v, 0, d.err
	}
	v, ok := table[code].read(d).(T)
	if !ok && d.err == nil {
		d.invalid("entry means nothing")
	}
	return v, d.weight, d.finish("attribute or type")
}

// errorOf returns a problem as a diagnostic.
func (r *reader) errorOf(err error) error {
	var p *problem
	if errors.As(err, &p) {
		return diag.Invalid(diag.BadBytecode, r.position(p.at), "invalid bytecode: %s", p.message)
	}
	return err
}

// segments reads how operands or results are grouped, which version 6 keeps as numbers: all of them, or those that are
// not 0 with their places.
func (d *decoder) segments() ir.Attr {
	at := d.off
	n, sparse := d.cursor.flagged()
	count := d.atMostLeft(at, n)
	var sizes []byte
	add := func(i, v uint64) {
		for uint64(len(sizes)) < 4*(i+1) {
			sizes = append(sizes, 0)
		}
		binary.LittleEndian.PutUint32(sizes[4*i:], uint32(v))
	}
	if !sparse {
		for i := range count {
			add(uint64(i), d.cursor.varint())
		}
	} else if count > 0 {
		width := d.cursor.varint()
		for range count {
			v := d.cursor.varint()
			if width > 16 {
				d.fail(at, "segments have places of more than 16 bits")
				break
			}
			add(v&(1<<width-1), v>>width)
		}
	}
	return &ir.DenseArray{Elem: d.m.ScalarType(dtype.I32), Data: sizes}
}
