package modeljson_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"slices"
	"strings"
	"testing"

	"autoshard/ir/modeljson"
)

// einsumCase is an einsum on arrays, in the form of testdata/einsum.py.
type einsumCase struct {
	Equation string    `json:"equation"`
	Dims     [][]int64 `json:"dims"`
	Data     [][]int64 `json:"data"`
}

// TestEinsumEqualsNumPy compares random equations of every form, right and wrong ones, with NumPy's einsum: what it
// refuses is refused, everything else has its shape and numbers.
func TestEinsumEqualsNumPy(t *testing.T) {
	python := os.Getenv("AUTOSHARD_PYTHON")
	if python == "" {
		t.Skip("AUTOSHARD_PYTHON is not set: no NumPy to compare with")
	}
	random := rand.New(rand.NewPCG(1, 2))
	cases := make([]einsumCase, 4000)
	var stdin bytes.Buffer
	for i := range cases {
		cases[i] = randomEinsum(random)
		line, err := json.Marshal(cases[i])
		if err != nil {
			t.Fatal(err)
		}
		stdin.Write(append(line, '\n'))
	}
	child := exec.Command(python, "testdata/einsum.py")
	child.Stdin, child.Stderr = &stdin, os.Stderr
	out, err := child.Output()
	if err != nil {
		t.Fatal(err)
	}
	accepted := 0
	for i, line := range strings.Split(strings.TrimSpace(string(out)), "\n") {
		var want struct {
			Dims, Data []int64
			Error      string
		}
		if err := json.Unmarshal([]byte(line), &want); err != nil {
			t.Fatal(err)
		}
		got, err := evaluateEinsum(t, cases[i])
		switch {
		case (err != nil) != (want.Error != ""):
			t.Errorf("%q on %v: error %v, NumPy says %q", cases[i].Equation, cases[i].Dims, err, want.Error)
		case err == nil && (!slices.Equal(got.dims, want.Dims) || !slices.Equal(got.data, want.Data)):
			t.Errorf("%q on %v: %v, NumPy has %v", cases[i].Equation, cases[i].Dims, got, want)
		case err == nil:
			accepted++
		}
	}
	if accepted < len(cases)/2 {
		t.Errorf("only %d of %d equations are valid", accepted, len(cases))
	}
}

func evaluateEinsum(t *testing.T, c einsumCase) (array, error) {
	var inputs, names []string
	var operands []array
	for i, dims := range c.Dims {
		inputs = append(inputs, fmt.Sprintf(`{"name": "x%d", "type": "i64[%s]"}`, i, shape(dims)))
		names = append(names, fmt.Sprintf(`"x%d"`, i))
		operands = append(operands, array{dims, c.Data[i]})
	}
	m, err := modeljson.Read(t.Context(), fmt.Appendf(nil, `{"schema": "autoshard.model/v1", "inputs": [%s], "ops": [
		{"op": "einsum", "equation": %q, "operands": [%s], "results": ["y"]}], "outputs": [{"value": "y"}]}`,
		strings.Join(inputs, ", "), c.Equation, strings.Join(names, ", ")), "einsum.json")
	if err != nil {
		return array{}, err
	}
	return run(t, m, operands), nil
}

// randomEinsum draws an equation with one to three operands of small sizes, now and then with a mistake.
func randomEinsum(r *rand.Rand) einsumCase {
	sizes := map[byte]int64{}
	for _, l := range []byte("abcZ") {
		sizes[l] = int64(r.IntN(4))
	}
	broadcast := []int64{2, int64(r.IntN(4)), 3}
	var c einsumCase
	var terms []string
	dots := false
	for range 1 + r.IntN(3) {
		var term []byte
		var dims []int64
		for range r.IntN(4) {
			l := "abcZ"[r.IntN(4)]
			term, dims = append(term, l), append(dims, sizes[l])
			if sizes[l] > 0 && r.IntN(12) == 0 { // NumPy misses a size that differs from 0 on a diagonal
				dims[len(dims)-1] = int64(1 + r.IntN(2))
			}
		}
		text := string(term)
		if r.IntN(3) == 0 {
			dots = true
			at, rank := r.IntN(len(term)+1), r.IntN(3)
			hidden := slices.Clone(broadcast[len(broadcast)-rank:])
			if rank > 0 && r.IntN(4) == 0 {
				hidden[0] = 1
			}
			text, dims = text[:at]+"..."+text[at:], slices.Insert(dims, at, hidden...)
		}
		c.Dims = append(c.Dims, append([]int64{}, dims...))
		data := make([]int64, len(newArray(dims).data))
		for i := range data {
			data[i] = int64(r.IntN(7) - 3)
		}
		c.Data = append(c.Data, data)
		terms = append(terms, text)
	}
	c.Equation = strings.Join(terms, ",")
	if r.IntN(4) > 0 {
		c.Equation += "->" + randomOutput(r, c.Equation, dots)
	}
	if r.IntN(20) == 0 {
		at := r.IntN(len(c.Equation) + 1)
		c.Equation = c.Equation[:at] + string(" a.-,>1"[r.IntN(7)]) + c.Equation[at:]
	}
	return c
}

func randomOutput(r *rand.Rand, left string, dots bool) string {
	var letters []byte
	for _, l := range []byte("abcZ") {
		if strings.IndexByte(left, l) >= 0 && r.IntN(2) == 0 {
			letters = append(letters, l)
		}
	}
	r.Shuffle(len(letters), func(i, j int) { letters[i], letters[j] = letters[j], letters[i] })
	if !dots && r.IntN(10) > 0 || r.IntN(15) == 0 {
		return string(letters)
	}
	at := r.IntN(len(letters) + 1)
	return string(letters[:at]) + "..." + string(letters[at:])
}
