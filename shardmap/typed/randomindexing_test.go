package typed_test

import (
	"slices"

	"autoshard/ir/dtype"
)

// dot draws a contraction. Operands share some batch and some contracted dimensions.
func (d *drawing) dot() bool {
	x, ok := d.one(func(x drawn) bool { return hasDims(x) && isNumber(x) })
	if !ok {
		return false
	}
	y, ok := d.one(func(y drawn) bool { return y.t == x.t && hasDims(y) })
	if !ok {
		return false
	}
	s := randomStep{Op: "dot"}
	bound := x.bound * y.bound
	var left []int64
	taken := map[int]bool{}
	for i, n := range x.dims {
		for k, m := range y.dims {
			if n != m || taken[k] || d.chance(3) {
				continue
			}
			taken[k] = true
			left = append(left, int64(i))
			if d.chance(3) {
				s.Batch[0], s.Batch[1] = append(s.Batch[0], int64(i)), append(s.Batch[1], int64(k))
			} else {
				s.Contract[0], s.Contract[1] = append(s.Contract[0], int64(i)), append(s.Contract[1], int64(k))
				bound *= float64(n)
			}
			break
		}
	}
	var dims []int64
	for _, b := range s.Batch[0] {
		dims = append(dims, x.dims[b])
	}
	dims = append(append(dims, without(x.dims, left)...), without(y.dims, append(slices.Clone(s.Batch[1]), s.Contract[1]...))...)
	if out := (drawn{dims: dims}); out.size() > maxElements || len(dims) > 4 {
		return false
	}
	d.emit(s, x.t, dims, bound, x, y)
	return true
}

func (d *drawing) reduce() bool {
	x, ok := d.one(hasDims)
	if !ok {
		return false
	}
	var dims []int64
	for k := range x.dims {
		if d.chance(2) {
			dims = append(dims, int64(k))
		}
	}
	mode := d.of([]string{"sum", "sum", "max", "min", "prod"})
	bound := x.bound
	switch {
	case x.t == dtype.I1:
		mode = d.of([]string{"and", "or"})
	case mode == "sum":
		bound *= float64(x.size())
	case mode == "prod" && x.float():
		if x.size() > 8 || x.coarse {
			return false
		}
		x = d.emit(randomStep{Op: "with", Mode: "min", Value: 2}, x.t, x.dims, x.bound, x)
		for k := range x.dims {
			for range x.dims[k] {
				bound *= max(x.bound, 1)
			}
		}
		if bound > 1e6 {
			return false
		}
	}
	d.emit(randomStep{Op: "reduce", Mode: mode, Dims: dims}, x.t, without(x.dims, dims), bound, x)
	return true
}

func (d *drawing) cumulative() bool {
	x, ok := d.one(func(x drawn) bool { return hasDims(x) && isNumber(x) })
	if !ok {
		return false
	}
	dim := d.pick(len(x.dims))
	mode, bound := "sum", x.bound*float64(x.dims[dim])
	if d.chance(4) && !d.VJP {
		mode, bound = d.of([]string{"max", "min"}), x.bound
	}
	d.emit(randomStep{Op: "cumulative", Mode: mode, Dim: int64(dim), Reverse: d.chance(2)}, x.t, x.dims, bound, x)
	return true
}

// window draws a reduction of windows of numbers.
func (d *drawing) window() bool {
	x, ok := d.one(func(x drawn) bool { return hasDims(x) && x.float() })
	if !ok {
		return false
	}
	s := randomStep{Op: "window", Mode: d.of([]string{"sum", "max", "min"})}
	var dims []int64
	bound := x.bound
	for _, n := range x.dims {
		size, stride, low, high := int64(1+d.pick(3)), int64(1+d.pick(2)), int64(0), int64(0)
		// a window of nothing but padding has no maximum, and XLA miscalculates sums of sums of padded single elements
		if s.Mode == "sum" && size > 1 || size == 2 {
			low, high = int64(d.pick(2)), int64(d.pick(2))
		}
		if size > n+low+high {
			size = n
		}
		bound *= float64(size)
		s.Shape, s.Interior, s.Low, s.High = append(s.Shape, size), append(s.Interior, stride), append(s.Low, low), append(s.High, high)
		dims = append(dims, (n+low+high-size)/stride+1)
	}
	if s.Mode != "sum" {
		bound = x.bound
		for k, n := range s.Shape {
			if n < 2 {
				s.Low[k], s.High[k] = 0, 0
				dims[k] = (x.dims[k]-n)/s.Interior[k] + 1
			}
		}
	}
	d.emit(s, x.t, dims, bound, x)
	return true
}

// sort draws a sort by the first of one or two operands. Sums that are equal but for the order of their summands would be ties that each
// side breaks in its own way.
func (d *drawing) sort() bool {
	x, ok := d.one(func(x drawn) bool { return hasDims(x) && isFine(x) && isNumber(x) && (x.given || !x.float()) })
	if !ok {
		return false
	}
	s := randomStep{Op: "sort", Dim: int64(d.pick(len(x.dims)))}
	in := []drawn{x}
	if y, ok := d.one(func(y drawn) bool { return slices.Equal(y.dims, x.dims) && y.id != x.id }); ok && d.chance(2) {
		in = append(in, y)
	}
	d.several(&s, in, in...)
	return true
}

// several adds a step with several results, of the types of those values.
func (d *drawing) several(s *randomStep, like []drawn, in ...drawn) {
	var v, real axisMask
	for _, x := range in {
		s.In = append(s.In, x.id)
		v, real = v|x.v, real|x.real
	}
	for _, x := range in {
		d.casts(x, v&^x.v)
	}
	for _, x := range like {
		x.v, x.real = v, real
		s.Out = append(s.Out, d.define(x).id)
	}
	*d.steps = append(*d.steps, s)
}

// indices returns a list of numbers that point into a dimension, most of them.
func (d *drawing) indices(n int64) drawn {
	if x, ok := d.one(func(x drawn) bool { return x.t == dtype.I32 && len(x.dims) == 1 }); ok && d.chance(2) {
		return x
	}
	dims := []int64{1 + int64(d.pick(4))}
	x := d.add(&randomStep{Op: "iota", DType: "i32", Shape: dims}, drawn{t: dtype.I32, dims: dims, bound: 4})
	return d.emit(randomStep{Op: "with", Mode: d.of([]string{"sub", "mul", "add"}), Value: float64(1 + d.pick(int(n)))}, x.t, dims, 8, x)
}

func (d *drawing) take() bool {
	x, ok := d.one(hasDims)
	if !ok {
		return false
	}
	dim := d.pick(len(x.dims))
	index := d.indices(x.dims[dim])
	dims := slices.Clone(x.dims)
	// the dimension of the list comes where it was
	dims[dim] = index.dims[0]
	if out := (drawn{dims: dims}); out.size() > maxElements {
		return false
	}
	d.emit(randomStep{Op: "take", Dim: int64(dim)}, x.t, dims, x.bound, x, index)
	return true
}

func (d *drawing) scatter() bool {
	x, ok := d.one(func(x drawn) bool { return hasDims(x) && isNumber(x) })
	if !ok {
		return false
	}
	dim := d.pick(len(x.dims))
	index := d.indices(x.dims[dim])
	s := randomStep{Op: "scatter", Mode: d.of([]string{"add", "add", "add", "max", "min"}), Dim: int64(dim)}
	if d.VJP && s.Mode != "add" {
		s.Mode = "set"
	}
	if s.Mode == "set" { // no element twice
		dims := []int64{min(2, x.dims[dim])}
		index = d.add(&randomStep{Op: "iota", DType: "i32", Shape: dims}, drawn{t: dtype.I32, dims: dims, bound: 4})
	}
	dims := slices.Clone(x.dims)
	dims[dim] = index.dims[0]
	updates, ok := d.one(func(u drawn) bool { return u.t == x.t && slices.Equal(u.dims, dims) })
	if !ok {
		y, ok := d.one(func(y drawn) bool { return y.t == x.t && len(y.dims) == 0 })
		if !ok {
			y = d.constant(x.t, nil)
		}
		updates = d.emit(randomStep{Op: "broadcast", Shape: dims}, x.t, dims, y.bound, y)
	}
	d.emit(s, x.t, x.dims, x.bound+float64(index.dims[0])*updates.bound, x, index, updates)
	return true
}

// starts returns numbers at which a window begins.
func (d *drawing) starts(rank int) (out []drawn) {
	for range rank {
		x, ok := d.one(func(x drawn) bool { return x.t == dtype.I32 && len(x.dims) == 0 })
		if !ok || d.chance(2) {
			x = d.number(float64(d.pick(4)))
		}
		out = append(out, x)
	}
	return out
}

func (d *drawing) dynamicSlice() bool {
	x, ok := d.one(hasDims)
	if !ok {
		return false
	}
	var dims []int64
	for _, n := range x.dims {
		dims = append(dims, 1+int64(d.pick(int(n))))
	}
	d.emit(randomStep{Op: "dynamic_slice", Shape: dims}, x.t, dims, x.bound, append([]drawn{x}, d.starts(len(dims))...)...)
	return true
}

func (d *drawing) dynamicUpdateSlice() bool {
	x, ok := d.one(hasDims)
	if !ok {
		return false
	}
	u, ok := d.one(func(u drawn) bool {
		fits := u.t == x.t && len(u.dims) == len(x.dims)
		for k := range u.dims {
			fits = fits && u.dims[k] <= x.dims[k]
		}
		return fits
	})
	if !ok {
		return false
	}
	d.emit(randomStep{Op: "dynamic_update_slice"}, x.t, x.dims, max(x.bound, u.bound), append([]drawn{x, u}, d.starts(len(x.dims))...)...)
	return true
}

// conv draws a convolution of one or two spatial dimensions, in groups of features or batches or none.
func (d *drawing) conv() bool {
	if d.depth > 0 {
		return false
	}
	source, ok := d.one(func(x drawn) bool { return x.float() && hasDims(x) })
	if !ok {
		return false
	}
	groups, batches := []int64{1, 1, 2}[d.pick(3)], int64(1)
	if groups == 1 && d.chance(3) {
		batches = 2
	}
	in, out := int64(1+d.pick(2)), int64(1+d.pick(2))*groups*batches
	space := []int64{3 + int64(d.pick(3))}
	kernel := []int64{1 + int64(d.pick(3))}
	if d.chance(3) {
		space, kernel = append(space, 2), append(kernel, 1+int64(d.pick(2)))
	}
	form := d.of([]string{"NCS,OIS,NCS", "NSC,SIO,NSC", "SNC,OSI,CNS"})
	x := d.filled(source, layout(form[:3], batches*int64(1+d.pick(2)), in*groups, space))
	k := d.filled(source, layout(form[4:7], out, in, kernel))
	s := randomStep{Op: "conv", Form: form, Length: groups, Source: batches}
	var result []int64
	for i, n := range space {
		stride, base, dilation, low, high := int64(1+d.pick(2)), int64(1+d.pick(2)), int64(1+d.pick(2)), int64(d.pick(3)), int64(d.pick(2))
		size := (n-1)*base + 1 + low + high - (kernel[i]-1)*dilation
		if size < 1 {
			return true // the operands are there
		}
		s.Shape, s.Interior, s.Dims, s.Low, s.High = append(s.Shape, stride), append(s.Interior, base), append(s.Dims, dilation),
			append(s.Low, low), append(s.High, high)
		result = append(result, (size-1)/stride+1)
	}
	n := x.dims[slices.Index([]byte(expand(form[:3], len(space))), 'N')]
	dims := layout(form[8:], n/batches, out, result)
	d.emit(s, x.t, dims, x.bound*k.bound*16, x, k)
	return true
}

// expand repeats the S of a layout for each spatial dimension.
func expand(form string, spatial int) string {
	var out []byte
	for _, c := range []byte(form) {
		out = append(out, c)
		if c == 'S' && spatial == 2 {
			out = append(out, c)
		}
	}
	return string(out)
}

// layout returns the shape of an array whose letters stand for batch or output features, features, and space.
func layout(form string, major, feature int64, space []int64) (dims []int64) {
	for _, c := range form {
		switch c {
		case 'N', 'O':
			dims = append(dims, major)
		case 'S':
			dims = append(dims, space...)
		default:
			dims = append(dims, feature)
		}
	}
	return dims
}

// filled returns a value of that shape, made of another one.
func (d *drawing) filled(x drawn, dims []int64) drawn {
	if y, ok := d.one(func(y drawn) bool { return y.t == x.t && slices.Equal(y.dims, dims) }); ok {
		return y
	}
	flat := d.reshape(x, []int64{x.size()})
	want := (drawn{dims: dims}).size()
	for flat.dims[0] < want {
		n := []int64{2 * flat.dims[0]}
		flat = d.emit(randomStep{Op: "concatenate"}, x.t, n, flat.bound, flat, flat)
	}
	if flat.dims[0] > want {
		s := randomStep{Op: "slice", Low: []int64{0}, High: []int64{want}, Interior: []int64{1}}
		flat = d.emit(s, x.t, []int64{want}, flat.bound, flat)
	}
	return d.reshape(flat, dims)
}
