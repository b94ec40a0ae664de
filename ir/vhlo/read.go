package vhlo

import (
	"fmt"

	"autoshard/ir"
)

// ToStableHLO returns the op of StableHLO or func that an op of VHLO stands for: its full name and its attributes.
// Fields are those of the op, whose values stand for those of the representation. Errors say what is wrong.
func ToStableHLO(m *ir.Module, name string, fields ir.Attrs) (string, ir.Attrs, error) {
	if _, ok := Lookup(name); !ok {
		return "", nil, fmt.Errorf("unknown operation 'vhlo.%s': the artifact is newer than version %s, or wrong", name, Newest)
	}
	return "stablehlo." + name, fields, nil
}
