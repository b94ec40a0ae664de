package verify

import (
	"math"
	"math/rand/v2"
	"slices"

	"autoshard/backend/interp"
	"autoshard/backend/tensor"
	"autoshard/ir"
	"autoshard/ir/dtype"
)

// sum says how an op that sums reads its operands: it is linear in some, adds each of others once to every result, and
// reads the rest, such as indices, as they are.
type sum struct {
	linear, once []int
	chosen       []int   // operands that only choose what is summed
	rounds       float64 // the unit of the additions
	terms        float64 // of each result
}

// sumOf describes an op; ok is false for one whose results do not depend on an order of additions.
func sumOf(m *ir.Module, s *interp.Step) (out sum, ok bool) {
	n := len(s.Results)
	inputs := func(from, to int) (list []int) {
		for k := from; k < to; k++ {
			list = append(list, k)
		}
		return list
	}
	out.rounds = max(unit(s.Results[0].DType), unit(dtype.F64))
	adds := s.Monoid == tensor.MonoidAdd
	switch m.Kind(s.Op) {
	case ir.OpDotGeneral, ir.OpDot, ir.OpEinsum, ir.OpConvolution, ir.OpDynamicConv, ir.OpChloRaggedDot:
		out.linear, out.once = []int{0}, nil
		if s.Results[0].DType != dtype.F64 && s.Results[0].DType != dtype.C128 {
			out.rounds = unit(dtype.F32)
		}
		out.terms = contracted(m, s)
		return out, isFloating(s.Results[0].DType)
	case ir.OpReduce:
		out.linear, out.once, out.rounds = inputs(0, n), inputs(n, 2*n), unit(dtype.F64)
	case ir.OpReduceWindow:
		out.linear, out.once = inputs(0, n), inputs(n, 2*n)
	case ir.OpScatter:
		out.linear, out.once = inputs(n+1, 2*n+1), inputs(0, n)
	case ir.OpSelectAndScatter:
		out.linear, out.once, out.chosen = []int{1}, []int{2}, []int{0}
	default:
		return out, false
	}
	out.terms = float64(s.Operands[out.linear[0]].Len()) / float64(max(1, s.Results[0].Len()))
	return out, adds && isFloating(s.Results[0].DType)
}

// contracted returns the number of products that each element of a product of tensors is summed from.
func contracted(m *ir.Module, s *interp.Step) float64 {
	x := s.Operands[0]
	switch a := m.Attr(s.Op, "dot_dimension_numbers").(type) {
	case *ir.DotDims:
		terms := 1.0
		for _, d := range a.LhsContract {
			terms *= float64(x.Shape[d])
		}
		return terms
	}
	if a, ok := m.Attr(s.Op, "dimension_numbers").(*ir.ConvDims); ok {
		y := s.Operands[1]
		return float64(y.Len()) / float64(max(1, y.Shape[a.KernelOut]))
	}
	return float64(x.Len())
}

// allowed returns how far each element of a result may lie from the one computed here on the same operands, nil for
// not at all. Partial says that devices round parts of the sum to the type of the result.
func (c *checker) allowed(s *interp.Step, r int, want tensor.Tensor, partial bool) ([]float64, error) {
	if !isFloating(want.DType) {
		return nil, nil
	}
	limit, err := c.carried(s, r, want)
	if err != nil {
		return nil, err
	}
	a, ok := sumOf(c.whole, s)
	if !ok && solves(c.whole.Kind(s.Op), s.Monoid) {
		return conditioned(s, r, want, limit)
	}
	if !ok {
		return limit, nil
	}
	size, err := a.magnitudes(s, r)
	if err != nil {
		return nil, err
	}
	if limit == nil {
		limit = make([]float64, len(size))
	}
	share := 4 * (math.Sqrt(a.terms) + 1) * a.rounds
	if partial {
		share += 2 * unit(want.DType)
	}
	least := 4 * math.Ldexp(1, 2-1<<max(0, want.DType.Exponent()-1)-want.DType.Mantissa())
	for i, v := range magnitudes(want) {
		limit[i] += share*size[i] + 2*unit(want.DType)*v + least
	}
	return limit, nil
}

// magnitudes returns for each element of a result the sum of the magnitudes of its terms.
func (a *sum) magnitudes(s *interp.Step, r int) ([]float64, error) {
	operands := slices.Clone(s.Operands)
	for k, x := range operands {
		if isFloating(x.DType) && !slices.Contains(a.chosen, k) {
			operands[k] = tensor.Convert(tensor.Abs(x), x.DType)
		}
	}
	out, err := s.Again(operands)
	if err != nil {
		return nil, err
	}
	size := magnitudes(spread(out[r], s.Results[r].Shape))
	for i, v := range size {
		if math.IsNaN(v) || math.IsInf(v, 0) { // an operand is not finite, or the sum of magnitudes too large for its type
			size[i] = 0
		}
	}
	return size, nil
}

// widen raises limits that the op itself breaks when it sums in another order: terms of one sign and equal sizes round
// the same way at each addition, which the square root of their number does not bound. The op is linear, so that it may
// sum any part of its terms and then the others; both together come to the same, but for rounding.
func (c *checker) widen(s *interp.Step, r int, want tensor.Tensor, limit []float64) error {
	a, ok := sumOf(c.whole, s)
	if !ok {
		return nil
	}
	size, err := a.magnitudes(s, r)
	if err != nil {
		return err
	}
	worst := 0.0
	whole := numbers(want)
	parts := len(whole) / max(1, len(size))
	for seed := range uint64(2) {
		sums, err := a.inTwoParts(s, r, seed)
		if err != nil {
			return err
		}
		for i := range whole {
			if size[i/parts] > 0 && !math.IsInf(whole[i], 0) {
				if share := math.Abs(sums[i]-whole[i]) / size[i/parts]; !math.IsInf(share, 0) {
					worst = math.Max(worst, share)
				}
			}
		}
	}
	for i := range limit {
		limit[i] = max(limit[i], 8*worst*size[i])
	}
	return nil
}

// inTwoParts returns a result summed from a random part of the terms and then from the others.
func (a *sum) inTwoParts(s *interp.Step, r int, seed uint64) ([]float64, error) {
	rng := rand.New(rand.NewPCG(seed, 0))
	first, second := slices.Clone(s.Operands), slices.Clone(s.Operands)
	for _, k := range a.linear {
		first[k], second[k] = s.Operands[k].Clone(), s.Operands[k].Clone()
		width := s.Operands[k].DType.Bytes()
		for i := range s.Operands[k].Len() {
			omit := first[k]
			if rng.IntN(2) == 0 {
				omit = second[k]
			}
			clear(omit.Data[i*width : (i+1)*width])
		}
	}
	for _, k := range a.once {
		second[k] = tensor.New(s.Operands[k].DType, s.Operands[k].Shape)
	}
	x, err := s.Again(first)
	if err != nil {
		return nil, err
	}
	sums := numbers(spread(x[r], s.Results[r].Shape))
	y, err := s.Again(second)
	if err != nil {
		return nil, err
	}
	for i, v := range numbers(spread(y[r], s.Results[r].Shape)) {
		sums[i] += v
	}
	return sums, nil
}

// solves says whether an op rounds in ways that its terms do not bound, such as the solution of equations.
func solves(k ir.Kind, m tensor.Monoid) bool {
	switch k {
	case ir.OpFft, ir.OpCholesky, ir.OpTriangularSolve, ir.OpBatchNormTraining, ir.OpBatchNormInference, ir.OpBatchNormGrad, ir.OpCustomCall,
		ir.OpChloScan, ir.OpSdyManualComputation:
		return true
	case ir.OpReduce, ir.OpReduceWindow, ir.OpScatter:
		return m == tensor.MonoidNone || m == tensor.MonoidMultiply
	}
	return false
}

// conditioned adds to the limits of such an op what it makes of a change of its operands in their last places.
func conditioned(s *interp.Step, r int, want tensor.Tensor, limit []float64) ([]float64, error) {
	rng := rand.New(rand.NewPCG(0, 3))
	operands := slices.Clone(s.Operands)
	for k, x := range operands {
		if x.DType.Kind() == dtype.Float {
			values := slices.Clone(x.Floats())
			for i := range values {
				values[i] *= 1 + unit(x.DType)*float64(4*rng.IntN(2)-2)
			}
			operands[k] = tensor.FromFloats(x.DType, x.Shape, values...)
		}
	}
	out, err := s.Again(operands)
	if err != nil {
		return nil, err
	}
	worst := 0.0
	d := newDifference(spread(out[r], want.Shape), want)
	for i := range d.got {
		if far := d.distance(i); !math.IsInf(far, 0) {
			worst = max(worst, far)
		}
	}
	if limit == nil {
		limit = make([]float64, want.Len())
	}
	for i, v := range magnitudes(want) {
		limit[i] += 16*worst + 8*unit(want.DType)*v
	}
	return limit, nil
}

// carried returns what slack of an op's operands does to a result, nil where none has any. An op that passes its operand
// on keeps it; of others it is what a shift of each operand by it changes, twice. Of loops and branches all are shifted at once.
func (c *checker) carried(s *interp.Step, r int, want tensor.Tensor) (limit []float64, err error) {
	shifted, any := slices.Clone(s.Operands), false
	for k, x := range s.Operands {
		slack := c.slackOf(c.operandOf(s, k))
		switch {
		case len(slack) == 0 || len(slack) != x.Len() || x.DType.Kind() == dtype.Complex:
			continue
		case c.whole.NumOperands(s.Op) == 1 && isReshard(c.whole.Kind(s.Op)):
			return slices.Clone(slack), nil
		}
		shifted[k], any = shift(x, slack, uint64(k)), true
		if c.whole.Kind(s.Op).HasBodies() {
			continue
		}
		change, err := changed(s, r, shifted, want)
		if err != nil {
			return nil, err
		}
		limit, shifted[k] = plus(limit, change), x
	}
	if any && c.whole.Kind(s.Op).HasBodies() {
		return changed(s, r, shifted, want)
	}
	return limit, nil
}

// shift moves each element of a tensor up or down by its slack.
func shift(x tensor.Tensor, slack []float64, seed uint64) tensor.Tensor {
	values, rng := x.Floats(), rand.New(rand.NewPCG(seed, 1))
	for i := range values {
		values[i] += slack[i] * float64(2*rng.IntN(2)-1)
	}
	return tensor.FromFloats(x.DType, x.Shape, values...)
}

// changed returns twice what other operands change of a result of an op.
func changed(s *interp.Step, r int, operands []tensor.Tensor, want tensor.Tensor) ([]float64, error) {
	out, err := s.Again(operands)
	if err != nil {
		return nil, err
	}
	other, limit := spread(out[r], want.Shape).Floats(), make([]float64, want.Len())
	for i, v := range want.Floats() {
		if limit[i] = 2 * math.Abs(other[i]-v); math.IsNaN(limit[i]) {
			limit[i] = math.Inf(1)
		}
	}
	return limit, nil
}

// operandOf returns the value of an operand of a step; ops with tuples have more operands than values.
func (c *checker) operandOf(s *interp.Step, k int) ir.ValueID {
	if len(s.Operands) != c.whole.NumOperands(s.Op) {
		return 0
	}
	return c.whole.Operand(s.Op, k)
}

// slackOf returns how far a value may lie from what the devices go on with. Rounds of a loop begin with what the round before handed back,
// or with what entered the loop, and the loop ends with what the last one did.
func (c *checker) slackOf(v ir.ValueID) []float64 { return c.slackWithin(v, deepest) }

// deepest bounds the loops that are gone through for where a value comes from.
const deepest = 8

func (c *checker) slackWithin(v ir.ValueID, depth int) []float64 {
	slack, known := c.slack[v]
	loop := c.whole.DefiningOp(v)
	if body := c.whole.ArgBlock(v); body != 0 {
		loop = c.whole.BlockOp(body)
	}
	if known || depth == 0 || c.whole.Kind(loop) != ir.OpWhile {
		return slack
	}
	place := c.whole.Index(v)
	handed := c.whole.Operand(c.whole.LastOp(c.whole.RegionBlock(loop, 1)), place)
	if slack := c.slackWithin(handed, depth-1); slack != nil {
		return slack
	}
	return c.slackWithin(c.whole.Operand(loop, place), depth-1)
}

// isReshard says whether an op moves the blocks of a tensor or combines its parts.
func isReshard(k ir.Kind) bool { return k.Communicates() && k.Dialect() == "sdy" }
