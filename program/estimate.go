package program

import (
	"context"

	"autoshard/cost"
	"autoshard/cost/estimate"
	"autoshard/internal/diag"
	"autoshard/shardmap"
)

// Estimate is the predicted cost of one step on one device.
type Estimate struct {
	Seconds           float64 `json:"seconds"`           // one op after the other
	ComputeSeconds    float64 `json:"computeSeconds"`    // of ops of the device
	CollectiveSeconds float64 `json:"collectiveSeconds"` // of collectives
	PeakBytes         int64   `json:"peakBytes"`         // the most that the device holds
	SentBytes         int64   `json:"sentBytes"`         // over all devices
}

// Picoseconds of a second: estimates count in them.
const Picoseconds = 1e12

// Estimate predicts the cost of one step of the program on a hardware, that of cost.DefaultProfile for one without a name. Errors are of
// class diag.ErrInvalid for a hardware that the mesh does not fit, or the context's. Of a shard_map program, axes that are not manual do
// not count: along them all devices do the same.
func (p *Program) Estimate(ctx context.Context, hardware cost.Hardware) (e Estimate, err error) {
	defer diag.Recover("estimate", &err)
	device := p.onDevice()
	model, err := estimate.New(hardware.OrDefault(), device.Mesh)
	if err != nil {
		return e, err
	}
	step, err := model.Program(ctx, device)
	if err != nil {
		return e, err
	}
	return EstimateOf(device, &step), nil
}

// EstimateOf returns the price of a step of a program as people read it.
func EstimateOf(p *shardmap.Program, step *estimate.Step) Estimate {
	e := Estimate{
		Seconds:           float64(step.Total()) / Picoseconds,
		ComputeSeconds:    float64(step.Compute) / Picoseconds,
		CollectiveSeconds: float64(step.Communication()) / Picoseconds,
		PeakBytes:         step.Peak,
	}
	for i := range p.Collectives {
		e.SentBytes += p.Collectives[i].TotalBytes()
	}
	return e
}
