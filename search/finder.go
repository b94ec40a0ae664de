package search

// finder looks after the incumbent in terms of one model.
type finder struct {
	s   *lane
	m   *model
	st  *state // the incumbent, nil if there is none or it lies outside the model
	in  []bool
	use []int64
}

func newFinder(s *lane, m *model) finder {
	f := finder{s: s, m: m, in: make([]bool, len(m.node)), use: make([]int64, len(m.base))}
	f.adopt()
	return f
}

// adopt takes the lane's incumbent as the state if the model contains it.
func (f *finder) adopt() {
	if !f.s.found || f.st != nil && f.st.cost <= f.s.cost {
		return
	}
	if x, ok := f.m.labelling(f.s.best); ok {
		if st := newState(f.m, x); st.cost < Inf && st.fits() {
			f.st = st
		}
	}
}

// consider offers a labelling if it is a solution, and recombines it with the incumbent. It reports whether the labelling fits the limit.
func (f *finder) consider(x []int32, source string) bool {
	cost := f.m.cost(x)
	f.s.charge(int64(len(f.m.arcs)))
	if cost >= Inf && f.st == nil {
		return false
	}
	fits := cost < Inf && f.m.usage(x, f.use) <= 0
	if fits && (f.st == nil || cost < f.st.cost) {
		st := newState(f.m, x)
		f.s.charge(st.descend(f.s.ctx))
		f.improve(st, source)
		return true
	}
	if f.st != nil && f.st.recombine(f.s.ctx, x, f.in) {
		f.s.charge(f.st.descend(f.s.ctx))
		f.improve(f.st, "recombination")
	}
	return fits
}

// improve offers a state and makes it the incumbent of the model.
func (f *finder) improve(st *state, source string) {
	if f.st == nil || st.cost < f.st.cost || st == f.st {
		f.st = st
		if st.cost < f.s.cost {
			f.s.offer(f.m.solution(st.x), source)
		}
	}
}
