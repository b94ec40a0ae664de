package autoshard_test

import (
	"fmt"
	"slices"
	"strings"

	"pgregory.net/rapid"
)

// region is the text of a region over n pairs of one element type, which may use a scalar %z from outside.
type region struct {
	elem     string
	n        int
	body     string
	returned []string
}

// numbers are elements that a region is tried on: small ones, of which sums and products are exact.
var numbers = map[string][]float64{"f32": {-2, -1, 0, 1, 3, 0.5}, "i32": {-7, -1, 0, 1, 2, 6}, "ui8": {0, 1, 2, 5, 9, 12}, "i1": {0, 1}}

// one is the text of the number 1 by element type, zero that of 0.
var (
	one  = map[string]string{"f32": "1.0", "i32": "1", "ui8": "1", "i1": "true"}
	zero = map[string]string{"f32": "0.0", "i32": "0", "ui8": "0", "i1": "false"}
)

// binaries are the ops of two values by element type.
var binaries = map[string][]string{
	"f32": {"add", "multiply", "maximum", "minimum", "subtract", "divide"},
	"i32": {"add", "multiply", "maximum", "minimum", "and", "or", "xor", "subtract"},
	"ui8": {"add", "multiply", "maximum", "minimum", "and", "or", "xor", "subtract"},
	"i1":  {"add", "multiply", "maximum", "minimum", "and", "or", "xor"},
}

// drawRegion draws a region in which each pair is combined by one op, or ops of anything, with more ops that may be dead,
// constants, conversions there and back, and choices by comparisons.
func drawRegion(t *rapid.T, pairs int) *region {
	r := &region{elem: rapid.SampledFrom([]string{"f32", "i32", "ui8", "i1"}).Draw(t, "type"), n: pairs}
	scope := append(r.args(), "%z")
	pick := func(label string) string { return rapid.SampledFrom(scope).Draw(t, label) }
	anOp := func() string { return rapid.SampledFrom(binaries[r.elem]).Draw(t, "op") }
	line := func(format string, args ...any) string {
		v := fmt.Sprintf("%%v%d", strings.Count(r.body, "\n"))
		r.body += fmt.Sprintf("    %s = %s\n", v, fmt.Sprintf(format, args...))
		scope = append(scope, v)
		return v
	}
	some := func() {
		for range rapid.SampledFrom([]int{0, 0, 1, 2}).Draw(t, "more") {
			switch rapid.IntRange(0, 3).Draw(t, "what") {
			case 0:
				line("stablehlo.%s %s, %s : tensor<%s>", anOp(), pick("a"), pick("b"), r.elem)
			case 1:
				line("stablehlo.constant dense<%s> : tensor<%s>", one[r.elem], r.elem)
			case 2:
				x := line("stablehlo.convert %s : (tensor<%s>) -> tensor<f64>", pick("a"), r.elem)
				scope = scope[:len(scope)-1]
				line("stablehlo.convert %s : (tensor<f64>) -> tensor<%s>", x, r.elem)
			case 3:
				a, b := pick("a"), pick("b")
				less := line("stablehlo.compare %s, %s, %s : (tensor<%s>, tensor<%s>) -> tensor<i1>",
					rapid.SampledFrom([]string{"LT", "GE"}).Draw(t, "direction"), a, b, r.elem, r.elem)
				scope = scope[:len(scope)-1]
				line("stablehlo.select %s, %s, %s : tensor<i1>, tensor<%s>", less, a, b, r.elem)
			}
		}
	}
	some()
	if op := anOp(); rapid.Bool().Draw(t, "plain") {
		for k := range r.n {
			x := []string{r.args()[k], r.args()[r.n+k]}
			if rapid.Bool().Draw(t, "swapped") {
				slices.Reverse(x)
			}
			r.returned = append(r.returned, line("stablehlo.%s %s, %s : tensor<%s>", op, x[0], x[1], r.elem))
		}
		return r
	}
	some()
	for range r.n {
		r.returned = append(r.returned, pick("returned"))
	}
	return r
}

func (r *region) args() (names []string) {
	for k := range 2 * r.n {
		names = append(names, fmt.Sprintf("%%%c%d", "pq"[k/r.n], k%r.n))
	}
	return names
}

// typed lists names with the scalar type, or the type alone.
func (r *region) typed(names []string) string {
	var out []string
	for _, v := range names {
		out = append(out, v+": tensor<"+r.elem+">")
	}
	return strings.Join(out, ", ")
}

func (r *region) types(n int, typ string) string {
	return strings.TrimSuffix(strings.Repeat("tensor<"+typ+">, ", n), ", ")
}

// text is the region in generic form.
func (r *region) text() string {
	return fmt.Sprintf("({\n  ^bb0(%s):\n%s    stablehlo.return %s : %s\n  })", r.typed(r.args()), r.body, strings.Join(r.returned, ", "),
		r.types(r.n, r.elem))
}

// function is what the region computes, as a program on scalars.
func (r *region) function() string {
	return fmt.Sprintf("func.func @main(%s) -> (%s) {\n%s    return %s : %s\n}", r.typed(append(r.args(), "%z")), r.types(r.n, r.elem), r.body,
		strings.Join(r.returned, ", "), r.types(r.n, r.elem))
}

// reduce and scatter are programs with the region. A scatter adds two windows to places that the program is given.
func (r *region) reduce() string {
	var in, init []string
	for k := range r.n {
		in, init = append(in, fmt.Sprintf("%%x%d", k)), append(init, fmt.Sprintf("%%i%d", k))
	}
	return fmt.Sprintf(`func.func @main(%s, %s) -> (%s) {
  %%r:%d = "stablehlo.reduce"(%s) <{dimensions = array<i64: 0>}> %s : (%s, %s) -> (%s)
  return %s : %s
}`, strings.ReplaceAll(r.typed(in), "tensor<", "tensor<2x"), r.typed(append(init, "%z")), r.types(r.n, r.elem), r.n,
		strings.Join(append(in, init...), ", "), r.text(), r.types(r.n, "2x"+r.elem), r.types(r.n, r.elem), r.types(r.n, r.elem),
		results(r.n), r.types(r.n, r.elem))
}

func (r *region) scatter() string {
	return fmt.Sprintf(`func.func @main(%%x: tensor<8x%[1]s>, %%i: tensor<4x1xi32>, %%u: tensor<4x%[1]s>, %%z: tensor<%[1]s>)
    -> tensor<8x%[1]s> {
  %%r = "stablehlo.scatter"(%%x, %%i, %%u) <{scatter_dimension_numbers = #stablehlo.scatter<inserted_window_dims = [0],
    scatter_dims_to_operand_dims = [0], index_vector_dim = 1>}> %[2]s
    : (tensor<8x%[1]s>, tensor<4x1xi32>, tensor<4x%[1]s>) -> tensor<8x%[1]s>
  return %%r : tensor<8x%[1]s>
}`, r.elem, r.text())
}

// allReduce is the body of a device with the region over two devices.
func (r *region) allReduce() string {
	return fmt.Sprintf(`"stablehlo.all_reduce"(%%x) <{replica_groups = dense<[[0, 1]]> : tensor<1x2xi64>,
    channel_handle = #stablehlo.channel_handle<handle = 1, type = 1>, use_global_device_ids}> %s
    : (tensor<1x%s>) -> tensor<1x%s>`, r.text(), r.elem, r.elem)
}

func results(n int) string {
	names := make([]string, n)
	for k := range names {
		names[k] = fmt.Sprintf("%%r#%d", k)
	}
	return strings.Join(names, ", ")
}
