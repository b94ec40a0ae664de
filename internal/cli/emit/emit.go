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
	"autoshard/report"
)

// request is what to write besides what the configuration says.
type request struct {
	launcher string                             // its form; "" for none
	inputs   map[autoshard.Derivative]*[]string // of each derivative, those that it is by; nil where it is not asked for
	report   bool                               // what the derivative sends, in its place
	check    bool                               // off for programs without types
}

// Command returns the subcommand.
func Command(s *cmdline.Streams) *cobra.Command {
	r := request{inputs: map[autoshard.Derivative]*[]string{}}
	cmd := &cobra.Command{
		Use:   "emit PLAN",
		Short: "Write a plan's program as Python for JAX, StableHLO or a typed shard_map program",
		Long: `Write the program of a plan, or a shard_map program, for other systems.

--format jax is a Python file: the mesh, the specifications, the per-device function under shard_map, the unsharded
function of a plan, and a main that runs both on JAX's devices, or on virtual ones, and compares them. It runs on JAX
0.6 and later, in one process or several; python FILE --help lists its options. --format stablehlo is the program that
every device runs, with explicit collectives. --format shardmap is the shard_map program as text, one equation a line,
with types that say along which axes every value varies; run, check and emit take that text in place of a plan.
A function that JAX exported with shard_maps in it, which are each an sdy.manual_computation in MLIR, is taken too: one that
is a shard_map and nothing else keeps its form, of others all is cut as their shardings say.
--format sdy is the same as an sdy.manual_computation in MLIR, which XLA runs. Without --format, the extension of the file
of --output decides: .py is jax, .shardmap is shardmap, .mlir is sdy; anything else is jax.

--transpose, --jvp, --vjp and --gradient write a derivative by some inputs in place of the program: its transpose, for a
program that is linear in them; the derivative in a direction; the cotangents of the inputs from those of the outputs; or
the gradient of a scalar. Of a model they are those of all of it, with the ops around its shard_maps. --report says in
place of the text what the program and the derivative send and take on --hardware, with the types that say which values
are equal on all devices, and without them. --check=false writes the program as check_vma=False has it in JAX.

--launcher writes what starts the Python file on several hosts in place of the program: a script for every host
(shell), a batch script (slurm), or a Service and a Job (kubernetes). --hosts is their number.`,
		Example: `  autoshard emit plan.json -o train.py && python train.py
  autoshard emit plan.json --format stablehlo
  autoshard emit plan.json -o train.shardmap && autoshard run train.shardmap
  autoshard emit loss.shardmap --gradient w1,w2 --format shardmap
  autoshard emit loss.shardmap --gradient w1,w2 --report
  autoshard emit plan.json --launcher slurm --hosts 2 -o train.sbatch`,
		Args: cmdline.Args("PLAN"),
		RunE: func(cmd *cobra.Command, args []string) error {
			c, err := config.Load(cmd.Flags())
			if err != nil {
				return err
			}
			if err := exclusive(cmd); err != nil {
				return err
			}
			return run(cmd.Context(), s, c, args[0], r)
		},
	}
	formats := lists.Map(autoshard.EmitForms(), func(name string) config.Format { return config.Format(name) })
	cmd.Flags().String("format", "jax", "")
	config.AllowFormats(cmd.Flags(), formats...)
	cmd.Flags().StringVar(&r.launcher, "launcher", "", "write what starts the program on several hosts: "+strings.Join(jax.Launchers(),
		" or "))
	for _, d := range derivatives {
		r.inputs[d.name] = cmd.Flags().StringSlice(string(d.name), nil, d.help)
	}
	cmd.Flags().BoolVar(&r.report, "report", false, "say what the program and its derivative send, with and without types")
	cmd.Flags().BoolVar(&r.check, "check", true, "false writes the program as check_vma=False has it in JAX")
	config.AddFlags(cmd.Flags(), "output", "hosts", "hardware")
	return cmd
}

func run(ctx context.Context, s *cmdline.Streams, c *config.Config, file string, r request) error {
	form, err := formOf(c)
	if err != nil && r.launcher == "" {
		return err
	}
	p, err := s.Program(ctx, file, r.check)
	if err != nil {
		return err
	}
	for _, d := range derivatives {
		inputs := *r.inputs[d.name]
		if inputs == nil {
			continue
		}
		if r.report {
			return compare(ctx, s, c, p, d.name, inputs)
		}
		if p, err = p.Derive(ctx, d.name, inputs); err != nil {
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
	case !known || c.Given("format") && slices.Contains(fitting, string(c.Format)):
		return string(c.Format), nil
	case c.Given("format"):
		return "", diag.Invalid(diag.BadOption, diag.Position{}, "the format %s does not fit the file `%s`: %s files hold %s",
			c.Format, c.Output, extension, strings.Join(fitting, " or "))
	}
	return fitting[0], nil
}

// derivatives are the flags that ask for one.
var derivatives = []struct {
	name autoshard.Derivative
	help string
}{
	{autoshard.Transpose, "write the transpose in these inputs, such as x,y"},
	{autoshard.JVP, "write the derivative in directions of these inputs"},
	{autoshard.VJP, "write what makes of cotangents of the outputs those of these inputs"},
	{autoshard.Gradient, "write the gradient by these inputs, such as w1,w2"},
}

// exclusive demands that one thing alone is to be written.
func exclusive(cmd *cobra.Command) error {
	given := cmd.Flags().Changed
	var asked []string
	for _, d := range derivatives {
		if given(string(d.name)) {
			asked = append(asked, string(d.name))
		}
	}
	derived := len(asked) > 0
	if given("launcher") {
		asked = append([]string{"launcher"}, asked...)
		if given("format") {
			asked = append(asked, "format")
		}
	}
	if len(asked) > 1 {
		return diag.Invalid(diag.BadOption, diag.Position{}, "`--%s` and `--%s` exclude each other: each writes one file", asked[0], asked[1])
	}
	for _, name := range []string{"report", "hardware"} {
		if given(name) && !derived {
			return diag.Invalid(diag.BadOption, diag.Position{}, "flag `--%s` needs `--transpose`, `--jvp`, `--vjp` or `--gradient`", name)
		}
	}
	return nil
}

// compare says what a program and its derivative send, with the check on and off.
func compare(ctx context.Context, s *cmdline.Streams, c *config.Config, p *autoshard.Program, d autoshard.Derivative,
	inputs []string) error {
	rows, err := p.CompareDerivatives(ctx, d, inputs, c.Hardware)
	if err != nil {
		return err
	}
	return s.Write(c.Output, []byte(report.Derivatives(rows)))
}
