package program

import (
	"context"

	"autoshard/answer"
	"autoshard/cost"
	"autoshard/cost/estimate"
	"autoshard/internal/diag"
	"autoshard/internal/lists"
	"autoshard/ir"
)

// MemorySchema identifies the JSON form of a Memory.
const MemorySchema = "autoshard.memory/v1"

// Memory says what a device holds while a step runs. Sizes are in bytes, times in seconds, places numbers of ops in program order.
type Memory struct {
	Schema    string            `json:"schema"`
	Program   string            `json:"program"`
	Mesh      []answer.MeshAxis `json:"mesh"`
	Hardware  string            `json:"hardware"`
	PeakBytes int64             `json:"peakBytes"`
	At        Place             `json:"at"`
	Ops       int               `json:"ops"`     // of the program
	Donated   int64             `json:"donated"` // of inputs whose memory is free once they are read
	Padding   int64             `json:"padding"` // that tiles of a TPU's memory add to what is held at the peak; 0 on other hardware
	Classes   []string          `json:"classes"`
	AtPeak    []int64           `json:"atPeak"`  // by class
	Again     []*Recompute      `json:"again"`   // by class: of all its values at the peak; null where it cannot be said of any
	Largest   []HeldValue       `json:"largest"` // at the peak
	Curve     []Sample          `json:"curve"`   // where something changes
}

// Place is an op of a program.
type Place struct {
	Number int    `json:"number"`
	Kind   string `json:"kind"`
	Type   string `json:"type"`   // of its first result, "" where it has none
	Source string `json:"source"` // in the user's program, "" where it is not known
}

// HeldValue is a value that is in memory at the peak.
type HeldValue struct {
	Name      string     `json:"name"` // of an input, or the kind of the op that makes it
	Type      string     `json:"type"`
	Bytes     int64      `json:"bytes"`
	Class     string     `json:"class"`
	From      int        `json:"from"` // the op that makes it
	To        int        `json:"to"`   // the last op that needs it
	Source    string     `json:"source"`
	Recompute *Recompute `json:"recompute,omitempty"` // absent where it cannot be said what that would change
}

// Recompute is what dropping values before the peak and making them again behind it, by their ops or collectives, would change.
type Recompute struct {
	Values     int     `json:"values"`     // that can be made again
	SavedBytes int64   `json:"savedBytes"` // of the peak of the program, which may be elsewhere then
	Seconds    float64 `json:"seconds"`    // that a step takes longer
}

// Sample is what is held from an op on, by class.
type Sample struct {
	Op    int     `json:"op"`
	Bytes []int64 `json:"bytes"`
}

// The classes of computed values, beside those of answer.RoleName for inputs.
const (
	gathered = "gathered blocks"
	results  = "results"
	kept     = "kept for later"
	working  = "read or written now"
	sending  = "sent or received now" // what a collective reads and writes
)

// shownValues bounds the values that are listed at the peak.
const shownValues = 10

// Memory returns what a device holds while a step runs, by the liveness that estimates count, and how long it would take on a hardware to
// compute values again. Errors are like those of Estimate.
func (p *Program) Memory(ctx context.Context, hardware cost.Hardware) (out *Memory, err error) {
	defer diag.Recover("memory", &err)
	hardware = hardware.OrDefault()
	device := p.onDevice()
	model, err := estimate.New(hardware, device.Mesh)
	if err != nil {
		return nil, err
	}
	held, err := model.Memory(ctx, device)
	if err != nil {
		return nil, err
	}
	c := &classifier{p: p, device: device, held: held}
	c.classify()
	peak, at := held.Peak()
	out = &Memory{Schema: MemorySchema, Program: p.Name, Mesh: p.Mesh, Hardware: hardware.Name, PeakBytes: peak, At: c.place(at),
		Ops: len(held.Ops), Donated: c.donated(), Classes: c.names}
	for _, i := range c.at(at) {
		l := &held.Lives[i]
		if hardware.Torus != nil {
			out.Padding += tiled(device.Module.ValueType(l.Value)) - l.Bytes
		}
		if len(out.Largest) < shownValues {
			out.Largest = append(out.Largest, c.value(i, at))
		}
	}
	out.Curve = c.curve()
	out.AtPeak = c.bytesAt(at)
	byClass := make([][]int, len(c.names))
	for _, i := range c.at(at) {
		byClass[c.classAt(i, at)] = append(byClass[c.classAt(i, at)], i)
	}
	out.Again = lists.Map(byClass, c.recompute)
	return out, ctx.Err()
}

// tiled returns the bytes of a value whose last two dimensions fill tiles of 8 x 128, as TPUs keep them.
func tiled(t *ir.Type) int64 {
	if len(t.Dims) == 0 {
		return t.Bytes()
	}
	tile := []int64{8, 128}
	if len(t.Dims) == 1 {
		tile = tile[1:]
	}
	return cost.PaddedBytes(t.Dims, int64(t.DType.Bytes()), tile...)
}

// place describes the op of a number.
func (c *classifier) place(at int32) Place {
	m := c.device.Module
	if len(c.held.Ops) == 0 {
		return Place{}
	}
	op := c.held.Ops[min(int(at), len(c.held.Ops)-1)]
	p := Place{Number: int(at), Kind: c.kind(op), Source: answer.Scoped(m, m.OpLoc(op))}
	if m.NumResults(op) > 0 {
		t := m.ValueType(m.Result(op, 0))
		p.Type = answer.FormatType(t, t.Dims)
	}
	return p
}

// kind returns what an op is called: a collective by its kind.
func (c *classifier) kind(op ir.OpID) string {
	if x := c.held.Collective(op); x != nil {
		return x.Kind.String()
	}
	return plainKind(c.device.Module.Kind(op))
}

// value describes a value that is held at an op.
func (c *classifier) value(i int, at int32) HeldValue {
	m, l := c.device.Module, &c.held.Lives[i]
	t := m.ValueType(l.Value)
	out := HeldValue{Type: answer.FormatType(t, t.Dims), Bytes: l.Bytes, Class: c.names[c.classAt(i, at)], From: int(l.Def),
		To: min(int(l.Last), len(c.held.Ops)-1)}
	if input := c.input(l.Value); input >= 0 {
		out.Name = c.p.Inputs[input].Name
		return out
	}
	op := m.OpOf(l.Value)
	out.Name, out.Source = c.kind(op), answer.Scoped(m, m.OpLoc(op))
	out.Recompute = c.recompute([]int{i})
	return out
}

// recompute returns what making values again behind the peak would change, nil where that cannot be said of any.
func (c *classifier) recompute(lives []int) *Recompute {
	r := c.held.Recompute(lives)
	if r.Values == 0 {
		return nil
	}
	return &Recompute{r.Values, r.SavedBytes, float64(r.Picoseconds) / Picoseconds}
}

// donated returns the bytes of inputs whose memory is free once they are read.
func (c *classifier) donated() (bytes int64) {
	f := c.device.Module.Func(c.device.Main)
	for i, arg := range c.device.Module.BlockArgs(f.Body) {
		if f.ArgAttrs[i].Donated() {
			bytes += c.device.Module.ValueType(arg).Bytes()
		}
	}
	return bytes
}
