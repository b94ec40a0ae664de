package ring_test

import (
	"bytes"
	"fmt"
	"slices"
	"strings"
	"testing"

	"autoshard/ir/dtype"
	"autoshard/shardmap/ring"

	"pgregory.net/rapid"
)

// several draws products of one gather, in which its dimensions have any roles. Some need the result of an earlier one, of each something
// else is made at once. It returns the text, and how many rings the products need: as many as stand in the longest chain of them.
func several(t *rapid.T) (text string, devices, rings int64) {
	l := rapid.SampledFrom(layouts).Draw(t, "mesh")
	way, step := ring.OneWay, int64(1)
	if l.n > 2 && rapid.Bool().Draw(t, "both ways") {
		way, step = ring.BothWays, 2
	}
	x := rapid.SliceOfN(rapid.Int64Range(1, 3), 1, 3).Draw(t, "sizes")
	d := rapid.IntRange(0, len(x)-1).Draw(t, "dimension")
	x[d] = int64(l.n) * step * rapid.Int64Range(1, 2).Draw(t, "chunk")
	element := rapid.SampledFrom([]string{"f32", "i32"}).Draw(t, "type")
	cut := slices.Repeat([]string{"{}"}, len(x))
	cut[d] = "{" + l.axes + "}"
	args := []string{fmt.Sprintf("%%x: %s {sdy.sharding = #sdy.sharding<@mesh, [%s]>}", tensorOf(x, element), strings.Join(cut, ", "))}
	body := fmt.Sprintf("%%g = sdy.all_gather [%s] %%x out_sharding=<@mesh, %s> {autoshard.ring = \"%s\"} : %s\n", strings.Join(cut, ", "),
		whole(x), way, tensorOf(x, element))
	var made, types, chain = []string{}, [][]int64{}, []int64{}
	for i := range rapid.IntRange(2, 4).Draw(t, "products") {
		p := drawRoles(t, x)
		other := fmt.Sprintf("%%w%d", i)
		args = append(args, fmt.Sprintf("%s: %s {sdy.sharding = #sdy.sharding<@mesh, %s>}", other, tensorOf(p.other, element), whole(p.other)))
		chain = append(chain, 1)
		if after := rapid.IntRange(-1, i-1).Draw(t, "after"); after >= 0 {
			body += scaled(i, after, types[after], p.other, element)
			other, chain[i] = fmt.Sprintf("%%s%d", i), chain[after]+1
		}
		body += p.line(i, other, x, element) + fmt.Sprintf("%%n%d = stablehlo.negate %%d%d : %s\n", i, i, tensorOf(p.result, element))
		made, types = append(made, fmt.Sprintf("%%n%d", i)), append(types, p.result)
	}
	var out, results []string
	for _, dims := range types {
		out = append(out, tensorOf(dims, element))
		results = append(results, fmt.Sprintf("%s {sdy.sharding = #sdy.sharding<@mesh, %s>}", tensorOf(dims, element), whole(dims)))
	}
	text = fmt.Sprintf("sdy.mesh @mesh = <%s>\nfunc.func @main(%s) -> (%s) {\n%sreturn %s : %s\n}\n", l.mesh, strings.Join(args, ", "),
		strings.Join(results, ", "), body, strings.Join(made, ", "), strings.Join(out, ", "))
	return text, int64(l.devices), slices.Max(chain)
}

func tensorOf(dims []int64, element string) string {
	text := "tensor<"
	for _, n := range dims {
		text += fmt.Sprintf("%dx", n)
	}
	return text + element + ">"
}

func whole(dims []int64) string {
	return "[" + strings.Join(slices.Repeat([]string{"{}"}, len(dims)), ", ") + "]"
}

// roles are a product of what is gathered: its batch and contracted dimensions, those of the other operand beside them, and all sizes.
type roles struct {
	batch, contracted           []string
	otherBatch, otherContracted []string
	other, result               []int64
	right                       bool // what is gathered is the right operand
}

func drawRoles(t *rapid.T, x []int64) roles {
	p := roles{right: rapid.Bool().Draw(t, "right")}
	var batch, free []int64
	role := make([]int, len(x))
	for i := range x {
		role[i] = rapid.IntRange(0, 2).Draw(t, "role")
	}
	for i, n := range x {
		switch at := fmt.Sprint(len(p.other)); role[i] {
		case 0:
			free = append(free, n)
		case 1:
			p.batch, p.otherBatch, p.other, batch = append(p.batch, fmt.Sprint(i)), append(p.otherBatch, at), append(p.other, n), append(batch, n)
		case 2:
			p.contracted, p.otherContracted, p.other = append(p.contracted, fmt.Sprint(i)), append(p.otherContracted, at), append(p.other, n)
		}
	}
	columns := rapid.SliceOfN(rapid.Int64Range(1, 3), 0, 1).Draw(t, "columns")
	p.other = append(p.other, columns...)
	if p.right {
		p.result = slices.Concat(batch, columns, free)
	} else {
		p.result = slices.Concat(batch, free, columns)
	}
	return p
}

// line writes product i.
func (p *roles) line(i int, other string, x []int64, element string) string {
	pair := func(gathered, other []string) string {
		if p.right {
			gathered, other = other, gathered
		}
		return "[" + strings.Join(gathered, ", ") + "] x [" + strings.Join(other, ", ") + "]"
	}
	operands, types := [2]string{"%g", other}, [2]string{tensorOf(x, element), tensorOf(p.other, element)}
	if p.right {
		operands[0], operands[1], types[0], types[1] = operands[1], operands[0], types[1], types[0]
	}
	return fmt.Sprintf("%%d%d = stablehlo.dot_general %s, %s, batching_dims = %s, contracting_dims = %s "+
		"{sdy.sharding = #sdy.sharding_per_value<[<@mesh, %s>]>} : (%s, %s) -> %s\n", i, operands[0], operands[1],
		pair(p.batch, p.otherBatch), pair(p.contracted, p.otherContracted), whole(p.result), types[0], types[1], tensorOf(p.result, element))
}

// scaled multiplies what product i reads beside the gather by the first element of what was made of an earlier one.
func scaled(i, after int, from, to []int64, element string) string {
	scalar, limits := tensorOf(nil, element), []string{}
	ones := slices.Repeat([]int64{1}, len(from))
	for range from {
		limits = append(limits, "0:1")
	}
	return fmt.Sprintf("%%a%[1]d = stablehlo.slice %%n%[2]d [%[3]s] : (%[4]s) -> %[5]s\n"+
		"%%b%[1]d = stablehlo.reshape %%a%[1]d : (%[5]s) -> %[6]s\n"+
		"%%c%[1]d = stablehlo.broadcast_in_dim %%b%[1]d, dims = [] : (%[6]s) -> %[7]s\n"+
		"%%s%[1]d = stablehlo.multiply %%w%[1]d, %%c%[1]d : %[7]s\n",
		i, after, strings.Join(limits, ", "), tensorOf(from, element), tensorOf(ones, element), scalar, tensorOf(to, element))
}

// Products of one gather compute in rings what they computed before. A ring has all that do not need each other: it sends what gathering
// once does.
func TestProductsOfOneGather(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		text, devices, want := several(t)
		plain, rings := lower(t, text, false), lower(t, text, true)
		if got := int64(len(rings.Rings)); got != want {
			t.Fatalf("%d rings, want %d in\n%s", got, want, text)
		}
		args := drawArgs(t, plain, devices)
		before, after := run(t, plain, args), run(t, rings, args)
		for d := range before {
			for i, b := range before[d] {
				if a := after[d][i]; a.DType == dtype.I32 && !bytes.Equal(a.Data, b.Data) || !near(a, b) {
					t.Fatalf("result %d of device %d is %v, want %v\n%s", i, d, a.Floats(), b.Floats(), text)
				}
			}
		}
		if a, b := sent(plain), sent(rings); want*a != b {
			t.Fatalf("%d rings send %d bytes, the collective %d\n%s", want, b, a, text)
		}
	})
}

// What is seen from outside keeps its order: a product behind an op with effects that needs an earlier one is no part of that one's ring.
func TestEffectsAreNotPutOff(t *testing.T) {
	for effects, want := range map[bool]int{false: 1, true: 2} {
		text := fmt.Sprintf(`sdy.mesh @mesh = <["x"=2]>
func.func @main(%%x: tensor<4x4xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {}]>}, %%w: tensor<4x4xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {}]>})
    -> (tensor<4x4xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {}]>}, tensor<4x4xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {}]>}) {
  %%g = sdy.all_gather [{"x"}, {}] %%x out_sharding=<@mesh, [{}, {}]> {autoshard.ring = "unidirectional"} : tensor<4x4xf32>
  %%d = stablehlo.dot_general %%g, %%w, contracting_dims = [1] x [0] : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
  %%c = stablehlo.custom_call @seen(%%d) {has_side_effect = %t} : (tensor<4x4xf32>) -> tensor<4x4xf32>
  %%e = stablehlo.dot_general %%w, %%g, contracting_dims = [1] x [0] : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
  return %%c, %%e : tensor<4x4xf32>, tensor<4x4xf32>
}`, effects)
		if got := len(lower(t, text, true).Rings); got != want {
			t.Errorf("with effects %t there are %d rings, want %d", effects, got, want)
		}
	}
}
