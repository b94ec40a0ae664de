package pricing

import (
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"

	"autoshard/cost/notation"
	"autoshard/internal/diag"
	"autoshard/internal/lists"
	"autoshard/subaxis"
)

// SweepSchema identifies the JSON form of a SweepAnswer.
const SweepSchema = "autoshard.sweep/v1"

// SweepRequest asks for the ways to compute a product while one size changes: of a dimension, or of an axis of the mesh.
type SweepRequest struct {
	MatmulRequest
	Sweep string // B=64:65536
}

// SweepAnswer says which way is the fastest for which sizes. Times are in seconds.
type SweepAnswer struct {
	Schema  string `json:"schema"`
	Product string `json:"product"`
	Place
	Variable   string       `json:"variable"`
	Strategies []string     `json:"strategies"` // names, with the result where several have one name
	Points     []SweepPoint `json:"points"`
	Segments   []Segment    `json:"segments"`
}

// SweepPoint are the times of all strategies for one size. The time of a strategy that there is not for it is 0.
type SweepPoint struct {
	Size    int64     `json:"size"`
	Seconds []float64 `json:"seconds"`
}

// Segment are sizes for which one strategy is the fastest and one thing bounds it.
type Segment struct {
	From     int64      `json:"from"`
	To       int64      `json:"to"`
	Strategy string     `json:"strategy"`
	Bound    string     `json:"bound"`
	Seconds  [2]float64 `json:"seconds"` // at both ends
}

// sweepFile names the text of a sweep in errors.
const sweepFile = "--sweep"

// sweep is one that was read.
type sweep struct {
	request  *SweepRequest
	variable string
	from, to int64
	axis     int // of the mesh; -1: a dimension
	sizes    notation.Sizes
	answers  map[int64]*MatmulAnswer
}

// Sweep returns which way to compute a product is the fastest for which sizes. Sizes of dimensions are found to one; those of axes double
// from step to step. Errors are of class diag.ErrInvalid.
func Sweep(r *SweepRequest) (*SweepAnswer, error) {
	s, err := newSweep(r)
	if err != nil {
		return nil, err
	}
	values := s.values()
	first, err := s.at(values[0])
	if err != nil {
		return nil, err
	}
	out := &SweepAnswer{Schema: SweepSchema, Product: r.Product, Place: first.Place, Variable: s.variable,
		Strategies: slices.Sorted(slices.Values(lists.Map(first.Strategies, label)))}
	for i, v := range values {
		a, err := s.at(v)
		if err != nil {
			return nil, err
		}
		out.Points = append(out.Points, point(v, a, out.Strategies))
		if i == 0 {
			out.Segments = []Segment{segment(v, a)}
			continue
		}
		if out.Segments, err = s.extend(out.Segments, values[i-1], v); err != nil {
			return nil, err
		}
	}
	return out, nil
}

// label tells a strategy from others of its name.
func label(s Strategy) string { return s.Name + ": " + s.Result }

func point(size int64, a *MatmulAnswer, strategies []string) SweepPoint {
	p := SweepPoint{Size: size, Seconds: make([]float64, len(strategies))}
	for _, s := range a.Strategies {
		if i := slices.Index(strategies, label(s)); i >= 0 {
			p.Seconds[i] = s.Seconds
		}
	}
	return p
}

func segment(size int64, a *MatmulAnswer) Segment {
	best := &a.Strategies[0]
	return Segment{size, size, label(*best), best.Bound, [2]float64{best.Seconds, best.Seconds}}
}

func newSweep(r *SweepRequest) (*sweep, error) {
	s := &sweep{request: r, answers: map[int64]*MatmulAnswer{}}
	name, ends, _ := strings.Cut(r.Sweep, "=")
	s.variable = strings.TrimSpace(name)
	if n, err := fmt.Sscanf(ends, "%d:%d", &s.from, &s.to); n != 2 || err != nil || s.from < 1 || s.to <= s.from || s.to > math.MaxInt32 {
		e := diag.Invalid(diag.BadOption, diag.Position{File: sweepFile, Line: 1, Col: 1}, "a sweep goes from one size to a larger one, such as "+
			"B=64:65536, not %q", r.Sweep)
		e.Diagnostics[0].Source = r.Sweep
		return nil, e
	}
	s.axis = slices.IndexFunc(r.Mesh, func(a subaxis.Axis) bool { return a.Name == s.variable })
	var err error
	s.sizes, err = notation.ParseSizes("--dims", r.Sizes)
	return s, err
}

// values returns the sizes that are priced: eight in each octave of a dimension, one of an axis.
func (s *sweep) values() []int64 {
	steps := 8.0
	if s.axis >= 0 {
		steps = 1
	}
	var out []int64
	for i := 0; ; i++ {
		v := int64(math.Round(float64(s.from) * math.Exp2(float64(i)/steps)))
		if v > s.to || s.axis < 0 && v == s.to {
			break
		}
		out = append(out, v)
	}
	if s.axis < 0 {
		out = append(out, s.to)
	}
	return slices.Compact(out)
}

// at returns the ways for one size.
func (s *sweep) at(size int64) (*MatmulAnswer, error) {
	if a := s.answers[size]; a != nil {
		return a, nil
	}
	r := s.request.MatmulRequest
	if s.axis >= 0 {
		r.Mesh = slices.Clone(r.Mesh)
		r.Mesh[s.axis].Size = size
	} else {
		sizes := maps.Clone(s.sizes)
		sizes[s.variable] = size
		names := slices.Sorted(maps.Keys(sizes))
		r.Sizes = strings.Join(lists.Map(names, func(n string) string { return fmt.Sprintf("%s=%d", n, sizes[n]) }), ",")
	}
	a, err := Matmul(&r)
	if err != nil {
		return nil, err
	}
	if s.axis < 0 && !slices.Contains(a.dimensions, s.variable) {
		return nil, diag.Invalid(diag.BadOption, diag.Position{File: sweepFile, Line: 1, Col: 1}, "%q is neither a dimension of the product nor "+
			"an axis of the mesh", s.variable)
	}
	s.answers[size] = a
	return a, nil
}

// extend adds what comes between two sizes to segments that end with the first. Where the fastest way of a dimension changes is found by
// halving; of several changes in between, which are closer than an eighth of an octave, all are found that halving meets.
func (s *sweep) extend(segments []Segment, from, to int64) ([]Segment, error) {
	a, err := s.at(to)
	if err != nil {
		return nil, err
	}
	next, last := segment(to, a), &segments[len(segments)-1]
	if next.Strategy == last.Strategy && next.Bound == last.Bound {
		last.To, last.Seconds[1] = to, next.Seconds[1]
		return segments, nil
	}
	if s.axis >= 0 || to-from <= 1 {
		return append(segments, next), nil
	}
	middle := from + (to-from)/2
	if segments, err = s.extend(segments, from, middle); err != nil {
		return nil, err
	}
	return s.extend(segments, middle, to)
}
