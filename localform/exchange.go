package localform

// Way is how what a device has and receives becomes what it needs.
type Way uint8

// The ways.
const (
	Joined Way = iota // pieces of the neighbours' blocks stand before and after the own one
	Direct            // all that is needed is a part of one block, which is sent and nothing else is kept
	Placed            // every piece is written where it belongs, over a buffer of the fill
)

// Round is one permute along the axes of the dimension.
type Round struct {
	Rows  int64      // that every sender sends
	Pairs [][2]int64 // sender and receiver, by position, the receivers ascending; for Joined there may be none
	Send  []int64    // by position: where in its block begins what it sends
	Put   []int64    // by position, for Placed: where in the buffer goes what it receives

	// For Joined: how far behind the receiver the sender is, and whether devices that have no neighbour there read the fill instead.
	Distance int64
	Filled   bool
}

// Exchange is a fetch with the permutes that bring it.
type Exchange struct {
	Fetch
	Way    Way
	Rounds []Round
	Before int   // for Joined: the rounds whose pieces stand before the own block
	Width  int64 // rows of the joined pieces, or of the buffer
	// By position: where the rows that are needed begin in those. For Joined they may begin before them or end behind: fill is
	// added there.
	At  []int64
	Own []int64 // by position, for Placed: where in the buffer goes the own block
}

// Exchange returns the way of a fetch that takes the least time to send rows, one round after the other, and to copy them; of
// those that take as long, one with the fewest rounds.
func (f *Fetch) Exchange() *Exchange {
	best := f.joined()
	if len(best.Rounds) == 0 {
		return best
	}
	if x, ok := f.direct(); ok && cheaper(x, best) {
		best = x
	}
	if x := f.Placed(0); cheaper(x, best) {
		best = x
	}
	return best
}

func cheaper(x, y *Exchange) bool {
	if x.effort() != y.effort() {
		return x.effort() < y.effort()
	}
	return len(x.Rounds) < len(y.Rounds)
}

// sending is how many rows are copied while one is sent: memory is some ten to thirty times as fast as links.
const sending = 16

// effort returns how long an exchange takes, in rows that are copied meanwhile.
func (x *Exchange) effort() int64 {
	copied := sending * x.sent()
	for _, rows := range x.Copies() {
		copied += rows
	}
	return copied
}

// sent returns the rows that a device sends that sends in every round.
func (x *Exchange) sent() int64 {
	rows := int64(0)
	for i := range x.Rounds {
		if len(x.Rounds[i].Pairs) > 0 {
			rows += x.Rounds[i].Rows
		}
	}
	return rows
}

// Padding returns the rows of fill that are added before and behind joined pieces.
func (x *Exchange) Padding() (low, high int64) {
	for _, at := range x.At {
		low, high = max(low, -at), max(high, at+x.Rows-x.Width)
	}
	return low, high
}

// joined lets every device receive what it needs of the neighbours at each distance.
func (f *Fetch) joined() *Exchange {
	b := f.Size()
	x := &Exchange{Fetch: *f, Way: Joined, Width: b}
	left, right := f.halo()
	for h := ceilDiv(left, max(b, 1)); h >= 1; h-- {
		x.Rounds = append(x.Rounds, f.neighbour(-h, min(b, left-(h-1)*b)))
	}
	x.Before = len(x.Rounds)
	for h := int64(1); h <= ceilDiv(right, max(b, 1)); h++ {
		x.Rounds = append(x.Rounds, f.neighbour(h, min(b, right-(h-1)*b)))
	}
	x.Width += left + right
	x.At = make([]int64, f.K)
	for i := range f.Live {
		x.At[i] = min(max(f.Lo[i]-(i*b-left), -f.Rows), x.Width)
	}
	for i := f.Live; i < f.K; i++ {
		x.At[i] = x.At[0]
	}
	return x
}

// halo returns the most rows before and behind its own block that a device needs.
func (f *Fetch) halo() (left, right int64) {
	b := f.Size()
	for i := range f.Live {
		if a, z := f.reads(i); a < z {
			left, right = max(left, i*b-a), max(right, z-(i+1)*b)
		}
	}
	return left, right
}

// neighbour returns the round in which devices receive rows of the block at a distance: the last ones of a block before their
// own, the first ones of a block behind.
func (f *Fetch) neighbour(distance, rows int64) Round {
	b := f.Size()
	r := Round{Rows: rows, Send: affine(0, 0, f.K), Distance: distance}
	if distance < 0 {
		r.Send = affine(b-rows, 0, f.K)
	}
	for i := range f.Live {
		s := i + distance
		begin := s*b + r.Send[i]
		a, z := f.wants(i)
		a, z = max(a, begin), min(z, begin+rows)
		switch {
		case a >= z:
		case s < 0 || s >= f.K:
			r.Filled = true
		case a < f.N:
			r.Pairs = append(r.Pairs, [2]int64{s, i})
		}
	}
	return r
}

// direct sends every device the one part of a block that it needs, if that is all, and no block has parts for two devices.
func (f *Fetch) direct() (*Exchange, bool) {
	b := f.Size()
	r := Round{Rows: f.Rows, Send: affine(0, 0, f.K)}
	if f.Rows > b || b == 0 {
		return nil, false
	}
	taken := make([]bool, f.K)
	for i := range f.Live {
		s := floorDiv(f.Lo[i], b)
		if a, z := f.from(max(s, 0), i); s < 0 || s >= f.K || z-a != f.Rows || taken[s] {
			return nil, false
		}
		taken[s] = true
		r.Send[s] = f.Lo[i] - s*b
		r.Pairs = append(r.Pairs, [2]int64{s, i})
	}
	return &Exchange{Fetch: *f, Way: Direct, Rounds: []Round{r}, Width: f.Rows, At: affine(0, 0, f.K)}, true
}

// Placed writes everything into a buffer, into whose first rows goes what is not needed. The rows that are needed begin in the
// buffer at a margin, which is that of the dimension's own blocks or more.
func (f *Fetch) Placed(margin int64) *Exchange {
	b := f.Size()
	margin = max(margin, b)
	x := &Exchange{Fetch: *f, Way: Placed, Width: f.Rows + 2*margin, At: affine(margin, 0, f.K), Own: make([]int64, f.K)}
	for i := range f.Live {
		if a, z := f.from(i, i); a < z {
			x.Own[i] = i*b - f.Lo[i] + margin
		}
	}
	for _, edges := range coloured(f.edges(), f.K) {
		r := Round{Pairs: edges, Send: make([]int64, f.K), Put: make([]int64, f.K)}
		for _, e := range edges {
			a, z := f.from(e[0], e[1])
			r.Rows = max(r.Rows, z-a)
		}
		for _, e := range edges {
			a, _ := f.from(e[0], e[1])
			r.Send[e[0]] = min(a-e[0]*b, b-r.Rows)
			r.Put[e[1]] = e[0]*b + r.Send[e[0]] - f.Lo[e[1]] + margin
		}
		x.Rounds = append(x.Rounds, r)
	}
	return x
}

// edges returns the pairs of two different devices of which the second needs rows of the first one's block, by receiver.
func (f *Fetch) edges() [][2]int64 {
	b := f.Size()
	var out [][2]int64
	for i := range f.Live {
		a, z := f.reads(i)
		for s := a / max(b, 1); a < z && s*b < z; s++ {
			if s != i {
				out = append(out, [2]int64{s, i})
			}
		}
	}
	return out
}

// placings returns exchanges that write the pieces of one block, those of several operands, into one buffer.
func placings(pieces []Piece) []*Exchange {
	margin := int64(0)
	for i := range pieces {
		margin = max(margin, pieces[i].Size())
	}
	out := make([]*Exchange, len(pieces))
	for i := range pieces {
		out[i] = pieces[i].Placed(margin)
	}
	return out
}
