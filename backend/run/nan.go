package run

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"autoshard/backend/interp"
	"autoshard/backend/tensor"
	"autoshard/internal/diag"
	"autoshard/ir"
	"autoshard/ir/dtype"
)

// NoNaNs is an Observer that ends a run with a diag.ErrFinding at the first op that makes elements that are NaN of operands that have none.
// Constants may have some: programs fill with them what nobody should read.
func NoNaNs(m *ir.Module, _ int, s *interp.Step) error {
	if len(s.Operands) == 0 || slices.ContainsFunc(s.Operands, func(t tensor.Tensor) bool { n, _ := nans(t); return n > 0 }) {
		return nil
	}
	for _, t := range s.Results {
		n, first := nans(t)
		if n == 0 {
			continue
		}
		return diag.Finding(diag.NotANumber, diag.Position{}, "%s; its operands have none", nanText(t, n, first))
	}
	return nil
}

// NoNaNInputs returns a diag.ErrInvalid for the first input with elements that are NaN.
func NoNaNInputs(inputs []*tensor.Tensor) error {
	for i, t := range inputs {
		if n, first := nans(*t); n > 0 {
			return diag.Invalid(diag.NotANumber, diag.Position{}, "input %d: %s", i, nanText(*t, n, first))
		}
	}
	return nil
}

func nanText(t tensor.Tensor, n, first int) string {
	return fmt.Sprintf("%d of %d elements of %s are NaN, the first at %s", n, t.Len(), dtype.Format(t.DType, t.Shape),
		strings.ReplaceAll(fmt.Sprint(tensor.Unravel(int64(first), t.Shape)), " ", ", "))
}

// nans counts the elements that are NaN, complex numbers with such a part, and returns the first.
func nans(t tensor.Tensor) (n, first int) {
	switch t.DType.Kind() {
	case dtype.Float:
	case dtype.Complex:
		n, first = nans(tensor.Real(t))
		if m, at := nans(tensor.Imag(t)); n == 0 {
			return m, at
		} else if m > 0 {
			return max(n, m), min(first, at)
		}
		return n, first
	default:
		return 0, 0
	}
	for i, v := range t.Floats() {
		if math.IsNaN(v) {
			if n == 0 {
				first = i
			}
			n++
		}
	}
	return n, first
}
