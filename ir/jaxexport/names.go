package jaxexport

import (
	"strconv"
	"strings"
)

// maxNames bounds how many leaves of a tree get names.
const maxNames = 1 << 20

// InputNames returns the names of the leaves of the tree of inputs as JAX writes them: args[0]['w'], kwargs['x'].
// Children of nodes that users registered are counted, as JAX does where it knows no better: args[0][<flat index 1>].
func (t *Tree) InputNames() []string {
	if t == nil || t.Kind != Tuple || len(t.Children) != 2 {
		return t.leafNames(nil, "")
	}
	return t.Children[1].leafNames(t.Children[0].leafNames(nil, "args"), "kwargs")
}

func (t *Tree) leafNames(out []string, path string) []string {
	if t == nil || len(out) >= maxNames {
		return out
	}
	if t.Kind == Leaf {
		return append(out, path)
	}
	for i, c := range t.Children {
		key := "[" + strconv.Itoa(i) + "]"
		switch {
		case t.Kind == Dict && i < len(t.Names):
			key = "[" + quoted(t.Names[i]) + "]"
		case t.Kind == Custom:
			key = "[<flat index " + strconv.Itoa(i) + ">]"
		}
		out = c.leafNames(out, path+key)
	}
	return out
}

// quoted returns a string as Python writes it.
func quoted(s string) string {
	if strings.Contains(s, "'") && !strings.Contains(s, `"`) {
		return `"` + s + `"`
	}
	return "'" + strings.NewReplacer(`\`, `\\`, "'", `\'`).Replace(s) + "'"
}
