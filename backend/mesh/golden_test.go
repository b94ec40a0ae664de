package mesh_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"

	"autoshard/backend/mesh"
	"autoshard/backend/tensor"
	"autoshard/internal/diag"
	"autoshard/ir"
	"autoshard/ir/mlir"

	"github.com/cockroachdb/datadriven"
	"go.uber.org/goleak"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// parse reads a program; function @main runs on every device.
func parse(t interface{ Fatalf(string, ...any) }, src string) (*ir.Module, ir.FuncID) {
	m, err := mlir.Parse(context.Background(), []byte(src), mlir.Options{File: "input"})
	if err != nil {
		t.Fatalf("%v\n%s", err, src)
	}
	fn, ok := m.Main()
	if !ok {
		t.Fatalf("no @main in\n%s", src)
	}
	return m, fn
}

func class(err error) string {
	for _, c := range []error{diag.ErrInvalid, diag.ErrUnsupported, diag.ErrTooLarge, diag.ErrFinding, diag.ErrInternal} {
		if errors.Is(err, c) {
			return c.Error()
		}
	}
	return "other"
}

// TestGolden runs the programs of testdata/golden, which take no arguments, on "devices" devices and prints the
// results of each and the bytes that every collective moved.
func TestGolden(t *testing.T) {
	datadriven.Walk(t, "testdata/golden", func(t *testing.T, path string) {
		datadriven.RunTest(t, path, func(t *testing.T, d *datadriven.TestData) string {
			devices := 1
			if d.HasArg("devices") {
				d.ScanArgs(t, "devices", &devices)
			}
			m, fn := parse(t, d.Input)
			results, traffic, err := mesh.Run(context.Background(), m, fn, devices, make([][]*tensor.Tensor, devices), mesh.Options{})
			if err != nil {
				return fmt.Sprintf("%s: %v\n", class(err), err)
			}
			var b strings.Builder
			for id, values := range results {
				fmt.Fprintf(&b, "device %d:", id)
				for _, v := range values {
					fmt.Fprintf(&b, " %v", v)
				}
				b.WriteString("\n")
			}
			for _, c := range traffic.Collectives {
				fmt.Fprintf(&b, "%v: %d bytes, %d times, groups of %d\n", c.Kind, c.Bytes, c.Executions, c.Group)
			}
			fmt.Fprintf(&b, "sent %v\n", traffic.Sent)
			return b.String()
		})
	})
}
