package transpose

import (
	"slices"

	"autoshard/internal/lists"
	"autoshard/ir"
	"autoshard/ir/dtype"
)

// folded returns the op with which the region of an op combines its two arguments, OpUnregistered for other regions.
func folded(m *ir.Module, op ir.OpID) ir.Kind {
	kind, _ := ir.ReducerOf(m, op, 0, ir.Computed)
	return kind
}

// reduce is the rule of sums; of products, where each tangent is multiplied by the other elements; and of extrema, whose
// tangent is the mean of those of the elements that are the result.
func (j *tangents) reduce(op ir.OpID) ir.ValueID {
	m := j.m
	if m.NumOperands(op) != 2 {
		j.unknown(op)
		return 0
	}
	x, dims := m.Operand(op, 0), m.OpAttrs(op).Ints("dimensions")
	d, ok := j.of[x]
	if _, init := j.of[m.Operand(op, 1)]; init || !ok {
		j.unknown(op)
		return 0
	}
	switch folded(m, op) {
	case ir.OpAdd:
		return j.b.Reduce(ir.OpAdd, d, dims...)
	case ir.OpMultiply:
		sum := j.b.Reduce(ir.OpAdd, j.times(d, j.others(j.value(x), dims)), dims...)
		init := j.value(m.Operand(op, 1))
		return j.times(sum, init)
	case ir.OpMaximum, ir.OpMinimum:
		a, y := j.value(x), j.value(m.Result(op, 0))
		shape := m.Shape(x)
		spread := j.b.Broadcast(y, shape, lists.Others(len(shape), dims)...)
		here := j.b.Select(j.b.Compare("EQ", a, spread), j.like(a, 1), j.like(a, 0))
		return j.b.Binary(ir.OpDivide, j.b.Reduce(ir.OpAdd, j.times(d, here), dims...), j.b.Reduce(ir.OpAdd, here, dims...))
	}
	j.unknown(op)
	return 0
}

// others returns at each place the product of all other elements along dimensions. No element is divided by, so that
// zeros do no harm: the elements before and those behind are multiplied over distances that double.
func (j *tangents) others(x ir.ValueID, dims []int64) ir.ValueID {
	if x == 0 {
		return 0
	}
	shape := j.m.Shape(x)
	order := slices.Concat(lists.Others(len(shape), dims), dims)
	n := int64(1)
	for _, d := range dims {
		n *= shape[d]
	}
	row := x
	if !slices.IsSorted(order) {
		row = j.b.Transpose(x, order...)
	}
	turned := lists.Pick(shape, order)
	if len(dims) != 1 {
		row = j.b.Reshape(row, append(slices.Clone(turned[:len(shape)-len(dims)]), n)...)
	}
	both := j.times(j.before(row, n, 1), j.before(row, n, -1))
	if len(dims) != 1 {
		both = j.b.Reshape(both, turned...)
	}
	if !slices.IsSorted(order) {
		both = j.b.Transpose(both, lists.Inverse(order)...)
	}
	return both
}

// before returns at each place the product of the elements that come before it in the last dimension, of size n, or
// behind it for a direction of -1.
func (j *tangents) before(x ir.ValueID, n, direction int64) ir.ValueID {
	if x == 0 {
		return 0
	}
	rank := len(j.m.Shape(x))
	one := j.b.Constant(j.m.ValueType(x).DType, nil, 1)
	shifted := func(v ir.ValueID, by int64) ir.ValueID {
		low, high := make([]int64, rank), make([]int64, rank)
		low[rank-1], high[rank-1] = direction*by, -direction*by
		return j.b.Pad(v, one, low, high, make([]int64, rank))
	}
	if n == 0 {
		return x
	}
	out := shifted(x, 1)
	for by := int64(1); by < n-1; by *= 2 {
		out = j.times(out, shifted(out, by))
	}
	return out
}

// maxWindow bounds the windows of which the derivative of an extremum is written out, place by place.
const maxWindow = 1024

// reduceWindow is the rule of sums over windows, and of extrema, whose tangent is that of the first element of the window
// that is the result.
func (j *tangents) reduceWindow(op ir.OpID) ir.ValueID {
	d, ok := j.of[j.m.Operand(op, 0)]
	if !ok || j.m.NumOperands(op) != 2 || j.of[j.m.Operand(op, 1)] != 0 {
		j.unknown(op)
		return 0
	}
	zero := j.b.Constant(j.m.ValueType(d).DType, nil, 0)
	switch kind := folded(j.m, op); kind {
	case ir.OpAdd:
		return j.b.Folded(ir.OpReduceWindow, j.m.Type(j.m.Result(op, 0)), j.m.OpAttrs(op), ir.OpAdd, d, zero)
	case ir.OpMaximum, ir.OpMinimum:
		places := int64(1)
		for _, n := range j.m.OpAttrs(op).Ints("window_dimensions") {
			places *= n
		}
		if places > 0 && places <= maxWindow {
			return j.extremumOfWindow(op, kind, d, zero)
		}
	}
	j.unknown(op)
	return 0
}

// extremumOfWindow lets the elements at the places of a window compete, in order, and their tangents with them.
func (j *tangents) extremumOfWindow(op ir.OpID, kind ir.Kind, d, zero ir.ValueID) ir.ValueID {
	m := j.m
	x := m.Operand(op, 0)
	s := readWindows(m, op, m.Shape(x), m.Shape(m.Result(op, 0)))
	if s.empty() {
		return 0
	}
	values, tangents := j.padded(s, j.value(x), j.value(m.Operand(op, 1))), j.padded(s, d, zero)
	loses := map[ir.Kind]string{ir.OpMaximum: "LT", ir.OpMinimum: "GT"}[kind]
	var best, tangent ir.ValueID
	place := make([]int64, len(s.window))
	for more := true; more; {
		v, t := j.at(s, values, place), j.at(s, tangents, place)
		if best == 0 {
			best, tangent = v, t
		} else {
			lost := j.b.Compare(loses, best, v)
			best, tangent = j.b.Select(lost, v, best), j.b.Select(lost, t, tangent)
		}
		more = next(place, s.window)
	}
	return tangent
}

// next counts to the next place of a window, the last dimension first; it returns false behind the last one.
func next(place, size []int64) bool {
	for d := len(size) - 1; d >= 0; d-- {
		if place[d]++; place[d] < size[d] {
			return true
		}
		place[d] = 0
	}
	return false
}

// padded returns the base of windows with its dilation, and with value where a window reaches beyond it.
func (j *tangents) padded(s *sliding, x, value ir.ValueID) ir.ValueID {
	high, interior := make([]int64, len(s.base)), make([]int64, len(s.base))
	same := true
	for d := range s.base {
		interior[d] = s.baseDilation[d] - 1
		reach := (s.out[d]-1)*s.strides[d] + (s.window[d]-1)*s.dilation[d] + 1
		high[d] = reach - s.low[d] - ((s.base[d]-1)*s.baseDilation[d] + 1)
		same = same && s.low[d] == 0 && high[d] == 0 && interior[d] == 0
	}
	if same {
		return x
	}
	return j.b.Pad(x, value, s.low, high, interior)
}

// at returns the elements that stand at one place of all windows.
func (j *tangents) at(s *sliding, padded ir.ValueID, place []int64) ir.ValueID {
	start, limit := make([]int64, len(place)), make([]int64, len(place))
	for d := range place {
		start[d] = place[d] * s.dilation[d]
		limit[d] = start[d] + (s.out[d]-1)*s.strides[d] + 1
	}
	return j.b.Slice(padded, start, limit, s.strides)
}

// sort sorts the places with the values, and takes the tangents from there.
func (j *tangents) sort(op ir.OpID) {
	m := j.m
	dim, stable := m.OpAttrs(op).Int("dimension", -1), m.OpAttrs(op).Bool("is_stable")
	shape := m.Shape(m.Operand(op, 0))
	if dim < 0 {
		dim += int64(len(shape))
	}
	places := j.b.Op(ir.OpIota, m.TensorType(dtype.I32, shape...), ir.MakeAttrs(ir.Named("iota_dimension", j.m.I64(dim))))
	operands := append(lists.Map(m.Operands(op), j.value), places)
	sorted := j.b.Sort(dim, stable, func(x, y []ir.ValueID) ir.ValueID { return j.comparison(op, x, y) }, operands...)
	from := sorted[len(sorted)-1]
	for i, x := range m.Operands(op) {
		if d, ok := j.of[x]; ok && j.b.Err() == nil {
			j.set(m.Result(op, i), j.along(d, from, dim))
		}
	}
}

// comparison copies the comparison of a sort.
func (j *tangents) comparison(op ir.OpID, x, y []ir.ValueID) ir.ValueID {
	body := j.m.RegionBlock(op, 0)
	env := map[ir.ValueID]ir.ValueID{}
	for k, v := range j.m.BlockArgs(body) {
		env[v] = [][]ir.ValueID{x, y}[k%2][k/2]
	}
	for _, v := range j.p.Captures(op)[j.m.NumOperands(op):] {
		env[v] = j.value(v)
	}
	for inner := range j.m.Ops(body) {
		if !j.m.Kind(inner).IsTerminator() {
			j.b.Copy(inner, env)
		}
	}
	return env[j.m.Operand(j.m.LastOp(body), 0)]
}

// along takes elements along a dimension: at each place the one whose number stands there.
func (j *tangents) along(x, numbers ir.ValueID, dim int64) ir.ValueID {
	if x == 0 || numbers == 0 {
		return 0
	}
	shape := j.m.Shape(x)
	rest := lists.Others(len(shape), []int64{dim})
	d := &ir.GatherDims{Collapsed: []int64{dim}, OperandBatch: rest, IndicesBatch: rest, StartIndexMap: []int64{dim},
		IndexVectorDim: int64(len(shape))}
	index := j.b.Reshape(numbers, append(slices.Clone(shape), 1)...)
	return j.b.Local(ir.OpGather, ir.MakeAttrs(ir.Named("dimension_numbers", d),
		ir.Named("slice_sizes", ir.Ints(slices.Repeat([]int64{1}, len(shape))))), x, index)
}
