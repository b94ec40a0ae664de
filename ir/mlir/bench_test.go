package mlir

import (
	"bytes"
	"fmt"
	"testing"

	"autoshard/ir"
)

// largestModel is the largest text among the models.
const largestModel = "llama3_8b_train.mlir.gz"

func benchmarkTexts(b *testing.B) map[string][]byte {
	return map[string][]byte{
		"llama3_8b_train": readModel(b, shared(b, "models", largestModel)),
		"100k_ops":        manyOps(100_000),
	}
}

// manyOps returns a program of n elementwise ops.
func manyOps(n int) []byte {
	var text bytes.Buffer
	text.WriteString("module {\n  func.func @main(%arg0: tensor<8x128xf32>, %arg1: tensor<8x128xf32>) -> tensor<8x128xf32> {\n")
	text.WriteString("    %0 = stablehlo.add %arg0, %arg1 : tensor<8x128xf32>\n    %1 = stablehlo.multiply %0, %arg1 : tensor<8x128xf32>\n")
	for i := 2; i < n; i++ {
		fmt.Fprintf(&text, "    %%%d = stablehlo.%s %%%d, %%%d : tensor<8x128xf32>\n", i, []string{"add", "multiply", "maximum"}[i%3], i-1, i-2)
	}
	fmt.Fprintf(&text, "    return %%%d : tensor<8x128xf32>\n  }\n}\n", n-1)
	return text.Bytes()
}

func BenchmarkParse(b *testing.B) {
	for name, src := range benchmarkTexts(b) {
		b.Run(name, func(b *testing.B) {
			b.SetBytes(int64(len(src)))
			b.ReportAllocs()
			for b.Loop() {
				if _, err := Parse(b.Context(), src, Options{}); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

func BenchmarkVerify(b *testing.B) {
	for name, src := range benchmarkTexts(b) {
		b.Run(name, func(b *testing.B) {
			m, err := Parse(b.Context(), src, Options{})
			if err != nil {
				b.Fatal(err)
			}
			b.SetBytes(int64(len(src)))
			b.ReportAllocs()
			for b.Loop() {
				if err := ir.Verify(b.Context(), m); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

func BenchmarkPrint(b *testing.B) {
	for name, src := range benchmarkTexts(b) {
		b.Run(name, func(b *testing.B) {
			m, err := Parse(b.Context(), src, Options{})
			if err != nil {
				b.Fatal(err)
			}
			b.SetBytes(int64(len(src)))
			b.ReportAllocs()
			for b.Loop() {
				Print(m, PrintOptions{})
			}
		})
	}
}
