// Package calibrate makes hardware profiles of measurements: it holds the program that measures, fits a latency and a rate to the times of
// each kind, and writes a profile in which every fitted number says so.
//
//	samples, err := calibrate.Read(rows)          // of the program's output
//	c, err := calibrate.Fit(samples, devices)
//	text := c.Profile("host", base)               // YAML
package calibrate

import (
	_ "embed"
	"math"
	"slices"

	"autoshard/backend/tensor"
	"autoshard/backend/tensor/npz"
	"autoshard/internal/diag"
	"autoshard/ir/dtype"
)

// Script is a Python program, as package backend/jax runs it, that measures on the devices of JAX. Its input arg0 is the largest size of
// the products, and where arg1 is not 0 it measures collectives alone; its outputs are the samples, and the number of devices.
//
//go:embed measure.py
var Script []byte

// Kind is what was measured.
type Kind string

// The kinds, in the order of their numbers in the program.
const (
	Matmul        Kind = "matmul"
	Vector        Kind = "vector"
	Memory        Kind = "memory"
	AllGather     Kind = "all_gather"
	ReduceScatter Kind = "reduce_scatter"
	AllReduce     Kind = "all_reduce"
	AllToAll      Kind = "all_to_all"
	Launch        Kind = "launch"  // of kernels, one after the other
	Meeting       Kind = "meeting" // of groups of devices, for gathers of few bytes
	Arrays        Kind = "arrays"  // of one all-reduce of few bytes
)

var (
	kinds  = []Kind{Matmul, Vector, Memory, AllGather, ReduceScatter, AllReduce, AllToAll, Launch, Meeting, Arrays}
	dtypes = []string{"f32", "bf16"}
)

// Sample is the time of one size.
type Sample struct {
	Kind    Kind
	DType   string
	Amount  float64 // operations, bytes that memory moves, V of a collective, kernels, devices of a group but one, or arrays
	Seconds float64 // the median
	Spread  float64 // between the quartiles
}

// Inputs returns the inputs of Script: the largest size of the products, and whether collectives alone are measured.
func Inputs(size int64, alone bool) []*tensor.Tensor {
	only := int64(0)
	if alone {
		only = 1
	}
	largest, collectives := tensor.FromInts(dtype.I64, nil, size), tensor.FromInts(dtype.I64, nil, only)
	return []*tensor.Tensor{&largest, &collectives}
}

// Outputs returns the samples of the outputs of Script, and the number of devices. The error is of class diag.ErrInvalid.
func Outputs(outputs []npz.Array) ([]Sample, int64, error) {
	if len(outputs) != 2 || outputs[0].Tensor.DType != dtype.F64 || outputs[1].Tensor.DType != dtype.I64 || len(outputs[1].Tensor.Data) == 0 {
		return nil, 0, diag.Invalid(diag.BackendFailed, diag.Position{}, "the program that measures has %d outputs of other types", len(outputs))
	}
	samples, err := Read(tensor.Elems[float64](outputs[0].Tensor))
	return samples, tensor.Elems[int64](outputs[1].Tensor)[0], err
}

// columns of a row of the program's output: kind, type, amount, seconds, spread.
const columns = 5

// Read returns the samples that the program wrote, five numbers each. The error is of class diag.ErrInvalid.
func Read(rows []float64) ([]Sample, error) {
	if len(rows)%columns != 0 || len(rows) == 0 {
		return nil, diag.Invalid(diag.BackendFailed, diag.Position{}, "the measurements are %d numbers, not rows of %d", len(rows), columns)
	}
	var out []Sample
	for row := range slices.Chunk(rows, columns) {
		kind, dtype := int(row[0]), int(row[1])
		if kind < 0 || kind >= len(kinds) || dtype < 0 || dtype >= len(dtypes) || !(row[2] > 0) || !(row[3] > 0) || math.IsInf(row[3], 0) {
			return nil, diag.Invalid(diag.BackendFailed, diag.Position{}, "a measurement is %v", row)
		}
		out = append(out, Sample{kinds[kind], dtypes[dtype], row[2], row[3], row[4]})
	}
	return out, nil
}

// Line is a fit of the time of an amount: Latency + amount / Rate. The errors are standard errors.
type Line struct {
	Kind         Kind
	DType        string
	Samples      int     // that were fitted
	Latency      float64 // seconds
	LatencyError float64
	Rate         float64 // amounts a second
	RateError    float64
	HeldBack     int     // samples that were not fitted
	Error        float64 // of those: the factor that their times differ by, as a geometric mean, less one
}

// holdBack says which samples of a kind are not fitted, but checked: every third.
func holdBack(i int) bool { return i%3 == 1 }

// fitLine fits one kind. Relative errors weigh alike, but for times that spread.
func fitLine(samples []Sample) (Line, bool) {
	l := Line{Kind: samples[0].Kind, DType: samples[0].DType}
	var s, sx, sxx, sy, sxy float64 // weighted sums
	for i, p := range samples {
		if holdBack(i) {
			l.HeldBack++
			continue
		}
		w := 1 / (p.Seconds*p.Seconds + p.Spread*p.Spread)
		l.Samples++
		s, sx, sxx, sy, sxy = s+w, sx+w*p.Amount, sxx+w*p.Amount*p.Amount, sy+w*p.Seconds, sxy+w*p.Amount*p.Seconds
	}
	det := s*sxx - sx*sx
	if l.Samples < 3 || det <= 0 {
		return l, false
	}
	l.Latency = (sxx*sy - sx*sxy) / det
	slope := (s*sxy - sx*sy) / det
	if l.Latency < 0 { // no latency shows: the line goes through zero
		l.Latency, slope = 0, sxy/sxx
	}
	if slope <= 0 {
		return l, false
	}
	l.Rate = 1 / slope
	residual, held := 0.0, 0.0
	for i, p := range samples {
		predicted := l.Seconds(p.Amount)
		if holdBack(i) {
			held += math.Abs(math.Log(predicted / p.Seconds))
			continue
		}
		residual += math.Pow(predicted/p.Seconds-1, 2)
	}
	variance := residual / float64(l.Samples-2)
	l.LatencyError = math.Sqrt(variance * sxx / det)
	l.RateError = math.Sqrt(variance*s/det) * l.Rate * l.Rate
	if l.HeldBack > 0 {
		l.Error = math.Expm1(held / float64(l.HeldBack))
	}
	return l, true
}

// Seconds returns the time of an amount.
func (l *Line) Seconds(amount float64) float64 { return l.Latency + amount/l.Rate }
