package tensor

import (
	"fmt"
	"strconv"
	"strings"

	"autoshard/internal/lists"
	"autoshard/ir/dtype"
)

// String returns type, shape and elements, such as "f32[2,2] [[1, 2], [3, 4]]", for tests and messages.
func (t Tensor) String() string {
	var b strings.Builder
	b.WriteString(dtype.Format(t.DType, t.Shape) + " ")
	t.writeElements(&b, t.Shape, 0)
	return b.String()
}

// writeElements writes the elements of a block from offset at on.
func (t Tensor) writeElements(b *strings.Builder, shape []int64, at int64) {
	if len(shape) == 0 {
		b.WriteString(t.elementText(int(at)))
		return
	}
	b.WriteByte('[')
	for i := range shape[0] {
		if i > 0 {
			b.WriteString(", ")
		}
		t.writeElements(b, shape[1:], at+i*lists.Product(shape[1:]))
	}
	b.WriteByte(']')
}

func (t Tensor) elementText(i int) string {
	x := t.at(i)
	switch t.DType.Kind() {
	case dtype.Complex:
		v := Elems[complex128](Convert(x, dtype.C128))[0]
		return fmt.Sprintf("(%v,%v)", real(v), imag(v))
	case dtype.Float:
		if t.DType == dtype.F64 {
			return strconv.FormatFloat(x.Floats()[0], 'g', -1, 64)
		}
		return strconv.FormatFloat(x.Floats()[0], 'g', -1, 32)
	case dtype.Bool:
		return strconv.FormatBool(x.Data[0] != 0)
	case dtype.Unsigned:
		return strconv.FormatUint(uint64(x.Ints()[0]), 10)
	}
	return strconv.FormatInt(x.Ints()[0], 10)
}
