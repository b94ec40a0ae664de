package report_test

import (
	"strings"
	"testing"

	"autoshard/calibrate"
	"autoshard/report"
)

// Each fit has a row with its errors.
func TestCalibration(t *testing.T) {
	text := report.Calibration(&calibrate.Calibration{Devices: 8, Lines: []calibrate.Line{{Kind: calibrate.Matmul, DType: "f32", Samples: 6,
		Latency: 1e-6, LatencyError: 1e-7, Rate: 1e12, RateError: 2e10, Error: 0.05},
		{Kind: calibrate.Launch, DType: "f32", Samples: 5, Rate: 5e5}}})
	if !strings.Contains(text, "2 us each") {
		t.Errorf("no time of a launch:\n%s", text)
	}
	if !strings.Contains(text, "matmul    f32       6  1 us ± 100 ns  1 TFLOP/s  ± 2 %                     5 %") {
		t.Errorf("the report is\n%s", text)
	}
}
