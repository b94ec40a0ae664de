// Package vector has the inner loops of kernels: arithmetic on slices of numbers, and tiles of products of matrices.
//
// Every loop is written twice: plainly, in Go, and for processors with AVX2 in assembly, which works on eight numbers at a time. Both give
// the same bits for all numbers (a NaN may be another NaN): products and sums are rounded one by one, never fused, and added up in one
// order. So results do not depend on the processor, and the plain loops are the oracle of the others.
//
//	vector.Add.Float32(dst, x, y)            // dst[i] = x[i] + y[i]
//	vector.Add.Float32(dst, x, []float32{1}) // dst[i] = x[i] + 1
//	a := vector.Matrix[float32]{Data: x, Row: 4, Column: 1}
//	b := vector.Matrix[float32]{Data: y, Row: 8, Column: 1}
//	vector.Matmul(c, a, b, 2, 4, 8) // c, of 2 rows of 8 elements, = a·b
package vector

// Op is an operation on two numbers.
type Op uint8

// The operations. Maximum and Minimum are NaN where either operand is, and +0 is above -0.
const (
	Add Op = iota
	Subtract
	Multiply
	Divide
	Maximum
	Minimum
)

// Float32 fills dst with x op y. Operands are as long as dst, or one number that is repeated. Dst may be an operand itself; they must not
// overlap otherwise.
func (op Op) Float32(dst, x, y []float32) {
	done := 0
	if wide && len(dst) >= lanes {
		done = op.wide(dst, x, y)
	}
	op.plain(dst[done:], rest(x, len(dst), done), rest(y, len(dst), done))
}

// BitOp is an operation on two integers of 32 bits.
type BitOp uint8

// The operations. Amounts of shifts are read as unsigned; by 32 and more nothing, or the sign, is left.
const (
	IntAdd BitOp = iota
	IntSubtract
	IntMultiply
	And
	Or
	Xor
	ShiftLeft
	ShiftRightLogical
	ShiftRightArithmetic
)

// Int32 fills dst with x op y. Operands are as those of Op.Float32.
func (op BitOp) Int32(dst, x, y []uint32) {
	done := 0
	if n := len(dst) / lanes; wide && n > 0 {
		var xs, ys [lanes]uint32
		px, stepX := operand(x, len(dst), &xs)
		py, stepY := operand(y, len(dst), &ys)
		bitsAVX(op, &dst[0], px, py, n, stepX, stepY)
		done = n * lanes
	}
	op.plain(dst[done:], rest(x, len(dst), done), rest(y, len(dst), done))
}

// plain is Int32 in Go.
func (op BitOp) plain(dst, x, y []uint32) {
	if len(dst) == 0 {
		return
	}
	lastX, lastY := len(x)-1, len(y)-1
	for k := range dst {
		a, b := x[min(k, lastX)], y[min(k, lastY)]
		switch op {
		case IntAdd:
			dst[k] = a + b
		case IntSubtract:
			dst[k] = a - b
		case IntMultiply:
			dst[k] = a * b
		case And:
			dst[k] = a & b
		case Or:
			dst[k] = a | b
		case Xor:
			dst[k] = a ^ b
		case ShiftLeft:
			dst[k] = a << b
		case ShiftRightLogical:
			dst[k] = a >> b
		case ShiftRightArithmetic:
			dst[k] = uint32(int32(a) >> b)
		}
	}
}

// Choose fills dst with x where the byte of which is 1 and with y where it is 0. Operands are as those of Op.Float32.
func Choose(dst []uint32, which []byte, x, y []uint32) {
	which = which[:len(dst)]
	done := 0
	if n := len(dst) / lanes; wide && n > 0 {
		var xs, ys [lanes]uint32
		px, stepX := operand(x, len(dst), &xs)
		py, stepY := operand(y, len(dst), &ys)
		chooseAVX(&dst[0], &which[0], px, py, n, stepX, stepY)
		done = n * lanes
	}
	lastX, lastY := len(x)-1, len(y)-1
	for k := done; k < len(dst); k++ {
		if v := y[min(k, lastY)]; which[k] == 0 {
			dst[k] = v
		} else {
			dst[k] = x[min(k, lastX)]
		}
	}
}

// Narrow rounds x to float32.
func Narrow(dst []float32, x []float64) {
	x = x[:len(dst)]
	done := 0
	if n := len(dst) / lanes; wide && n > 0 {
		narrowAVX(&dst[0], &x[0], n)
		done = n * lanes
	}
	for i := done; i < len(dst); i++ {
		dst[i] = float32(x[i])
	}
}

// lanes is how many numbers of 32 bits a vector has.
const lanes = 8

// wide computes as many elements as fill vectors, and returns how many.
func (op Op) wide(dst, x, y []float32) int {
	n := len(dst) / lanes
	var xs, ys [lanes]float32
	px, stepX := operand(x, len(dst), &xs)
	py, stepY := operand(y, len(dst), &ys)
	switch op {
	case Add:
		addAVX(&dst[0], px, py, n, stepX, stepY)
	case Subtract:
		subtractAVX(&dst[0], px, py, n, stepX, stepY)
	case Multiply:
		multiplyAVX(&dst[0], px, py, n, stepX, stepY)
	case Divide:
		divideAVX(&dst[0], px, py, n, stepX, stepY)
	case Maximum:
		maximumAVX(&dst[0], px, py, n, stepX, stepY)
	case Minimum:
		minimumAVX(&dst[0], px, py, n, stepX, stepY)
	}
	return n * lanes
}

// operand returns where vectors of an operand of n elements are, and the bytes from one to the next: none for one number, whose copies are
// put into spread.
func operand[T float32 | uint32](x []T, n int, spread *[lanes]T) (first *T, step int) {
	if len(x) >= n && n > 1 {
		return &x[0], lanes * 4
	}
	for i := range spread {
		spread[i] = x[0]
	}
	return &spread[0], 0
}

// rest returns an operand of n elements from one on.
func rest[T any](x []T, n, from int) []T {
	if len(x) >= n && n > 1 {
		return x[from:n]
	}
	return x
}

// plain is Float32 in Go.
func (op Op) plain(dst, x, y []float32) {
	if len(dst) == 0 {
		return
	}
	stepX, stepY := min(len(x)-1, 1), min(len(y)-1, 1)
	if len(dst) == 1 {
		stepX, stepY = 0, 0
	}
	i, j := 0, 0
	for k := range dst {
		a, b := x[i], y[j]
		switch op {
		case Add:
			dst[k] = a + b
		case Subtract:
			dst[k] = a - b
		case Multiply:
			dst[k] = a * b
		case Divide:
			dst[k] = a / b
		case Maximum:
			dst[k] = max(a, b)
		case Minimum:
			dst[k] = min(a, b)
		}
		i += stepX
		j += stepY
	}
}

// Fold returns the operation on all elements of x, which is not empty. It is for Maximum and Minimum, where the order does not matter.
func (op Op) Fold(x []float32) float32 {
	n := len(x) / lanes
	if !wide || n == 0 {
		return op.foldPlain(x[0], x[1:])
	}
	var s [lanes]float32
	if op == Maximum {
		foldMaximumAVX(&s, &x[0], n)
	} else {
		foldMinimumAVX(&s, &x[0], n)
	}
	return op.foldPlain(op.foldPlain(s[0], s[1:]), x[n*lanes:])
}

// foldPlain is Fold in Go.
func (op Op) foldPlain(acc float32, x []float32) float32 {
	for _, v := range x {
		if op == Maximum {
			acc = max(acc, v)
		} else {
			acc = min(acc, v)
		}
	}
	return acc
}

// AddTo adds x to sums, in float64.
func AddTo(sums []float64, x []float32) {
	x = x[:len(sums)]
	done := 0
	if n := len(sums) / lanes; wide && n > 0 {
		addToAVX(&sums[0], &x[0], n)
		done = n * lanes
	}
	for i := done; i < len(sums); i++ {
		sums[i] += float64(x[i])
	}
}

// Sum adds up x in float64: eight sums of every eighth element, then these by halves. Elements beyond a multiple of eight are added to
// the first sums.
func Sum(x []float32) float64 {
	var s [lanes]float64
	n := len(x) / lanes
	if wide && n > 0 {
		sumAVX(&s, &x[0], n)
	} else {
		for k := 0; k < n*lanes; k += lanes {
			for i, v := range x[k : k+lanes] {
				s[i] += float64(v)
			}
		}
	}
	for i, v := range x[n*lanes:] {
		s[i] += float64(v)
	}
	return ((s[0] + s[4]) + (s[2] + s[6])) + ((s[1] + s[5]) + (s[3] + s[7]))
}
