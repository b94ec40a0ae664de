package memory

import (
	"strings"
	"testing"
	"unsafe"
)

// Sizes hold what they are for, are aligned, waste less than half, and are those of what they hold.
func TestSizes(t *testing.T) {
	for n := int64(1); n < 100_000; n += 7 {
		number, bytes := sizeOf(n)
		again, same := sizeOf(bytes)
		if bytes < n || bytes%Alignment != 0 || bytes > max(smallest, 2*n) || again != number || same != bytes {
			t.Fatalf("%d bytes are of size %d, %d bytes, which is of size %d, %d bytes", n, number, bytes, again, same)
		}
		if data := Take(n); int64(len(data)) != n || int64(cap(data)) != bytes || address(data)%Alignment != 0 {
			t.Fatalf("%d bytes are %d of %d at %x", n, len(data), cap(data), address(data))
		}
	}
	if data := Take(largest + 1); len(data) != largest+1 || cap(data) != largest+Alignment {
		t.Errorf("%d bytes of %d", len(data), cap(data))
	}
}

// What is given back is handed out again: zero where zeros are asked for, and never what somebody else allocated, or a part.
func TestGive(t *testing.T) {
	x := Take(400)
	for range 1000 { // a pool may lose what it holds
		for i := range x {
			x[i] = 1
		}
		at := unsafe.SliceData(x)
		Give(x)
		x = Zeroed(390)
		for i, b := range x {
			if b != 0 {
				t.Fatalf("byte %d is %d", i, b)
			}
		}
		if len(x) != 390 {
			t.Fatalf("390 bytes are %d", len(x))
		}
		if unsafe.SliceData(x) == at {
			foreign := make([]byte, 1000)
			Give(nil)
			Give(foreign[:0:0])
			Give(foreign[8:])
			return
		}
	}
	t.Error("memory that was given back was never handed out again")
}

// A watcher fills memory with garbage, hands nothing out twice, and finds what breaks the rules.
func TestWatch(t *testing.T) {
	for _, c := range []struct {
		name, want string
		do         func()
	}{
		{"fair", "", func() {
			x, y := Take(40), Take(40)
			Give(x)
			if z := Take(40); unsafe.SliceData(z) == unsafe.SliceData(x) || x[3] != 0xAB || y[39] != 0xAB || z[0] != 0xAB {
				t.Errorf("%x, %x and %x are no garbage, or one memory", x, y, z)
			}
			Give(make([]byte, 48)) // of nobody
		}},
		{"twice", "48 bytes were given back twice", func() { x := Take(40); Give(x); Give(x) }},
		{"written", "48 bytes were written to", func() { x := Take(40); Give(x); x[39] = 1 }},
		{"inside", "16 bytes inside of memory", func() { x := Take(48); Give(x[32:]) }},
		{"part", "16 of 48 bytes were given back", func() { x := Take(48); Give(x[:16:16]) }},
		{"written long ago", "bytes were written to", func() {
			x := Take(40)
			Give(x)
			x[0] = 1
			for range 3 {
				Give(Take(kept / 2))
			}
		}},
	} {
		t.Run(c.name, func(t *testing.T) {
			w := Watch(0xAB)
			c.do()
			if err := w.Stop(); c.want == "" && err != nil || c.want != "" && (err == nil || !strings.Contains(err.Error(), c.want)) {
				t.Errorf("%v, want %q", err, c.want)
			}
		})
	}
}
