package inputs

import (
	"math/rand/v2"

	"autoshard/answer"
	"autoshard/backend/tensor"
	"autoshard/internal/diag"
	"autoshard/ir/dtype"
	"autoshard/ir/names"
)

// maxRandom bounds the bytes of random inputs.
const maxRandom = 4 << 30

// Random returns inputs of the given types. Floats are uniform in [0, 1), so that square roots and logarithms of
// optimizer state exist; integers are from 0 to 3, so that they are indices of anything. Errors are of class
// diag.ErrUnsupported for what has no elements, or diag.ErrTooLarge.
func Random(tensors []answer.Tensor, seed uint64) ([]*tensor.Tensor, error) {
	out := make([]*tensor.Tensor, len(tensors))
	left := int64(maxRandom)
	for i := range tensors {
		dt, shape, ok := tensors[i].Shape()
		if !ok {
			return nil, diag.Unsupported(diag.NotSupported, diag.Position{}, "%s is %s: give inputs with --inputs",
				names.Port("input", i, tensors[i].Name), tensors[i].Type)
		}
		n, bytes, err := dtype.Size(dt, shape)
		if err != nil {
			return nil, err
		}
		if left -= max(bytes, 8*n); left < 0 {
			return nil, diag.TooLarge(diag.InputTooLarge, diag.Position{},
				"the inputs take more than %d bytes, too many to make and run in this process", int64(maxRandom))
		}
		t := randomTensor(dt, shape, n, rand.New(rand.NewPCG(seed, uint64(i))))
		out[i] = &t
	}
	return out, nil
}

func randomTensor(dt dtype.Type, shape []int64, n int64, rng *rand.Rand) tensor.Tensor {
	values := make([]float64, n)
	for i := range values {
		switch {
		case dt.Kind() == dtype.Bool:
			values[i] = float64(rng.IntN(2))
		case dt.Kind() == dtype.Float || dt.Kind() == dtype.Complex:
			values[i] = rng.Float64()
		case dt.Bits() < 4: // i2 ends at 1
			values[i] = float64(rng.IntN(2))
		default:
			values[i] = float64(rng.IntN(4))
		}
	}
	return tensor.FromFloats(dt, shape, values...)
}
