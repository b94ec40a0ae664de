// Package run is the subcommand that runs a plan or a shard_map program, on virtual devices in this process or on real
// JAX:
//
//	autoshard run plan.json --inputs in.npz --expect out.npz
//	autoshard run train.shardmap --inputs in.npz --expect out.npz
//	autoshard run plan.json --inputs in.npz --expect out.npz --backend jax --hosts 2
package run

import (
	"bytes"
	"context"
	"fmt"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"autoshard"
	"autoshard/backend/tensor"
	"autoshard/backend/tensor/npz"
	"autoshard/internal/cli/arrays"
	"autoshard/internal/cli/cmdline"
	"autoshard/internal/config"
	"autoshard/internal/diag"
)

// Command returns the subcommand.
func Command(s *cmdline.Streams) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "run PLAN",
		Short: "Run a plan or a shard_map program on virtual devices or on JAX",
		Long: `Run a plan, or the text of a shard_map program as emit --format shardmap writes it, on virtual devices in this
process and count the bytes that collectives move; or, with --backend jax, on real JAX: on virtual CPU devices of one
or several processes, or on the devices that JAX finds.
Without --inputs they are random. With --expect the outputs are compared with those, and those of a plan with an
unsharded run; a difference is exit code 1. With --output the outputs are written as an .npz file.`,
		Example: `  autoshard run plan.json --inputs in.npz --expect out.npz
  autoshard run train.shardmap --seed 1
  autoshard run plan.json --backend jax --python venv/bin/python --hosts 2`,
		Args: cmdline.Args("PLAN"),
		RunE: func(cmd *cobra.Command, args []string) error {
			c, err := config.Load(cmd.Flags())
			if err != nil {
				return err
			}
			return run(cmd.Context(), s, c, args[0])
		},
	}
	config.AddFlags(cmd.Flags(), "inputs", "expect", "tolerance", "output", "backend", "python", "hosts", "devices", "seed", "timeout")
	cmd.Flags().SetNormalizeFunc(func(_ *pflag.FlagSet, name string) pflag.NormalizedName {
		if name == "processes" {
			name = "hosts"
		}
		return pflag.NormalizedName(name)
	})
	return cmd
}

func run(ctx context.Context, s *cmdline.Streams, c *config.Config, file string) error {
	t, err := read(ctx, s, file)
	if err != nil {
		return err
	}
	data, err := arrays.Find(ctx, s, c, t.signature, "")
	if err != nil {
		return err
	}
	if c.Timeout > 0 {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeout(ctx, c.Timeout)
		defer cancel()
	}
	s.Note("inputs: %s", data.Source)
	result, err := execute(ctx, s, c, t, data.Inputs)
	if err != nil {
		return err
	}
	if c.Output != "" {
		if err := writeOutputs(s, c.Output, result); err != nil {
			return err
		}
	}
	if data.Expected == nil || c.Output != "" {
		if err := report(s, t.signature, result); err != nil || data.Expected == nil {
			return err
		}
	}
	check, err := t.compare(ctx, result, data)
	if check != nil {
		if err := s.Write("", []byte(check.Text())); err != nil {
			return err
		}
	}
	return err
}

// execute runs the target on the backend that the user chose.
func execute(ctx context.Context, s *cmdline.Streams, c *config.Config, t *target, inputs []*tensor.Tensor) (*autoshard.RunResult, error) {
	if c.Backend == "jax" {
		return runJAX(ctx, s, c, t, inputs)
	}
	return t.run(ctx, inputs)
}

// report shows the outputs and the bytes moved.
func report(s *cmdline.Streams, plan *autoshard.Plan, result *autoshard.RunResult) error {
	if err := s.Write("", []byte(result.Text(plan))); err != nil {
		return err
	}
	for _, x := range result.Collectives {
		if !x.Agrees() {
			return diag.Finding(diag.Mismatch, diag.Position{}, "a collective `%s` moved %d bytes, predicted are %d", x.Kind, x.Counted, x.Predicted)
		}
	}
	return nil
}

func writeOutputs(s *cmdline.Streams, file string, result *autoshard.RunResult) error {
	named := make([]npz.Array, len(result.Outputs))
	for i, t := range result.Outputs {
		named[i] = npz.Array{Name: fmt.Sprintf("out%d", i), Tensor: *t}
	}
	var b bytes.Buffer
	if err := npz.Write(&b, named); err != nil {
		return err
	}
	return s.Write(file, b.Bytes())
}
