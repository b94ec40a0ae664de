package bytecode

import (
	"fmt"
	"strings"
)

// tables are what bytecode holds.
type tables struct {
	size       int
	version    int
	producer   string
	sections   [numSections]cursor
	present    [numSections]bool
	strings    []cursor
	dialects   []string
	ops        []opName
	attrs      []entry
	types      []entry
	properties []cursor
	resources  []blob
}

// opName is an op that the file has, with the properties that it stores.
type opName struct {
	name       string // in full
	registered bool
	known      bool // of slots
	slots      []slot
}

// entry is an attribute or a type as it is stored.
type entry struct {
	dialect string
	custom  bool // in the dialect's own encoding, not as text
	body    cursor
}

// blob is a resource.
type blob struct {
	key   string
	align uint32
	data  []byte // nil where it is only declared
}

// split reads the header and the tables of a file.
func split(data []byte) (*tables, error) {
	c := cursor{data: data, end: len(data)}
	if !strings.HasPrefix(string(data[:min(len(data), len(Magic))]), Magic) {
		c.fail(0, "file does not begin with the magic of MLIR bytecode")
		return nil, c.err
	}
	c.off = len(Magic)
	f := &tables{size: len(data)}
	at := c.off
	if version := c.varint(); version > maxVersion {
		c.fail(at, fmt.Sprintf("bytecode version %d is newer than %d, the newest that is known", version, maxVersion))
	} else {
		f.version = int(version)
	}
	f.producer = c.cString()
	for c.err == nil && c.left() > 0 {
		at := c.off
		id, data := c.section()
		if c.err == nil && f.present[id] {
			c.fail(at, fmt.Sprintf("section %d is there twice", id))
		}
		if c.err == nil {
			f.present[id], f.sections[id] = true, data
		}
	}
	f.requireSections(&c)
	if c.err != nil {
		return nil, c.err
	}
	for _, read := range []func() error{f.readStrings, f.readProperties, f.readDialects, f.readResources, f.readEntries} {
		if err := read(); err != nil {
			return nil, err
		}
	}
	return f, nil
}

func (f *tables) requireSections(c *cursor) {
	for _, id := range []sectionID{sectionStrings, sectionDialects, sectionEntries, sectionOffsets, sectionIR} {
		if !f.present[id] {
			c.fail(c.off, fmt.Sprintf("section %d is missing", id))
		}
	}
	if f.present[sectionResources] != f.present[sectionResourceOffsets] {
		c.fail(c.off, "there is only one of the two sections of resources")
	}
	if f.version >= versionProperties && !f.present[sectionProperties] {
		c.fail(c.off, "the section of properties is missing")
	}
}

// readStrings reads the lengths, which begin with that of the last string, and finds the strings.
func (f *tables) readStrings() error {
	c := f.sections[sectionStrings]
	n := c.count()
	lengths := make([]int, n)
	for i := n - 1; i >= 0; i-- {
		at := c.off
		lengths[i] = c.atMostLeft(at, c.varint())
		if c.err == nil && lengths[i] == 0 {
			c.fail(at, "string has no room for its end")
		}
	}
	f.strings = make([]cursor, n)
	for i, length := range lengths {
		if c.atMostLeft(c.off, uint64(length)); c.err != nil {
			return c.err
		}
		s := c.take(length)
		if s.end--; s.data[s.end] != 0 {
			c.fail(s.end, "string does not end with a zero byte")
		}
		f.strings[i] = s
	}
	return c.finish("section of strings")
}

// str returns a string by its index.
func (f *tables) str(c *cursor) string { return f.text(f.strings, c.index(len(f.strings), "strings")) }

func (f *tables) text(table []cursor, i int) string {
	if i >= len(table) { // after a problem
		return ""
	}
	s := table[i]
	return string(s.data[s.off:s.end])
}

func (f *tables) readDialects() error {
	c := f.sections[sectionDialects]
	n := c.count()
	for range n {
		at := c.off
		if f.version < versionDialects {
			f.dialects = append(f.dialects, f.str(&c))
			continue
		}
		name, versioned := c.flagged()
		f.dialects = append(f.dialects, f.text(f.strings, c.inTable(at, name, len(f.strings), "strings")))
		if versioned {
			if id, _ := c.section(); c.err == nil && id != sectionDialectVersion {
				c.fail(at, "version of a dialect is in a section of another kind")
			}
		}
	}
	if f.version >= versionElidedLocs {
		c.count() // of op names
	}
	for c.err == nil && c.left() > 0 {
		dialect := c.index(len(f.dialects), "dialects")
		for n := c.count(); n > 0 && c.err == nil; n-- {
			f.readOpName(&c, dialect)
		}
	}
	return c.err
}

func (f *tables) readOpName(c *cursor, dialect int) {
	var op opName
	var name string
	if f.version < versionProperties {
		name, op.registered = f.str(c), true
	} else {
		at := c.off
		i, registered := c.flagged()
		name, op.registered = f.text(f.strings, c.inTable(at, i, len(f.strings), "strings")), registered
	}
	if c.err != nil {
		return
	}
	op.name = f.dialects[dialect]
	if name != "" {
		op.name += "." + name
	}
	op.slots, op.known = slotsOf(op.name)
	f.ops = append(f.ops, op)
}

// readEntries finds the attributes and types by their sizes.
func (f *tables) readEntries() error {
	c, data := f.sections[sectionOffsets], f.sections[sectionEntries]
	attrs, types := c.count(), c.count()
	f.attrs = f.entryGroups(&c, &data, attrs)
	f.types = f.entryGroups(&c, &data, types)
	if err := c.finish("section of the sizes of attributes and types"); err != nil {
		return err
	}
	return data.finish("section of attributes and types")
}

// entryGroups reads groups of entries of one dialect each that are n entries together.
func (f *tables) entryGroups(c, data *cursor, n int) []entry {
	out := make([]entry, 0, n)
	for len(out) < n && c.err == nil {
		dialect := c.index(len(f.dialects), "dialects")
		at := c.off
		count := c.count()
		if count > n-len(out) {
			c.fail(at, "group has more attributes or types than the table")
		}
		for ; count > 0 && c.err == nil; count-- {
			at := c.off
			size, custom := c.flagged()
			if size > uint64(data.left()) {
				c.fail(at, "attribute or type goes beyond its section")
				break
			}
			out = append(out, entry{f.dialects[dialect], custom, data.take(int(size))})
		}
	}
	return out
}

func (f *tables) readProperties() error {
	if !f.present[sectionProperties] {
		return nil
	}
	c := f.sections[sectionProperties]
	n := c.count()
	f.properties = make([]cursor, 0, n)
	for range n {
		f.properties = append(f.properties, c.take(c.count()))
	}
	return c.finish("section of properties")
}

// The kinds of resources.
const (
	resourceBlob = iota
	resourceBool
	resourceString
)

// readResources finds the blobs of the dialects' resources; external ones and other kinds are skipped.
func (f *tables) readResources() error {
	if !f.present[sectionResources] {
		return nil
	}
	c, data := f.sections[sectionResourceOffsets], f.sections[sectionResources]
	for n := c.count(); n > 0 && c.err == nil; n-- {
		f.str(&c) // owner
		f.resourceGroup(&c, &data, false)
	}
	for c.err == nil && c.left() > 0 {
		c.index(len(f.dialects), "dialects")
		f.resourceGroup(&c, &data, true)
	}
	if c.err != nil {
		return c.err
	}
	return data.finish("section of resources")
}

func (f *tables) resourceGroup(c, data *cursor, ofDialect bool) {
	for n := c.count(); n > 0 && c.err == nil; n-- {
		b := blob{key: f.str(c)}
		at := c.off
		size := c.varint()
		kind := c.byte()
		if size > uint64(data.left()) || kind > resourceString {
			c.fail(at, "resource goes beyond its section, or is of an unknown kind")
			return
		}
		value := data.take(int(size))
		if size > 0 && kind == resourceBlob {
			b.read(&value)
		}
		if value.err != nil {
			c.err = value.err
			return
		}
		if ofDialect {
			f.resources = append(f.resources, b)
		}
	}
}

// read reads alignment, length, padding and the bytes.
func (b *blob) read(c *cursor) {
	at := c.off
	align := c.varint()
	if align == 0 || align&(align-1) != 0 || align > 1<<31 {
		c.fail(at, "alignment is no power of two")
		return
	}
	b.align = uint32(align)
	at = c.off
	n := c.varint()
	c.pad(int(align))
	n = uint64(c.atMostLeft(at, n))
	b.data = c.data[c.off : c.off+int(n) : c.off+int(n)]
	c.off += int(n)
	_ = c.finish("resource")
}
