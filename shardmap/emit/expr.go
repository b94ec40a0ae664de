package emit

import (
	"strconv"
	"strings"

	"autoshard/internal/lists"
)

// An expr is a piece of a Python expression: text, or a bracketed list that may be broken into lines.
type expr struct {
	head  string // text, or what stands before the items, with the opening bracket
	items []*expr
	tail  string // the closing bracket and what follows it
	list  bool   // has items, perhaps none
	tuple bool   // one item alone needs a comma
}

// atom returns an expression that stays on one line.
func atom(text string) *expr { return &expr{head: text} }

// call returns fn(args...).
func call(fn string, args ...*expr) *expr {
	return &expr{head: fn + "(", items: args, tail: ")", list: true}
}

// keyword returns name=value as an argument.
func keyword(name string, value *expr) *expr {
	k := *value
	k.head = name + "=" + value.head
	return &k
}

// tuple returns (items...), with the comma that one item needs.
func tuple(items ...*expr) *expr {
	return &expr{head: "(", items: items, tail: ")", list: true, tuple: true}
}

// list returns [items...].
func list(items ...*expr) *expr { return &expr{head: "[", items: items, tail: "]", list: true} }

// method returns x.name(args...).
func method(x *expr, name string, args ...*expr) *expr {
	return call(x.String()+"."+name, args...)
}

// infix returns x sign y.
func infix(x *expr, sign string, y *expr) *expr {
	out := *y
	out.head = x.String() + " " + sign + " " + y.head
	return &out
}

// braces returns {items...}.
func braces(items ...*expr) *expr { return &expr{head: "{", items: items, tail: "}", list: true} }

func number(n int64) *expr { return atom(strconv.FormatInt(n, 10)) }

// ints returns a tuple of integers.
func ints(values []int64) *expr { return tuple(lists.Map(values, number)...) }

// truth returns True or False.
func truth(b bool) *expr {
	if b {
		return atom("True")
	}
	return atom("False")
}

// String returns the expression on one line.
func (x *expr) String() string {
	var b strings.Builder
	x.write(&b)
	return b.String()
}

func (x *expr) write(b *strings.Builder) {
	b.WriteString(x.head)
	for i, item := range x.items {
		if i > 0 {
			b.WriteString(", ")
		}
		item.write(b)
	}
	if x.tuple && len(x.items) == 1 {
		b.WriteByte(',')
	}
	b.WriteString(x.tail)
}

// lineLength is the width that lines are kept to, where they can be broken.
const lineLength = 100

// statement returns prefix, an expression and a comment as lines, broken as the formatter black does: whole where it
// fits, else the items of the outermost brackets on a line of their own, else one line for each.
func statement(indent int, prefix string, x *expr, suffix string) string {
	pad := strings.Repeat(" ", indent)
	flat := pad + prefix + x.String() + suffix
	if len(flat) <= lineLength || !x.list || len(x.items) == 0 {
		return flat + "\n"
	}
	out := pad + prefix + x.head + "\n"
	whole := strings.Repeat(" ", indent+4) + lists.Joined(x.items, (*expr).String)
	if x.tuple && len(x.items) == 1 {
		whole += ","
	}
	if len(whole) <= lineLength && (!x.tuple || len(x.items) == 1) {
		out += whole + "\n"
	} else {
		for _, item := range x.items {
			out += statement(indent+4, "", item, ",")
		}
	}
	return out + pad + x.tail + suffix + "\n"
}
