package notation

import (
	"slices"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"autoshard/internal/diag"
	"autoshard/internal/lists"
	"autoshard/ir/dtype"
	"autoshard/subaxis"
)

// maxLength bounds a text.
const maxLength = 4096

// parser reads a text from left to right. File names it in errors.
type parser struct {
	file, text string
	at         int
	mesh       *subaxis.Mesh
}

// ParseArray reads an array. Errors are of class diag.ErrInvalid, and their columns count bytes of the text, which file names.
func ParseArray(file, text string, mesh *subaxis.Mesh) (*Array, error) {
	p := parser{file: file, text: text, mesh: mesh}
	a, err := p.array()
	if err == nil {
		err = p.end()
	}
	return a, err
}

// ParseProduct reads a product of two arrays.
func ParseProduct(file, text string, mesh *subaxis.Mesh) (*Product, error) {
	p := parser{file: file, text: text, mesh: mesh}
	a, err := p.array()
	if err != nil {
		return nil, err
	}
	if !p.takeOneOf("·", "⋅", "×", "*", "@") {
		return nil, p.fail("a product such as A[I, J] · B[J, K] -> C[I, K] needs a `·` or a `*` here")
	}
	b, err := p.array()
	if err != nil {
		return nil, err
	}
	out := &Product{A: *a, B: *b}
	if p.takeArrow() {
		if out.C, err = p.array(); err != nil {
			return nil, err
		}
	}
	return out, p.end()
}

// ParseMove reads an array before and after: A[I_X, J] -> A[I, J_X].
func ParseMove(file, text string, mesh *subaxis.Mesh) (from, to *Array, err error) {
	p := parser{file: file, text: text, mesh: mesh}
	if from, err = p.array(); err != nil {
		return nil, nil, err
	}
	if !p.takeArrow() {
		return nil, nil, p.fail("an array before and after, such as A[I_X, J] -> A[I, J_X], needs a `->` here")
	}
	if to, err = p.array(); err != nil {
		return nil, nil, err
	}
	return from, to, p.end()
}

// ParseAxes reads axes of the mesh: X, XY or data,model.
func ParseAxes(file, text string, mesh *subaxis.Mesh) ([]subaxis.Ref, error) {
	p := parser{file: file, text: text, mesh: mesh}
	axes, err := p.list(true, nil)
	if err == nil {
		err = p.end()
	}
	return axes, err
}

func (p *parser) takeArrow() bool { return p.takeOneOf("->", "→", "=>") }

func (p *parser) fail(format string, args ...any) error {
	return p.failAt(p.at, diag.Syntax, format, args...)
}

func (p *parser) failAt(at int, code diag.Code, format string, args ...any) error {
	e := diag.Invalid(code, diag.Position{File: p.file, Line: 1, Col: at + 1}, format, args...)
	e.Diagnostics[0].Source = p.text
	return e
}

func (p *parser) skip() {
	for p.at < len(p.text) && strings.ContainsRune(" \t\n", rune(p.text[p.at])) {
		p.at++
	}
}

// takeOneOf skips space and takes the first of some words that follows.
func (p *parser) takeOneOf(words ...string) bool {
	p.skip()
	for _, w := range words {
		if strings.HasPrefix(p.text[p.at:], w) {
			p.at += len(w)
			return true
		}
	}
	return false
}

func (p *parser) end() error {
	if p.skip(); p.at < len(p.text) {
		return p.fail("unexpected %q", p.text[p.at:])
	}
	return nil
}

// word takes a name: letters, digits and primes.
func (p *parser) word() string {
	p.skip()
	start := p.at
	for p.at < len(p.text) {
		r, size := utf8.DecodeRuneInString(p.text[p.at:])
		if !unicode.IsLetter(r) && !unicode.IsDigit(r) && r != '\'' {
			break
		}
		p.at += size
	}
	return p.text[start:p.at]
}

// array takes one array.
func (p *parser) array() (*Array, error) {
	if len(p.text) > maxLength {
		return nil, p.fail("the text has %d bytes, more than %d", len(p.text), maxLength)
	}
	a := &Array{}
	p.skip()
	a.col = p.at
	if a.Name = p.word(); a.Name == "" {
		return nil, p.fail("an array begins with its name or its type, such as A[I, J] or bf16[I, J]")
	}
	a.DType, _ = ParseType(a.Name)
	if !p.takeOneOf("[") {
		return nil, p.fail("the dimensions of %q must follow in brackets, such as %s[I, J]", a.Name, a.Name)
	}
	for first := true; !p.takeOneOf("]"); first = false {
		if !first && !p.takeOneOf(",") {
			return nil, p.fail("a `,` or a `]` must follow a dimension")
		}
		if err := p.dim(a); err != nil {
			return nil, err
		}
	}
	return a, p.unreduced(a)
}

// dim takes a dimension, such as I_XY.
func (p *parser) dim(a *Array) (err error) {
	p.skip()
	d := Dim{col: p.at}
	if d.Name = p.word(); d.Name == "" {
		return p.fail("a dimension is a name or a number, with axes behind a `_`, such as I_X")
	}
	if d.Size, err = size(d.Name); err != nil {
		return p.failAt(d.col, diag.TypeMismatch, "size %q must be a whole number from 1 to %d", d.Name, int64(maxSize))
	}
	if d.Size == 0 && a.Find(d.Name) != nil {
		return p.failAt(d.col, diag.TypeMismatch, "%q has the dimension %q twice", a.Name, d.Name)
	}
	if p.takeOneOf("_") {
		if d.Axes, err = p.axes(a.Axes()); err != nil {
			return err
		}
	}
	a.Dims = append(a.Dims, d)
	return nil
}

// maxSize bounds a dimension, so that operations and bytes of products are numbers.
const maxSize = 1 << 40

// size returns the number that a name is, 0 where it does not begin with a digit.
func size(name string) (int64, error) {
	if name[0] < '0' || name[0] > '9' {
		return 0, nil
	}
	n, err := strconv.ParseInt(name, 10, 64)
	if err == nil && (n < 1 || n > maxSize) {
		err = strconv.ErrRange
	}
	return n, err
}

// unreduced takes {U_X}, where it follows.
func (p *parser) unreduced(a *Array) (err error) {
	if !p.takeOneOf("{") {
		return nil
	}
	if !p.takeOneOf("U_") {
		return p.fail("partial sums are written {U_X}")
	}
	if a.Unreduced, err = p.axes(a.Axes()); err != nil {
		return err
	}
	if !p.takeOneOf("}") {
		return p.fail("a `}` must end what is unreduced")
	}
	return nil
}

// axes takes the axes behind a `_`, none of which may be among those that the array has already.
func (p *parser) axes(used []subaxis.Ref) ([]subaxis.Ref, error) {
	braces := p.takeOneOf("{")
	axes, err := p.list(braces, used)
	if err == nil && braces && !p.takeOneOf("}") {
		err = p.fail("a `}` must end the axes")
	}
	return axes, err
}

// list takes axes, one behind the other, or with commas between them.
func (p *parser) list(commas bool, used []subaxis.Ref) (axes []subaxis.Ref, err error) {
	for more := true; more; more = commas && p.takeOneOf(",") {
		p.skip()
		at := p.at
		for _, name := range p.split(p.word()) {
			r, err := p.axis(at, name, slices.Concat(used, axes))
			if err != nil {
				return nil, err
			}
			axes = append(axes, r)
			at += len(name)
		}
	}
	if len(axes) == 0 {
		return nil, p.fail("an axis of the mesh is missing")
	}
	return axes, nil
}

// axis returns the axis of a name that stands at a byte of the text.
func (p *parser) axis(at int, name string, used []subaxis.Ref) (subaxis.Ref, error) {
	r, ok := p.mesh.Lookup(name)
	if !ok {
		known := lists.Map(p.mesh.Axes, func(a subaxis.Axis) string { return a.Name })
		return r, p.failAt(at, diag.UnknownAxis, "the mesh has no axis %q%s", name, diag.DidYouMean(name, known))
	}
	if slices.Contains(used, r) {
		return r, p.failAt(at, diag.DuplicateAxis, "axis %q is used twice in one array: only blocks of its diagonal would be there", name)
	}
	return r, nil
}

// split cuts a word into names of axes, the longest that fit first: XY is X and Y where no axis is called so.
func (p *parser) split(word string) (names []string) {
	for rest := word; rest != ""; {
		longest := ""
		for _, a := range p.mesh.Axes {
			if strings.HasPrefix(rest, a.Name) && len(a.Name) > len(longest) {
				longest = a.Name
			}
		}
		if longest == "" {
			return append(names, rest)
		}
		names, rest = append(names, longest), rest[len(longest):]
	}
	return names
}

// typeNames are what people call types beside their names in MLIR.
var typeNames = map[string]dtype.Type{"fp64": dtype.F64, "fp32": dtype.F32, "float32": dtype.F32, "fp16": dtype.F16, "bfloat16": dtype.BF16,
	"fp8": dtype.F8E4M3FN, "f8": dtype.F8E4M3FN, "int8": dtype.I8, "int4": dtype.I4, "int32": dtype.I32, "fp4": dtype.F4E2M1FN}

// ParseType reads the name of an element type as MLIR or as people write it.
func ParseType(name string) (dtype.Type, bool) {
	if t, ok := typeNames[name]; ok {
		return t, true
	}
	return dtype.Parse(name)
}
