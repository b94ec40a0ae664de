// The book's closed formulas of training and decoding: vectors state their values, planning prices programs instead.

package cost_test

import (
	"math"

	"autoshard/cost"
)

// Block is one MLP block of a transformer, x[B,D] in[D,F] out[F,D], with a global batch of B tokens, in bf16: two
// matrices; a gated block has three.
type Block struct {
	B, D, F float64
}

// BlockTime is the time of one block: compute, and communication that may run beside it.
type BlockTime struct {
	Math float64
	Net  float64
}

// The functions below give the times of one block under one way to shard training, and the limits at which compute and
// communication take equally long. Compute is the FLOP/s of one chip, bandwidth the bytes/s of the collective: W times
// the number of mesh axes on a torus, the egress of a chip or node on switches. Alpha is compute over the bandwidth of
// one axis. Specification: cost.md section 3.6.

// DataParallel returns the time of the backward pass over chips that replicate the weights.
func (b Block) DataParallel(chips, compute, bandwidth float64) BlockTime {
	return BlockTime{8 * b.B * b.D * b.F / (chips * compute), 8 * b.D * b.F / bandwidth}
}

// FullySharded returns the time of the forward pass over chips that shard the weights and gather them.
func (b Block) FullySharded(chips, compute, bandwidth float64) BlockTime {
	return BlockTime{4 * b.B * b.D * b.F / (chips * compute), 4 * b.D * b.F / bandwidth}
}

// TensorParallel returns the time of the forward pass over chips that shard F.
func (b Block) TensorParallel(chips, compute, bandwidth float64) BlockTime {
	return BlockTime{4 * b.B * b.D * b.F / (chips * compute), 4 * b.B * b.D / bandwidth}
}

// Mixed returns the time of the forward pass with weights sharded over x and F over y chips, whose collectives have
// the given bandwidths and combine as asked.
func (b Block) Mixed(x, y, compute, bandwidthX, bandwidthY float64, axes cost.Combine) BlockTime {
	gather := 4 * b.D * b.F / (y * bandwidthX)
	reduce := 4 * b.B * b.D / (x * bandwidthY)
	return BlockTime{4 * b.B * b.D * b.F / (x * y * compute), axes.Of(gather, reduce)}
}

// BetweenSlices returns the time of the backward pass of data parallelism over DCN: total chips, in slices of some
// chips each, with the DCN egress of one chip.
func (b Block) BetweenSlices(chips, perSlice, compute, egress float64) BlockTime {
	return BlockTime{8 * b.B * b.D * b.F / (chips * compute), 8 * b.D * b.F / (perSlice * egress)}
}

// PipelineNet returns the communication seconds of a pipeline over all its layers.
func (b Block) PipelineNet(microbatches, stages, bandwidth float64) float64 {
	return 2 * b.B * b.D / (bandwidth * microbatches) * (microbatches + stages - 2)
}

// PipelineBubble returns the share of time that a plain pipeline schedule idles.
func PipelineBubble(microbatches, stages float64) float64 {
	return (stages - 1) / (microbatches + stages - 1)
}

// ExpertsOnNodes returns the time of the forward pass of experts over z GPUs in nodes of 8, k experts a token, with the
// node egress of one GPU's share as bandwidth.
func (b Block) ExpertsOnNodes(z, k, compute, bandwidth float64) BlockTime {
	return BlockTime{4 * b.B * k * b.D * b.F / (z * compute), 4 * b.B * b.D * (z - 8) / (bandwidth * z) * min(8*k/z, 1)}
}

// ExpertsOnRing returns the same over a ring of z chips with axis bandwidth W.
func (b Block) ExpertsOnRing(z, k, compute, bandwidth float64) BlockTime {
	return BlockTime{4 * b.B * k * b.D * b.F / (z * compute), b.B * b.D * k / bandwidth}
}

// ExpertsReplicated returns the time of the backward pass of data parallelism with e experts, k a token.
func (b Block) ExpertsReplicated(chips, e, k, compute, bandwidth float64) BlockTime {
	return BlockTime{8 * k * b.B * b.D * b.F / (chips * compute), 8 * e * b.D * b.F / bandwidth}
}

// WeightStationary returns the communication seconds of decoding with D cut x ways and F the other n/x ways, all three
// axes of a torus with axis bandwidth W at work. Cutting F alone, n ways, is WeightStationary1D.
func (b Block) WeightStationary(n, x, bandwidth float64) float64 {
	return 2*b.B*b.D/(x*bandwidth) + 4*b.B*b.F/(n/x*bandwidth)
}

// WeightStationary1D returns the communication seconds of decoding with F alone cut, over three axes.
func (b Block) WeightStationary1D(bandwidth float64) float64 { return 4 * b.B * b.D / (3 * bandwidth) }

// WeightStationaryLimit returns the chips above which two-dimensional weight stationary decoding wins.
func (b Block) WeightStationaryLimit() float64 { return 18 * b.F / b.D }

// BestDCut returns how many ways two-dimensional weight stationary decoding best cuts D over n chips.
func (b Block) BestDCut(n float64) float64 { return math.Sqrt(n * b.D / (2 * b.F)) }

// DataParallelLimit returns the tokens a chip above which data parallel or fully sharded training over some mesh axes
// is bound by compute.
func DataParallelLimit(alpha float64, axes int) float64 { return alpha / float64(axes) }

// TwoReplicaLimit returns the same for x replicas on switches: small x have less to send.
func TwoReplicaLimit(alpha, x float64) float64 { return alpha * (x - 1) / x }

// TensorParallelLimit returns the chips below which tensor parallelism over some mesh axes is bound by compute. A
// gated block has half as many FLOPs again for the same communication.
func TensorParallelLimit(alpha, f float64, axes int, gated bool) float64 {
	limit := float64(axes) * f / alpha
	if gated {
		limit *= 1.5
	}
	return limit
}

// TensorParallelNodeLimit returns the same across GPU nodes of some chips, with alpha of the node egress.
func TensorParallelNodeLimit(alpha, f, node float64) float64 { return node + f/alpha }

// MixedLimit returns the tokens a chip above which fully sharded plus tensor parallel training is bound by compute, at
// the best split. axesProduct is the number of axes of one times that of the other.
func MixedLimit(alpha, f, axesProduct float64, axes cost.Combine) float64 {
	limit := alpha * alpha / (axesProduct * f)
	if axes == cost.Sum {
		limit *= 4
	}
	return limit
}

// BestFullySharded returns how many of n chips the weights are best sharded over, the others sharding F. axesRatio is
// the number of axes of the former over that of the latter.
func BestFullySharded(b, f, axesRatio, n float64) float64 { return math.Sqrt(b / f * axesRatio * n) }

// BestRatio returns compute over communication time at the best split.
func BestRatio(b, f, axesProduct, n, alpha float64, axes cost.Combine) float64 {
	ratio := math.Sqrt(b*f*axesProduct/n) / alpha
	if axes == cost.Sum {
		ratio /= 2
	}
	return ratio
}

// BetweenSlicesLimit returns the tokens a slice above which data parallelism over DCN is bound by compute.
func BetweenSlicesLimit(compute, egress float64) float64 { return compute / egress }

// ExpertsReplicatedLimit returns the tokens a chip above which data parallel training of e experts, k a token, is bound
// by compute.
func ExpertsReplicatedLimit(alpha, e, k float64) float64 { return e / k * alpha }

// ExpertsOnNodesLimit returns F above which experts over z GPUs in nodes of 8 are bound by compute.
func ExpertsOnNodesLimit(alpha, z, k float64) float64 {
	if z <= 8*k {
		return alpha * (z - 8) / k
	}
	return 8 * alpha * (z - 8) / z
}

// ExpertsOnRingLimit returns the chips of a ring below which experts over it are bound by compute.
func ExpertsOnRingLimit(alpha, f float64) float64 { return 4 * f / alpha }

// DecodeTensorParallelLimit returns the chips below which decoding b tokens with F sharded stays bound by memory,
// beta being memory bandwidth over the bandwidth of an axis.
func DecodeTensorParallelLimit(f, b, beta float64) float64 { return f / (b * beta) }

// GatherOrReduceLimits returns, for x[B,D] w[D_X,F] with replicated x in bf16, the batch below which gathering w is
// bound by communication, and the shards X above which local products with an all-reduce and with a reduce-scatter
// are (specification: cost.md section 3.3).
func GatherOrReduceLimits(d, alpha float64) (gatherBatch, reduceShards, scatterShards float64) {
	return alpha, d / (2 * alpha), d / alpha
}

// ReduceWins says whether local products beat gathering w[D_X,F], for d = D, with both bound by communication where
// B < alpha and the gather bound by compute above. Scatter means a reduce-scatter instead of an all-reduce
// (specification: cost.md section 3.3).
func ReduceWins(b, d, alpha float64, scatter bool) bool {
	limit := 2 * min(b, alpha)
	if scatter {
		limit /= 2
	}
	return d > limit
}

// TokensPerChip returns the share of a global batch of sequences.
func TokensPerChip(sequences, tokens, chips float64) float64 { return sequences * tokens / chips }

// TrainSeconds returns how long FLOPs take on chips of some FLOP/s at a utilization in (0, 1].
func TrainSeconds(flops, chips, compute, utilization float64) float64 {
	return flops / (chips * compute * utilization)
}

// Utilization returns the share of peak that FLOPs in some chip-seconds reach.
func Utilization(flops, chipSeconds, compute float64) float64 { return flops / (chipSeconds * compute) }
