package run

import (
	"context"
	"errors"
	"os"

	"autoshard"
	"autoshard/backend/jax"
	"autoshard/backend/tensor"
	"autoshard/internal/cli/arrays"
	"autoshard/internal/cli/cmdline"
	"autoshard/internal/config"
)

// runJAX runs the target on real JAX, as the Python file that emit writes.
func runJAX(ctx context.Context, s *cmdline.Streams, c *config.Config, t *target, inputs []*tensor.Tensor) (*autoshard.RunResult, error) {
	program, err := t.python(ctx)
	if err != nil {
		return nil, err
	}
	o := jax.Options{Python: c.Python, Processes: c.Hosts, Native: c.Devices == "native", Env: os.Environ(), Devices: 1}
	for _, axis := range t.signature.Mesh {
		o.Devices *= int(axis.Size)
	}
	found, err := jax.Run(ctx, program, inputs, o)
	if err != nil {
		if errors.Is(err, context.DeadlineExceeded) {
			s.Note("%v", err) // with the last output, which says what did not end
		}
		return nil, err
	}
	outputs, err := arrays.Match(found, "outputs of JAX", "out", t.signature.Outputs)
	if err != nil {
		return nil, err
	}
	return &autoshard.RunResult{Outputs: outputs, Uncounted: true}, nil
}
