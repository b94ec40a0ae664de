package bytecode

import (
	"autoshard/ir"
	"autoshard/ir/vhlo"
)

// encoder writes the fields of one entry. It implements codec.
type encoder struct {
	*writer
	dialect string // of the entry: what it refers to is in the terms of that dialect
	out     []byte
	tail    []byte // what follows out, not copied
}

// minTail is how many bytes a blob has that is not copied.
const minTail = 1 << 12

func (e *encoder) module() *ir.Module { return e.m }

func (e *encoder) invalid(what string) { e.refuse("%s", what) }

func (e *encoder) varint(v *uint64)           { e.out = appendVarint(e.out, *v) }
func (e *encoder) svarint(v *int64)           { e.out = appendVarint(e.out, zigzag(*v)) }
func (e *encoder) byte(v *uint64)             { e.out = append(e.out, byte(*v)) }
func (e *encoder) count(n *int)               { e.out = appendVarint(e.out, uint64(*n)) }
func (e *encoder) fits(_ int64, _ *int)       {}
func (e *encoder) str(v *string)              { e.index(e.strings.add(*v)) }
func (e *encoder) ref(v *any)                 { e.index(e.attr(*v, e.dialect)) }
func (e *encoder) typ(v *ir.TypeID)           { e.index(e.writer.typ(*v, e.dialect)) }
func (e *encoder) resource(v *string)         { e.index(e.resources.add(*v)) }
func (e *encoder) index(i int)                { e.out = appendVarint(e.out, uint64(i)) }
func (e *encoder) flagged(v *uint64, f *bool) { e.out = appendFlagged(e.out, *v, *f) }

func (e *encoder) flag(v *bool) {
	b := byte(0)
	if *v {
		b = 1
	}
	e.out = append(e.out, b)
}

// blob is the last field of every entry that has one.
func (e *encoder) blob(v *[]byte) {
	e.index(len(*v))
	if len(*v) >= minTail {
		e.tail = *v
		return
	}
	e.out = append(e.out, *v...)
}

func (e *encoder) optional(v *any) {
	if *v == nil {
		e.out = append(e.out, 1) // 0
		return
	}
	e.out = appendFlagged(e.out, uint64(e.attr(*v, e.dialect)), true)
}

// interned numbers texts in the order in which they are added.
type interned struct {
	list  []string
	index map[string]int
}

func (t *interned) add(s string) int {
	i, ok := t.index[s]
	if !ok {
		if t.index == nil {
			t.index = map[string]int{}
		}
		i = len(t.list)
		t.list, t.index[s] = append(t.list, s), i
	}
	return i
}

// entryTable are the attributes or the types that are written.
type entryTable struct {
	rows   []writtenEntry
	byText map[string]int // by dialect and content, of those without a tail
}

type writtenEntry struct {
	dialect    int
	custom     bool
	head, tail []byte
}

// add returns the index of an entry; equal ones are one.
func (t *entryTable) add(e writtenEntry) int {
	key := string(append([]byte{byte(e.dialect), byte(e.dialect >> 8), map[bool]byte{true: 1}[e.custom]}, e.head...))
	if i, ok := t.byText[key]; ok && e.tail == nil {
		return i
	}
	t.rows = append(t.rows, e)
	if e.tail == nil {
		if t.byText == nil {
			t.byText = map[string]int{}
		}
		t.byText[key] = len(t.rows) - 1
	}
	return len(t.rows) - 1
}

// written is the Go value that has the fields of an entry, with the form that moves them.
type written struct {
	dialect string
	code    uint64
	fields  any
}

// encode returns an entry in its dialect's own encoding.
func (w *writer) encode(forms map[string][]form, v written) writtenEntry {
	e := &encoder{writer: w, dialect: v.dialect, out: appendVarint(nil, v.code)}
	forms[v.dialect][v.code].write(e, v.fields)
	return writtenEntry{w.dialects.add(v.dialect), true, e.out, e.tail}
}

// textEntry returns an entry that is the text of an attribute or type.
func (w *writer) textEntry(text string) writtenEntry {
	return writtenEntry{w.dialects.add(dialectOfText(text)), false, append([]byte(text), 0), nil}
}

// dialectOfText returns whose attribute or type a text is: #sdy<…> and !stablehlo.token begin with a dialect.
func dialectOfText(text string) string {
	if text == "" || text[0] != '#' && text[0] != '!' {
		return builtin
	}
	for i := 1; i < len(text); i++ {
		c := text[i]
		if c != '_' && c != '$' && (c < 'a' || c > 'z') && (c < 'A' || c > 'Z') && (c < '0' || c > '9') {
			return text[1:i]
		}
	}
	return text[1:]
}

const builtin = "builtin"

// attrKey is an attribute that is known by its identity.
type attrKey struct {
	attr any
	vhlo bool
}

// attr returns the index of an attribute or a part of one, in the terms of a dialect.
func (w *writer) attr(a any, dialect string) int {
	var key attrKey
	switch a.(type) {
	case *ir.Dense, ir.LocAttr, ir.ShardingAttr, *ir.RuleAttr:
		key = attrKey{a, dialect == vhloDialect}
		if i, ok := w.attrIndex[key]; ok {
			return i
		}
	}
	i := w.attrs.add(w.attrEntry(a, dialect))
	if key.attr != nil {
		w.attrIndex[key] = i
	}
	return i
}

func (w *writer) attrEntry(a any, dialect string) writtenEntry {
	if dialect == vhloDialect {
		if v, ok := w.vhloAttr(a); ok {
			w.needForm(attrForms[vhloDialect][v.code].name, vhlo.AttrSince(v.code))
			return w.encode(attrForms, v)
		}
	}
	if v, ok := w.attrForm(a, dialect); ok {
		return w.encode(attrForms, v)
	}
	if text, ok := a.(ir.Attr); ok {
		return w.textEntry(w.attrText(text))
	}
	w.refuse("attribute has no form: %T", a)
	return writtenEntry{}
}

// typ returns the index of a type, in the terms of a dialect.
func (w *writer) typ(id ir.TypeID, dialect string) int {
	key := typeKey{id, dialect == vhloDialect}
	i, ok := w.typeIndex[key]
	if !ok {
		i = w.types.add(w.typeEntry(id, key.vhlo))
		w.typeIndex[key] = i
	}
	return i
}

type typeKey struct {
	id   ir.TypeID
	vhlo bool
}
