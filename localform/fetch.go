package localform

// Blocks is how a dimension of N elements is cut: into K blocks of Size elements each, of which the last ones may hold
// fewer elements of it or none.
type Blocks struct{ N, K int64 }

// Size returns the elements that every device has room for.
func (b Blocks) Size() int64 { return ceilDiv(b.N, b.K) }

// Fetch is what the devices along a cut dimension need of it: device i the elements from Lo[i] to Lo[i]+Rows. Those outside
// [0, N) are a fill.
type Fetch struct {
	Blocks
	Lo   []int64
	Rows int64
	Live int64 // the first devices, of which something is wanted; the others need nothing

	// Where these are not nil, device i looks at the rows from From[i] to To[i] alone: the others may hold anything.
	From, To []int64
}

// Behind returns what each of k devices needs to have some rows more than its block of n elements: those behind it.
func Behind(n, k, rows int64) *Fetch {
	b := Blocks{n, k}
	return &Fetch{Blocks: b, Lo: affine(0, b.Size(), k), Rows: b.Size() + rows, Live: k}
}

// reads returns the elements of the dimension that device i needs, none where a is not below z.
func (f *Fetch) reads(i int64) (a, z int64) {
	if i >= f.Live {
		return 0, 0
	}
	a, z = f.wants(i)
	return max(a, 0), min(z, f.N)
}

// wants returns the rows that live device i looks at, elements or not.
func (f *Fetch) wants(i int64) (a, z int64) {
	a, z = f.Lo[i], f.Lo[i]+f.Rows
	if f.From != nil {
		a, z = max(a, f.From[i]), min(z, f.To[i])
	}
	return a, z
}

// from returns the elements of block s that device i needs, none where a is not below z.
func (f *Fetch) from(s, i int64) (a, z int64) {
	a, z = f.reads(i)
	return max(a, s*f.Size()), min(z, (s+1)*f.Size())
}

// affine returns the table first, first + step, … of n entries.
func affine(first, step, n int64) []int64 {
	out := make([]int64, n)
	for i := range out {
		out[i] = first + int64(i)*step
	}
	return out
}

func ceilDiv(a, b int64) int64 { return -floorDiv(-a, b) }

// floorDiv returns the quotient rounded down, for a divisor above 0.
func floorDiv(a, b int64) int64 {
	q := a / b
	if a%b < 0 {
		q--
	}
	return q
}
