package conformance

import (
	"cmp"
	"errors"
	"flag"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"autoshard/backend/interp"
	"autoshard/backend/tensor"
	"autoshard/internal/diag"
	"autoshard/internal/lists"
	"autoshard/internal/testkit"
	"autoshard/internal/testkit/everyop"
	"autoshard/internal/testkit/peer"
	"autoshard/ir"
	"autoshard/ir/dtype"
	"autoshard/ir/mlir"
)

var (
	opsPrograms = flag.Int("ops.programs", 300, "how many random programs of all ops are run on each peer")
	opsNumbers  = flag.Int("ops.numbers", 256, "on how many numbers of each type each elementwise op is run on each peer")
	opsSeed     = flag.Int("ops.seed", 0, "seed of the first of them, which the others follow; 0: as testkit.Seed says")
)

// The interpreter computes what XLA for CPU and the evaluator of StableHLO compute, of random programs of every op, element type and
// attribute, within what allowances say.
func TestEveryOp(t *testing.T) {
	t.Parallel()
	python := peer.Python(t)
	seed := testkit.SeedOr(t, "ops.seed", *opsSeed)
	drawn := make([]*drawn, *opsPrograms)
	for i := range drawn {
		drawn[i] = drawOps(t, seed+i)
	}
	for _, name := range []peer.Name{peer.Evaluator, peer.XLA} {
		t.Run(string(name), func(t *testing.T) {
			t.Parallel()
			compareOps(t, python, name, drawn)
		})
	}
}

// The interpreter computes what peers compute of every elementwise op on numbers of every type: by default all of eight bits.
func TestEveryFunction(t *testing.T) {
	t.Parallel()
	python := peer.Python(t)
	seed := testkit.SeedOr(t, "ops.seed", *opsSeed)
	var all []*drawn
	for _, k := range everyop.Functions() {
		for e := dtype.I1; e <= dtype.C128; e++ {
			if p := everyop.Function(k, e, *opsNumbers, uint64(seed)); p != nil && e != dtype.TF32 {
				all = append(all, runDrawn(t, p, fmt.Sprintf("-ops.seed=%d -ops.numbers=%d", seed, *opsNumbers)))
			}
		}
	}
	for _, name := range []peer.Name{peer.Evaluator, peer.XLA} {
		t.Run(string(name), func(t *testing.T) {
			t.Parallel()
			compareOps(t, python, name, all)
		})
	}
}

// drawn is a random program and what the interpreter makes of it.
type drawn struct {
	*everyop.Program
	flags   string // that repeat it
	text    string
	outputs []*tensor.Tensor // nil where it is refused
	whole   []*tensor.Tensor // where scatters leave windows out as a whole, as XLA does
	flushed []*tensor.Tensor // and where, besides, subnormal inputs and constants are zeros
}

// drawOps draws a program.
func drawOps(t *testing.T, seed int) *drawn {
	t.Helper()
	return runDrawn(t, rapid.Custom(everyop.Draw).Example(seed), fmt.Sprintf("-ops.seed=%d -ops.programs=1", seed))
}

// runDrawn runs a program in the ways of all peers. The flags repeat it.
func runDrawn(t *testing.T, p *everyop.Program, flags string) *drawn {
	t.Helper()
	d := &drawn{Program: p, flags: flags}
	d.text = string(mlir.Print(d.Module, mlir.PrintOptions{}))
	var err error
	if d.outputs, err = interpretOps(t, d.Module, d.Inputs, false); err == nil {
		d.whole, err = interpretOps(t, d.Module, d.Inputs, true)
	}
	if err == nil {
		d.flushed, err = interpretOps(t, flushConstants(t, d.text), lists.Map(d.Inputs, flush), true)
	}
	if err != nil && !errors.Is(err, diag.ErrUnsupported) {
		t.Fatalf("%s: %v\n%s", flags, err, d.text)
	}
	return d
}

// interpretOps runs a program. Scatters leave out windows partly outside as a whole, or element by element.
func interpretOps(t *testing.T, m *ir.Module, inputs []*tensor.Tensor, whole bool) ([]*tensor.Tensor, error) {
	in, err := interp.New(m, interp.Options{WholeWindows: whole})
	if err != nil {
		return nil, err
	}
	main, _ := m.Main()
	return in.Run(t.Context(), main, inputs)
}

// compareOps runs programs on a peer. It reports differences, and what the peer refused.
func compareOps(t *testing.T, python string, name peer.Name, all []*drawn) {
	c := comparison{refusals: map[string][]*drawn{}, kinds: map[ir.Kind]int{}, types: map[dtype.Type]int{}}
	var asked []*drawn
	var programs []peer.Program
	for _, d := range all {
		if why := unaskedFor(name, d.Module); why != "" {
			c.refusals[why] = append(c.refusals[why], d)
			continue
		}
		asked = append(asked, d)
		programs = append(programs, peer.Program{Text: d.text, Args: lists.Map(d.Inputs, peerArray)})
	}
	replies, err := peer.Ask(t.Context(), python, name, programs)
	if err != nil {
		t.Fatal(err)
	}
	for i, d := range asked {
		if r := replies[i].Refusal; r != "" {
			c.refusals[reason(r)] = append(c.refusals[reason(r)], d)
			continue
		}
		c.count(d)
		if err := d.differs(t, name, replies[i].Results); err != nil {
			t.Errorf("%v\n%s", err, d)
		}
	}
	c.report(t, len(all))
}

// comparison counts what is compared, and has what is not by its reason.
type comparison struct {
	compared int
	kinds    map[ir.Kind]int
	types    map[dtype.Type]int
	refusals map[string][]*drawn
}

func (c *comparison) count(d *drawn) {
	c.compared++
	for _, k := range d.Kinds {
		c.kinds[k]++
	}
	for _, x := range append(slices.Clone(d.outputs), d.Inputs...) {
		c.types[x.DType]++
	}
}

func (c *comparison) report(t *testing.T, all int) {
	t.Logf("%d programs with %d ops of %d kinds and %d element types are compared, %d are refused:", c.compared, total(c.kinds), len(c.kinds),
		len(c.types), all-c.compared)
	more := func(a, b string) int { return cmp.Or(len(c.refusals[b])-len(c.refusals[a]), strings.Compare(a, b)) }
	for _, r := range slices.SortedFunc(maps.Keys(c.refusals), more) {
		t.Logf("%4d  %s  (%s)", len(c.refusals[r]), r, c.refusals[r][0].flags)
	}
	if c.compared < all/2 {
		t.Errorf("only %d of %d programs are compared", c.compared, all)
	}
}

func total[K comparable](counts map[K]int) (sum int) {
	for _, n := range counts {
		sum += n
	}
	return sum
}

// String shows a program with its inputs and what the interpreter makes of it, for repeating.
func (d *drawn) String() string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s\n%s", d.flags, d.text)
	for i, x := range d.Inputs {
		fmt.Fprintf(&b, "%%arg%d = %v\n", i, x)
	}
	return b.String()
}

var particulars = regexp.MustCompile(`(tensor|tuple)<\S*|array<[^>]*>|[0-9]+|%\S+|note: .*|error: "-":\S* `)

// reason is a refusal without what is particular to a program.
func reason(refusal string) string {
	words := strings.Fields(particulars.ReplaceAllString(refusal, "…"))
	text := strings.Join(words, " ")
	return text[:min(len(text), 200)]
}

// differs says how outputs of a peer differ from those of the interpreter by more than is allowed.
func (d *drawn) differs(t *testing.T, name peer.Name, results []peer.Array) error {
	if d.outputs == nil {
		return fmt.Errorf("%s runs what the interpreter refuses", name)
	}
	for i, want := range d.outputs {
		got := fromPeer(results[i])
		if name == peer.XLA {
			want = d.whole[i]
			if got.DType == unsigned(want.DType) { // what it gives as random bits
				got.DType = want.DType
			}
		}
		if got.DType != want.DType || !slices.Equal(got.Shape, want.Shape) {
			return fmt.Errorf("output %d of %s is %v, want %v", i, name, got, want)
		}
		if at, units := boundOf(t, name, d.Rounded[i], want.DType).first(got, want, d.flushed[i]); at >= 0 {
			return fmt.Errorf("output %d of %s, rounded by %s: element %d of %v is not that of %v, %.3g units off", i, name, d.Rounded[i].By,
				at, got, want, units)
		}
	}
	return nil
}

// unsigned returns the type of integers without a sign of the same width as those of a type.
func unsigned(e dtype.Type) dtype.Type {
	if e.Kind() != dtype.Signed {
		return e
	}
	return e - dtype.I2 + dtype.UI2
}
