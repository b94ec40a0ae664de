package typed_test

import (
	"fmt"
	"math"
	"regexp"
	"slices"
	"strings"

	"autoshard/backend/run"
	"autoshard/backend/tensor"
	"autoshard/ir"
	"autoshard/ir/dtype"
	"autoshard/shardmap/transpose"
	"autoshard/shardmap/typed"
)

// asJAX are the options under which programs are typed as JAX types them.
var asJAX = typed.Options{Casts: typed.CastOperands, Unsound: true}

// compare compares a program with what JAX says of it.
func (r *randomProgram) compare(c *comparison, want *jaxAnswer) error {
	p, err := r.elaborated(asJAX)
	if err != nil || want.Error != nil || r.refusal != "" {
		return r.compareRefusals(c, err, want.Error)
	}
	if err := r.compareTypes(p, want.Types); err != nil {
		return err
	}
	if err := r.compareStrict(c, want.Types); err != nil {
		return err
	}
	if r.TraceOnly {
		c.count("trace")
		return nil
	}
	c.count("run")
	results, err := r.run(c.t, p, run.Options{})
	if err != nil {
		if r.loose && strings.Contains(err.Error(), "replication violated") {
			return nil // JAX takes a copy without looking
		}
		return err
	}
	for k, got := range results {
		if err := r.compareArrays(got, want.Results[k], 1e-4); err != nil {
			return fmt.Errorf("result %d: %w in\n%s", k, err, p)
		}
	}
	if !r.VJP || r.loose {
		return nil
	}
	return r.compareDerivatives(c, p, want)
}

var refusalName = regexp.MustCompile(`\((E_\w+)\)`)

// compareRefusals checks that both refuse a program, for the reason that it was made for.
func (r *randomProgram) compareRefusals(c *comparison, err error, want *jaxError) error {
	if err == nil || want == nil || r.refusal == "" {
		return fmt.Errorf("got error %v, JAX %v, the program has %q", err, want, r.refusal)
	}
	ours := "E_OP"
	if m := refusalName.FindStringSubmatch(err.Error()); m != nil {
		ours = m[1]
	}
	if ours != r.refusal || !strings.HasPrefix(ours, want.kind()) {
		return fmt.Errorf("got error %v, JAX %s, the program has %q", err, want.kind(), r.refusal)
	}
	c.count(r.refusal)
	return nil
}

// compareTypes compares the types of all values that are still there.
func (r *randomProgram) compareTypes(p *typed.Program, want map[int][]string) error {
	if r.Unchecked {
		return nil
	}
	byName := map[string]ir.ValueID{}
	for v, name := range p.Names {
		byName[name] = v
	}
	for k, axes := range want {
		v, ok := byName[fmt.Sprint("v", k)]
		if !ok || sunk(p, v) {
			continue
		}
		if got := p.FormatVariance(p.VarianceOf(v)); got != "{"+strings.Join(axes, ",")+"}" {
			return fmt.Errorf("v%d varies over %s, in JAX over %v in\n%s", k, got, axes, p)
		}
		if drawn := r.values[k]; drawn.v != r.mask(axes) {
			return fmt.Errorf("v%d varies over %v, the program was drawn with %v in\n%s", k, axes, r.names(drawn.v), p)
		}
	}
	return nil
}

// sunk says whether a value is a number that was repeated, of which the cast of the number took the name.
func sunk(p *typed.Program, v ir.ValueID) bool {
	m := p.Module
	def := m.DefiningOp(v)
	return def != 0 && m.Kind(def) == ir.OpBroadcastInDim && len(m.Shape(m.Operand(def, 0))) == 0
}

// compareStrict checks that the stricter types are those of JAX, but for programs in which these promise too much.
func (r *randomProgram) compareStrict(c *comparison, types map[int][]string) error {
	p, err := r.elaborated(typed.Options{Casts: typed.CastOperands})
	switch {
	case !r.loose && err != nil:
		return err
	case !r.loose:
		return r.compareTypes(p, types)
	case err == nil:
		return fmt.Errorf("types that promise too much are taken in\n%s", p)
	}
	if p, err = r.elaborated(typed.Options{}); err != nil || r.TraceOnly {
		if err == nil {
			return fmt.Errorf("not all members come to a collective in\n%s", p)
		}
		c.count("stricter")
		return nil
	}
	c.count("varies more")
	_, err = r.run(c.t, p, run.Options{Debug: true})
	return err
}

// compareArrays compares elements up to rounding: of the largest element, since sums are taken in any order.
func (r *randomProgram) compareArrays(got tensor.Tensor, want elements, tolerance float64) error {
	list := got.Floats()
	if len(list) != len(want) {
		return fmt.Errorf("%d elements, in JAX %d", len(list), len(want))
	}
	if !r.exact {
		tolerance = 0.06
	}
	largest := 1.0
	for _, w := range want {
		if !math.IsInf(w, 0) && !math.IsNaN(w) {
			largest = max(largest, math.Abs(w))
		}
	}
	for e, w := range want {
		g := list[e]
		if math.IsNaN(g) && math.IsNaN(w) || g == w || math.Abs(g-w) <= tolerance*largest {
			continue
		}
		return fmt.Errorf("element %d is %v, in JAX %v; all are %v, in JAX %v", e, g, w, list, want)
	}
	return nil
}

// compareDerivatives compares the transposed derivative with jax.vjp. Loops that JAX does not differentiate have a
// derivative here where the number of rounds is known, and what has none does not matter where no output needs it.
func (r *randomProgram) compareDerivatives(c *comparison, p *typed.Program, want *jaxAnswer) error {
	var wrt []int
	for k, in := range r.Inputs {
		if typeNamed(in.DType).Kind() == dtype.Float {
			wrt = append(wrt, k)
		}
	}
	q, err := transpose.VJP(p, wrt)
	switch {
	case want.VJPError != nil && err != nil:
		c.count("no derivative")
		return nil
	case want.VJPError != nil:
		if !regexp.MustCompile("while_loop|'pm(ax|in)'").MatchString(want.VJPError.Text) {
			return fmt.Errorf("JAX has no derivative, %s, and here is one:\n%s", want.VJPError.Text, q)
		}
		return nil
	case err != nil:
		return fmt.Errorf("%w in\n%s", err, p)
	}
	c.count("derivatives")
	return r.compareGradients(c, p, q, wrt, want)
}

// compareGradients runs the transposed derivative q of p, and counts what depends on cotangents of what it communicates.
func (r *randomProgram) compareGradients(c *comparison, p, q *typed.Program, wrt []int, want *jaxAnswer) error {
	cotangents := q.Params[:len(q.Params)-len(r.Inputs)] // not all outputs depend on inputs
	args := make([]tensor.Tensor, 0, len(q.Params))
	for _, param := range cotangents {
		t := q.Module.TypeOf(param.Type)
		var data []float64
		for k := range t.Elements() {
			data = append(data, float64(k*7%5-2))
		}
		args = append(args, tensor.FromFloats(t.DType, t.Dims, data...))
	}
	outputs, err := execute(c.t.Context(), q, slices.Concat(args, r.arguments()), run.Options{Debug: true})
	if err != nil {
		return fmt.Errorf("%w in\n%s", err, q)
	}
	for k, got := range outputs {
		if err := r.compareArrays(got, want.Grads[k], 1e-3); err != nil {
			return fmt.Errorf("derivative by input %d: %w of\n%s\nis\n%s", wrt[k], err, p, q)
		}
	}
	n, depends := 0, dependent(q, len(cotangents))
	for _, communicated := range q.Communications() {
		if depends[communicated.Op] {
			n++
		}
	}
	if n > want.Communication {
		return fmt.Errorf("%d collectives, in JAX %d, in the derivative of\n%s\nwhich is\n%s", n, want.Communication, p, q)
	}
	return nil
}
