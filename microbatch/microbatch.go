// Package microbatch rewrites a program so that it computes its batch in parts, one after the other: a loop takes one microbatch in each
// round, adds up what is a sum over examples, such as gradients, and stacks up what each example has for itself. What follows from the
// sums, such as an optimizer's step, comes after the loop.
//
//	%g = dot_general %x, %dy       contracting the batch     while i < 4 carry %i, %x, %w, %sum = 0 {
//	%u = subtract %w, %g                                        %xi = examples i, i + 4, i + 8, … of %x
//	                                                            %g = dot_general %xi, %dyi
//	                                                            next i + 1, %x, %w, %sum + %g }
//	                                                          %u = subtract %w, %sum
//
// A microbatch is to the batch what the block of a device is in data parallelism. So the program is partitioned over an axis with a
// device for each microbatch, with the rules and rewrites that any plan has, and the devices' program becomes the loop's body: what
// all-reduces add up over the devices, the loop adds up over its rounds. Every element is the same up to the order in which sums are
// made.
//
// Examples of one microbatch lie a stride apart, so that devices that hold a part of the batch have a part of every microbatch. That is
// the same program only where examples are computed independently of each other, which is proved by partitioning it with a device for
// each example, too.
package microbatch

import (
	"context"
	"fmt"

	"autoshard/internal/diag"
	"autoshard/ir"
)

// Attr is the attribute of a loop over microbatches: how many there are.
const Attr = "autoshard.microbatches"

// Refusal says why a program cannot compute its batch in parts. It is an error of [Splitter.Split].
type Refusal struct {
	Pos    diag.Position // in the program's text, where known
	Reason string
}

// Error returns the reason with its place.
func (r *Refusal) Error() string {
	if r.Pos.Line == 0 {
		return r.Reason
	}
	return fmt.Sprintf("%s: %s", r.Pos.String(), r.Reason)
}

// Splitter knows into how many microbatches a program can be split, and how.
type Splitter struct {
	m        *ir.Module
	batch    []ir.ValueID
	examples int64
	proof    *cut // a device for each example
}

// New looks at a program whose inputs that are given carry examples along their first dimension: the input with the fewest says how many.
// The only mesh of the program is the one that the user's shardings are over; these are kept. The module stays as it is. Errors are of
// type *Refusal where examples are not computed independently of each other, or the context's.
func New(ctx context.Context, m *ir.Module, batch []ir.ValueID) (*Splitter, error) {
	s := &Splitter{m: m, batch: batch}
	for _, v := range batch {
		if n := m.Shape(v)[0]; s.examples == 0 || n < s.examples {
			s.examples = n
		}
	}
	if s.examples < 2 {
		return nil, &Refusal{Reason: "no input carries a batch of examples"}
	}
	var err error
	s.proof, err = newCut(ctx, s, s.examples)
	return s, err
}

// Parts lists the numbers of microbatches that divide the batch, from 2 on, in ascending order.
func (s *Splitter) Parts() (list []int64) {
	for n := int64(2); n <= s.examples; n++ {
		if s.examples%n == 0 {
			list = append(list, n)
		}
	}
	return list
}

// Split returns the program with a loop over microbatches, of which there are so many. Errors are of type *Refusal, or the context's.
func (s *Splitter) Split(ctx context.Context, parts int64) (*ir.Module, error) {
	c, err := newCut(ctx, s, parts)
	if err != nil {
		return nil, err
	}
	if err := c.like(s.proof); err != nil {
		return nil, err
	}
	c.write()
	ir.EraseDead(c.m)
	return c.m, nil
}

// Count returns how many microbatches a program computes one after the other; 0 where it has no such loop.
func Count(m *ir.Module) int64 {
	for _, op := range m.OpsOf(m.MainFunc().Body, ir.OpWhile) {
		if n := m.OpAttrs(op).Int(Attr, 0); n > 0 {
			return n
		}
	}
	return 0
}
