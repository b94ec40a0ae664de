package bytecode

import (
	"fmt"

	"autoshard/internal/diag"
)

// op is an operation as it is stored: everything by index.
type op struct {
	at         int // offset in the file
	name       int
	loc        int
	attrs      int // none where there are none
	properties int
	results    []int32 // types
	operands   []int32 // value numbers
	successors []int32 // blocks of the region
	regions    []region
	isolated   bool
	nested     *cursor // the section with the regions of an isolated op, not read yet
	numRegions int
}

const none32 = -1

type region struct {
	at     int
	values int // numbers that its blocks use
	blocks []block
}

type block struct {
	at   int
	args []blockArg
	ops  []op
}

type blockArg struct {
	typ int
	loc int // none for an unknown location
}

// opReader reads ops of one section.
type opReader struct {
	cursor
	*reader
	depth int
}

// topOp reads the only op of the IR section.
func (r *reader) topOp() (op, error) {
	o := &opReader{cursor: r.sections[sectionIR], reader: r}
	at := o.off
	if n, args := o.flagged(); n != 1 || args {
		o.fail(at, "expected one op without arguments in the IR section")
	}
	top := o.op()
	return top, o.finish("IR section")
}

// regionsOf reads the regions of an isolated op, which nothing outside refers to.
func (r *reader) regionsOf(o *op, depth int) ([]region, error) {
	if o.nested == nil {
		return o.regions, nil
	}
	in := &opReader{cursor: *o.nested, reader: r, depth: depth}
	regions := in.regions(o.numRegions)
	return regions, in.finish("section of regions")
}

// numbers reads a list of indices below n.
func (o *opReader) numbers(n int, table string) []int32 {
	count := o.count()
	if count > cap(o.pool)-len(o.pool) {
		const chunk = 1 << 12
		o.pool = make([]int32, 0, max(chunk, count))
	}
	start := len(o.pool)
	for range count {
		o.pool = append(o.pool, int32(o.index(n, table)))
	}
	return o.pool[start:len(o.pool):len(o.pool)]
}

func (o *opReader) op() op {
	v := op{at: o.off, attrs: none32, properties: none32}
	v.name = o.index(len(o.tables.ops), "op names")
	maskAt := o.off
	mask := o.byte()
	if mask&maskUnknown != 0 {
		o.fail(maskAt, "unknown bit in the mask of an op")
	}
	v.loc = o.index(len(o.attrs), "attributes")
	if mask&maskAttributes != 0 {
		v.attrs = o.index(len(o.attrs), "attributes")
	}
	if mask&maskProperties != 0 {
		v.properties = o.index(len(o.tables.properties), "properties")
	}
	if mask&maskResults != 0 {
		v.results = o.numbers(len(o.types), "types")
	}
	if mask&maskOperands != 0 {
		v.operands = o.numbers(maxValues, "values")
	}
	if mask&maskSuccessors != 0 {
		v.successors = o.numbers(maxValues, "blocks")
	}
	if mask&maskUseLists != 0 {
		o.useLists(len(v.results))
	}
	if mask&maskRegions != 0 {
		o.opRegions(&v)
	}
	return v
}

// maxValues bounds value and block numbers, which are checked where they are resolved.
const maxValues = 1 << 31

func (o *opReader) opRegions(v *op) {
	at := o.off
	n, isolated := o.flagged()
	v.isolated = isolated
	v.numRegions = o.atMostLeft(at, n)
	if o.version < versionLazyRegions || !isolated {
		v.regions = o.regions(v.numRegions)
		return
	}
	at = o.off
	id, data := o.section()
	if o.err == nil && id != sectionIR {
		o.fail(at, "regions of an op are in a section of another kind")
	}
	v.nested = &data
}

func (o *opReader) regions(n int) []region {
	if o.depth++; o.depth > o.opts.MaxDepth && o.err == nil {
		o.fail(o.off, "")
		o.err = diag.TooLarge(diag.NestingTooDeep, o.position(o.off), "regions are nested deeper than %d levels", o.opts.MaxDepth)
	}
	defer func() { o.depth-- }()
	var out []region
	for range n {
		if o.err != nil {
			return nil
		}
		out = append(out, o.region())
	}
	return out
}

func (o *opReader) region() region {
	v := region{at: o.off}
	n := o.count()
	if n == 0 {
		return v
	}
	at := o.off
	values := o.varint()
	if values > uint64(o.size) {
		o.fail(at, "region has more values than the file has bytes")
	}
	v.values = int(values)
	for range n {
		if o.err != nil {
			return v
		}
		v.blocks = append(v.blocks, o.block())
	}
	return v
}

// firstOps is how many ops of a block get room at once: what a block says of their number may be wrong.
const firstOps = 256

func (o *opReader) block() block {
	v := block{at: o.off}
	at := o.off
	n, args := o.flagged()
	ops := o.atMostLeft(at, n)
	if args {
		v.args = o.blockArgs()
	}
	v.ops = make([]op, 0, min(ops, firstOps))
	for range ops {
		if o.err == nil {
			o.err = o.ctx.Err()
		}
		if o.err != nil {
			return v
		}
		v.ops = append(v.ops, o.op())
	}
	return v
}

func (o *opReader) blockArgs() []blockArg {
	n := o.count()
	args := make([]blockArg, 0, n)
	for range n {
		a := blockArg{loc: none32}
		at := o.off
		if o.version >= versionElidedLocs {
			typ, located := o.flagged()
			a.typ = o.inTable(at, typ, len(o.types), "types")
			if located {
				a.loc = o.index(len(o.attrs), "attributes")
			}
		} else {
			a.typ = o.index(len(o.types), "types")
			a.loc = o.index(len(o.attrs), "attributes")
		}
		if o.err != nil {
			return nil
		}
		args = append(args, a)
	}
	if o.version >= versionUseLists && o.byte() != 0 {
		o.useLists(n)
	}
	return args
}

// useLists skips the orders of the uses of values, which mean nothing to a program.
func (o *opReader) useLists(values int) {
	n := 1
	if values > 1 {
		n = o.count()
	}
	for range n {
		if o.err != nil {
			return
		}
		if values > 1 {
			o.index(values, "values")
		}
		at := o.off
		count, _ := o.flagged()
		for i := o.atMostLeft(at, count); i > 0 && o.err == nil; i-- {
			o.varint()
		}
	}
}

// String names an op for messages.
func (r *reader) opText(o *op) string { return fmt.Sprintf("'%s' op", r.ops[o.name].name) }
