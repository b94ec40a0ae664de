package everyop

import (
	"errors"
	"fmt"
	"reflect"
	"testing"

	"pgregory.net/rapid"

	"autoshard/backend/interp"
	"autoshard/internal/diag"
	"autoshard/ir"
	"autoshard/ir/dtype"
	"autoshard/ir/mlir"
)

// constant are attributes that are always the same, and why.
var constant = map[string]string{
	"operandSegmentSizes": "says how many operands are inputs: one of one",
	"resultSegmentSizes":  "says how many results are outputs: one of one",
	"is_associative":      "nothing reads the hint",
	"scan_dim_size":       "is of inputs of unknown size",
	"arg_attrs":           "belongs to frameworks",
	"res_attrs":           "belongs to frameworks",
	"no_inline":           "is a hint to compilers",
	"name":                "names what nobody knows",
	"dimensions":          "lists all dimensions in a map, which has no other",
}

// Every op is drawn, with every attribute in more than one form, in programs that are valid and that the interpreter runs.
func TestEveryOpIsDrawn(t *testing.T) {
	for k := ir.OpUnregistered + 1; k < ir.NumKinds; k++ {
		if Undrawn(k) != "" {
			if recipes[k] != nil {
				t.Errorf("%s is drawn although it is said not to be", k)
			}
			continue
		}
		t.Run(k.String(), func(t *testing.T) {
			seen := map[string]map[string]bool{}
			for seed := 1; seed <= 40; seed++ {
				p := rapid.Custom(func(t *rapid.T) *Program { return Of(t, k) }).Example(seed)
				note(p.Module, k, seen)
				if err := check(t, p); err != nil {
					t.Fatalf("seed %d: %v\n%s", seed, err, mlir.Print(p.Module, mlir.PrintOptions{}))
				}
			}
			if len(seen) == 0 {
				t.Errorf("never drawn")
			}
			for _, a := range k.Declared() {
				if constant[a.Name] == "" && len(seen[a.Name]) < 2 {
					t.Errorf("attribute %s is always %v", a.Name, seen[a.Name])
				}
			}
		})
	}
}

// note notes the attributes of the ops of a kind.
func note(m *ir.Module, k ir.Kind, seen map[string]map[string]bool) {
	m.Walk(m.Body(), func(op ir.OpID) {
		if m.Kind(op) != k {
			return
		}
		seen["the op"] = map[string]bool{"": true}
		for _, a := range k.Declared() {
			if seen[a.Name] == nil {
				seen[a.Name] = map[string]bool{}
			}
			v := reflect.Indirect(reflect.ValueOf(m.Attr(op, a.Name)))
			seen[a.Name][fmt.Sprint(v)] = true
		}
	})
}

// check verifies and runs a program. What ends the process in the interpreter is an error here.
func check(t *testing.T, p *Program) (err error) {
	defer func() {
		if r := recover(); r != nil {
			err = fmt.Errorf("panic: %v", r)
		}
	}()
	if err := ir.Verify(t.Context(), p.Module); err != nil {
		return err
	}
	in, err := interp.New(p.Module, interp.Options{})
	if err != nil {
		return err
	}
	main, _ := p.Module.Main()
	results, err := in.Run(t.Context(), main, p.Inputs)
	if errors.Is(err, diag.ErrUnsupported) {
		return nil
	}
	if err == nil && len(results) != len(p.Rounded) {
		err = fmt.Errorf("%d results, %d are described", len(results), len(p.Rounded))
	}
	return err
}

// Every element type is drawn.
func TestEveryTypeIsDrawn(t *testing.T) {
	seen := map[dtype.Type]bool{}
	for seed := 1; seed <= 300; seed++ {
		for _, x := range rapid.Custom(Draw).Example(seed).Inputs {
			seen[x.DType] = true
		}
	}
	for e := dtype.I1; e <= dtype.C128; e++ {
		if !seen[e] && e != dtype.TF32 { // which is no type of tensors
			t.Errorf("%s is never drawn", e)
		}
	}
}
