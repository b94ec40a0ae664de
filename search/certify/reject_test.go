package certify_test

import (
	"bytes"
	"compress/gzip"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"strings"
	"testing"

	"autoshard/internal/diag"
	"autoshard/search/certify"
)

// pair is the problem of docs/certificate.md.
const pair = `{"problem": {"nodes": {"intervals": [[0, 2], [0, 2]], "costs": [[0, 3], [0, 3]], "usages": [[2, 1], [2, 1]]},
	"edges": {"nodes": [[0, 1]], "costs": [[10, 0, 0, 10]]}, "usage_limit": 3}}`

// certificateOf fills in the hash of a problem.
func certificateOf(problem, members string) []byte {
	sum := sha256.Sum256([]byte(problem))
	return []byte(`{"format":"autoshard-bound-1","sha256":"` + hex.EncodeToString(sum[:]) + `",` + members + `}`)
}

const zero = `"blocks":[{"q":0,"lambda":[],"mu":[]}]`

// cases splits the strategies of node 0 in two, with a log for each.
func cases(split, first, second string) string {
	return `"log":[],"tree":{"node":0,"split":[` + split + `],"child":[{"log":` + first + `,"tree":null},{"log":` + second + `}]},` + zero
}

// Steps that hold prove their bound, and a certificate may claim less.
func TestAccepts(t *testing.T) {
	for name, c := range map[string]struct {
		members string
		want    certify.Result
	}{
		"least entries": {`"log":[["b",0]],` + zero + `,"claim":"0"`, certify.Result{}},
		"lower claim":   {`"log":[["b",0]],` + zero + `,"claim":"-5"`, certify.Result{}},
		"elimination": {`"upper":3,"solution":[0,1],"log":[["r"],["e",1],["b",0]],` + zero + `,"claim":"3"`,
			certify.Result{Bound: 3, Cost: 3, HasCost: true}},
		"forbidden pair": {`"log":[["h",0,0,1,0,1],["b",0]],"blocks":[{"q":0,"lambda":[],"mu":[[0,1,[0,-3],[3,0]]]}],"claim":"3"`,
			certify.Result{Bound: 3}},
		"half units": {`"log":[["h",0,0,1,0,1],["b",0]],"blocks":[{"q":1,"lambda":[],"mu":[[0,1,[0,-5],[5,0]]]}],"claim":"3"`,
			certify.Result{Bound: 3}},
		"price":             {`"log":[["b",0]],"blocks":[{"q":0,"lambda":[[1,1]],"mu":[]}],"claim":"1"`, certify.Result{Bound: 1}},
		"cases":             {cases(`[0],[1]`, `[["d",1,0,"mem",0],["b",0]]`, `[["b",0]]`) + `,"claim":"3"`, certify.Result{Bound: 3}},
		"overlapping cases": {cases(`[0,1],[1]`, `[["b",0]]`, `[["b",0]]`) + `,"claim":"0"`, certify.Result{}},
		"deletion by cost": {`"upper":3,"solution":[1,0],"log":[["b",0],["c",3],["b",0]],` + zero + `,"claim":"0"`,
			certify.Result{Cost: 3, HasCost: true}},
		"nothing left": {`"upper":3,"solution":[1,0],"log":[["r"],["e",1],["b",0],["c",3]],` + zero + `,"claim":"3"`,
			certify.Result{Bound: 3, Cost: 3, HasCost: true}},
	} {
		got, err := certify.Verify([]byte(pair), certificateOf(pair, c.members))
		if err != nil || got != c.want {
			t.Errorf("%s: %+v, %v; want %+v", name, got, err, c.want)
		}
	}
}

// A certificate is refused for any step, block, solution or claim that does not hold.
func TestRejects(t *testing.T) {
	end := `],` + zero + `,"claim":"-99"`
	withSolution := `"upper":3,"solution":[0,1],"log":[`
	for name, members := range map[string]string{
		"unknown member":          `"log":[` + end + `,"more":1`,
		"claim above the result":  `"log":[["b",0]],` + zero + `,"claim":"1"`,
		"claim without number":    `"log":[["b",0]],` + zero + `,"claim":"much"`,
		"no claim":                `"log":[["b",0]],` + zero,
		"cost of the solution":    `"upper":2,"solution":[0,1],"log":[` + end,
		"solution over the limit": `"upper":10,"solution":[0,0],"log":[` + end,
		"solution too short":      `"upper":3,"solution":[0],"log":[` + end,
		"solution out of range":   `"upper":3,"solution":[0,2],"log":[` + end,
		"no solution":             `"upper":3,"log":[` + end,
		"unknown step":            `"log":[["q",0]` + end,
		"step without kind":       `"log":[[0,1]` + end,
		"empty step":              `"log":[[]` + end,
		"too many numbers":        `"log":[["e",0,1]` + end,
		"nested list":             `"log":[["e",[0]]` + end,
		"fraction":                `"log":[["e",0.5]` + end,
		"null":                    `"log":[["e",null]` + end,
		"node out of range":       `"log":[["e",2]` + end,
		"negative node":           `"log":[["e",-1]` + end,
		"strategy out of range":   `"log":[["d",0,2,"mem",0]` + end,
		"time out of range":       `"log":[["d",0,0,"mem",2]` + end,
		"time before all":         `"log":[["d",0,0,"mem",-1]` + end,
		"block out of range":      `"log":[["b",1]` + end,
		"row has entries":         `"log":[["d",0,0,"row",1]` + end,
		"row of itself":           `"log":[["d",0,0,"row",0]` + end,
		"value fits":              `"log":[["d",0,0,"mem",0]` + end,
		"deleted value":           `"log":[["h",0,0,1,0,0],["r"],["m",0,1],["d",1,1,"dom",0]` + end,
		"no dominance":            `"log":[["d",0,1,"dom",0]` + end,
		"dominated by itself":     `"log":[["r"],["d",0,1,"dom",1]` + end,
		"pair fits":               `"log":[["h",0,0,1,1,0]` + end,
		"pair of one node":        `"log":[["h",0,0,0,0,0]` + end,
		"no function":             `"log":[["m",0,1]` + end,
		"merge with itself":       `"log":[["m",0,0]` + end,
		"no sum":                  `"log":[["s",0,1]` + end,
		"usage matters":           `"log":[["e",0]` + end,
		"time implies itself":     `"log":[["p",0,0]` + end,
		"limit not exceeded":      `"log":[["f",0]` + end,
		"cost without block":      withSolution + `["c",3]` + end,
		"cost after another step": withSolution + `["b",0],["r"],["c",3]` + end,
		"cost below the solution": withSolution + `["b",0],["c",2]` + end,
		"cost without solution":   `"log":[["b",0],["c",3]` + end,
		"unit too small":          `"log":[["b",0]],"blocks":[{"q":31,"lambda":[],"mu":[]}],"claim":"-99"`,
		"negative price":          `"log":[["b",0]],"blocks":[{"q":0,"lambda":[[0,-1]],"mu":[]}],"claim":"-99"`,
		"price at no time":        `"log":[["b",0]],"blocks":[{"q":0,"lambda":[[2,1]],"mu":[]}],"claim":"-99"`,
		"huge prices":             `"log":[["b",0]],"blocks":[{"q":0,"lambda":[[0,1152921504606846975],[0,2]],"mu":[]}],"claim":"-99"`,
		"messages of no table":    `"log":[["s",0,1],["b",0]],"blocks":[{"q":0,"lambda":[],"mu":[[0,1,[0,0],[0,0]]]}],"claim":"-99"`,
		"messages twice":          `"log":[["b",0]],"blocks":[{"q":0,"lambda":[],"mu":[[0,1,[0,0],[0,0]],[0,1,[0,0],[0,0]]]}],"claim":"-99"`,
		"messages in short":       `"log":[["b",0]],"blocks":[{"q":0,"lambda":[],"mu":[[0,1,[0],[0,0]]]}],"claim":"-99"`,
		"messages turned":         `"log":[["b",0]],"blocks":[{"q":0,"lambda":[],"mu":[[1,0,[0,0],[0,0]]]}],"claim":"-99"`,
		"huge messages":           `"log":[["b",0]],"blocks":[{"q":0,"lambda":[],"mu":[[0,1,[0,4611686018427387904],[0,0]]]}],"claim":"-99"`,
		"case missing":            cases(`[0],[]`, `[]`, `[]`) + `,"claim":"-99"`,
		"cases without proofs":    `"log":[],"tree":{"node":0,"split":[[0,1]],"child":[]},` + zero + `,"claim":"-99"`,
		"cases of no node":        `"log":[],"tree":{"node":9,"split":[[0,1]],"child":[{"log":[]}]},` + zero + `,"claim":"-99"`,
		"bad step in a case":      cases(`[0],[1]`, `[["b",0]]`, `[["m",0,1]]`) + `,"claim":"-99"`,
		"weakest case counts":     cases(`[0],[1]`, `[["d",1,0,"mem",0],["b",0]]`, `[]`) + `,"claim":"3"`,
	} {
		if got, err := certify.Verify([]byte(pair), certificateOf(pair, members)); !errors.Is(err, diag.ErrInvalid) {
			t.Errorf("%s: %+v, %v", name, got, err)
		}
	}
}

// What surrounds the certificate must be right as well.
func TestRejectsFiles(t *testing.T) {
	good := certificateOf(pair, `"log":[["b",0]],`+zero+`,"claim":"0"`)
	var packed bytes.Buffer
	gz := gzip.NewWriter(&packed)
	if _, err := gz.Write(good); err != nil {
		t.Fatal(err)
	}
	if err := gz.Close(); err != nil {
		t.Fatal(err)
	}
	if _, err := certify.Verify([]byte(pair), packed.Bytes()); err != nil {
		t.Errorf("compressed: %v", err)
	}
	for name, certificate := range map[string][]byte{
		"empty":        nil,
		"no JSON":      []byte("autoshard"),
		"cut":          good[:len(good)-1],
		"text behind":  append(bytes.Clone(good), "{}"...),
		"cut gzip":     packed.Bytes()[:packed.Len()/2],
		"other format": bytes.Replace(good, []byte("bound-1"), []byte("bound-2"), 1),
		"other hash":   bytes.Replace(good, []byte(`"sha256":"`), []byte(`"sha256":"0`), 1),
	} {
		if _, err := certify.Verify([]byte(pair), certificate); !errors.Is(err, diag.ErrInvalid) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// A problem that is none is refused, whatever its certificate says.
func TestRejectsProblems(t *testing.T) {
	log := `"log":[["h",0,0,1,0,0],["b",0]],` + zero + `,"claim":"-99"`
	if _, err := certify.Verify([]byte(pair), certificateOf(pair, log)); err != nil {
		t.Fatal(err)
	}
	for name, edit := range map[string][2]string{
		"no problem":         {`"problem"`, `"model"`},
		"no nodes":           {`"nodes": {`, `"knots": {`},
		"costs missing":      {`"costs": [[0, 3], [0, 3]], `, ``},
		"lengths differ":     {`[[0, 2], [0, 2]]`, `[[0, 2]]`},
		"strategies differ":  {`"usages": [[2, 1]`, `"usages": [[2]`},
		"no strategies":      {`[[0, 3], [0, 3]], "usages": [[2, 1]`, `[[], [0, 3]], "usages": [[]`},
		"interval of one":    {`[[0, 2], `, `[[0], `},
		"negative usage":     {`[[2, 1], `, `[[-2, 1], `},
		"node out of range":  {`[[0, 1]]`, `[[0, 2]]`},
		"table too short":    {`[10, 0, 0, 10]`, `[10, 0, 0]`},
		"edge without table": {`[[10, 0, 0, 10]]`, `[]`},
		"fraction":           {`[10, 0, 0, 10]`, `[10, 0.5, 0, 10]`},
		"cost out of range":  {`[10, 0, 0, 10]`, `[10, 0, 0, 99999999999999999999]`},
		"cost far below":     {`[10, 0, 0, 10]`, `[10, 0, 0, -4611686018427387904]`},
		"limit is text":      {`"usage_limit": 3`, `"usage_limit": "3"`},
		"no JSON":            {`{"problem"`, `"problem"`},
		"huge usage":         {`[[2, 1], `, `[[2, 4611686018427387904], `},
	} {
		problem := strings.Replace(pair, edit[0], edit[1], 1)
		if problem == pair {
			t.Fatalf("%s: nothing replaced", name)
		}
		if _, err := certify.Verify([]byte(problem), certificateOf(problem, log)); !errors.Is(err, diag.ErrInvalid) {
			t.Errorf("%s: %v", name, err)
		}
	}
}
