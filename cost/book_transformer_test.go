// The book's sizes of a decoder: vectors state their values, planning prices programs instead.

package cost_test

import (
	"autoshard/cost"
	"autoshard/subaxis"
)

// Transformer is the shape of a decoder (specification: cost.md sections 3.6, 5.1 and 5.3).
type Transformer struct {
	Layers   int64
	D        int64 // model width
	F        int64 // hidden width of the MLP
	Heads    int64 // of queries, N
	KVHeads  int64 // of keys and values, K
	HeadDim  int64 // H
	Vocab    int64
	Gated    bool  // three MLP matrices instead of two
	Tied     bool  // one embedding for input and output
	Norms    int64 // vectors of D per layer; 0 leaves them out
	Experts  int64 // MLPs per layer; 0 and 1 mean a dense model
	PerToken int64 // experts that a token passes through
}

// Params is a number of parameters by where they lie.
type Params struct {
	MLP, Attention, Vocab, Other int64
}

// Total returns the sum.
func (p Params) Total() int64 { return p.MLP + p.Attention + p.Vocab + p.Other }

// Params returns the parameters of the model.
func (t *Transformer) Params() Params { return t.params(max(1, t.Experts)) }

// ActiveParams returns the parameters that one token meets.
func (t *Transformer) ActiveParams() Params { return t.params(max(1, t.PerToken)) }

func (t *Transformer) params(experts int64) Params {
	matrices, tables := int64(2), int64(2)
	if t.Gated {
		matrices = 3
	}
	if t.Tied {
		tables = 1
	}
	p := Params{
		MLP:       t.Layers * matrices * t.D * t.F * experts,
		Attention: t.Layers * 2 * t.D * t.HeadDim * (t.Heads + t.KVHeads),
		Vocab:     tables * t.D * t.Vocab,
		Other:     t.Layers * t.Norms * t.D,
	}
	if t.Experts > 1 {
		p.Other += t.Layers * t.D * t.Experts // the router
	}
	return p
}

// LayerParams returns the parameters of one layer.
func (t *Transformer) LayerParams() int64 {
	p := t.Params()
	return (p.MLP + p.Attention + p.Other) / t.Layers
}

// ForwardFLOPs returns the operations of one token's forward pass without attention scores: two per active parameter.
func (t *Transformer) ForwardFLOPs() float64 { return 2 * float64(t.ActiveParams().Total()) }

// TrainFLOPs returns the operations of a training step on b sequences of s tokens: six per active parameter and token,
// and the attention scores without using that half of them are masked.
func (t *Transformer) TrainFLOPs(b, s int64) float64 {
	tokens := float64(b) * float64(s)
	return 3*t.ForwardFLOPs()*tokens + 3*t.AttentionFLOPs(b, s)*float64(t.Layers)
}

// AttentionFLOPs returns the operations of the scores and their product with the values, of one layer's forward pass.
// It is also what recomputing attention adds where the seven matrix outputs of a layer are saved.
func (t *Transformer) AttentionFLOPs(b, s int64) float64 {
	return 4 * float64(b) * float64(s) * float64(s) * float64(t.Heads*t.HeadDim)
}

// ProjectionFLOPs returns the operations of one layer's forward pass in the four attention projections.
func (t *Transformer) ProjectionFLOPs(b, s int64) float64 {
	return 2 * float64(b) * float64(s) * float64(t.Params().Attention/t.Layers)
}

// MatrixFLOPs returns the operations of one layer's forward pass in all weight matrices.
func (t *Transformer) MatrixFLOPs(b, s int64) float64 {
	p := t.ActiveParams()
	return 2 * float64(b) * float64(s) * float64((p.MLP+p.Attention)/t.Layers)
}

// AttentionIntensity returns FLOPs per byte, up to a constant, of attention over t queries and s keys with g queries a
// key head: near t*g/(g+1) when prefilling, near g when decoding.
func AttentionIntensity(t, s, g float64) float64 { return t * s * g / (t*g + s) }

// KVBytes returns the bytes of keys and values of one token in all layers, of size bytes an element.
func (t *Transformer) KVBytes(size float64) float64 {
	return 2 * size * float64(t.Layers*t.KVHeads*t.HeadDim)
}

// KVCache is how the keys and values of sequences are kept.
type KVCache struct {
	TokenBytes      float64 // of the layers that see the whole sequence
	LocalTokenBytes float64 // of the layers that see a window
	Window          int64
	Page            int64 // tokens that are allocated together; 0: 1
}

// Bytes returns the bytes of one sequence of s tokens.
func (c KVCache) Bytes(s int64) float64 {
	if c.Page > 1 {
		s = (s + c.Page - 1) / c.Page * c.Page
	}
	return c.TokenBytes*float64(s) + c.LocalTokenBytes*float64(min(s, c.Window))
}

// KVShards returns how many different parts a cache is cut into when it lies over chips: heads first, then sequences
// of the batch, then tokens. The rest replicates.
func KVShards(chips, heads, batch, tokens int64) int64 {
	shards := subaxis.GCD(chips, heads)
	shards *= subaxis.GCD(chips/shards, batch)
	return shards * subaxis.GCD(chips/shards, tokens)
}

// Serving is a model on some chips, without regard to communication.
type Serving struct {
	Params     float64 // active parameters
	ParamBytes float64
	KVBytes    float64 // of one sequence
	Chips      float64
	Hardware   *cost.Hardware
	FLOPs      float64 // of one chip, for the type of the multiplication
}

// DecodeSeconds returns the time of one token for every sequence of a batch (specification: cost.md section 3.6).
func (s Serving) DecodeSeconds(batch float64) float64 {
	memory := s.Chips * s.Hardware.HBMBandwidth
	return batch*s.KVBytes/memory + max(2*batch*s.Params/(s.Chips*s.FLOPs), s.ParamBytes/memory)
}

// PrefillSeconds returns the time of the forward pass of some tokens at a utilization in (0, 1].
func (s Serving) PrefillSeconds(tokens, utilization float64) float64 {
	return TrainSeconds(2*s.Params*tokens, s.Chips, s.FLOPs, utilization)
}

// BatchLimit returns how many sequences' caches fit beside the parameters, 0 if not even those fit. Utilization is the
// share of memory that may be used.
func (s Serving) BatchLimit(utilization float64) int64 {
	return int64(max(0, (s.Hardware.HBMBytes*s.Chips*utilization-s.ParamBytes)/s.KVBytes))
}

// ChipsFor returns how many chips hold the parameters and the caches of a batch, not rounded.
func (s Serving) ChipsFor(batch float64) float64 {
	return (s.ParamBytes + batch*s.KVBytes) / s.Hardware.HBMBytes
}

// ExpertBatch returns the tokens above which an expert model is bound by compute, given that of a dense one.
func ExpertBatch(dense, experts, perToken float64) float64 { return dense * experts / perToken }

// EvictionRate returns the cached tokens that leave per decode step when b sequences of some prompt and generated
// tokens are under way.
func EvictionRate(prompt, generated, b float64) float64 { return b * (prompt + generated) / generated }

// PrefillServers returns the prefill servers that keep one decode server busy: prefill seconds of a prompt against
// the seconds of a step, over the tokens of an answer, shared by a batch.
func PrefillServers(prefill, step, tokens, batch float64) float64 {
	return prefill / (step * tokens / batch)
}
