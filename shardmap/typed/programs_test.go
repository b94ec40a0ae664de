package typed_test

import (
	"fmt"
	"maps"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"autoshard/backend/run"
	"autoshard/backend/tensor"
	"autoshard/ir/dtype"
	"autoshard/shardmap/typed"
)

// exampleProgram reads a program of the examples and inserts its casts.
func exampleProgram(t *testing.T, name string) *typed.Program {
	t.Helper()
	text, err := os.ReadFile(filepath.Join("..", "..", "examples", "shardmap", name+".shardmap"))
	if err != nil {
		t.Fatal(err)
	}
	p, err := typed.Parse(string(text), name)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := p.Elaborate(typed.Options{}); err != nil {
		t.Fatal(err)
	}
	return p
}

// array64 is an array of the reference computations.
type array64 struct {
	dims []int64
	v    []float64
}

func array64Of(x tensor.Tensor) array64 { return array64{x.Shape, x.Floats()} }

// einsum multiplies two arrays and sums over the letters that the result lacks: bte,hed->bthd.
func einsum(spec string, a, b array64) array64 {
	operands, result, _ := strings.Cut(spec, "->")
	left, right, _ := strings.Cut(operands, ",")
	size := map[rune]int64{}
	for i, r := range left {
		size[r] = a.dims[i]
	}
	for i, r := range right {
		size[r] = b.dims[i]
	}
	at := map[rune]int64{}
	index := func(letters string) (k int64) {
		for _, r := range letters {
			k = k*size[r] + at[r]
		}
		return k
	}
	out, n := array64{}, int64(1)
	for _, r := range result {
		out.dims = append(out.dims, size[r])
		n *= size[r]
	}
	out.v = make([]float64, n)
	letters := slices.Sorted(maps.Keys(size))
	var loop func(k int)
	loop = func(k int) {
		if k == len(letters) {
			out.v[index(result)] += a.v[index(left)] * b.v[index(right)]
			return
		}
		for i := range size[letters[k]] {
			at[letters[k]] = i
			loop(k + 1)
		}
	}
	loop(0)
	return out
}

func matmul(in []array64) array64 { return einsum("ab,bc->ac", in[0], in[1]) }

// transformerLayer is the layer of JEP 14273 on one device, in float64: x [b,t,e], gain [e], q_wi [h,e,20], kv [e,2,4],
// cos and sin [t,2], o_wo [h,12,e].
func transformerLayer(in []array64) array64 {
	x, gain, qwi, kv, cos, sin, out := in[0], in[1], in[2], in[3], in[4], in[5], in[6]
	batch, time, embed, heads := x.dims[0], x.dims[1], x.dims[2], qwi.dims[0]
	xnorm := array64{x.dims, make([]float64, len(x.v))}
	for row := range batch * time {
		sum := 0.0
		for _, v := range x.v[row*embed : (row+1)*embed] {
			sum += v * v
		}
		for e := range embed {
			xnorm.v[row*embed+e] = x.v[row*embed+e] / math.Sqrt(sum/float64(embed)+1e-6) * gain.v[e]
		}
	}
	q, kvs := einsum("bte,hed->bthd", xnorm, qwi), einsum("bte,ezd->btzd", xnorm, kv)
	fused := array64{[]int64{batch, time, heads, 12}, make([]float64, batch*time*heads*12)}
	keys := make([][]float64, batch*time)
	for row := range keys {
		keys[row] = rotary(kvs.v[row*8:row*8+4], cos, sin, int64(row)%time)
	}
	for b := range batch {
		for t := range time {
			for h := range heads {
				at := (b*time+t)*heads + h
				head := q.v[at*20 : (at+1)*20]
				query := rotary(head[:4], cos, sin, t)
				weights, norm := make([]float64, t+1), 0.0
				for s := range weights {
					for d, v := range query {
						weights[s] += v * keys[b*time+int64(s)][d] / 2
					}
					weights[s] = math.Exp(weights[s])
					norm += weights[s]
				}
				for s, w := range weights {
					for d := range 4 {
						fused.v[at*12+int64(d)] += w / norm * kvs.v[(b*time+int64(s))*8+4+int64(d)]
					}
				}
				for d := range 8 {
					gate := head[4+d]
					fused.v[at*12+4+int64(d)] = gate / (1 + math.Exp(-gate)) * head[12+d]
				}
			}
		}
	}
	y := einsum("bthd,hde->bte", fused, out)
	for k := range y.v {
		y.v[k] += x.v[k]
	}
	return y
}

// rotary turns four elements by the angles of a time.
func rotary(v []float64, cos, sin array64, t int64) []float64 {
	out := make([]float64, 4)
	for d := range 2 {
		c, s := cos.v[t*2+int64(d)], sin.v[t*2+int64(d)]
		out[d], out[2+d] = v[d]*c-v[2+d]*s, v[2+d]*c+v[d]*s
	}
	return out
}

// examplePrograms are the programs of the examples: what they compute, and the steps that the documents give for
// them. A ring among n devices has n-1 steps, one in two directions twice as many.
var examplePrograms = []struct {
	name  string
	moves string
	want  func(in []array64) array64
}{
	{"collective_matmul", "ppermute:7", matmul},
	{"gather_matmul", "all_gather:1", matmul},
	{"gather_matmul_ring", "ppermute:7", matmul},
	{"gather_matmul_bidirectional", "ppermute:14", matmul},
	{"matmul_scatter", "psum_scatter:1", matmul},
	{"matmul_scatter_ring", "ppermute:7", matmul},
	{"matmul_scatter_bidirectional", "ppermute:14", matmul},
	{"ring_psum", "ppermute:14", func(in []array64) array64 {
		out := array64{in[0].dims, make([]float64, len(in[0].v))}
		for k, v := range in[0].v {
			for copy := range 8 {
				out.v[copy*16+k%16] += v
			}
		}
		return out
	}},
	{"transformer_regather", "all_gather_invariant:2", func(in []array64) array64 { return in[0] }},
	{"transformer_matmul", "psum_scatter:1", func(in []array64) array64 { return einsum("bte,hed->bthd", in[0], in[1]) }},
	{"transformer_output", "psum_scatter:2", func(in []array64) array64 {
		out := einsum("bthd,hde->bte", in[0], in[1])
		for k, v := range in[2].v {
			out.v[k] += v
		}
		return out
	}},
	{"transformer_layer", "all_gather_invariant:2 psum:2 psum_scatter:3", transformerLayer},
}

// exampleInputs returns inputs for a program: small numbers that float32 multiplies exactly, for a layer fractions.
func exampleInputs(p *typed.Program) []tensor.Tensor {
	out := make([]tensor.Tensor, len(p.Params))
	for i, param := range p.Params {
		typ := p.Module.TypeOf(param.Type)
		v := make([]float64, typ.Elements())
		for k := range v {
			v[k] = float64((7*k+3*i+3)%(5+2*i) - 2 - i)
			if p.Name == "transformer_layer" {
				v[k] = math.Sin(float64(k*(i+1)+i)) / 2
			}
		}
		out[i] = tensor.FromFloats(dtype.F32, typ.Dims, v...)
	}
	return out
}

// The programs of the examples compute what they say, with the steps of the documents behind shardmap.md section 14.
func TestExamplePrograms(t *testing.T) {
	files, err := filepath.Glob("../../examples/shardmap/*.shardmap")
	if err != nil || len(files) != len(examplePrograms) {
		t.Errorf("%d files, %d are tested: %v", len(files), len(examplePrograms), err)
	}
	for _, example := range examplePrograms {
		t.Run(example.name, func(t *testing.T) {
			p := exampleProgram(t, example.name)
			count := map[string]int{}
			for _, c := range p.Communications() {
				count[c.Kind.ShardMapName()]++
			}
			var moves []string
			for _, name := range slices.Sorted(maps.Keys(count)) {
				moves = append(moves, fmt.Sprintf("%s:%d", name, count[name]))
			}
			if got := strings.Join(moves, " "); got != example.moves {
				t.Errorf("it communicates %s, want %s", got, example.moves)
			}
			args := exampleInputs(p)
			outputs, err := execute(t.Context(), p, args, run.Options{Debug: true})
			if err != nil {
				t.Fatal(err)
			}
			var in []array64
			for _, x := range args {
				in = append(in, array64Of(x))
			}
			want := example.want(in)
			if got := outputs[0]; !slices.Equal(got.Shape, want.dims) {
				t.Fatalf("shape %v, want %v", got.Shape, want.dims)
			}
			for k, got := range outputs[0].Floats() {
				if math.Abs(got-want.v[k]) > 1e-5*math.Max(1, math.Abs(want.v[k])) {
					t.Fatalf("element %d is %v, want %v", k, got, want.v[k])
				}
			}
		})
	}
}
