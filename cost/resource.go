package cost

// Resource is what a computation uses of hardware.
type Resource string

// The resources.
const (
	ResourceCompute Resource = "compute" // matrix and vector units
	ResourceMemory  Resource = "memory"  // its bandwidth
	ResourceNetwork Resource = "network" // bandwidth of all links
	ResourceLatency Resource = "latency" // of hops and steps, and the times to start kernels and collectives
)

// Resources returns all resources.
func Resources() []Resource {
	return []Resource{ResourceCompute, ResourceMemory, ResourceNetwork, ResourceLatency}
}

// Faster returns the hardware with a resource some times as fast.
func (h Hardware) Faster(r Resource, times float64) Hardware {
	h = h.clone()
	var rates, delays []*float64
	switch r {
	case ResourceCompute:
		rates = []*float64{&h.Matrix.BF16, &h.Matrix.F32, &h.Matrix.Int8, &h.Matrix.FP8, &h.Matrix.FP4, &h.VectorFLOPs}
	case ResourceMemory:
		rates = []*float64{&h.HBMBandwidth}
	case ResourceNetwork:
		rates = []*float64{&h.PCIe}
		if h.Torus != nil {
			rates = append(rates, &h.Torus.Link, &h.Torus.DCN)
		}
		for i := range h.Levels {
			rates = append(rates, &h.Levels[i].Bandwidth)
		}
	case ResourceLatency:
		delays = []*float64{&h.Dispatch, &h.Meeting, &h.Launch}
		if h.Torus != nil {
			delays = append(delays, &h.Torus.HopLatency)
		}
		for i := range h.Levels {
			delays = append(delays, &h.Levels[i].Step)
		}
	}
	for _, rate := range rates {
		*rate *= times
	}
	for _, delay := range delays {
		*delay /= times
	}
	return h
}
