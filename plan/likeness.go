package plan

import (
	"fmt"
	"slices"
	"strings"
	"unicode"

	"autoshard/internal/lists"
	"autoshard/ir"
	"autoshard/ir/names"
)

// likeness is which inputs are alike: those that readers of a plan expect to be cut alike.
type likeness struct {
	names  []string // of all inputs
	batch  [][]int  // that count the same examples
	layers [][]int  // of equal layers: of one type, one name but for its numbers, and in a layer whose other inputs are of the same types
	states [][2]int // a parameter, and what an optimizer keeps of it
}

// likenessIn groups the inputs of a module, some of which results replace.
func likenessIn(m *ir.Module, state []int) *likeness {
	main, _ := m.Main()
	args := m.BlockArgs(m.MainFunc().Body)
	ports := names.Args(m, main)
	a := &likeness{names: ports.Names}
	var batch, named, kept []int
	if slices.ContainsFunc(state, func(i int) bool { return i >= 0 }) || hasRoles(m.MainFunc()) { // else weights may look like a batch
		for _, v := range batchInputs(m) {
			batch = append(batch, m.Index(v))
		}
	}
	for i, v := range args {
		if len(m.Shape(v)) > 0 && ports.Given[i] {
			named = append(named, i)
		}
		if len(m.Shape(v)) > 0 && slices.Contains(state, i) {
			kept = append(kept, i)
		}
	}
	a.batch = groupBy(batch, func(i int) int64 { return m.Shape(args[i])[0] })
	types := layerTypes(named, a.names, func(i int) ir.TypeID { return m.Type(args[i]) })
	type family struct {
		name, types string
		t           ir.TypeID
	}
	a.layers = groupBy(named, func(i int) family {
		return family{withoutNumbers(a.names[i]), types[layerOf(a.names[i])], m.Type(args[i])}
	})
	params := lists.Filter(kept, func(i int) bool { return !updated(m, args[i]) })
	of := func(i int) int { return parameterOf(a.names[i], params, a.names) }
	for _, i := range kept {
		if p := of(i); p >= 0 && updated(m, args[i]) && m.Type(args[p]) == m.Type(args[i]) {
			a.states = append(a.states, [2]int{p, i})
		}
	}
	return a
}

// layerOf returns a name up to its first number, which the inputs of a layer share.
func layerOf(name string) string {
	if at := strings.IndexFunc(name, unicode.IsDigit); at >= 0 {
		end := at + strings.IndexFunc(name[at:]+"]", func(r rune) bool { return !unicode.IsDigit(r) })
		return name[:end]
	}
	return ""
}

// layerTypes returns what the inputs of each layer are called behind its number, with their types.
func layerTypes(inputs []int, names []string, t func(int) ir.TypeID) map[string]string {
	out := map[string]string{}
	for _, i := range inputs {
		layer := layerOf(names[i])
		out[layer] += fmt.Sprintf("%s %d\n", names[i][len(layer):], t(i))
	}
	return out
}

// groupBy returns the inputs by a key, each group and all groups in the order of the inputs.
func groupBy[K comparable](inputs []int, key func(int) K) (out [][]int) {
	at := map[K]int{}
	for _, i := range inputs {
		k := key(i)
		n, ok := at[k]
		if !ok {
			n = len(out)
			at[k], out = n, append(out, nil)
		}
		out[n] = append(out[n], i)
	}
	return out
}

// parameterOf returns the parameter whose name behind its first part ends a name, as that of params['w'] ends opt_state[0].mu['w']; -1 for
// none.
func parameterOf(name string, params []int, names []string) int {
	best, longest := -1, 0
	for _, p := range params {
		if tail := behindRoot(names[p]); len(tail) > longest && strings.HasSuffix(name, tail) {
			best, longest = p, len(tail)
		}
	}
	return best
}

// behindRoot returns a name without its first part.
func behindRoot(name string) string {
	if s := names.Segments(name); len(s) > 1 {
		return strings.Join(s[1:], "")
	}
	return ""
}

// withoutNumbers returns a name with stars for digits, which is the same for equal layers.
func withoutNumbers(name string) string {
	return strings.Map(func(r rune) rune {
		if unicode.IsDigit(r) {
			return '*'
		}
		return r
	}, name)
}
