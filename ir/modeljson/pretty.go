package modeljson

import (
	"bytes"
	"strconv"

	"autoshard/internal/lists"
)

// lineWidth is the width of written models: what fits on a line of so many columns stays on one.
const lineWidth = 140

func text(s string) node    { return node{kind: stringKind, text: s} }
func number(v int64) node   { return node{kind: numberKind, text: strconv.FormatInt(v, 10)} }
func literal(s string) node { return node{kind: numberKind, text: s} }
func boolean(b bool) node   { return node{kind: boolKind, text: strconv.FormatBool(b)} }
func list(elems ...node) node {
	return node{kind: arrayKind, elems: elems}
}

// add appends a member to an object.
func (n *node) add(name string, v node) {
	n.keys = append(n.keys, key{name: name})
	n.elems = append(n.elems, v)
}

// each returns a list of what one makes of the elements of another.
func each[T any](from []T, one func(T) node) node {
	return node{kind: arrayKind, elems: lists.Map(from, one)}
}

func texts(list []string) node  { return each(list, text) }
func numbers(list []int64) node { return each(list, number) }

// object returns an object of one member.
func object(name string, v node) node {
	n := node{kind: objectKind}
	n.add(name, v)
	return n
}

// appendPretty appends the text of a value whose first character stands at a column, on a line with an indentation.
func appendPretty(b []byte, n *node, indent, column int) []byte {
	compound := (n.kind == objectKind || n.kind == arrayKind) && len(n.elems) > 0
	if !compound || fits(n, lineWidth-column) >= 0 {
		return appendCompact(b, n)
	}
	return appendExpanded(b, n, indent)
}

// fits returns how much of the room remains behind the value's compact form, or something negative if it is short.
func fits(n *node, room int) int {
	if n.expand && len(n.elems) > 1 {
		return -1
	}
	room -= len(n.text)
	if n.kind == stringKind || n.kind == objectKind || n.kind == arrayKind {
		room -= 2
	}
	for i := range n.elems {
		if room < 0 {
			return room
		}
		if n.keys != nil {
			room -= len(n.keys[i].name) + 4
		}
		if i > 0 {
			room -= 2
		}
		room = fits(&n.elems[i], room)
	}
	return room
}

// appendExpanded writes one element or member per line; scalars in arrays share lines.
func appendExpanded(b []byte, n *node, indent int) []byte {
	open, end := byte('['), byte(']')
	if n.kind == objectKind {
		open, end = '{', '}'
	}
	b = append(b, open)
	column := lineWidth
	for i := range n.elems {
		e := &n.elems[i]
		if n.kind == arrayKind && e.kind != objectKind && e.kind != arrayKind {
			scalar := appendCompact(nil, e)
			if column += len(scalar) + 2; column > lineWidth {
				b, column = newLine(b, indent+2), indent+2+len(scalar)+2
			} else {
				b = append(b, ' ')
			}
			b = append(b, scalar...)
		} else {
			b = newLine(b, indent+2)
			at := indent + 2
			if n.kind == objectKind {
				start := len(b)
				b = append(appendQuoted(b, n.keys[i].name), ": "...)
				at += len(b) - start
			}
			b = appendPretty(b, e, indent+2, at+1)
		}
		if i < len(n.elems)-1 {
			b = append(b, ',')
		}
	}
	return append(newLine(b, indent), end)
}

func newLine(b []byte, indent int) []byte {
	b = append(b, '\n')
	return append(b, bytes.Repeat([]byte{' '}, indent)...)
}

func appendCompact(b []byte, n *node) []byte {
	switch n.kind {
	case stringKind:
		return appendQuoted(b, n.text)
	case objectKind:
		b = append(b, '{')
		for i := range n.elems {
			if i > 0 {
				b = append(b, ", "...)
			}
			b = append(appendQuoted(b, n.keys[i].name), ": "...)
			b = appendCompact(b, &n.elems[i])
		}
		return append(b, '}')
	case arrayKind:
		b = append(b, '[')
		for i := range n.elems {
			if i > 0 {
				b = append(b, ", "...)
			}
			b = appendCompact(b, &n.elems[i])
		}
		return append(b, ']')
	}
	return append(b, n.text...)
}

// appendQuoted appends a JSON string. Bytes that are not UTF-8 cannot occur: texts of programs are escaped there.
func appendQuoted(b []byte, s string) []byte {
	const hex = "0123456789abcdef"
	b = append(b, '"')
	for i := range len(s) {
		switch c := s[i]; {
		case c == '"' || c == '\\':
			b = append(b, '\\', c)
		case c == '\n':
			b = append(b, `\n`...)
		case c == '\t':
			b = append(b, `\t`...)
		case c < ' ' || c == 0x7f:
			b = append(b, `\u00`...)
			b = append(b, hex[c>>4], hex[c&15])
		default:
			b = append(b, c)
		}
	}
	return append(b, '"')
}
