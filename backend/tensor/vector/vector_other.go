//go:build !amd64

package vector

// wide says that there are no vectors; what works on them is not called.
const wide = false

func addAVX(_, _, _ *float32, _, _, _ int)                {}
func subtractAVX(_, _, _ *float32, _, _, _ int)           {}
func multiplyAVX(_, _, _ *float32, _, _, _ int)           {}
func divideAVX(_, _, _ *float32, _, _, _ int)             {}
func maximumAVX(_, _, _ *float32, _, _, _ int)            {}
func minimumAVX(_, _, _ *float32, _, _, _ int)            {}
func foldMaximumAVX(_ *[lanes]float32, _ *float32, _ int) {}
func foldMinimumAVX(_ *[lanes]float32, _ *float32, _ int) {}
func expAVX(_ *float64, _ *float32, _ int)                {}
func addToAVX(_ *float64, _ *float32, _ int)              {}
func sumAVX(_ *[lanes]float64, _ *float32, _ int)         {}

func tile6[T number](int, []T, int, int, []T, int, []T, int) {}
func tile1[T number](int, []T, int, []T, int, []T)           {}

func bitsAVX(_ BitOp, _, _, _ *uint32, _, _, _ int)           {}
func chooseAVX(_ *uint32, _ *byte, _, _ *uint32, _, _, _ int) {}
func narrowAVX(_ *float32, _ *float64, _ int)                 {}
