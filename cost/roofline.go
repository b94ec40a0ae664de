package cost

import "autoshard/ir/dtype"

// Work is what one chip does for one op: operations, and bytes read from and written to its memory.
type Work struct {
	FLOPs  float64
	Bytes  float64
	DType  dtype.Type
	Matrix bool // on the matrix units; else on the vector units
}

// Roofline is the time of an op on one chip: the longer of computing and moving, and no less than a launch takes.
type Roofline struct {
	Math    float64
	HBM     float64
	Seconds float64
}

// Op returns the roofline of an op (specification: cost.md section 3.4). Work of nothing takes no time.
func (h *Hardware) Op(w Work, o Options) Roofline {
	eta := h.efficiency(o)
	rate := h.VectorFLOPs
	if w.Matrix {
		rate = h.MatrixFLOPs(w.DType)
	}
	r := Roofline{Math: w.FLOPs / (rate * eta.Math), HBM: w.Bytes / (h.HBMBandwidth * eta.HBM)}
	r.Seconds = max(r.Math, r.HBM)
	if o.Fitted && w.Bytes > 0 {
		r.Seconds = max(r.Seconds, h.Launch)
	}
	return r
}
