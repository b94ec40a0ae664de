package modeljson

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"slices"
	"sort"
	"strconv"
	"strings"
	"unicode/utf8"

	"autoshard/internal/diag"
	"autoshard/ir"
)

// maxDiagnostics bounds how many problems of one model are reported.
const maxDiagnostics = 20

// maxInput bounds the size of a model's text in bytes.
const maxInput = 1 << 30

// reader turns nodes into a module. Problems are collected; what depends on a broken part is passed over.
type reader struct {
	ctx      context.Context
	m        *ir.Module
	file     string
	src      []byte
	lines    []int // offsets of line starts
	problems []diag.Diagnostic
	class    error
	funcs    map[string]*function
	depth    int                   // of calls whose functions are being read
	in       ir.BlockID            // the body of the nested module at hand, 0 in the outermost one
	labels   map[string]ir.BlockID // of the blocks of the region at hand
}

// Read reads a model from JSON text; file names it in errors. The errors are of class diag.ErrInvalid, or
// diag.ErrTooLarge for what exceeds a limit, with the line and column of every problem found; or they are the context's.
func Read(ctx context.Context, src []byte, file string) (*ir.Module, error) {
	r := &reader{ctx: ctx, m: ir.NewModule(), file: file, src: src, class: diag.ErrInvalid, funcs: map[string]*function{}}
	r.lines = append(r.lines, 0)
	for i, c := range src {
		if c == '\n' {
			r.lines = append(r.lines, i+1)
		}
	}
	if root, ok := r.parse(); ok {
		r.m.SetSource(file, string(src))
		r.model(&root)
	}
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	if len(r.problems) > 0 {
		return nil, &diag.Error{Class: r.class, Diagnostics: r.problems}
	}
	if err := ir.Verify(ctx, r.m); err != nil {
		return nil, err
	}
	return r.m, nil
}

func (r *reader) parse() (node, bool) {
	switch {
	case len(r.src) > maxInput:
		r.class = diag.ErrTooLarge
		r.fail(0, diag.InputTooLarge, "model has %s, the limit is %s", diag.Bytes(int64(len(r.src))), diag.Bytes(maxInput))
	case len(bytes.TrimSpace(r.src)) == 0:
		r.fail(0, diag.EmptyInput, "model is empty: expected a JSON object with \"schema\": %q", Schema)
	case bytes.IndexByte(r.src, 0) >= 0:
		r.fail(bytes.IndexByte(r.src, 0), diag.NotText, "model is not JSON text: it contains a zero byte")
	case !utf8.Valid(r.src):
		r.fail(invalidByte(r.src), diag.NotText, "model is not JSON text: it is not valid UTF-8")
	default:
		root, err := parse(r.ctx, r.src)
		var syntax *syntaxError
		if !errors.As(err, &syntax) {
			return root, err == nil
		}
		if syntax.deep {
			r.class = diag.ErrTooLarge
			r.fail(syntax.at, diag.NestingTooDeep, "%s", syntax.message)
		} else {
			r.fail(syntax.at, diag.Syntax, "%s", syntax.message)
		}
	}
	return node{}, false
}

func invalidByte(src []byte) int {
	for i := 0; i < len(src); {
		c, size := utf8.DecodeRune(src[i:])
		if c == utf8.RuneError && size <= 1 {
			return i
		}
		i += size
	}
	return 0
}

// pos returns the place of an offset; columns count bytes from 1.
func (r *reader) pos(at int) diag.Position {
	line := sort.SearchInts(r.lines, at+1)
	return diag.Position{File: r.file, Line: line, Col: at - r.lines[line-1] + 1}
}

// sourceLine returns the text of a line, counted from 1, without its end.
func (r *reader) sourceLine(line int) string {
	if line < 1 || line > len(r.lines) {
		return ""
	}
	end := len(r.src)
	if line < len(r.lines) {
		end = r.lines[line] - 1
	}
	return strings.TrimSuffix(string(r.src[r.lines[line-1]:end]), "\r")
}

// fail records a problem at an offset.
func (r *reader) fail(at int, code diag.Code, format string, args ...any) {
	if len(r.problems) >= maxDiagnostics {
		return
	}
	pos, message := r.pos(at), fmt.Sprintf(format, args...)
	if slices.ContainsFunc(r.problems, func(d diag.Diagnostic) bool { return d.Pos == pos && d.Message == message }) {
		return // a part that is read twice
	}
	r.problems = append(r.problems, diag.Diagnostic{Code: code, Pos: pos, Message: message, Source: r.sourceLine(pos.Line)})
}

// failWith records the problems of an error that a reader of a part found.
func (r *reader) failWith(at int, err error) {
	var located *diag.Error
	if !errors.As(err, &located) {
		r.fail(at, diag.BadModel, "%s", err)
		return
	}
	for _, d := range located.Diagnostics {
		r.fail(at, d.Code, "%s", d.Message)
	}
}

// object checks that a node is an object with no other fields than those listed.
func (r *reader) object(n *node, what string, fields ...string) bool {
	if n.kind != objectKind {
		r.fail(n.at, diag.BadModel, "%s must be an object, found %s", what, n.kind)
		return false
	}
	for i, k := range n.keys {
		if !slices.Contains(fields, k.name) {
			r.fail(k.at, diag.UnknownField, "unknown field %q in %s%s", k.name, what, hint(k.name, fields))
		} else if n.elems[i].kind == nullKind {
			r.fail(n.elems[i].at, diag.BadModel, "field %q is null: leave it out instead", k.name)
		}
	}
	return true
}

// str returns the text of an optional string field.
func (r *reader) str(n *node, field string) string {
	v := n.get(field)
	if v == nil || !r.is(v, stringKind, field) {
		return ""
	}
	return v.text
}

// flag returns the value of an optional boolean field.
func (r *reader) flag(n *node, field string) bool {
	v := n.get(field)
	return v != nil && r.is(v, boolKind, field) && v.text == "true"
}

// array returns the elements of an optional array field.
func (r *reader) array(n *node, field string) []node {
	v := n.get(field)
	if v == nil || !r.is(v, arrayKind, field) {
		return nil
	}
	return v.elems
}

func (r *reader) is(v *node, k kind, field string) bool {
	if v.kind == k {
		return true
	}
	if v.kind != nullKind { // reported by object
		r.fail(v.at, diag.BadModel, "field %q must be %s, found %s", field, k, v.kind)
	}
	return false
}

// integer returns a whole number within bounds.
func (r *reader) integer(v *node, what string, low, high int64) (int64, bool) {
	i, ok := int64(0), v.kind == numberKind
	if ok {
		i, ok = wholeNumber(v.text)
	}
	if !ok {
		r.fail(v.at, diag.BadModel, "%s must be a whole number", what)
		return 0, false
	}
	if i < low || i > high {
		r.fail(v.at, diag.BadModel, "%s is %d, it must be between %d and %d", what, i, low, high)
		return 0, false
	}
	return i, true
}

// wholeNumber reads the text of a JSON number that stands for an integer, such as 12 or 1e3.
func wholeNumber(text string) (int64, bool) {
	if i, err := strconv.ParseInt(text, 10, 64); err == nil {
		return i, true
	}
	f, err := strconv.ParseFloat(text, 64)
	if err != nil || f < -1<<53 || f > 1<<53 || f != float64(int64(f)) {
		return 0, false
	}
	return int64(f), true
}

// hint returns ": did you mean ...?" for the nearest of the known names, or nothing if none is near.
func hint(name string, known []string) string {
	if nearest := diag.Nearest(name, known); nearest != "" {
		return fmt.Sprintf(": did you mean %q?", nearest)
	}
	return ""
}
