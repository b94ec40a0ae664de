package certify_test

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"math/rand/v2"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"autoshard/search"
	"autoshard/search/certify"
)

// The format, as a writer sees it.
type (
	document struct {
		Format   string  `json:"format"`
		SHA256   string  `json:"sha256"`
		Upper    *int64  `json:"upper"`
		Solution []int   `json:"solution"`
		Blocks   []block `json:"blocks"`
		Claim    string  `json:"claim"`
		proof
	}
	proof struct {
		Log  [][]any `json:"log"`
		Tree *tree   `json:"tree"`
	}
	tree struct {
		Node  int     `json:"node"`
		Split [][]int `json:"split"`
		Child []proof `json:"child"`
	}
	block struct {
		Q      int        `json:"q"`
		Lambda [][2]int64 `json:"lambda"`
		Mu     [][4]any   `json:"mu"`
	}
)

const lowest = "-1152921504606846975"

// proposal draws a step that may or may not hold.
func proposal(rng *rand.Rand, d *document, in *instance) []any {
	n := len(in.Problem.Nodes.Costs)
	node := func() int { return rng.IntN(n) }
	i, j, t := node(), node(), rng.IntN(12)
	value := func(i int) int { return rng.IntN(len(in.Problem.Nodes.Costs[i])) }
	switch rng.IntN(11) {
	case 9:
		return []any{"p", t, rng.IntN(12)}
	case 0:
		return []any{"d", i, value(i), "row", j}
	case 1:
		return []any{"d", i, value(i), "mem", t}
	case 2:
		return []any{"d", i, value(i), "dom", value(i)}
	case 3:
		return []any{"h", i, value(i), j, value(j), t}
	case 4:
		return []any{"m", i, j}
	case 5:
		return []any{"s", i, j}
	case 6:
		return []any{"e", i}
	case 7:
		return []any{[]string{"r", "f"}[rng.IntN(2)]}
	case 8:
		if d.Upper == nil {
			return []any{"f", t}
		}
		return []any{"c", *d.Upper + rng.Int64N(5)}
	}
	d.Blocks = append(d.Blocks, randomBlock(rng, in))
	return []any{"b", len(d.Blocks) - 1}
}

func randomBlock(rng *rand.Rand, in *instance) block {
	b := block{Q: rng.IntN(4), Lambda: [][2]int64{}, Mu: [][4]any{}}
	if rng.IntN(2) == 0 {
		b.Lambda = append(b.Lambda, [2]int64{rng.Int64N(8), rng.Int64N(20)})
	}
	for _, e := range in.Problem.Edges.Nodes {
		if len(e) == 2 && e[0] != e[1] && rng.IntN(2) == 0 {
			i, j := min(e[0], e[1]), max(e[0], e[1])
			toI, toJ := make([]int64, 1+rng.IntN(3)), make([]int64, 1+rng.IntN(3))
			for a := range toI {
				toI[a] = rng.Int64N(20) - 5
			}
			for a := range toJ {
				toJ[a] = rng.Int64N(20) - 5
			}
			b.Mu = append(b.Mu, [4]any{i, j, toI, toJ})
		}
	}
	return b
}

// Whatever steps a certificate takes, if the verifier accepts them the bound is one: random steps are added as long as they hold.
func TestAcceptedStepsAreSound(t *testing.T) {
	rounds := 200
	if testing.Short() {
		rounds = 100
	}
	taken := map[any]int{}
	for seed := range uint64(rounds) {
		rng := rand.New(rand.NewPCG(seed, 2))
		in := draw(rng, shapes[[]int{0, 2, 3}[seed%3]])
		raw := in.json(t)
		best, _ := in.optimum()
		d := &document{Format: "autoshard-bound-1", Claim: lowest, Blocks: []block{{Lambda: [][2]int64{}, Mu: [][4]any{}}}}
		sum := sha256.Sum256(raw)
		d.SHA256 = hex.EncodeToString(sum[:])
		if d.Solution = in.cheapest(); d.Solution != nil {
			cost, _ := in.evaluate(d.Solution)
			d.Upper = &cost
		}
		log := &d.Log
		for range 60 {
			before := slices.Clone(*log)
			step := proposal(rng, d, in)
			*log = append(*log, step)
			if rng.IntN(40) == 0 && d.Tree == nil {
				i := rng.IntN(len(in.Problem.Nodes.Costs))
				d.Tree = &tree{Node: i, Split: [][]int{{0}, {1, 2, 3}}, Child: make([]proof, 2)}
				d.Tree.Child[rng.IntN(2)].Log = [][]any{{"b", 0}}
			}
			got, err := certify.Verify(raw, marshal(t, d))
			if err != nil {
				*log, d.Tree = before, nil
				continue
			}
			taken[step[0]]++
			if got.Bound > best {
				t.Fatalf("seed %d: proves %d, the optimum is %d\n%s\n%s", seed, got.Bound, best, raw, marshal(t, d))
			}
		}
	}
	for _, kind := range []string{"d", "h", "m", "s", "e", "r", "f", "p", "b", "c"} {
		if taken[kind] == 0 {
			t.Errorf("no step %q was accepted", kind)
		}
	}
	t.Log(taken)
}

func marshal(t testing.TB, d *document) []byte {
	t.Helper()
	text, err := json.Marshal(d)
	if err != nil {
		t.Fatal(err)
	}
	return text
}

var numbers = regexp.MustCompile(`-?[0-9]+`)

// places returns where the numbers of a certificate are, without those in the names of format and hash.
func places(certificate []byte) [][]int {
	return numbers.FindAllIndex(certificate, -1)[countNumbers(certificate):]
}

func countNumbers(certificate []byte) int {
	head, _, _ := strings.Cut(string(certificate), `"upper"`)
	return len(numbers.FindAllString(head, -1))
}

// mutants are the values tried for a number.
func mutants(v int64) []int64 {
	return []int64{v + 1, v - 1, 0, -v, 2*v + 3, v ^ 16, v + 1<<20, 1 << 62, -1 << 62}
}

// checkMutant verifies a certificate in which the number at a place is another one: it is rejected, or what it proves is true.
func checkMutant(t tb, s *solved, place []int, v, best int64) (accepted bool) {
	t.Helper()
	text := slices.Concat(s.certificate[:place[0]], strconv.AppendInt(nil, v, 10), s.certificate[place[1]:])
	got, err := certify.Verify(s.problem, text)
	if err == nil && (got.Bound > best || got.HasCost && got.Cost < best) {
		t.Fatalf("proves %+v, the optimum is %d\n%s\n%s", got, best, s.problem, text)
	}
	return err == nil
}

// Every number of small certificates is replaced by others, one at a time.
func TestMutantsExhaustively(t *testing.T) {
	accepted, rejected := 0, 0
	for seed := range uint64(25) {
		rng := rand.New(rand.NewPCG(seed, 3))
		in := draw(rng, shapes[seed%uint64(len(shapes))])
		s := solve(t, in.json(t), search.Options{Seed: seed, Steps: 2000})
		if s == nil || len(s.certificate) > 2500 {
			continue
		}
		best, _ := in.optimum()
		for _, place := range places(s.certificate) {
			v, err := strconv.ParseInt(string(s.certificate[place[0]:place[1]]), 10, 64)
			if err != nil {
				t.Fatal(err)
			}
			for _, mutant := range mutants(v) {
				if checkMutant(t, s, place, mutant, best) {
					accepted++
				} else {
					rejected++
				}
			}
		}
	}
	t.Logf("%d accepted, %d rejected", accepted, rejected)
	if accepted == 0 || rejected == 0 {
		t.Error("the mutants say nothing")
	}
}

// A random number of a random certificate is replaced by a random one.
func TestMutants(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		seed := rapid.Uint64().Draw(t, "seed")
		in := draw(rand.New(rand.NewPCG(seed, 4)), rapid.SampledFrom(shapes).Draw(t, "shape"))
		s := solve(t, in.json(t), search.Options{Seed: seed, Steps: rapid.SampledFrom([]int64{1, 1000, 100_000}).Draw(t, "steps")})
		if s == nil {
			t.Skip("infeasible")
		}
		best, _ := in.optimum()
		for range 10 {
			place := rapid.SampledFrom(places(s.certificate)).Draw(t, "place")
			checkMutant(t, s, place, rapid.Int64().Draw(t, "number"), best)
			checkMutant(t, s, place, rapid.Int64Range(-20, 20).Draw(t, "small"), best)
		}
	})
}
