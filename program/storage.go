package program

import (
	"fmt"
	"slices"

	"autoshard/answer"
	"autoshard/backend/tensor"
	"autoshard/internal/diag"
	"autoshard/ir"
	"autoshard/ir/dtype"
	"autoshard/padding"
	"autoshard/shardmap"
)

// storage is how the inputs and outputs of a plan's program are stored: some padded, at the high end and with anything, so that devices
// have equal blocks.
type storage struct {
	inputs, outputs []shardmap.Port
	elements        [2][]dtype.Type
}

// storageOf returns how a program stores its inputs and outputs, nil where all are stored as they are.
func storageOf(device *shardmap.Program) *storage {
	padded := func(p shardmap.Port) bool { return p.Padded != nil }
	if !slices.ContainsFunc(device.Inputs, padded) && !slices.ContainsFunc(device.Outputs, padded) {
		return nil
	}
	m, f := device.Module, device.Module.Func(device.Main)
	s := &storage{inputs: device.Inputs, outputs: device.Outputs}
	for _, arg := range m.BlockArgs(f.Body) {
		s.elements[0] = append(s.elements[0], m.ValueType(arg).DType)
	}
	for _, t := range f.ResultTypes {
		s.elements[1] = append(s.elements[1], m.TypeOf(t).DType)
	}
	return s
}

// notes says which inputs and outputs of a program are stored padded, by their names where it has any.
func (s *storage) notes(p *Program) (notes []string) {
	if s == nil {
		return nil
	}
	say := func(what string, tensors []answer.Tensor, ports []shardmap.Port, elements []dtype.Type) {
		for i := range ports {
			port, name := &ports[i], ""
			if i < len(tensors) {
				name = " (" + tensors[i].Name + ")"
			}
			if port.Padded != nil {
				notes = append(notes, fmt.Sprintf("%s %d%s: a block of %s, which is %s padded at the high end with anything", what, i, name,
					dtype.Format(elements[i], port.Padded), dtype.Format(elements[i], port.Dims)))
			}
		}
	}
	say("argument", p.Inputs, s.inputs, s.elements[0])
	say("result", p.Outputs, s.outputs, s.elements[1])
	return notes
}

// unpad lets the function of a manual computation take and return the tensors themselves: what is stored padded is padded with zeros
// before it, and sliced behind it.
func (s *storage) unpad(m *ir.Module) {
	if s == nil {
		return
	}
	f := m.MainFunc()
	ret := m.LastOp(f.Body)
	manual := m.DefiningOp(m.Operand(ret, 0))
	for i, arg := range m.BlockArgs(f.Body) {
		if port := &s.inputs[i]; port.Padded != nil {
			b := m.BuilderBefore(manual)
			m.SetType(arg, m.WithDims(m.Type(arg), port.Dims))
			zero := b.Constant(m.Zeros(m.TensorType(m.ValueType(arg).DType)))
			m.SetOperand(manual, i, padding.Grow(m, b, arg, zero, port.Padded))
		}
	}
	for i, v := range m.Operands(ret) {
		if port := &s.outputs[i]; port.Padded != nil {
			short := padding.Shrink(m, m.BuilderBefore(ret), v, port.Dims)
			m.SetOperand(ret, i, short)
			f.ResultTypes[i] = m.Type(short)
		}
	}
}

// pad returns inputs as they are stored, with zeros as padding; those that have another shape than they should stay as they are.
func (s *storage) pad(inputs []*tensor.Tensor) []*tensor.Tensor {
	if s == nil {
		return inputs
	}
	out := slices.Clone(inputs)
	for i, t := range inputs {
		if i < len(s.inputs) && s.inputs[i].Padded != nil && slices.Equal(t.Shape, s.inputs[i].Dims) {
			none, high := make([]int64, len(t.Shape)), make([]int64, len(t.Shape))
			for d, size := range s.inputs[i].Padded {
				high[d] = size - t.Shape[d]
			}
			grown := tensor.Pad(*t, tensor.New(t.DType, nil), none, high, none)
			out[i] = &grown
		}
	}
	return out
}

// trim takes off outputs what pads them, in place.
func (s *storage) trim(outputs []*tensor.Tensor) {
	if s == nil {
		return
	}
	for i, t := range outputs {
		if port := &s.outputs[i]; port.Padded != nil {
			short := tensor.Slice(*t, make([]int64, len(port.Dims)), port.Dims, slices.Repeat([]int64{1}, len(port.Dims)))
			outputs[i] = &short
		}
	}
}

// refuse fails where something is stored padded: what depends on the padding would be asked for, too.
func (s *storage) refuse(what string) error {
	if s == nil {
		return nil
	}
	for _, ports := range [][]shardmap.Port{s.inputs, s.outputs} {
		for i := range ports {
			if port := &ports[i]; port.Padded != nil {
				return diag.Unsupported(diag.NotSupported, diag.Position{}, "%s of a program that stores tensors padded, such as one "+
					"of shape %v as %v, would be by the padding, too: cut evenly, or derive the model before it is planned", what,
					port.Dims, port.Padded)
			}
		}
	}
	return nil
}
