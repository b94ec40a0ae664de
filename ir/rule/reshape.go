package rule

import (
	"slices"

	"autoshard/ir"
	"autoshard/subaxis"
)

func init() {
	register(&Family{
		Name:  "reshape",
		Why:   "both shapes are refined to common parts; a dimension is split or merged along its parts, major first",
		build: buildReshape,
		local: true,
		pads:  passing,
	}, ir.OpReshape)
	register(&Family{
		Name:  "transpose",
		Why:   "dimensions change places, elements do not change",
		build: buildTranspose,
		local: true,
		reads: []string{"permutation"},
		pads:  passing,
	}, ir.OpTranspose)
	register(&Family{
		Name:  "broadcast_in_dim",
		Why:   "result dimensions follow the operand's; new and expanded ones repeat the same data",
		build: buildBroadcast,
		local: true,
		reads: []string{"broadcast_dimensions"},
		pads:  passing,
	}, ir.OpBroadcastInDim)
}

func buildTranspose(b *builder) bool {
	for o, i := range b.ints("permutation") {
		b.factor([]int{int(i)}, []int{o}, b.in[0][i], passThrough, false)
	}
	return true
}

func buildBroadcast(b *builder) bool {
	from := slices.Repeat([]int{none}, len(b.out[0]))
	for i, o := range b.ints("broadcast_dimensions") {
		from[o] = i
	}
	for o, size := range b.out[0] {
		if i := from[o]; i != none && b.in[0][i] == 1 && size != 1 {
			b.factor([]int{i}, []int{none}, 1, passThrough, false)
			from[o] = none
		}
		b.factor([]int{from[o]}, []int{o}, size, passThrough, false)
	}
	return true
}

// reshaper walks the dimensions of both shapes from the major one. size is the product of the dimensions entered
// so far, done the product of the factors placed so far; a dimension is complete where they agree.
type reshaper struct {
	b       *builder
	in, out reshapeSide
}

type reshapeSide struct {
	shape      []int64
	dim        int
	size, done int64
}

func buildReshape(b *builder) bool {
	if slices.Contains(b.in[0], 0) {
		return false
	}
	r := reshaper{b, reshapeSide{b.in[0], 0, 1, 1}, reshapeSide{b.out[0], 0, 1, 1}}
	for r.in.more() || r.out.more() {
		switch {
		case r.in.more() && r.in.shape[r.in.dim] == 1:
			r.placeIn(1)
			r.in.dim++
		case r.out.more() && r.out.shape[r.out.dim] == 1:
			r.placeOut(1)
			r.out.dim++
		default:
			r.step()
		}
	}
	return true
}

// step places one factor. Where the rest of both dimensions has no common divisor, the factor stands in both, with
// the size that the operand's has, and elements move between shards (source: shardy.md section 2.6; the types of
// factors are those that Shardy itself gives).
func (r *reshaper) step() {
	in, out := &r.in, &r.out
	in.enter()
	out.enter()
	nIn, nOut := in.size/in.done, out.size/out.done
	g := subaxis.GCD(nIn, nOut)
	switch {
	case in.done == out.done && g > 1:
		r.placeBoth(g, g, passThrough)
	case in.done == out.done:
		r.placeBoth(nIn, nOut, permutation)
	case in.done < out.done:
		r.placeIn(diverged(nIn, in.done, out.done, g))
	default:
		r.placeOut(diverged(nOut, out.done, in.done, g))
	}
	in.leave()
	out.leave()
}

// diverged returns the size of a factor that stands on one side only: what brings both sides together again.
func diverged(n, small, large, g int64) int64 {
	switch {
	case large%small == 0 && n%(large/small) == 0:
		return large / small
	case n > g:
		return n / g
	}
	return n
}

func (r *reshaper) placeBoth(size, outSize int64, kind factorType) {
	r.b.factor([]int{r.in.dim}, []int{r.out.dim}, size, kind, false)
	r.in.done *= size
	r.out.done *= outSize
}

func (r *reshaper) placeIn(size int64) {
	r.b.factor([]int{r.in.dim}, []int{none}, size, needReplication, false)
	r.in.done *= size
}

func (r *reshaper) placeOut(size int64) {
	r.b.factor([]int{none}, []int{r.out.dim}, size, needReplication, false)
	r.out.done *= size
}

func (s *reshapeSide) more() bool { return s.dim < len(s.shape) }

func (s *reshapeSide) enter() {
	if s.more() && s.size == s.done {
		s.size *= s.shape[s.dim]
	}
}

func (s *reshapeSide) leave() {
	if s.more() && s.size == s.done {
		s.dim++
	}
}
