package localform

import (
	"slices"
	"testing"

	"pgregory.net/rapid"

	"autoshard/ir"
)

// In every window that touches its block, a device sees the elements that the window has in the whole dimension, and nothing else. What it
// looks at are these elements alone; what it scatters for windows that touch its block and do not exist is the fill.
func TestTouchingWindowsSeeTheirElements(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		d, k := drawTouched(t)
		touch := d.touching(k)
		seen, given := touch.seen(), touch.given()
		if w := (touch.low+touch.rows+touch.high-d.window.Size)/d.window.Stride + 1; w != touch.windows || given.Rows != w {
			t.Fatalf("%d windows lie in what devices have, which scatter %d: %+v", w, touch.windows, touch)
		}
		for i := range k {
			var looks []int64
			for j := range touch.windows {
				window := given.Lo[i] + j
				whole := d.within(window, 0, d.N[0], d.window.Low)
				exists := window >= 0 && window < d.N[1]
				if !touches(whole, i*touch.block, touch.block) || !exists {
					continue
				}
				got := d.within(j, touch.begin[i], touch.rows, touch.low)
				if !slices.Equal(got, whole) {
					t.Fatalf("device %d sees %v in window %d, which has %v: %+v", i, got, window, whole, touch)
				}
				looks = append(looks, whole...)
			}
			a, z := seen.reads(i)
			if len(looks) > 0 != (a < z) || a < z && (a != slices.Min(looks) || z != slices.Max(looks)+1) {
				t.Fatalf("device %d looks at %d up to %d, its windows have %v", i, a, z, looks)
			}
			d.needsNoMore(t, touch, &given, i)
		}
	})
}

// drawTouched draws windows over the ends of a dimension, and how many blocks it is cut into.
func drawTouched(t *rapid.T) (*Dim, int64) {
	k, w := rapid.Int64Range(1, 6).Draw(t, "blocks"), drawWindow(t)
	w.BaseDilation, w.Dilation = 1, 1
	least := max(1, ceilDiv(w.Size-w.Low-w.High, k)) // that there is a window
	n := k * rapid.Int64Range(least, least+5).Draw(t, "rows")
	return &Dim{N: []int64{n, w.Places(n)}, M: n, window: w}, k
}

// within returns the elements of a window over rows from an element on.
func (d *Dim) within(window, begin, rows, low int64) (out []int64) {
	for j := range d.window.Size {
		if at := window*d.window.Stride - low + j; at >= 0 && at < rows {
			out = append(out, begin+at)
		}
	}
	return out
}

func touches(elements []int64, begin, size int64) bool {
	return slices.ContainsFunc(elements, func(at int64) bool { return at >= begin && at < begin+size })
}

// needsNoMore fails where a window is missing that touches the block of a device, or is scattered without being looked at.
func (d *Dim) needsNoMore(t *rapid.T, touch *touching, given *Piece, i int64) {
	from, to := given.wants(i)
	for window := int64(-20); window < d.N[1]+20; window++ {
		var reach []int64
		for j := range d.window.Size {
			reach = append(reach, window*d.window.Stride-d.window.Low+j)
		}
		inside := window >= given.Lo[i] && window < given.Lo[i]+given.Rows
		exists := window >= 0 && window < d.N[1]
		wanted := touches(reach, i*touch.block, touch.block) && (inside || exists)
		if has := window >= from && window < to; has != wanted {
			t.Fatalf("device %d looks at window %d: %t, %+v", i, window, has, touch)
		}
	}
}

// Pools of three elements at every second one, as JAX pads them: devices need one row of one neighbour, or two of both.
func TestHalosOfPools(t *testing.T) {
	for _, c := range []struct {
		low, high int64
		left      int64
		right     int64
	}{{0, 1, 2, 1}, {1, 1, 1, 2}, {1, 0, 1, 2}} {
		w := ir.Window{Size: 3, Stride: 2, Low: c.low, High: c.high, BaseDilation: 1, Dilation: 1}
		d := &Dim{N: []int64{32, w.Places(32)}, M: 32, window: w}
		seen := d.touching(4).seen()
		if left, right := seen.halo(); left != c.left || right != c.right {
			t.Errorf("padded by %d and %d: a halo of %d and %d", c.low, c.high, left, right)
		}
	}
}
