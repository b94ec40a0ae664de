package api

import (
	"archive/zip"
	"bytes"
	"compress/flate"
	"errors"
	"fmt"
	"io"
	"testing"

	"connectrpc.com/connect"

	autoshardv1 "autoshard/api/gen/autoshard/v1"
)

// swollen is a program of few bytes that makes values of 8 MiB on each of two devices.
const swollen = `sdy.mesh @mesh = <["x"=2]>
func.func @main(%arg0: tensor<4xf32>) -> tensor<4xf32> {
  %0 = sdy.manual_computation(%arg0) in_shardings=[<@mesh, [{"x"}]>] out_shardings=[<@mesh, [{"x"}]>]
      manual_axes={"x"} (%arg1: tensor<2xf32>) {
    %1 = stablehlo.broadcast_in_dim %arg1, dims = [0] : (tensor<2xf32>) -> tensor<2x1024x1024xf32>
    %2 = stablehlo.negate %1 : tensor<2x1024x1024xf32>
    %3 = stablehlo.slice %2 [0:2, 0:1, 0:1] : (tensor<2x1024x1024xf32>) -> tensor<2x1x1xf32>
    %4 = stablehlo.reshape %3 : (tensor<2x1x1xf32>) -> tensor<2xf32>
    sdy.return %4 : tensor<2xf32>
  } : (tensor<4xf32>) -> tensor<4xf32>
  return %0 : tensor<4xf32>
}
`

// A run holds no more than the server gives it, whatever the request says: it ends with a clear error, and the server goes on.
func TestMemoryOfRuns(t *testing.T) {
	c := client(t, start(t, Options{MaxMemory: 1 << 20}, nil))
	text := func(text string) *autoshardv1.RunRequest_Text { return &autoshardv1.RunRequest_Text{Text: text} }
	planned, err := client(t, start(t, Options{}, nil)).Plan(t.Context(),
		&autoshardv1.PlanRequest{Source: &autoshardv1.PlanRequest_Text{Text: swollen}, Hardware: "cpu"})
	if err != nil {
		t.Fatal(err)
	}
	for name, request := range map[string]*autoshardv1.RunRequest{
		"run":      {Program: text(swollen)},
		"asked":    {Program: text(swollen), MaxMemory: 1 << 62},
		"profile":  {Program: text(swollen), Profile: true},
		"printed":  {Program: text(swollen), Print: true},
		"plan":     {Program: &autoshardv1.RunRequest_Plan{Plan: planned.Plan}},
		"inputs":   {Program: text("shard_map @f mesh=(i=2)\n  in_specs=(P('i'),)\n  out_specs=(P('i'),)\nlambda x:f32[1048576]\n  return x\n")},
		"unpacked": {Program: text(manual), Inputs: zeros(t, 16<<20)},
	} {
		if _, _, _, err := ran(t, c, request); connect.CodeOf(err) != connect.CodeResourceExhausted {
			t.Errorf("%s: %v", name, err)
		}
	}
	stream, err := c.Verify(t.Context(), &autoshardv1.VerifyRequest{Plan: planned.Plan})
	if err != nil {
		t.Fatal(err)
	}
	for stream.Receive() {
	}
	if connect.CodeOf(stream.Err()) != connect.CodeResourceExhausted {
		t.Errorf("verify: %v", stream.Err())
	}
	if _, _, _, err := ran(t, c, &autoshardv1.RunRequest{Program: text(manual)}); err != nil {
		t.Errorf("a small run: %v", err)
	}
}

// zeros is an .npz whose one array has that many bytes, of which few are sent.
func zeros(t *testing.T, size int64) []byte {
	t.Helper()
	var out bytes.Buffer
	archive := zip.NewWriter(&out)
	archive.RegisterCompressor(zip.Deflate, func(w io.Writer) (io.WriteCloser, error) { return flate.NewWriter(w, flate.BestCompression) })
	w, err := archive.Create("arg0.npy")
	if err == nil {
		head := fmt.Sprintf("{'descr': '<f4', 'fortran_order': False, 'shape': (%d,), }", size/4)
		_, err = fmt.Fprintf(w, "\x93NUMPY\x01\x00\x76\x00%-117s\n", head)
	}
	if err == nil {
		_, err = w.Write(make([]byte, size))
	}
	if err := errors.Join(err, archive.Close()); err != nil {
		t.Fatal(err)
	}
	return out.Bytes()
}
