// The book's memory of training: vectors state their values, planning prices programs instead.

package cost_test

// StateBytes is the memory of one parameter's state (specification: cost.md section 5.1).
type StateBytes struct {
	Param     float64 // 2 for bf16
	Gradient  float64 // 2 for bf16, 4 for f32, 0 if not counted
	Optimizer float64 // 8 for Adam's moments in f32
	Master    float64 // 4 for a copy in f32
}

// The accountings of cost.md section 5.1.
var (
	BookState   = StateBytes{Param: 2, Optimizer: 8}
	MixedState  = StateBytes{Param: 2, Gradient: 2, Optimizer: 8}
	MasterState = StateBytes{Param: 2, Gradient: 2, Optimizer: 8, Master: 4}
)

// PerParam returns the bytes of one parameter.
func (s StateBytes) PerParam() float64 { return s.Param + s.Gradient + s.Optimizer + s.Master }

// Shards is how many ways parameters, gradients and optimizer state are cut. All are at least 1.
type Shards struct {
	Params, Gradients, Optimizer int64
}

// ZeRO returns the shards of a ZeRO stage over x data-parallel devices, tensor and pipeline parallelism cutting all of
// it inner ways more. Stage 0 is plain data parallelism; 3 is fully sharded.
func ZeRO(stage int, x, inner int64) Shards {
	s := Shards{inner, inner, inner}
	if stage >= 1 {
		s.Optimizer *= x
	}
	if stage >= 2 {
		s.Gradients *= x
	}
	if stage >= 3 {
		s.Params *= x
	}
	return s
}

// Static returns the bytes of the state of some parameters on one chip.
func (s StateBytes) Static(params float64, over Shards) float64 {
	return params * (s.Param/float64(over.Params) + s.Gradient/float64(over.Gradients) + (s.Optimizer+s.Master)/float64(over.Optimizer))
}

// Activations is what training keeps of one layer on one chip, in bf16 (specification: cost.md section 5.2).
type Activations struct {
	Tokens int64 // on the chip
	Wide   int64 // shards of F and of heads; 0: 1
	Model  int64 // shards of D between blocks; 0: 1
}

// Checkpoints returns the bytes of k saved tensors of width d; with k = 1 the layer's input alone is saved.
func (a Activations) Checkpoints(k, d int64) float64 {
	return 2 * float64(k) * float64(a.Tokens) * float64(d) / float64(max(1, a.Model))
}

// MLPOutputs returns the bytes of the outputs of a gated MLP's three products.
func (a Activations) MLPOutputs(t *Transformer) float64 {
	return a.Checkpoints(1, t.D) + a.wide(2*t.F)
}

// MatrixOutputs returns the bytes of the outputs of a layer's seven products.
func (a Activations) MatrixOutputs(t *Transformer) float64 {
	return a.Checkpoints(2, t.D) + a.wide(t.Heads*t.HeadDim+2*t.KVHeads*t.HeadDim+2*t.F)
}

// Everything returns the bytes of a layer without rematerialization, about twenty tensors of width d.
func (a Activations) Everything(d int64) float64 { return a.Checkpoints(20, d) }

// Scores returns the bytes of the attention scores of one sequence of s tokens, where they are kept.
func (a Activations) Scores(t *Transformer, s int64) float64 {
	return 2 * float64(t.Heads) * float64(s) * float64(s) / float64(max(1, a.Wide))
}

// Logits returns the bytes of the logits and of their gradient, in f32.
func (a Activations) Logits(vocab int64) float64 {
	return 2 * 4 * float64(a.Tokens) * float64(vocab) / float64(max(1, a.Wide))
}

func (a Activations) wide(width int64) float64 {
	return 2 * float64(a.Tokens) * float64(width) / float64(max(1, a.Wide))
}

// FullyShardedPeak is the memory of fully sharded training on one chip.
type FullyShardedPeak struct {
	Static      float64
	Checkpoints float64
	Transient   float64 // recomputed activations of one layer
	LayerBytes  float64 // gathered weights of one layer
	Prefetch    int64   // layers gathered ahead
	Gradient    float64 // of one layer, before its reduce-scatter
}

// Gathered returns the bytes of the layers that are gathered at once.
func (p FullyShardedPeak) Gathered() float64 { return float64(1+p.Prefetch) * p.LayerBytes }

// Bytes returns the sum.
func (p FullyShardedPeak) Bytes() float64 {
	return p.Static + p.Checkpoints + p.Transient + p.Gathered() + p.Gradient
}

// LocalBytes returns the bytes of one device's block of a tensor: every dimension divided by its shards, rounded up.
func LocalBytes(shape, shards []int64, size int64) int64 {
	bytes := size
	for i, n := range shape {
		bytes *= (n + shards[i] - 1) / shards[i]
	}
	return bytes
}
