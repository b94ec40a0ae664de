package cost

import (
	"fmt"
	"math"
	"slices"

	"autoshard/internal/diag"
	"autoshard/internal/lists"
)

// quantity is a number of a profile, or of a part of one: its name in files, what it counts, what it may be, and where it is kept.
type quantity[T any] struct {
	name, unit  string
	least, most float64
	open        bool            // it must be more than the least
	must        string          // what it must do; "": lie within its bounds
	field       func(T) numeric // where it is kept
}

// numeric is a number that is kept as a float64 or an int64; one of the two is not nil.
type numeric struct {
	float *float64
	whole *int64
}

func (n numeric) get() float64 {
	if n.whole != nil {
		return float64(*n.whole)
	}
	return *n.float
}

var inf = math.Inf(1)

// number and count return quantities of both kinds that are at least 0; positive makes one that is more.
func number[T any](name, unit string, field func(T) *float64) quantity[T] {
	return quantity[T]{name: name, unit: unit, most: inf, field: func(of T) numeric { return numeric{float: field(of)} }}
}

func count[T any](name, unit string, field func(T) *int64) quantity[T] {
	return quantity[T]{name: name, unit: unit, most: maxExtent, field: func(of T) numeric { return numeric{whole: field(of)} }}
}

func positive[T any](q quantity[T]) quantity[T] {
	q.open = true
	return q
}

func atMost[T any](most float64, q quantity[T]) quantity[T] {
	q.most = most
	return q
}

func share(name string, field func(*Hardware) *float64) quantity[*Hardware] {
	q := atMost(1, number(name, "", field))
	q.must = "lie in (0, 1]"
	return q
}

var hardwareQuantities = []quantity[*Hardware]{
	positive(number("matrix.bf16", "FLOP/s", func(h *Hardware) *float64 { return &h.Matrix.BF16 })),
	number("matrix.f32", "FLOP/s", func(h *Hardware) *float64 { return &h.Matrix.F32 }),
	number("matrix.int8", "OP/s", func(h *Hardware) *float64 { return &h.Matrix.Int8 }),
	number("matrix.fp8", "FLOP/s", func(h *Hardware) *float64 { return &h.Matrix.FP8 }),
	number("matrix.fp4", "FLOP/s", func(h *Hardware) *float64 { return &h.Matrix.FP4 }),
	positive(number("vectorFLOPs", "FLOP/s", func(h *Hardware) *float64 { return &h.VectorFLOPs })),
	count("tile", "elements", func(h *Hardware) *int64 { return &h.Tile }),
	number("launch", "s", func(h *Hardware) *float64 { return &h.Launch }),
	positive(number("hbmBytes", "B", func(h *Hardware) *float64 { return &h.HBMBytes })),
	positive(number("hbmBandwidth", "B/s", func(h *Hardware) *float64 { return &h.HBMBandwidth })),
	number("pcie", "B/s", func(h *Hardware) *float64 { return &h.PCIe }),
	count("cores", "cores", func(h *Hardware) *int64 { return &h.Cores }),
	count("hostChips", "chips", func(h *Hardware) *int64 { return &h.HostChips }),
	number("dispatch", "s", func(h *Hardware) *float64 { return &h.Dispatch }),
	number("meeting", "s", func(h *Hardware) *float64 { return &h.Meeting }),
	atMost(1, number("arrays", "", func(h *Hardware) *float64 { return &h.Arrays })),
	share("efficiency.math", func(h *Hardware) *float64 { return &h.Efficiency.Math }),
	share("efficiency.hbm", func(h *Hardware) *float64 { return &h.Efficiency.HBM }),
	share("efficiency.ring", func(h *Hardware) *float64 { return &h.Efficiency.Ring }),
	share("efficiency.line", func(h *Hardware) *float64 { return &h.Efficiency.Line }),
}

var torusQuantities = []quantity[*Torus]{
	positive(number("torus.link", "B/s", func(t *Torus) *float64 { return &t.Link })),
	number("torus.hopLatency", "s", func(t *Torus) *float64 { return &t.HopLatency }),
	number("torus.dcn", "B/s", func(t *Torus) *float64 { return &t.DCN }),
}

var levelQuantities = []quantity[*Level]{
	positive(count("degree", "children", func(l *Level) *int64 { return &l.Degree })),
	positive(number("bandwidth", "B/s", func(l *Level) *float64 { return &l.Bandwidth })),
	number("step", "s", func(l *Level) *float64 { return &l.Step }),
}

// problem is what is wrong with the value at a path, or with the whole where there is none.
type problem struct{ path, message string }

// check returns what is wrong with a number.
func (q *quantity[T]) check(of T, prefix string) []problem {
	v, must := q.field(of).get(), q.must
	switch {
	case v >= q.least && (!q.open || v > q.least) && v <= q.most && !math.IsInf(v, 0):
		return nil
	case must != "":
	case q.field(of).whole != nil && q.open:
		must = fmt.Sprintf("lie in 1 to %d", maxExtent)
	case q.most < inf:
		must = fmt.Sprintf("lie in 0 to %d", int64(q.most))
	case q.open:
		must = "be a positive number"
	default:
		must = "be a number of at least 0"
	}
	return []problem{{prefix + q.name, fmt.Sprintf("must %s, not %v", must, v)}}
}

// problems returns what is wrong with a profile.
func (h *Hardware) problems() (out []problem) {
	for i := range hardwareQuantities {
		out = append(out, hardwareQuantities[i].check(h, "")...)
	}
	switch {
	case (h.Torus == nil) == (len(h.Levels) == 0):
		return append(out, problem{"", "exactly one of `torus` and `levels` must describe the network"})
	case h.Torus != nil:
		return append(out, h.Torus.problems()...)
	case len(h.Levels) > maxLevels:
		return append(out, problem{"levels", fmt.Sprintf("must have at most %d entries, not %d", maxLevels, len(h.Levels))})
	}
	for i := range h.Levels {
		for j := range levelQuantities {
			out = append(out, levelQuantities[j].check(&h.Levels[i], levelPath(i)+".")...)
		}
	}
	return out
}

// maxLevels bounds the levels of switches.
const maxLevels = 3

func levelPath(i int) string { return fmt.Sprintf("levels[%d]", i) }

var wraps = []Wrap{WrapFull, WrapCubes, WrapNever}

func (t *Torus) problems() (out []problem) {
	for i := range torusQuantities {
		out = append(out, torusQuantities[i].check(t, "")...)
	}
	if len(t.Shape) == 0 || len(t.Shape) > 3 {
		out = append(out, problem{"torus.shape", fmt.Sprintf("must have one to three sizes, not %d", len(t.Shape))})
	}
	for i, s := range t.Shape {
		if s < 1 || s > maxExtent {
			out = append(out, problem{fmt.Sprintf("torus.shape[%d]", i), fmt.Sprintf("must lie in 1 to %d, not %d", maxExtent, s)})
		}
	}
	if !slices.Contains(wraps, t.Wrap) {
		near := diag.DidYouMean(string(t.Wrap), lists.Map(wraps, func(w Wrap) string { return string(w) }))
		out = append(out, problem{"torus.wrap", fmt.Sprintf("must be one of `full`, `cubes`, `never`, not %q%s", string(t.Wrap), near)})
	}
	return out
}

// Validate checks a profile that a user wrote. The error is of class diag.ErrInvalid.
func (h *Hardware) Validate() error {
	found := h.problems()
	if len(found) == 0 {
		return nil
	}
	e := &diag.Error{Class: diag.ErrInvalid}
	for _, p := range found {
		e.Diagnostics = append(e.Diagnostics, diag.Diagnostic{Code: diag.BadOption, Message: fmt.Sprintf("hardware %q: %s", h.Name, p)})
	}
	return e
}

func (p problem) String() string {
	if p.path == "" {
		return p.message
	}
	return "`" + p.path + "` " + p.message
}
