package localform

import (
	"fmt"
	"slices"
	"testing"

	"autoshard/ir"

	"pgregory.net/rapid"
)

// A span holds the block of its device, and of windows anywhere in the dimension all that touch the block. Those that begin before the
// dimension or end behind it, and touch the block, do not lie in the span either.
func TestAroundHoldsWindows(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		b := Blocks{K: rapid.Int64Range(1, 6).Draw(t, "blocks")}
		size := rapid.Int64Range(1, 6).Draw(t, "rows")
		b.N = b.K * size
		window := rapid.Int64Range(1, b.N).Draw(t, "window")
		s := Around(b, window)
		for i := range b.K {
			if s.Begin[i] < 0 || s.Begin[i]+s.Rows > b.N || s.Begin[i]+s.At[i] != i*size || s.At[i]+size > s.Rows {
				t.Fatalf("device %d has %d rows from %d on, its block from %d on", i, s.Rows, s.Begin[i], s.At[i])
			}
			for at := -window; at <= b.N; at++ {
				touches := at < (i+1)*size && at+window > i*size
				within := at >= s.Begin[i] && at+window <= s.Begin[i]+s.Rows
				if exists := at >= 0 && at+window <= b.N; touches && within != exists {
					t.Fatalf("device %d has the window at %d: %t", i, at, within)
				}
			}
		}
	})
}

const fill, garbage = -1, -1000

// gathered returns what every device has after an exchange of blocks whose elements are their positions in the dimension. Rows
// that no element of the dimension belongs in begin as garbage.
func gathered(t *rapid.T, x *Exchange) [][]int64 {
	b := x.Size()
	blocks := make([][]int64, x.K)
	for i := range blocks {
		for j := range b {
			at := int64(i)*b + j
			if at >= x.N {
				at = garbage
			}
			blocks[i] = append(blocks[i], at)
		}
	}
	out := make([][]int64, x.K)
	for i := range out {
		out[i] = assembled(t, x, blocks, int64(i))
	}
	return out
}

func assembled(t *rapid.T, x *Exchange, blocks [][]int64, i int64) []int64 {
	var pieces [][]int64
	for n := range x.Rounds {
		pieces = append(pieces, received(t, x, &x.Rounds[n], blocks, i))
	}
	switch x.Way {
	case Direct:
		return pieces[0]
	case Placed:
		buf := slices.Repeat([]int64{fill}, int(x.Width))
		copy(buf[x.Own[i]:], blocks[i])
		for n, piece := range pieces {
			copy(buf[x.Rounds[n].Put[i]:], piece)
		}
		return buf[x.At[i]:][:x.Rows]
	}
	low, high := x.Padding()
	buf := slices.Concat(slices.Repeat([]int64{fill}, int(low)), slices.Concat(pieces[:x.Before]...), blocks[i],
		slices.Concat(pieces[x.Before:]...), slices.Repeat([]int64{fill}, int(high)))
	if int64(len(buf)) != x.Width+low+high {
		t.Fatalf("joined pieces have %d rows, not %d", len(buf), x.Width+low+high)
	}
	return buf[x.At[i]+low:][:x.Rows]
}

// received returns what a permute brings a device. No device sends or receives twice.
func received(t *rapid.T, x *Exchange, r *Round, blocks [][]int64, i int64) []int64 {
	senders, receivers := map[int64]bool{}, map[int64]bool{}
	out := slices.Repeat([]int64{garbage}, int(r.Rows))
	for _, p := range r.Pairs {
		if senders[p[0]] || receivers[p[1]] {
			t.Fatalf("a device sends or receives twice: %v", r.Pairs)
		}
		senders[p[0]], receivers[p[1]] = true, true
		if p[1] == i {
			copy(out, blocks[p[0]][r.Send[p[0]]:][:r.Rows])
		}
	}
	if s := i + r.Distance; r.Filled && (s < 0 || s >= x.K) {
		return slices.Repeat([]int64{fill}, int(r.Rows))
	}
	return out
}

// Every way of a random fetch brings every device the elements that it needs, and the fill where there are none; that which is
// chosen takes no longer than the others.
func TestExchangesBringWhatIsNeeded(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		k := rapid.Int64Range(1, 8).Draw(t, "blocks")
		n := rapid.Int64Range(0, 20).Draw(t, "size")
		if rapid.IntRange(0, 2).Draw(t, "even") > 0 {
			n = k * (n % 5)
		}
		f := &Fetch{Blocks: Blocks{n, k}, Rows: rapid.Int64Range(0, 9).Draw(t, "rows"), Live: rapid.Int64Range(1, k).Draw(t, "live")}
		f.Lo = affine(rapid.Int64Range(-8, 20).Draw(t, "first"), rapid.Int64Range(-6, 6).Draw(t, "step"), k)
		if rapid.Bool().Draw(t, "table") {
			f.Lo = rapid.SliceOfN(rapid.Int64Range(-8, 20), int(k), int(k)).Draw(t, "lo")
		}
		if rapid.Bool().Draw(t, "looks at some rows alone") {
			f.From = rapid.SliceOfN(rapid.Int64Range(-8, 20), int(k), int(k)).Draw(t, "from")
			f.To = rapid.SliceOfN(rapid.Int64Range(-8, 20), int(k), int(k)).Draw(t, "to")
		}
		best := f.Exchange()
		ways := []*Exchange{best, f.joined(), f.Placed(0)}
		if x, ok := f.direct(); ok {
			ways = append(ways, x)
		}
		for _, x := range ways {
			if len(best.Rounds) > 0 && best.effort() > x.effort() {
				t.Fatalf("an exchange takes %d, another way %d", best.effort(), x.effort())
			}
			for i, rows := range gathered(t, x)[:f.Live] {
				from, to := f.wants(int64(i))
				for j, got := range rows {
					at, want := f.Lo[i]+int64(j), int64(fill)
					if at < from || at >= to {
						continue
					}
					if at >= 0 && at < n {
						want = at
					}
					if behindEnd := at >= n && at < k*f.Size(); got != want && !behindEnd {
						t.Fatalf("way %d: device %d has %v, row %d should be %d\n%+v", x.Way, i, rows, j, want, x)
					}
				}
			}
		}
	})
}

// What the local op of a device slides over are the elements, holes and paddings of the whole from the device's first place on.
func TestSlidingReadsTheWholeBase(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		w := drawWindow(t)
		n, k := rapid.Int64Range(0, 15).Draw(t, "size"), rapid.Int64Range(1, 8).Draw(t, "blocks")
		m := w.Places(n)
		if m == 0 {
			t.Skip("no places")
		}
		p, step, first := slide(w, n, m, k), Blocks{m, k}.Size()*w.Stride, -w.Low
		if rapid.Bool().Draw(t, "under a part of the window") {
			w.Size *= k
			m = max(1, w.Places(n))
			p, step = under(w, false, n, m, k), w.Size/k*w.Dilation
			if rapid.Bool().Draw(t, "reversed") {
				p, step, first = under(w, true, n, m, k), -step, (w.Size-w.Size/k)*w.Dilation-w.Low
			}
		}
		for i := range p.Live {
			var rows []int64
			for j := range p.Rows {
				at := p.Lo[i] + j
				if at < 0 || at >= n {
					at = fill
				}
				rows = append(rows, at)
			}
			got := dilated(rows, &p)
			if p.At != nil {
				got = got[p.At[i]:][:p.Need]
			}
			for j := range p.Need {
				at, want := first+i*step+j, int64(fill)
				if d := w.BaseDilation; at >= 0 && at%d == 0 && at/d < n {
					want = at / d
				}
				if got[j] != want {
					t.Fatalf("window %+v of %d: device %d of %d sees %v, position %d should be %d", w, n, i, k, got, j, want)
				}
			}
			if int64(len(got)) != p.Need {
				t.Fatalf("device %d sees %d positions, needs %d", i, len(got), p.Need)
			}
		}
	})
}

func drawWindow(t *rapid.T) ir.Window {
	return ir.Window{
		Size: rapid.Int64Range(1, 5).Draw(t, "window"), Stride: rapid.Int64Range(1, 4).Draw(t, "stride"),
		Low: rapid.Int64Range(-6, 8).Draw(t, "low"), High: rapid.Int64Range(-6, 8).Draw(t, "high"),
		BaseDilation: rapid.Int64Range(1, 3).Draw(t, "base dilation"), Dilation: rapid.Int64Range(1, 3).Draw(t, "dilation"),
	}
}

// dilated puts the holes between rows and the padding around them that the local op makes of a piece.
func dilated(rows []int64, p *Piece) []int64 {
	out := slices.Repeat([]int64{fill}, int(p.Low))
	for j, r := range rows {
		if j > 0 {
			out = append(out, slices.Repeat([]int64{fill}, int(p.Dilation-1))...)
		}
		out = append(out, r)
	}
	return append(out, slices.Repeat([]int64{fill}, int(p.High))...)
}

// The tables of the specification (localforms.md section 5).
func TestTables(t *testing.T) {
	slice := func(start, stride int64) ir.Window {
		return ir.Window{Size: 1, Stride: stride, Low: -start, BaseDilation: 1, Dilation: 1}
	}
	window := func(size, stride, low, base, dilation int64) ir.Window {
		return ir.Window{Size: size, Stride: stride, Low: low, BaseDilation: base, Dilation: dilation}
	}
	for _, c := range []struct {
		name       string
		w          ir.Window
		n, m, k    int64
		lo         []int64
		rows       int64
		hl, hr     int64
		at         []int64
		phi        []int64
		live       int64
		hops, want int // rounds of scheme A; of what is chosen
	}{
		{"slice 1:9:2", slice(1, 2), 10, 4, 4, []int64{1, 3, 5, 7}, 1, 2, 0, []int64{3, 2, 1, 0}, nil, 4, 1, 1},
		{"slice 2:10", slice(2, 1), 10, 8, 3, []int64{2, 5, 8}, 3, 0, 1, []int64{2, 1, 0}, nil, 3, 1, 1},
		{"3 over 11", window(3, 1, 1, 1, 1), 11, 11, 4, []int64{-1, 2, 5, 8}, 5, 1, 1, []int64{0, 0, 0, 0}, nil, 4, 2, 2},
		{"5 dilated", window(5, 2, 4, 1, 2), 9, 5, 4, []int64{-4, 0, 4, 8}, 11, 3, 4, []int64{-1, 0, 1}, nil, 3, 3, 2},
		{"dilated base", window(2, 2, -1, 3, 1), 6, 8, 3, []int64{0, 2, 4}, 3, 0, 1, []int64{0, 0, 0}, []int64{1, 1, 1}, 3, 1, 1},
		{"pad", window(1, 1, -2, 2, 1), 7, 16, 3, []int64{1, 4, 7}, 3, 0, 1, []int64{1, 1, 1}, []int64{0, 0, 0}, 3, 1, 1},
	} {
		p := slide(c.w, c.n, c.m, c.k)
		if c.phi != nil {
			p.shifted(affine(-c.w.Low, Blocks{c.m, c.k}.Size()*c.w.Stride, c.k))
		}
		x := p.joined()
		hl, hr := p.halo()
		if !slices.Equal(p.Lo, c.lo) || p.Rows != c.rows || hl != c.hl || hr != c.hr || !slices.Equal(x.At[:p.Live], c.at) || p.Live != c.live {
			t.Errorf("%s: lo %v, rows %d, halo %d+%d, at %v, live %d", c.name, p.Lo, p.Rows, hl, hr, x.At[:p.Live], p.Live)
		}
		if !slices.Equal(p.At, c.phi) || len(x.Rounds) != c.hops || len(p.Exchange().Rounds) != c.want {
			t.Errorf("%s: phases %v, %d hops, %d rounds", c.name, p.At, len(x.Rounds), len(p.Exchange().Rounds))
		}
	}
}

// A reversal takes two rounds, and one where the blocks are equal.
func TestReversalsTakeTwoRounds(t *testing.T) {
	for _, c := range []struct {
		n, k   int64
		lo     []int64
		live   int64
		rounds string
	}{
		{7, 3, []int64{4, 1, -2}, 3, "[[2 0] [0 1]] [[1 0] [0 2]]"},
		{5, 4, []int64{3, 1, -1, -3}, 3, "[[2 0] [0 1]] [[1 0] [0 2]]"},
		{8, 4, []int64{6, 4, 2, 0}, 4, "[[3 0] [2 1] [1 2] [0 3]]"},
	} {
		rows := Blocks{c.n, c.k}.Size()
		f := Fetch{Blocks: Blocks{c.n, c.k}, Lo: affine(c.n-rows, -rows, c.k), Rows: rows, Live: c.live}
		got := ""
		for i, r := range f.Exchange().Rounds {
			if i > 0 {
				got += " "
			}
			got += fmt.Sprint(r.Pairs)
		}
		if !slices.Equal(f.Lo, c.lo) || got != c.rounds {
			t.Errorf("%d elements in %d blocks: lo %v, rounds %s", c.n, c.k, f.Lo, got)
		}
	}
}

// A network sorts every sequence if it sorts all of zeros and ones (Knuth, 5.3.4, theorem Z). No position is in two pairs of a round.
func TestNetworkSorts(t *testing.T) {
	for k := int64(1); k <= 16; k++ {
		rounds := Network(k)
		for bits := range 1 << k {
			x := bits
			for _, round := range rounds {
				seen := map[int64]bool{}
				for _, p := range round {
					if p[0] >= p[1] || seen[p[0]] || seen[p[1]] {
						t.Fatalf("%d blocks: round %v", k, round)
					}
					seen[p[0]], seen[p[1]] = true, true
					if low, high := x>>p[0]&1, x>>p[1]&1; low > high {
						x ^= 1<<p[0] | 1<<p[1]
					}
				}
			}
			ones := 0
			for i := range k {
				ones += x >> i & 1
			}
			if want := (1<<ones - 1) << (int(k) - ones); x != want {
				t.Fatalf("%d blocks: %b becomes %b", k, bits, x)
			}
		}
		depth := 0
		for 1<<depth < k {
			depth++
		}
		if len(rounds) != depth*(depth+1)/2 {
			t.Errorf("%d blocks: %d rounds", k, len(rounds))
		}
	}
}
