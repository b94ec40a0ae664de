package bytecode

import (
	"bytes"
	"encoding/binary"
	"math/bits"
)

// Magic begins every file of bytecode.
const Magic = "ML\xEFR"

// maxVersion is the newest version of the encoding that is known.
const maxVersion = 6

// The versions from which on something is written differently.
const (
	versionDialects    = 1 // dialects may carry a version
	versionLazyRegions = 2 // regions of isolated ops are nested sections
	versionUseLists    = 3 // blocks with arguments have a byte for use-list orders
	versionElidedLocs  = 4 // unknown locations of block arguments are left out; the number of op names is stored
	versionProperties  = 5 // properties in a section of their own; op names say whether they are registered
	versionSegments    = 6 // segment sizes behind the other properties
)

// sectionID names a section of a file.
type sectionID byte

// The sections.
const (
	sectionStrings         sectionID = 0
	sectionDialects        sectionID = 1
	sectionEntries         sectionID = 2 // attributes and types
	sectionOffsets         sectionID = 3 // their sizes
	sectionIR              sectionID = 4
	sectionResources       sectionID = 5
	sectionResourceOffsets sectionID = 6
	sectionDialectVersion  sectionID = 7
	sectionProperties      sectionID = 8

	numSections = 9

	sectionAligned = 0x80 // flag of the id byte: an alignment follows the length
	paddingByte    = 0xCB
)

// The bits of an op's mask, which say what follows.
const (
	maskAttributes = 1 << iota
	maskResults
	maskOperands
	maskSuccessors
	maskRegions
	maskUseLists
	maskProperties
	maskUnknown
)

// appendVarint appends v in the shortest form: the trailing zeros of the first byte count the bytes that follow.
func appendVarint(b []byte, v uint64) []byte {
	extra := max(0, bits.Len64(v)-1) / 7
	if extra >= 8 {
		return binary.LittleEndian.AppendUint64(append(b, 0), v)
	}
	v = (v<<1 | 1) << extra
	for ; extra >= 0; extra-- {
		b = append(b, byte(v))
		v >>= 8
	}
	return b
}

// zigzag and unzigzag map signed numbers to unsigned ones with small absolute values first.
func zigzag(v int64) uint64   { return uint64(v)<<1 ^ uint64(v>>63) }
func unzigzag(v uint64) int64 { return int64(v>>1) ^ -int64(v&1) }

// appendFlagged appends a number and a flag in one varint.
func appendFlagged(b []byte, v uint64, flag bool) []byte {
	v <<= 1
	if flag {
		v |= 1
	}
	return appendVarint(b, v)
}

// cursor reads a part of a file from front to back. After the first problem everything reads as zero.
type cursor struct {
	data []byte // the whole file: offsets are those of the file
	off  int
	end  int
	err  error // a problem of this package
}

// problem is what is wrong at one byte of a file.
type problem struct {
	at      int
	message string
}

func (p *problem) Error() string { return p.message }

func (c *cursor) fail(at int, message string) {
	if c.err == nil {
		c.err = &problem{at, message}
	}
	c.off = c.end
}

// left returns how many bytes remain.
func (c *cursor) left() int { return c.end - c.off }

func (c *cursor) byte() byte {
	if c.left() < 1 {
		c.fail(c.off, "unexpected end")
		return 0
	}
	c.off++
	return c.data[c.off-1]
}

// flag reads a byte that is 0 or 1.
func (c *cursor) flag() bool {
	at := c.off
	v := c.byte()
	if v > 1 {
		c.fail(at, "expected a byte 0 or 1")
	}
	return v == 1
}

func (c *cursor) varint() uint64 {
	at := c.off
	first := c.byte()
	extra := bits.TrailingZeros8(first)
	if c.err != nil || c.left() < extra {
		c.fail(at, "number goes beyond the end")
		return 0
	}
	var raw [8]byte
	if extra == 8 {
		c.off += 8
		return binary.LittleEndian.Uint64(c.data[c.off-8:])
	}
	copy(raw[:], c.data[at:at+extra+1])
	c.off += extra
	return binary.LittleEndian.Uint64(raw[:]) >> (extra + 1)
}

func (c *cursor) svarint() int64 { return unzigzag(c.varint()) }

// flagged reads a number and a flag.
func (c *cursor) flagged() (uint64, bool) {
	v := c.varint()
	return v >> 1, v&1 == 1
}

// count reads how many things of at least one byte follow.
func (c *cursor) count() int {
	at := c.off
	return c.atMostLeft(at, c.varint())
}

// atMostLeft refuses a count of things of at least one byte that do not fit into what remains.
func (c *cursor) atMostLeft(at int, n uint64) int {
	if n > uint64(c.left()) {
		c.fail(at, "count is larger than the rest of the section")
		return 0
	}
	return int(n)
}

// index reads an index into a table of n rows.
func (c *cursor) index(n int, table string) int {
	at := c.off
	return c.inTable(at, c.varint(), n, table)
}

func (c *cursor) inTable(at int, i uint64, n int, table string) int {
	if c.err == nil && i >= uint64(n) {
		c.fail(at, "index is beyond the table of "+table)
	}
	if c.err != nil {
		return 0
	}
	return int(i)
}

// take returns a part of the file as a cursor of its own, and goes on behind it.
func (c *cursor) take(n int) cursor {
	c.off += n
	return cursor{data: c.data, off: c.off - n, end: c.off, err: c.err}
}

// blob reads a length and that many bytes of the file, which are not copied.
func (c *cursor) blob() []byte {
	n := c.count()
	c.off += n
	return c.data[c.off-n : c.off : c.off]
}

// cString reads bytes up to a zero byte.
func (c *cursor) cString() string {
	n := bytes.IndexByte(c.data[c.off:c.end], 0)
	if n < 0 {
		c.fail(c.off, "string has no end")
		return ""
	}
	c.off += n + 1
	return string(c.data[c.off-n-1 : c.off-1])
}

// finish refuses bytes that are left over.
func (c *cursor) finish(what string) error {
	if c.err == nil && c.left() > 0 {
		c.fail(c.off, what+" has bytes left over")
	}
	return c.err
}

// section reads the header of a section and returns its data.
func (c *cursor) section() (sectionID, cursor) {
	at := c.off
	head := c.byte()
	id := sectionID(head &^ sectionAligned)
	if id >= numSections {
		c.fail(at, "unknown section")
	}
	lengthAt := c.off
	length := c.varint()
	if head&sectionAligned != 0 {
		c.align()
	}
	return id, c.take(c.atMostLeft(lengthAt, length))
}

// align reads an alignment and the padding behind it.
func (c *cursor) align() {
	at := c.off
	n := c.varint()
	if n == 0 || n&(n-1) != 0 || n > 1<<31 {
		c.fail(at, "alignment is no power of two")
		return
	}
	c.pad(int(n))
}

// pad reads padding up to a multiple of n in the file.
func (c *cursor) pad(n int) {
	for c.err == nil && c.off%n != 0 {
		at := c.off
		if c.byte() != paddingByte {
			c.fail(at, "expected padding")
		}
	}
}
