package program

import (
	"context"

	"autoshard/cost"
	"autoshard/cost/estimate"
	"autoshard/internal/diag"
	"autoshard/ir"
)

// OpCost is what an op that a device runs takes in a step.
type OpCost struct {
	Op          ir.OpID
	Picoseconds int64 // of all runs
	Sent        int64 // bytes that all devices together send in all runs
}

// Costs returns what each op that a device runs takes in a step, one after the other, and the module that has these ops, which must not be
// changed. They add up to the seconds and the bytes of Estimate. Errors are those of Estimate.
func (p *Program) Costs(ctx context.Context, hardware cost.Hardware) (m *ir.Module, costs []OpCost, err error) {
	defer diag.Recover("estimate", &err)
	device := p.onDevice()
	model, err := estimate.New(hardware.OrDefault(), device.Mesh)
	if err != nil {
		return nil, nil, err
	}
	items, err := model.Breakdown(ctx, device)
	if err != nil {
		return nil, nil, err
	}
	for i := range items {
		item := &items[i]
		one := OpCost{Op: item.Op, Picoseconds: item.Picoseconds}
		if item.Collective >= 0 {
			one.Sent = device.Collectives[item.Collective].TotalBytes()
		}
		costs = append(costs, one)
	}
	return device.Module, costs, nil
}
