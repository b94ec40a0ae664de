package mlir

import "autoshard/ir"

// ValueNames returns the name that Print gives each value, such as %arg0 or %3#1, by its id; "" for values of erased
// ops.
func ValueNames(m *ir.Module) []string {
	pr := newPrinter(m, nil)
	pr.numberModule(m.Body())
	out := make([]string, len(pr.names))
	for v := range out {
		if pr.names[v] != (valueName{}) {
			pr.out = pr.out[:0]
			pr.value(ir.ValueID(v))
			out[v] = string(pr.out)
		}
	}
	return out
}
