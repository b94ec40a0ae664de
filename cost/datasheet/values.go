package datasheet

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"

	"autoshard/internal/diag"
)

// provenance is what a value says of itself, and what holds for all parts of a list.
type provenance struct {
	kind   Kind
	source string
}

// reader turns the tree of a file into its values.
type reader struct {
	sheet   *Sheet
	sources map[string]string // by name
}

// sourcesKey is the entry that gives sources short names.
const sourcesKey = "sources"

// readSources reads the names of sources, which values may use before and after.
func (r *reader) readSources(root *yaml.Node) error {
	for i := 0; i+1 < len(root.Content); i += 2 {
		if !strings.EqualFold(root.Content[i].Value, sourcesKey) {
			continue
		}
		list := root.Content[i+1]
		if list.Kind != yaml.MappingNode {
			return r.sheet.fail(list, "`%s` must be a table of names and texts", sourcesKey)
		}
		for j := 0; j+1 < len(list.Content); j += 2 {
			name, text := list.Content[j], list.Content[j+1]
			if _, twice := r.sources[name.Value]; twice {
				return r.sheet.fail(name, "source %q is given twice", name.Value)
			}
			if text.Kind != yaml.ScalarNode {
				return r.sheet.fail(text, "source %q must be a text", name.Value)
			}
			r.sources[name.Value] = text.Value
		}
	}
	return nil
}

// table adds the values of a table whose names begin with a path.
func (r *reader) table(n *yaml.Node, path string, p provenance, depth int) error {
	seen := map[string]bool{}
	for i := 0; i+1 < len(n.Content); i += 2 {
		key, inner := n.Content[i], n.Content[i+1]
		if key.Kind != yaml.ScalarNode {
			return r.sheet.fail(key, "a name must be a word")
		}
		if folded := strings.ToLower(key.Value); seen[folded] {
			return r.sheet.fail(key, "%q is given twice", key.Value)
		} else {
			seen[folded] = true
		}
		if path == "" && strings.EqualFold(key.Value, sourcesKey) {
			continue
		}
		name := key.Value
		if path != "" {
			name = path + "." + name
		}
		if err := r.value(inner, name, p, depth+1); err != nil {
			return err
		}
	}
	return nil
}

// value adds what stands at a path.
func (r *reader) value(n *yaml.Node, path string, p provenance, depth int) error {
	if depth > maxDepth {
		return r.sheet.fail(n, "`%s` lies deeper than %d tables and lists", path, maxDepth)
	}
	switch n.Kind {
	case yaml.ScalarNode:
		r.sheet.Values = append(r.sheet.Values, Value{path, n.Value, p.kind, p.source, n.Line, n.Column})
		return nil
	case yaml.SequenceNode:
		for i, item := range n.Content {
			if err := r.value(item, fmt.Sprintf("%s[%d]", path, i), p, depth+1); err != nil {
				return err
			}
		}
		return nil
	case yaml.MappingNode:
		if inner, p, err := r.provenance(n, path); inner != nil || err != nil {
			if err != nil {
				return err
			}
			return r.value(inner, path, p, depth+1)
		}
		return r.table(n, path, p, depth)
	}
	return r.sheet.fail(n, "`%s` is an alias, write the value itself", path)
}

// provenance reads {value, kind, source}. The first result is nil for a table that is none of these.
func (r *reader) provenance(n *yaml.Node, path string) (value *yaml.Node, p provenance, err error) {
	isValue := func(i int) bool { return strings.EqualFold(n.Content[i].Value, "value") }
	at := 0
	for at < len(n.Content) && !isValue(at) {
		at += 2
	}
	if at >= len(n.Content) {
		return nil, p, nil
	}
	for i := 0; i+1 < len(n.Content); i += 2 {
		key, inner := n.Content[i], n.Content[i+1]
		switch strings.ToLower(key.Value) {
		case "value":
			if i != at {
				return nil, p, r.sheet.fail(key, "%q is given twice", key.Value)
			}
		case "kind":
			if !slices.Contains(kinds, inner.Value) {
				return nil, p, r.sheet.fail(inner, "`kind` of `%s` must be one of %s, not %q%s", path, strings.Join(kinds, ", "), inner.Value,
					diag.DidYouMean(inner.Value, kinds))
			}
			p.kind = Kind(inner.Value)
		case "source":
			text, ok := r.sources[inner.Value]
			if !ok {
				return nil, p, r.sheet.fail(inner, "source %q of `%s` is not listed in `%s`%s", inner.Value, path, sourcesKey,
					diag.DidYouMean(inner.Value, slices.Sorted(maps.Keys(r.sources))))
			}
			p.source = text
		default:
			return nil, p, r.sheet.fail(key, "%q of `%s` is none of value, kind and source", key.Value, path)
		}
	}
	return n.Content[at+1], p, nil
}
