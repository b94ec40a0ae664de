package run

import (
	"context"
	"errors"
	"os"

	"autoshard"
	"autoshard/backend/jax"
	"autoshard/backend/tensor"
	"autoshard/internal/cli/cmdline"
	"autoshard/internal/config"
	"autoshard/program/inputs"
)

// runJAX runs a program on real JAX, as the Python file that emit writes.
func runJAX(ctx context.Context, s *cmdline.Streams, c *config.Config, p *autoshard.Program,
	arguments []*tensor.Tensor) (*autoshard.RunResult, error) {
	if err := p.Takes(arguments); err != nil {
		return nil, err
	}
	python, err := p.Emit(ctx, "jax")
	if err != nil {
		return nil, err
	}
	o := jax.Options{Python: c.Python, Processes: c.Hosts, Native: c.Devices == "native", Env: os.Environ(), Devices: int(p.Devices())}
	found, err := jax.Run(ctx, python, arguments, o)
	if err != nil {
		if errors.Is(err, context.DeadlineExceeded) {
			s.Note("%v", err) // with the last output, which says what did not end
		}
		return nil, err
	}
	outputs, err := inputs.Match(found, "outputs of JAX", "out", p.Outputs)
	if err != nil {
		return nil, err
	}
	return &autoshard.RunResult{Outputs: outputs, Uncounted: true}, nil
}
