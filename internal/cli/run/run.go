// Package run is the subcommand that runs a plan or a shard_map program, on virtual devices in this process or on real
// JAX:
//
//	autoshard run plan.json --inputs in.npz --expect out.npz
//	autoshard run train.shardmap --inputs in.npz --expect out.npz
//	autoshard run plan.json --inputs in.npz --expect out.npz --backend jax --hosts 2
package run

import (
	"context"
	"os"
	"slices"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"autoshard"
	"autoshard/internal/cli/arrays"
	"autoshard/internal/cli/cmdline"
	"autoshard/internal/config"
	"autoshard/internal/diag"
	"autoshard/report"
)

// Command returns the subcommand.
func Command(s *cmdline.Streams) *cobra.Command {
	var f flags
	cmd := &cobra.Command{
		Use:   "run PLAN",
		Short: "Run a plan or a shard_map program on virtual devices or on JAX",
		Long: `Run a plan, the text of a shard_map program as emit --format shardmap writes it, or a model with shard_maps in it, on
virtual devices in this process and count the bytes that collectives move; or, with --backend jax, on real JAX: on virtual CPU devices of one
or several processes, or on the devices that JAX finds.
Without --inputs they are random. With --expect the outputs are compared with those, and those of a plan with an
unsharded run; a difference is exit code 1. With --output the outputs are written as an .npz file.

--profile trace.json.gz writes what every device does, waits for and holds, for Perfetto, and shows it by kind of operation,
line of the program and device. --check-nans ends the run at the first operation that makes elements that are NaN of others, --max-memory
where a device would hold more. The values of such runs are not proved one by one.

--print shows what every device holds before and after each collective and where the program calls into Python, as
jax.debug.print does, and then the whole outputs; --print=x,loss shows the values of these names, which are those of
emit --format shardmap. --check=false runs the program as check_vma=False has it in JAX: where devices then disagree about
a result that is said to be equal, a note names them.`,
		Example: `  autoshard run plan.json --inputs in.npz --expect out.npz
  autoshard run train.shardmap --seed 1
  autoshard run loss.shardmap --print
  autoshard run loss.shardmap --print=y,loss
  autoshard run plan.json --backend jax --python venv/bin/python --hosts 2`,
		Args: cmdline.Args("PLAN"),
		RunE: cmdline.WithConfig(func(ctx context.Context, c *config.Config, args []string) error {
			return run(ctx, s, c, args[0], &f)
		}),
	}
	config.AddFlags(cmd.Flags(), "inputs", "expect", "rtol", "atol", "tolerance", "output", "backend", "python", "hosts", "devices", "seed",
		"timeout", "max-memory", "check-nans", "profile")
	cmd.Flags().StringSliceVar(&f.print, "print", nil, "show what devices hold of these values, or before and after each collective")
	cmd.Flags().BoolVar(&f.check, "check", true, "false runs the program as check_vma=False has it in JAX")
	cmd.Flags().Lookup("print").NoOptDefVal = collectives
	cmd.Flags().SetNormalizeFunc(func(_ *pflag.FlagSet, name string) pflag.NormalizedName {
		if name == "processes" {
			name = "hosts"
		}
		return pflag.NormalizedName(name)
	})
	return cmd
}

// flags are those that only this command has.
type flags struct {
	print []string
	check bool
}

// collectives stands for a --print without names.
const collectives = "*"

func run(ctx context.Context, s *cmdline.Streams, c *config.Config, file string, f *flags) error {
	if len(f.print) > 0 && c.Backend == "jax" {
		return diag.Invalid(diag.BadOption, diag.Position{}, "flag `--print` is for virtual devices, not for `--backend jax`")
	}
	if c.Backend == "jax" && observed(c) {
		return diag.Invalid(diag.BadOption, diag.Position{}, "flags `--profile`, `--check-nans` and `--max-memory` are for virtual "+
			"devices, not for `--backend jax`")
	}
	if err := cmdline.CheckOutput(c.Profile); err != nil {
		return err
	}
	p, err := s.Program(ctx, file, f.check)
	if err != nil {
		return err
	}
	data, err := arrays.Find(ctx, s, c, arrays.Of(p), "")
	if err != nil {
		return err
	}
	if c.Timeout > 0 {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeout(ctx, c.Timeout)
		defer cancel()
	}
	for _, note := range p.Notes {
		s.Note("%s", note)
	}
	s.Note("inputs: %s", data.Source)
	if len(f.print) > 0 {
		if err := watch(ctx, s, p, data, f.print); err != nil {
			return err
		}
	}
	result, check, err := execute(ctx, s, c, p, data)
	if result == nil {
		return err
	}
	for _, note := range result.Notes {
		s.Note("%s", note)
	}
	if profileErr := s.Profile(c, result.Profile); profileErr != nil {
		return profileErr
	}
	if c.Output != "" {
		if writeErr := arrays.WriteOutputs(s, c.Output, result.Outputs); writeErr != nil {
			return writeErr
		}
	}
	if data.Expected == nil || c.Output != "" {
		if reportErr := show(s, p, result); reportErr != nil || data.Expected == nil {
			return reportErr
		}
	}
	if check == nil {
		check, err = p.Compare(ctx, result, data.Inputs, data.Expected, data.Tolerance)
	}
	if check != nil {
		if writeErr := s.Write("", []byte(report.Check(check))); writeErr != nil {
			return writeErr
		}
	}
	return err
}

// mostSource bounds the Python files that are read for the formats of what they print.
const mostSource = 16 << 20

// sources returns what reads the Python files that a program comes from, each once. Files that are not there are "".
func sources() func(file string) string {
	known := map[string]string{}
	return func(file string) string {
		text, read := known[file]
		if info, err := os.Stat(file); !read && err == nil && info.Mode().IsRegular() && info.Size() <= mostSource {
			data, _ := os.ReadFile(file) // without it values are shown as they are
			text = string(data)
		}
		known[file] = text
		return text
	}
}

// watch runs a program and shows what devices hold meanwhile.
func watch(ctx context.Context, s *cmdline.Streams, p *autoshard.Program, data *arrays.Data, names []string) error {
	all := slices.Equal(names, []string{collectives})
	if all {
		names = nil
	}
	w, err := p.Watch(ctx, data.Inputs, names)
	if err != nil {
		return err
	}
	return s.Write("", []byte(report.Watched(w, p.Outputs, all, sources())))
}

// execute runs a program on the backend that the user chose. Where a run in this process is to be compared, the check comes with
// the result, and the error of a check that did not pass.
func execute(ctx context.Context, s *cmdline.Streams, c *config.Config, p *autoshard.Program, data *arrays.Data) (*autoshard.RunResult,
	*autoshard.Check, error) {
	if c.Backend == "jax" {
		result, err := runJAX(ctx, s, c, p, data.Inputs)
		return result, nil, err
	}
	if data.Expected == nil || observed(c) {
		result, err := p.RunWith(ctx, data.Inputs, cmdline.Observation(c))
		return result, nil, err
	}
	check, err := p.Verify(ctx, data.Inputs, data.Expected, data.Tolerance)
	if check == nil {
		return nil, nil, err
	}
	return check.Result, check, err
}

// observed says whether a run is looked at in a way that the one that proves all values is not.
func observed(c *config.Config) bool { return c.Profile != "" || c.CheckNaNs || c.MaxMemory > 0 }

// show writes the outputs and the bytes moved.
func show(s *cmdline.Streams, p *autoshard.Program, result *autoshard.RunResult) error {
	if err := s.Write("", []byte(report.Run(result, p.Outputs))); err != nil {
		return err
	}
	for _, x := range result.Collectives {
		if !x.Agrees() {
			return diag.Finding(diag.Mismatch, diag.Position{}, "a collective `%s` moved %d bytes, predicted are %d", x.Kind, x.Counted, x.Predicted)
		}
	}
	return nil
}
