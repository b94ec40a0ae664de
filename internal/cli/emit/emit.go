// Package emit is the subcommand that writes the program of a plan, or a shard_map program, for other systems:
//
//	autoshard emit plan.json --format jax -o train.py
//	autoshard emit plan.json --format shardmap -o train.shardmap
//	autoshard emit train.shardmap --gradient w1,w2
package emit

import (
	"context"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"autoshard"
	"autoshard/backend/jax"
	"autoshard/internal/cli/cmdline"
	"autoshard/internal/config"
	"autoshard/internal/diag"
	"autoshard/internal/lists"
)

// request is what to write besides what the configuration says.
type request struct {
	launcher  string   // its form; "" for none
	transpose []string // inputs to transpose in; nil for none
	gradient  []string // inputs to differentiate by; nil for none
}

// Command returns the subcommand.
func Command(s *cmdline.Streams) *cobra.Command {
	r := request{}
	cmd := &cobra.Command{
		Use:   "emit PLAN",
		Short: "Write a plan's program as Python for JAX, StableHLO or a typed shard_map program",
		Long: `Write the program of a plan, or a shard_map program, for other systems.

--format jax is a Python file: the mesh, the specifications, the per-device function under shard_map, the unsharded
function of a plan, and a main that runs both on JAX's devices, or on virtual ones, and compares them. It runs on JAX
0.6 and later, in one process or several; python FILE --help lists its options. --format stablehlo is the program that
every device runs, with explicit collectives. --format shardmap is the shard_map program as text, one equation a line,
with types that say along which axes every value varies; run, check and emit take that text in place of a plan.
A function that JAX exported and that is one shard_map, which is an sdy.manual_computation in MLIR, is taken too.
--format sdy is the same as an sdy.manual_computation in MLIR, which XLA runs. Without --format, the extension of the file
of --output decides: .py is jax, .shardmap is shardmap, .mlir is sdy; anything else is jax.

--transpose and --gradient write the transpose of the program in some inputs, in which it must be linear, or its
gradient by them, in place of the program.

--launcher writes what starts the Python file on several hosts in place of the program: a script for every host
(shell), a batch script (slurm), or a Service and a Job (kubernetes). --hosts is their number.`,
		Example: `  autoshard emit plan.json -o train.py && python train.py
  autoshard emit plan.json --format stablehlo
  autoshard emit plan.json -o train.shardmap && autoshard run train.shardmap
  autoshard emit loss.shardmap --gradient w1,w2 --format shardmap
  autoshard emit plan.json --launcher slurm --hosts 2 -o train.sbatch`,
		Args: cmdline.Args("PLAN"),
		RunE: func(cmd *cobra.Command, args []string) error {
			c, err := config.Load(cmd.Flags())
			if err != nil {
				return err
			}
			for _, pair := range [][2]string{{"launcher", "format"}, {"launcher", "transpose"}, {"launcher", "gradient"},
				{"transpose", "gradient"}} {
				if cmd.Flags().Changed(pair[0]) && cmd.Flags().Changed(pair[1]) {
					return diag.Invalid(diag.BadOption, diag.Position{}, "`--%s` and `--%s` exclude each other: each writes one file", pair[0], pair[1])
				}
			}
			return run(cmd.Context(), s, c, args[0], r)
		},
	}
	formats := lists.Map(autoshard.EmitForms(), func(name string) config.Format { return config.Format(name) })
	cmd.Flags().String("format", "jax", "")
	config.AllowFormats(cmd.Flags(), formats...)
	cmd.Flags().StringVar(&r.launcher, "launcher", "", "write what starts the program on several hosts: "+strings.Join(jax.Launchers(),
		" or "))
	cmd.Flags().StringSliceVar(&r.transpose, "transpose", nil, "write the transpose in these inputs, such as x,y")
	cmd.Flags().StringSliceVar(&r.gradient, "gradient", nil, "write the gradient by these inputs, such as w1,w2")
	config.AddFlags(cmd.Flags(), "output", "hosts")
	return cmd
}

func run(ctx context.Context, s *cmdline.Streams, c *config.Config, file string, r request) error {
	form, err := formOf(c)
	if err != nil && r.launcher == "" {
		return err
	}
	p, err := s.Program(ctx, file)
	if err != nil {
		return err
	}
	if r.transpose != nil || r.gradient != nil {
		if p, err = derivative(ctx, p, r); err != nil {
			return err
		}
	}
	var text []byte
	if r.launcher != "" {
		text, err = jax.Launcher(r.launcher, jax.Launch{Name: p.Name, Program: p.Name + ".py", Hosts: c.Hosts, Devices: int(p.Devices())})
	} else {
		text, err = p.Emit(ctx, form)
	}
	if err != nil {
		return err
	}
	return s.Write(c.Output, text)
}

// forms are what files of an extension hold; the first is written where --format is not given. Of the two forms in MLIR
// that is the one that other systems run.
var forms = map[string][]string{".py": {"jax"}, ".shardmap": {"shardmap"}, ".mlir": {"sdy", "stablehlo"}}

// formOf returns the form to write: that of --format, or that of the file's extension.
func formOf(c *config.Config) (string, error) {
	extension := filepath.Ext(c.Output)
	fitting, known := forms[extension]
	switch {
	case !known || c.FormatSet && slices.Contains(fitting, string(c.Format)):
		return string(c.Format), nil
	case c.FormatSet:
		return "", diag.Invalid(diag.BadOption, diag.Position{}, "the format %s does not fit the file `%s`: %s files hold %s",
			c.Format, c.Output, extension, strings.Join(fitting, " or "))
	}
	return fitting[0], nil
}

// derivative returns the transpose or the gradient of a program.
func derivative(ctx context.Context, p *autoshard.Program, r request) (*autoshard.Program, error) {
	if r.transpose != nil {
		return p.Transpose(ctx, r.transpose)
	}
	return p.Gradient(ctx, r.gradient)
}
