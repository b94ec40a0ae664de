package modeljson_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"autoshard/ir"
	"autoshard/ir/modeljson"
)

// array is a small tensor of integers, row-major.
type array struct {
	dims []int64
	data []int64
}

func newArray(dims []int64) array {
	n := int64(1)
	for _, d := range dims {
		n *= d
	}
	return array{dims, make([]int64, n)}
}

func (a array) offset(index []int64) int64 {
	at := int64(0)
	for i, d := range a.dims {
		at = at*d + index[i]
	}
	return at
}

// each calls f with every index of a shape in row-major order.
func each(dims []int64, f func(index []int64)) {
	index := make([]int64, len(dims))
	var walk func(d int)
	walk = func(d int) {
		if d == len(dims) {
			f(index)
			return
		}
		for index[d] = 0; index[d] < dims[d]; index[d]++ {
			walk(d + 1)
		}
		index[d] = 0
	}
	walk(0)
}

// directEinsum sums the product of the operands over all letters, by definition.
func directEinsum(terms []string, out string, sizes map[byte]int64, operands []array) array {
	letters := []byte(out)
	for _, t := range terms {
		for i := range len(t) {
			if !slices.Contains(letters, t[i]) {
				letters = append(letters, t[i])
			}
		}
	}
	pick := func(index []int64, term string, dims []int64) []int64 {
		p := make([]int64, len(term))
		for i := range p {
			p[i] = min(index[slices.Index(letters, term[i])], dims[i]-1) // a size of 1 goes with every other
		}
		return p
	}
	dims := make([]int64, len(letters))
	for i, l := range letters {
		dims[i] = sizes[l]
	}
	result := newArray(dims[:len(out)])
	each(dims, func(index []int64) {
		product := int64(1)
		for i, t := range terms {
			product *= operands[i].data[operands[i].offset(pick(index, t, operands[i].dims))]
		}
		result.data[result.offset(index[:len(out)])] += product
	})
	return result
}

// run executes the operations that einsum makes, on integers.
func run(t rapid.TB, m *ir.Module, operands []array) array {
	main, _ := m.Main()
	body := m.Func(main).Body
	values := map[ir.ValueID]array{}
	for i, v := range m.BlockArgs(body) {
		values[v] = operands[i]
	}
	for op := range m.Ops(body) {
		in := make([]array, m.NumOperands(op))
		for i := range in {
			in[i] = values[m.Operand(op, i)]
		}
		if m.Kind(op) == ir.OpReturn {
			return in[0]
		}
		out := newArray(m.Shape(m.Result(op, 0)))
		switch m.Kind(op) {
		case ir.OpConstant:
		case ir.OpMultiply:
			for i := range out.data {
				out.data[i] = in[0].data[i] * in[1].data[i]
			}
		case ir.OpReshape:
			copy(out.data, in[0].data)
		case ir.OpSlice:
			start, stride := m.OpAttrs(op).Ints("start_indices"), m.OpAttrs(op).Ints("strides")
			each(out.dims, func(index []int64) {
				from := make([]int64, len(index))
				for i := range from {
					from[i] = start[i] + index[i]*stride[i]
				}
				out.data[out.offset(index)] = in[0].data[in[0].offset(from)]
			})
		case ir.OpTranspose:
			perm := m.OpAttrs(op).Ints("permutation")
			each(out.dims, func(index []int64) {
				from := make([]int64, len(index))
				for i, p := range perm {
					from[p] = index[i]
				}
				out.data[out.offset(index)] = in[0].data[in[0].offset(from)]
			})
		case ir.OpReduce:
			drop := m.OpAttrs(op).Ints("dimensions")
			each(in[0].dims, func(index []int64) {
				var to []int64
				for i, x := range index {
					if !slices.Contains(drop, int64(i)) {
						to = append(to, x)
					}
				}
				out.data[out.offset(to)] += in[0].data[in[0].offset(index)]
			})
		case ir.OpDotGeneral:
			dot(m.Attr(op, "dot_dimension_numbers").(*ir.DotDims), in[0], in[1], out)
		default:
			t.Fatalf("unexpected operation %s", m.OpName(op))
		}
		values[m.Result(op, 0)] = out
	}
	t.Fatal("no return")
	return array{}
}

// dot follows the definition of dot_general: batch, then free dimensions of each side.
func dot(d *ir.DotDims, x, y, out array) {
	free := func(a array, used ...[]int64) (dims []int64) {
		for i := range a.dims {
			if !slices.Contains(slices.Concat(used...), int64(i)) {
				dims = append(dims, int64(i))
			}
		}
		return dims
	}
	xFree, yFree := free(x, d.LhsBatch, d.LhsContract), free(y, d.RhsBatch, d.RhsContract)
	var contracted []int64
	for _, c := range d.LhsContract {
		contracted = append(contracted, x.dims[c])
	}
	each(out.dims, func(index []int64) {
		i, j := make([]int64, len(x.dims)), make([]int64, len(y.dims))
		for k := range d.LhsBatch {
			i[d.LhsBatch[k]], j[d.RhsBatch[k]] = index[k], index[k]
		}
		for k, dim := range xFree {
			i[dim] = index[len(d.LhsBatch)+k]
		}
		for k, dim := range yFree {
			j[dim] = index[len(d.LhsBatch)+len(xFree)+k]
		}
		each(contracted, func(c []int64) {
			for k := range c {
				i[d.LhsContract[k]], j[d.RhsContract[k]] = c[k], c[k]
			}
			out.data[out.offset(index)] += x.data[x.offset(i)] * y.data[y.offset(j)]
		})
	})
}

// TestEinsumEqualsItsDefinition draws equations, with diagonals and sizes of 1 that are broadcast, and compares the
// lowered program with the sum of products.
func TestEinsumEqualsItsDefinition(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		sizes := map[byte]int64{}
		for _, l := range []byte("abcd") {
			sizes[l] = rapid.Int64Range(1, 3).Draw(t, "size")
		}
		letters := func(from []byte, label string) string {
			perm := rapid.Permutation(from).Draw(t, label)
			return string(perm[:rapid.IntRange(0, len(perm)).Draw(t, label)])
		}
		terms := make([]string, rapid.IntRange(1, 3).Draw(t, "operands"))
		var inputs, names []string
		operands := make([]array, len(terms))
		used := map[byte]bool{}
		for i := range terms {
			terms[i] = string(rapid.SliceOfN(rapid.SampledFrom([]byte("abcd")), 0, 4).Draw(t, "term"))
			ones := rapid.SampledFrom([]string{"", "", "a", "bc"}).Draw(t, "ones")
			var dims []int64
			for _, l := range []byte(terms[i]) {
				if dims = append(dims, sizes[l]); strings.IndexByte(ones, l) >= 0 {
					dims[len(dims)-1] = 1
				}
				used[l] = true
			}
			operands[i] = drawArray(t, dims)
			inputs = append(inputs, fmt.Sprintf(`{"name": "x%d", "type": "i32[%s]"}`, i, shape(dims)))
			names = append(names, fmt.Sprintf(`"x%d"`, i))
		}
		for l := range sizes {
			sizes[l] = largest(terms, operands, l)
		}
		var all []byte
		for _, l := range []byte("abcd") {
			if used[l] {
				all = append(all, l)
			}
		}
		out := ""
		if len(all) > 0 {
			out = letters(all, "out")
		}
		src := fmt.Sprintf(`{"schema": "autoshard.model/v1", "inputs": [%s], "ops": [
			{"op": "einsum", "equation": "%s->%s", "operands": [%s], "results": ["y"]}], "outputs": [{"value": "y"}]}`,
			strings.Join(inputs, ", "), strings.Join(terms, ","), out, strings.Join(names, ", "))
		m, err := modeljson.Read(t.Context(), []byte(src), "einsum.json")
		if err != nil {
			t.Fatalf("%v\n%s", err, src)
		}
		want, got := directEinsum(terms, out, sizes, operands), run(t, m, operands)
		if !slices.Equal(want.dims, got.dims) || !slices.Equal(want.data, got.data) {
			t.Fatalf("%v -> %s: want %v, got %v", terms, out, want, got)
		}
	})
}

// largest returns the largest size that a letter has in the operands.
func largest(terms []string, operands []array, letter byte) int64 {
	size := int64(0)
	for i, t := range terms {
		for j := range len(t) {
			if t[j] == letter {
				size = max(size, operands[i].dims[j])
			}
		}
	}
	return size
}

func shape(dims []int64) string {
	return strings.Trim(strings.ReplaceAll(fmt.Sprint(dims), " ", ","), "[]")
}

func drawArray(t *rapid.T, dims []int64) array {
	a := newArray(dims)
	for j := range a.data {
		a.data[j] = rapid.Int64Range(-3, 3).Draw(t, "element")
	}
	return a
}
