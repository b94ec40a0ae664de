package typed_test

import (
	"slices"

	"autoshard/ir/dtype"
)

// free are the axes over which a collective may stand here.
func (d *drawing) free() axisMask { return d.manual() &^ d.divergent }

// uniform returns axes along all of which the value varies, or along none, as sums need.
func (d *drawing) uniform(x drawn) []string {
	set := x.v & d.free()
	if d.Unchecked {
		set = d.free()
	} else if set == 0 || d.chance(6) {
		set = d.free() &^ x.v
	}
	return d.some(set, 1)
}

// collective adds a collective over axes.
func (d *drawing) collective(s randomStep, x drawn, out drawn) drawn {
	s.Op, s.In = "collective", []int{x.id}
	d.casts(x, d.mask(s.Axes)&^x.v)
	return d.add(&s, out)
}

// groups returns groups of members, or nil.
func (d *drawing) groups(axes []string) [][]int64 {
	n := int(d.members(axes))
	if n < 4 || n%2 != 0 || !d.chance(4) {
		return nil
	}
	size, order := []int{2, n / 2}[d.pick(2)], d.order(n)
	var out [][]int64
	for k := 0; k < n; k += size {
		out = append(out, order[k:k+size])
	}
	return out
}

// reduction draws a sum, mean, maximum or minimum over members.
func (d *drawing) reduction() bool {
	x, _ := d.one(anything)
	axes := d.uniform(x)
	mode := d.of([]string{"psum", "psum", "psum", "pmean", "pmax", "pmin"})
	extremum := mode == "pmax" || mode == "pmin"
	if axes == nil || d.VJP && extremum && x.float() && !d.chance(8) || mode == "pmean" && x.t == dtype.I32 {
		return false
	}
	set := d.mask(axes)
	out := drawn{t: x.t, dims: x.dims, v: x.v &^ set, real: x.real &^ set, bound: x.bound, coarse: x.coarse}
	switch {
	case mode == "pmean" && !x.float():
		out.t = dtype.F32
		out.bound = 256
	case mode == "psum":
		out.bound *= float64(d.members(axes))
		if x.t == dtype.I1 {
			out.t = dtype.I32
		}
	}
	s := randomStep{Mode: mode, Axes: axes}
	if d.Unchecked || extremum {
		if s.Groups = d.groups(axes); s.Groups != nil && mode == "pmean" {
			s.Groups = nil // the mean of a group is not asked for
		}
	}
	if s.Groups != nil {
		out.real |= x.real | set
		d.loose = d.loose || !d.Unchecked
	}
	d.collective(s, x, out)
	return true
}

// moving draws a collective that moves blocks.
func (d *drawing) moving() bool {
	switch d.pick(8) {
	case 0, 1:
		return d.allGather()
	case 2, 3:
		return d.psumScatter()
	case 4:
		return d.allToAll()
	case 5, 6:
		return d.permute()
	}
	if d.chance(2) {
		return d.pbroadcast()
	}
	return d.pscatter()
}

func (d *drawing) allGather() bool {
	x, ok := d.one(func(x drawn) bool { return x.size() <= maxElements/4 && len(x.dims) < 4 })
	axes := d.some(d.free(), 1)
	if !ok || axes == nil {
		return false
	}
	s := randomStep{Mode: "all_gather", Axes: axes, Untiled: len(x.dims) == 0 || d.chance(3)}
	set := d.mask(axes)
	out := drawn{t: x.t, dims: slices.Clone(x.dims), v: x.v | set, real: x.real | set, bound: x.bound, coarse: x.coarse}
	n := d.members(axes)
	if !d.Unchecked && d.chance(3) {
		s.Mode = "all_gather_invariant"
		out.v, out.real = x.v&^set, x.real&^set
	} else if s.Groups = d.groups(axes); s.Groups != nil {
		n = int64(len(s.Groups[0]))
	}
	if s.Untiled {
		k := d.pick(len(x.dims) + 1)
		s.Dim, out.dims = int64(k), slices.Insert(out.dims, k, n)
	} else {
		s.Dim = int64(d.pick(len(x.dims)))
		out.dims[s.Dim] *= n
	}
	if out.size() > maxElements {
		return false
	}
	d.collective(s, x, out)
	return true
}

// divisible returns a value and one of its dimensions that n divides, made of another one if need be.
func (d *drawing) divisible(n int64, ok func(drawn) bool) (drawn, int64, bool) {
	has := func(x drawn) bool {
		return ok(x) && slices.ContainsFunc(x.dims, func(m int64) bool { return m%n == 0 })
	}
	if x, found := d.one(has); found {
		for {
			if k := d.pick(len(x.dims)); x.dims[k]%n == 0 {
				return x, int64(k), true
			}
		}
	}
	x, found := d.one(func(x drawn) bool { return ok(x) && len(x.dims) < 3 && x.size()*n*2 <= maxElements })
	if !found {
		return x, 0, false
	}
	dims, places := []int64{n * int64(1+d.pick(2))}, []int64{}
	for k, m := range x.dims {
		dims, places = append(dims, m), append(places, int64(k+1))
	}
	y := d.emit(randomStep{Op: "broadcast", Shape: dims, Dims: places}, x.t, dims, x.bound, x)
	iota := d.add(&randomStep{Op: "iota", DType: y.t.String(), Shape: dims}, drawn{t: y.t, dims: dims, bound: 8})
	return d.emit(randomStep{Op: "binary", Mode: "add"}, y.t, dims, y.bound+8, y, iota), 0, true
}

func (d *drawing) psumScatter() bool {
	x, ok := d.one(isNumber)
	if !ok {
		return false
	}
	axes := d.uniform(x)
	if axes == nil {
		return false
	}
	set := d.mask(axes)
	s := randomStep{Mode: "psum_scatter", Axes: axes, Groups: d.groups(axes)}
	n := d.members(axes)
	if s.Groups != nil {
		n = int64(len(s.Groups[0]))
	}
	x, dim, ok := d.divisible(n, func(x drawn) bool { return isNumber(x) && (x.v&set == set || x.v&set == 0) })
	if !ok {
		return false
	}
	s.Dim, s.Untiled = dim, x.dims[dim] == n && d.chance(2)
	out := drawn{t: x.t, dims: cut(x.dims, dim, n, s.Untiled), v: x.v | set, real: x.real | set, bound: x.bound * float64(n), coarse: x.coarse}
	d.collective(s, x, out)
	return true
}

// cut returns a shape of which one dimension is divided, or goes.
func cut(dims []int64, dim, n int64, away bool) []int64 {
	dims = slices.Clone(dims)
	if away {
		return slices.Delete(dims, int(dim), int(dim)+1)
	}
	dims[dim] /= n
	return dims
}

func (d *drawing) allToAll() bool {
	axes := d.some(d.free(), 1)
	if axes == nil {
		return false
	}
	set := d.mask(axes)
	s := randomStep{Mode: "all_to_all", Axes: axes, Groups: d.groups(axes)}
	n := d.members(axes)
	if s.Groups != nil {
		n = int64(len(s.Groups[0]))
	}
	x, dim, ok := d.divisible(n, isNumber)
	if !ok {
		return false
	}
	s.Dim, s.Concat = dim, int64(d.pick(len(x.dims)))
	out := drawn{t: x.t, v: x.v | set, real: x.real | set, bound: x.bound, coarse: x.coarse}
	// JAX has no derivative of the untiled form with split != concat (specification: shardmap.md section 2.7)
	if s.Untiled = x.dims[dim] == n && d.chance(2) && (s.Dim == s.Concat || !d.VJP); s.Untiled {
		out.dims = slices.Insert(cut(x.dims, dim, n, true), int(s.Concat), n)
	} else {
		out.dims = cut(x.dims, dim, n, false)
		out.dims[s.Concat] *= n
	}
	d.collective(s, x, out)
	return true
}

// permute draws a ppermute or pshuffle.
func (d *drawing) permute() bool {
	x, _ := d.one(anything)
	axes := d.some(d.free(), 1)
	if axes == nil || d.divergent != 0 { // XLA for CPU waits for all devices of the mesh
		return false
	}
	set := d.mask(axes)
	axes = d.names(set)
	order := d.order(int(d.members(axes)))
	s := randomStep{Mode: "pshuffle", Axes: axes, Dims: order}
	if d.chance(2) {
		s.Mode, s.Dims = "ppermute", nil
		for to, from := range order[:d.pick(len(order)+1)] {
			s.Perm = append(s.Perm, [2]int64{from, int64(to)})
		}
	}
	d.collective(s, x, drawn{t: x.t, dims: x.dims, v: x.v | set, real: x.real | set, bound: x.bound, coarse: x.coarse})
	return true
}

// pbroadcast draws a broadcast of one member, which JAX has for GPUs only.
func (d *drawing) pbroadcast() bool {
	x, ok := d.one(func(x drawn) bool { return isNumber(x) && x.v&d.free() != 0 })
	axes := d.some(x.v&d.free(), 1)
	if !ok || axes == nil {
		return false
	}
	s := randomStep{Mode: "pbroadcast", Axes: axes, Source: int64(d.pick(int(d.members(axes))))}
	d.collective(s, x, drawn{t: x.t, dims: x.dims, v: x.v, real: x.real, bound: x.bound, coarse: x.coarse})
	return true
}

// pscatter draws a cut, which JAX writes as a slice at the place of the device.
func (d *drawing) pscatter() bool {
	y, _ := d.one(anything)
	axes := d.some(d.free()&^y.real&^y.v, 1)
	if axes == nil {
		return false
	}
	set := d.mask(axes)
	x, dim, ok := d.divisible(d.members(axes), func(x drawn) bool { return isNumber(x) && (x.real|x.v)&set == 0 })
	if !ok {
		return false
	}
	out := drawn{t: x.t, dims: cut(x.dims, dim, d.members(axes), false), v: x.v | set, real: x.real | set, bound: x.bound, coarse: x.coarse}
	d.collective(randomStep{Mode: "pscatter", Axes: axes, Dim: dim}, x, out)
	return true
}

func (d *drawing) axisIndex() bool {
	axes := d.some(d.manual(), 1)
	set := d.mask(axes)
	d.add(&randomStep{Op: "collective", Mode: "axis_index", Axes: axes}, drawn{t: dtype.I32, v: set, real: set, bound: 16})
	return true
}

func (d *drawing) casting() bool {
	x, _ := d.one(anything)
	axes := d.some(d.manual()&^x.v, 1)
	if axes == nil {
		return false
	}
	d.cast(x, d.mask(axes), axes)
	return true
}

func (d *drawing) cast(x drawn, set axisMask, axes []string) drawn {
	d.casts(x, set)
	out := x
	out.v |= set
	if !d.Unchecked {
		out.real |= set
	}
	return d.add(&randomStep{Op: "collective", Mode: "cast", In: []int{x.id}, Axes: axes}, out)
}
