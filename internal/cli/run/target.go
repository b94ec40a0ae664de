package run

import (
	"context"

	"autoshard"
	"autoshard/backend/tensor"
	"autoshard/internal/cli/arrays"
	"autoshard/internal/cli/cmdline"
)

// target is what can be run: a plan or a shard_map program.
type target struct {
	signature *autoshard.Plan // name, mesh, inputs and outputs
	python    func(context.Context) ([]byte, error)
	run       func(ctx context.Context, inputs []*tensor.Tensor) (*autoshard.RunResult, error)
	verify    func(ctx context.Context, data *arrays.Data) (*autoshard.Check, error) // nil: there is nothing to prove it against
	compare   func(ctx context.Context, result *autoshard.RunResult, data *arrays.Data) (*autoshard.Check, error)
}

// read reads a plan, the text of a shard_map program or a manual computation; the content decides which.
func read(ctx context.Context, s *cmdline.Streams, file string) (*target, error) {
	name, text, err := s.Read(ctx, file)
	if err != nil {
		return nil, err
	}
	if autoshard.IsShardMap(text) || autoshard.IsManualComputation(text) {
		p, err := autoshard.ReadShardMap(ctx, name, text)
		if err != nil {
			return nil, err
		}
		return &target{
			signature: &autoshard.Plan{Model: p.Name, Mesh: p.Mesh, Inputs: p.Inputs, Outputs: p.Outputs},
			python:    func(ctx context.Context) ([]byte, error) { return p.Emit(ctx, "jax") },
			run:       p.Run,
			compare: func(ctx context.Context, result *autoshard.RunResult, data *arrays.Data) (*autoshard.Check, error) {
				return p.Compare(ctx, result, data.Inputs, data.Expected, data.Tolerance)
			},
		}, nil
	}
	p, err := autoshard.ReadPlan(name, text)
	if err != nil {
		return nil, err
	}
	return &target{
		signature: p,
		python:    func(ctx context.Context) ([]byte, error) { return autoshard.Emit(ctx, p, "jax") },
		run: func(ctx context.Context, inputs []*tensor.Tensor) (*autoshard.RunResult, error) {
			return autoshard.Run(ctx, p, inputs)
		},
		verify: func(ctx context.Context, data *arrays.Data) (*autoshard.Check, error) {
			return autoshard.Verify(ctx, p, data.Inputs, data.Expected, data.Tolerance)
		},
		compare: func(ctx context.Context, result *autoshard.RunResult, data *arrays.Data) (*autoshard.Check, error) {
			return autoshard.Compare(ctx, p, result, data.Inputs, data.Expected, data.Tolerance)
		},
	}, nil
}
