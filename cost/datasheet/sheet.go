package datasheet

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"

	"autoshard/internal/diag"
)

// Kind says how a value is known.
type Kind string

// The kinds. A value written plainly has none.
const (
	Nominal  Kind = "nominal"  // as its maker states it
	Measured Kind = "measured" // fitted to measurements
	Guessed  Kind = "guessed"  // assumed, for want of better
)

var kinds = []string{string(Nominal), string(Measured), string(Guessed)}

// Sheet is what a file says.
type Sheet struct {
	Values []Value // in the order of the file
	file   string
	text   []byte
}

// Value is a number or a word.
type Value struct {
	Path   string // names from the outside in, places in lists in brackets: levels[0].degree
	Text   string
	Kind   Kind   // "" where the file does not say
	Source string // "" where the file does not say
	line   int
	col    int
}

// maxSize and maxDepth bound what is read.
const (
	maxSize  = 1 << 20
	maxDepth = 8
)

// Extensions are those of the files that Read reads.
var Extensions = []string{".yaml", ".yml", ".toml", ".json"}

// Read reads a file, whose extension says its syntax.
func Read(file string, text []byte) (*Sheet, error) {
	s := &Sheet{file: file, text: text}
	if len(text) > maxSize {
		return nil, s.fail(nil, "the file has %s, more than %s", diag.Bytes(int64(len(text))), diag.Bytes(maxSize))
	}
	root, err := s.parse()
	if err != nil {
		return nil, err
	}
	if root.Kind != yaml.MappingNode {
		return nil, s.fail(root, "the file must be a table of names and values")
	}
	r := reader{sheet: s, sources: map[string]string{}}
	if err := r.readSources(root); err != nil {
		return nil, err
	}
	if err := r.table(root, "", provenance{}, 0); err != nil {
		return nil, err
	}
	return s, nil
}

func (s *Sheet) parse() (*yaml.Node, error) {
	switch ext := filepath.Ext(s.file); {
	case !slices.Contains(Extensions, ext):
		return nil, s.fail(nil, "file must end in .yaml, .yml, .toml or .json")
	case ext == ".toml":
		return s.parseTOML()
	}
	var document yaml.Node // JSON is YAML, too
	d := yaml.NewDecoder(bytes.NewReader(s.text))
	if err := d.Decode(&document); errors.Is(err, io.EOF) {
		return nil, s.fail(nil, "the file is empty")
	} else if err != nil {
		return nil, s.syntax(err)
	}
	var second yaml.Node
	if d.Decode(&second) == nil {
		return nil, s.fail(&second, "the file has a second document")
	}
	return document.Content[0], nil
}

// syntax finds the line in an error of the YAML reader, whose message begins with it.
func (s *Sheet) syntax(err error) error {
	message, at := strings.TrimPrefix(err.Error(), "yaml: "), yaml.Node{}
	if n, _ := fmt.Sscanf(message, "line %d:", &at.Line); n == 1 {
		_, message, _ = strings.Cut(message, ": ")
		at.Column = 1
	}
	return s.fail(&at, "%s", message)
}

// fail returns an error at a node, or about the whole file where there is none.
func (s *Sheet) fail(at *yaml.Node, format string, args ...any) *diag.Error {
	v := Value{}
	if at != nil {
		v.line, v.col = at.Line, at.Column
	}
	return s.Fail(v, format, args...)
}

// Fail returns an error about a value: where it stands in the file, and what is wrong with it.
func (s *Sheet) Fail(v Value, format string, args ...any) *diag.Error {
	e := diag.Invalid(diag.BadFile, diag.Position{File: s.file, Line: v.line, Col: v.col}, format, args...)
	e.Diagnostics[0].Source = diag.SourceLine(s.text, v.line)
	return e
}

// Find returns the value at a path, in any case.
func (s *Sheet) Find(path string) (Value, bool) {
	i := slices.IndexFunc(s.Values, func(v Value) bool { return strings.EqualFold(v.Path, path) })
	if i < 0 {
		return Value{}, false
	}
	return s.Values[i], true
}
