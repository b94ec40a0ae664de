package datasheet

import (
	"bytes"
	"errors"
	"strings"

	"github.com/pelletier/go-toml/v2"
	"github.com/pelletier/go-toml/v2/unstable"
	"go.yaml.in/yaml/v3"
)

// parseTOML reads TOML into the tree that YAML has. The library's decoder checks the syntax, its parser says where things stand.
func (s *Sheet) parseTOML() (*yaml.Node, error) {
	var checked map[string]any
	if err := toml.Unmarshal(s.text, &checked); err != nil {
		at := yaml.Node{}
		var e *toml.DecodeError
		if errors.As(err, &e) {
			at.Line, at.Column = e.Position()
		}
		return nil, s.fail(&at, "%s", strings.TrimPrefix(err.Error(), "toml: "))
	}
	root := &yaml.Node{Kind: yaml.MappingNode, Line: 1, Column: 1}
	t := tomlTree{}
	t.parser.Reset(s.text)
	table := root
	for t.parser.NextExpression() {
		switch e := t.parser.Expression(); e.Kind {
		case unstable.Table:
			table = t.descend(root, t.keys(e))
		case unstable.ArrayTable:
			keys := t.keys(e)
			last := len(keys) - 1
			list := t.entry(t.descend(root, keys[:last]), keys[last], yaml.SequenceNode)
			table = &yaml.Node{Kind: yaml.MappingNode, Line: keys[last].Line, Column: keys[last].Column}
			list.Content = append(list.Content, table)
		case unstable.KeyValue:
			t.add(table, e)
		}
	}
	return root, nil
}

// tomlTree builds the tree.
type tomlTree struct{ parser unstable.Parser }

// keys returns the parts of a dotted name, with their places.
func (t *tomlTree) keys(n *unstable.Node) (keys []*yaml.Node) {
	for it := n.Key(); it.Next(); {
		key := it.Node()
		before := t.parser.Data()[:key.Raw.Offset]
		keys = append(keys, &yaml.Node{Kind: yaml.ScalarNode, Value: string(key.Data), Line: 1 + bytes.Count(before, []byte("\n")),
			Column: len(before) - bytes.LastIndexByte(before, '\n')})
	}
	return keys
}

// entry returns the list or table of a name in a table, a new one where there is none.
func (t *tomlTree) entry(table, key *yaml.Node, kind yaml.Kind) *yaml.Node {
	for i := 0; i+1 < len(table.Content); i += 2 {
		if table.Content[i].Value == key.Value {
			return table.Content[i+1]
		}
	}
	made := &yaml.Node{Kind: kind, Line: key.Line, Column: key.Column}
	table.Content = append(table.Content, key, made)
	return made
}

// descend returns the table at the end of a dotted name. A list on the way stands for its last table.
func (t *tomlTree) descend(table *yaml.Node, keys []*yaml.Node) *yaml.Node {
	for _, key := range keys {
		table = t.entry(table, key, yaml.MappingNode)
		if table.Kind == yaml.SequenceNode {
			table = table.Content[len(table.Content)-1]
		}
	}
	return table
}

// add adds a name and its value to a table.
func (t *tomlTree) add(table *yaml.Node, n *unstable.Node) {
	keys := t.keys(n)
	last := keys[len(keys)-1]
	table = t.descend(table, keys[:len(keys)-1])
	table.Content = append(table.Content, last, t.value(n.Value(), last))
}

// value returns what a name stands for; its place is that of the name.
func (t *tomlTree) value(n *unstable.Node, at *yaml.Node) *yaml.Node {
	out := &yaml.Node{Kind: yaml.ScalarNode, Value: string(n.Data), Line: at.Line, Column: at.Column}
	switch n.Kind {
	case unstable.Array:
		out.Kind = yaml.SequenceNode
		for it := n.Children(); it.Next(); {
			out.Content = append(out.Content, t.value(it.Node(), at))
		}
	case unstable.InlineTable:
		out.Kind = yaml.MappingNode
		for it := n.Children(); it.Next(); {
			t.add(out, it.Node())
		}
	case unstable.Integer, unstable.Float:
		out.Value = strings.ReplaceAll(out.Value, "_", "")
	}
	return out
}
