package iopddl

import (
	"bytes"
	"encoding/binary"
	"hash/maphash"
	"math"
	"slices"
)

// tape keeps records of bytes in the order in which they come, in blocks that never move. A record lies within one block.
type tape struct {
	blocks [][]byte
}

const (
	firstBlock   = 1 << 10
	largestBlock = 1 << 20
)

// room returns an empty slice for a record of n bytes; keep takes it back.
func (t *tape) room(n int) []byte {
	last := len(t.blocks) - 1
	if last < 0 || cap(t.blocks[last])-len(t.blocks[last]) < n {
		size := firstBlock << min(len(t.blocks), 10)
		t.blocks = append(t.blocks, make([]byte, 0, max(n, min(size, largestBlock))))
		last++
	}
	b := t.blocks[last]
	return b[len(b):]
}

func (t *tape) keep(record []byte) {
	b := &t.blocks[len(t.blocks)-1]
	*b = (*b)[:len(*b)+len(record)]
}

// lists is a field of the file, a list of lists of integers, as text. The numbers have been checked.
type lists struct {
	seen   bool
	len    int
	start  int64 // offset of the first list
	next   int64 // offset behind the last list
	tape   tape  // for each list the bytes between it and the one before; then its text, or its number in the pool
	pool   *pool // nil if each list has its text on the tape
	counts []int32
}

// add appends a list that begins at an offset.
func (l *lists) add(at int64, text []byte, count int) {
	if l.len == 0 {
		l.start, l.next = at, at
	}
	size := len(text)
	if l.pool != nil {
		size = binary.MaxVarintLen32
	}
	record := binary.AppendUvarint(l.tape.room(binary.MaxVarintLen64+size), uint64(at-l.next))
	if l.pool != nil {
		record = binary.AppendUvarint(record, uint64(l.pool.add(text, count)))
	} else {
		record = append(record, text...)
	}
	l.tape.keep(record)
	l.next = at + 1 + int64(len(text))
	l.len++
	if l.counts != nil {
		l.counts = append(l.counts, int32(count))
	}
}

// cursor goes through lists.
type cursor struct {
	of    *lists
	block int
	rest  []byte
	end   int64
	at    int64  // offset of the current list
	id    int32  // of the current list in the pool
	text  []byte // of the current list, from behind the opening bracket
}

func (l *lists) cursor() *cursor { return &cursor{of: l, end: l.start} }

// next moves to the next list, which must exist.
func (c *cursor) next() {
	for len(c.rest) == 0 {
		c.rest = c.of.tape.blocks[c.block]
		c.block++
	}
	gap, n := binary.Uvarint(c.rest)
	c.rest = c.rest[n:]
	c.at = c.end + int64(gap)
	if pool := c.of.pool; pool != nil {
		id, n := binary.Uvarint(c.rest)
		c.rest = c.rest[n:]
		c.id, c.text = int32(id), pool.text[id]
	} else {
		n := bytes.IndexByte(c.rest, ']') + 1
		c.text, c.rest = c.rest[:n], c.rest[n:]
	}
	c.end = c.at + 1 + int64(len(c.text))
}

// numbers appends the numbers of the current list.
func (c *cursor) numbers(to []int64) []int64 {
	to, _, _ = parseList(to, c.text)
	return to
}

// pool keeps the texts of distinct lists: few of the many edges of an instance have a text of their own (solver.md section 2.1).
type pool struct {
	seed   maphash.Seed
	find   map[uint64]int32 // the number of the text with a hash; where two have the same, the second is under the next key
	tape   tape
	text   [][]byte
	counts []int32 // numbers in each
}

func newPool() *pool { return &pool{seed: maphash.MakeSeed(), find: map[uint64]int32{}} }

// lookup returns the number of a text, or the key under which to add it.
func (p *pool) lookup(text []byte) (id int32, key uint64, found bool) {
	for key = maphash.Bytes(p.seed, text); ; key++ {
		if id, found = p.find[key]; !found || bytes.Equal(p.text[id], text) {
			return id, key, found
		}
	}
}

// add returns the number of a text, and adds it if it is new.
func (p *pool) add(text []byte, count int) int32 {
	id, key, found := p.lookup(text)
	if found {
		return id
	}
	id = int32(len(p.text))
	record := append(p.tape.room(len(text)), text...)
	p.tape.keep(record)
	p.find[key] = id
	p.text, p.counts = append(p.text, record), append(p.counts, int32(count))
	return id
}

// Problems of numbers.
const (
	notInteger = "integer expected"
	outOfRange = "integer out of range"
)

// parseInteger reads a word that is an integer.
func parseInteger(word []byte) (v int64, problem string) {
	list, _, problem := parseList(nil, append(bytes.Clone(word), ']'))
	switch {
	case problem == outOfRange:
		return 0, outOfRange
	case problem != "" || len(list) != 1:
		return 0, notInteger
	}
	return list[0], ""
}

// parseList appends the integers of a list whose text ends with its closing bracket. It stops at the first problem and says at which byte.
func parseList(to []int64, text []byte) (out []int64, at int, problem string) {
	i := space(text, 0)
	if text[i] == ']' {
		return to, i, ""
	}
	to = slices.Grow(to, bytes.Count(text, []byte(","))+1)
	for {
		start := i
		negative := text[i] == '-'
		if negative {
			i++
		}
		first := i
		v := uint64(0)
		for ; text[i]-'0' <= 9; i++ {
			v = v*10 + uint64(text[i]-'0')
		}
		if i-first > 18 || i == first || text[first] == '0' && i-first > 1 || text[i] == '.' || text[i]|0x20 == 'e' {
			if v, problem = careful(text[first:i], text[i], negative); problem != "" {
				return to, start, problem
			}
		}
		if negative {
			v = -v
		}
		to = append(to, int64(v))
		if text[i] <= ' ' {
			i = space(text, i)
		}
		switch text[i] {
		case ',':
			i++
			if text[i] <= ' ' {
				i = space(text, i)
			}
		case ']':
			return to, i, ""
		default:
			return to, i, notSeparated
		}
	}
}

// notSeparated stands for a byte that is neither a comma nor a bracket.
const notSeparated = "syntax error"

// careful reads the digits of a number that is long or malformed; next is the byte behind them.
func careful(digits []byte, next byte, negative bool) (v uint64, problem string) {
	if len(digits) == 0 || digits[0] == '0' && len(digits) > 1 || next == '.' || next|0x20 == 'e' {
		return 0, notInteger
	}
	most := uint64(math.MaxInt64)
	if negative {
		most++
	}
	for _, c := range digits {
		d := uint64(c - '0')
		if v > (most-d)/10 {
			return 0, outOfRange
		}
		v = v*10 + d
	}
	return v, ""
}

// space returns the index of the first byte from i on that is no white space.
func space(text []byte, i int) int {
	for text[i] == ' ' || text[i] == '\n' || text[i] == '\t' || text[i] == '\r' {
		i++
	}
	return i
}
