package autoshard

import (
	"strings"

	"autoshard/ir/names"
)

// dropped returns the leaves of the exported function's arguments that the program does not take, because the function
// does not use them; none where that is not known, as in texts. It is never nil. A leaf of an argument that has others is called as they
// are, params['w'], and like its place in the tree of the inputs otherwise, args[1].
func (m *Model) dropped() []string {
	main, ok := m.module.Main()
	if m.export == nil || !ok {
		return []string{}
	}
	leaves, args := m.export.InTree.InputNames(), names.Args(m.module, main)
	added := len(args.Names) - len(m.export.KeptInputs) // tokens and global constants come first
	called := map[string]string{}                       // by args[0]: what the function calls its argument
	kept := make([]bool, len(leaves))
	for i, leaf := range m.export.KeptInputs {
		if added < 0 || int(leaf) >= len(leaves) {
			return []string{}
		}
		kept[leaf] = true
		argument, path := cutArgument(leaves[leaf])
		if name, ok := strings.CutSuffix(args.Name(added+i), path); ok && name != "" {
			called[argument] = name
		}
	}
	out := []string{}
	for i, leaf := range leaves {
		argument, path := cutArgument(leaf)
		if name := called[argument]; name != "" {
			leaf = name + path
		}
		if !kept[i] {
			out = append(out, leaf)
		}
	}
	return out
}

// cutArgument cuts args[0]['w'] into args[0] and ['w'].
func cutArgument(leaf string) (argument, path string) {
	segments := names.Segments(leaf)
	n := min(2, len(segments))
	return strings.Join(segments[:n], ""), strings.Join(segments[n:], "")
}
