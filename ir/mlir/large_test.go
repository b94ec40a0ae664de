package mlir

import (
	"bytes"
	"errors"
	"flag"
	"fmt"
	"runtime"
	"strings"
	"syscall"
	"testing"
	"time"

	"autoshard/internal/diag"
	"autoshard/ir"
)

var large = flag.Bool("large", false, "also read texts of hundreds of megabytes")

// allocated returns the bytes that a function allocates.
func allocated(f func()) int64 {
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	f()
	runtime.ReadMemStats(&after)
	return int64(after.TotalAlloc - before.TotalAlloc)
}

// TestMemory bounds what reading allocates in all, and with it the peak, to 6 bytes for each byte of the text.
func TestMemory(t *testing.T) {
	t.Run("ops", func(t *testing.T) { bounded(t, manyOps(50_000)) })
	t.Run("largest model", func(t *testing.T) { bounded(t, readModel(t, shared(t, "models", largestModel))) })
}

func bounded(t *testing.T, src []byte) {
	n := allocated(func() {
		if _, err := Parse(t.Context(), src, Options{}); err != nil {
			t.Fatal(err)
		}
	})
	perByte := float64(n) / float64(len(src))
	t.Logf("%.2f bytes for each byte of %d", perByte, len(src))
	if perByte > 6 {
		t.Errorf("reading allocates %.2f bytes for each byte of the text", perByte)
	}
}

// manyOfEverything are texts with n of something that programs have few of.
func manyOfEverything(n int) map[string]string {
	each := func(format string) string {
		var b strings.Builder
		for i := range n {
			fmt.Fprintf(&b, format, i+1)
		}
		return b.String()
	}
	function := func(body string) string { return "func.func @main() {\n" + body + "\nreturn\n}\n" }
	return map[string]string{
		"functions":      each("func.func @f%d() { return }\n"),
		"modules":        each("module @m%d {}\n"),
		"meshes":         each("sdy.mesh @m%d = <[\"x\"=2]>\n"),
		"generic meshes": each("\"sdy.mesh\"() <{mesh = #sdy.mesh<[\"x\"=2]>, sym_name = \"m%d\"}> : () -> ()\n"),
		"later meshes": "func.func private @f(tensor<2xf32> {sdy.sharding = #sdy.sharding<@m1, [{}]>})\n" +
			each("sdy.mesh @m%d = <[\"x\"=2]>\n"),
		"inlined meshes": function(each("\"a.b\"() {s = #sdy.sharding<mesh<[\"x\"=%[1]d]>, []>} : () -> ()\n")),
		"maps":           function(each("\"a.b\"() {m = affine_map<(d0) -> (d0 + %d)>} : () -> ()\n")),
		"attributes":     function("\"a.b\"() {" + each("k%d, ") + "k} : () -> ()"),
		"blocks":         function(each("cf.br ^b%[1]d\n^b%[1]d:\n")),
		"regions":        function("\"a.b\"() (" + strings.Repeat("{}, ", n) + "{}) : () -> ()"),
		"results":        function(fmt.Sprintf("%%0:%d = \"a.b\"() : () -> (", n) + strings.Repeat("i32, ", n-1) + "i32)"),
		"operands": function("%0 = \"a.b\"() : () -> i32\n\"a.c\"(" + strings.Repeat("%0, ", n-1) + "%0) : (" +
			strings.Repeat("i32, ", n-1) + "i32) -> ()"),
		"locations": each("func.func private @f%[1]d() loc(\"a.py\":%[1]d:3)\n"),
		"aliases":   each("#a%[1]d = dense<%[1]d> : tensor<i32>\n") + "module {}",
		"names":     function(each("%%x%d = \"a.b\"() : () -> i32\n")),
	}
}

// TestManyOfEverything checks that reading, verifying and printing take linear time: eight times as much must not take
// much more than eight times as long, where quadratic time would be 64 times; short times say nothing on a busy machine, and
// one of three measurements is enough.
func TestManyOfEverything(t *testing.T) {
	const n, most = 48_000, 32
	few := manyOfEverything(n / 8)
	for name, text := range manyOfEverything(n) {
		t.Run(name, func(t *testing.T) {
			for attempt := 1; ; attempt++ {
				short, long := timeToPrint(t, few[name]), timeToPrint(t, text)
				if long <= 2*time.Second || long <= most*short {
					break
				}
				if attempt == 3 {
					t.Fatalf("%d take %v, %d take %v", n/8, short, n, long)
				}
			}
		})
	}
}

// timeToPrint reads, verifies and prints a program, and returns the time of the processor that it took: a clock on the wall
// counts other programs too.
func timeToPrint(t *testing.T, text string) time.Duration {
	start := processorTime(t)
	m, err := readAndVerify(text)
	if err != nil {
		t.Fatal(err)
	}
	Print(m, PrintOptions{DebugInfo: true})
	return processorTime(t) - start
}

func processorTime(t *testing.T) time.Duration {
	var usage syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &usage); err != nil {
		t.Fatal(err)
	}
	return time.Duration(usage.Utime.Nano())
}

// TestTangledBranches hands in branches for which finding dominators would take quadratic time.
func TestTangledBranches(t *testing.T) {
	const n = 60_000
	var b strings.Builder
	b.WriteString("func.func @f(%a: i1) {\n")
	for i := range n {
		fmt.Fprintf(&b, "cf.cond_br %%a, ^b%d, ^b%d\n^b%d:\n", i, n-1, i)
	}
	b.WriteString("return\n}\n")
	_, err := readAndVerify(b.String())
	var e *diag.Error
	if !errors.As(err, &e) || e.Diagnostics[0].Code != diag.InputTooLarge || e.Diagnostics[0].Pos.Line == 0 {
		t.Fatalf("got %v", err)
	}
}

// TestSplatsStaySmall verifies and prints ops whose attributes are splats of a billion elements.
func TestSplatsStaySmall(t *testing.T) {
	const types = ` : (tensor<1x1x1x1xf32>, tensor<1x1x1x1xf32>) -> tensor<1x1x1x1xf32>`
	for name, op := range map[string]string{
		"padding": `"stablehlo.convolution"(%c, %c) <{batch_group_count = 1 : i64, dimension_numbers = #stablehlo.conv<[b, 0, 1, f]x[0, 1, i, o]->[b, 0, 1, f]>, ` +
			`feature_group_count = 1 : i64, padding = dense<0> : tensor<1000000000x2xi64>}>` + types,
		"pairs":   `"stablehlo.collective_permute"(%c) <{source_target_pairs = dense<0> : tensor<1000000000x2xi64>}> : (tensor<1x1x1x1xf32>) -> tensor<1x1x1x1xf32>`,
		"groups":  `"stablehlo.all_gather"(%c) <{all_gather_dim = 0 : i64, replica_groups = dense<0> : tensor<1000000000x1xi64>}> : (tensor<1x1x1x1xf32>) -> tensor<1x1x1x1xf32>`,
		"layouts": `stablehlo.custom_call @f(%c) {operand_layouts = [dense<0> : tensor<1000000000xindex>], result_layouts = [dense<0> : tensor<1000000000xindex>]} : (tensor<1x1x1x1xf32>) -> tensor<1x1x1x1xf32>`,
	} {
		t.Run(name, func(t *testing.T) {
			n := allocated(func() {
				m, err := Parse(t.Context(), []byte("func.func @f(%c: tensor<1x1x1x1xf32>) {\n%0 = "+op+"\nreturn\n}"), Options{File: "f"})
				if err != nil {
					t.Fatal(err)
				}
				if ir.Verify(t.Context(), m) == nil {
					t.Error("accepted")
				}
				Print(m, PrintOptions{})
			})
			if n > 1<<20 {
				t.Errorf("%d bytes were allocated", n)
			}
		})
	}
}

// TestLarge reads long programs, long constants, and constants that declare a gigabyte: with the flag -large, which needs
// 4 GB of memory, 200 MB of each, without it a fiftieth.
func TestLarge(t *testing.T) {
	share := 50
	if *large {
		share = 1
	}
	t.Run("ops", func(t *testing.T) { bounded(t, manyOps(3_000_000/share)) })
	t.Run("a splat of 1 GB", func(t *testing.T) {
		survives(t, []byte(`func.func @f() { %0 = stablehlo.constant dense<0.0> : tensor<268435456xf32> return }`))
	})
	t.Run("constant", func(t *testing.T) {
		n := 26_214_400 / share
		head, tail := `func.func @f() { %0 = stablehlo.constant dense<"0x`, fmt.Sprintf(`"> : tensor<%dxf32> return }`, n)
		bounded(t, []byte(head+strings.Repeat("3F", 4*(n-1))+"40404040"+tail))
	})
	t.Run("text above 2 GB", func(t *testing.T) {
		if !*large {
			t.Skip("needs the flag -large and 4 GB of memory")
		}
		src := bytes.Repeat([]byte("A"), 2<<30+100)
		_, err := Parse(t.Context(), src, Options{File: "f"})
		if !errors.Is(err, diag.ErrTooLarge) {
			t.Fatalf("got %v", err)
		}
	})
	t.Run("1 GB declared by a short text", func(t *testing.T) {
		_, err := Parse(t.Context(), []byte(`func.func @f() { %0 = stablehlo.constant dense<"0x00000000FF"> : tensor<268435456xf32> return }`),
			Options{File: "f"})
		if !errors.Is(err, diag.ErrInvalid) {
			t.Fatalf("got %v", err)
		}
	})
}
