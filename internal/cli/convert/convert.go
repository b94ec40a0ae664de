// Package convert is the subcommand that writes models and shardings in other forms:
//
//	autoshard convert model.mlir -o model.json                  the framework-neutral model
//	autoshard convert model.mlir --specs partition-spec         the shardings of its arguments and results
//	autoshard convert --spec "P('x', 'y')" --from partition-spec --to gspmd --mesh x=2,y=4
package convert

import (
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"autoshard/internal/cli/cmdline"
	"autoshard/internal/config"
	"autoshard/internal/diag"
)

// options are the flags that say what to convert.
type options struct {
	specs     string
	allValues bool
	spec      string
	from, to  string
	rank      string
	deviceIDs string
}

// Command returns the subcommand.
func Command(s *cmdline.Streams) *cobra.Command {
	o := &options{}
	cmd := &cobra.Command{
		Use:   "convert [MODEL]",
		Short: "Convert a model to model.json, or shardings to other forms",
		Long: `Convert a model, StableHLO text or model.json, to the framework-neutral model.json.

With --specs, show the shardings of its functions' arguments and results in a form: sdy (Shardy), partition-spec (JAX),
dtensor (PyTorch placements) or gspmd (XLA). With --spec, convert one sharding from a form to another over --mesh.
Notes say what a form leaves out; a sharding that it cannot say ends in exit code 4, with the mesh that it needs.`,
		Example: `  autoshard convert model.mlir -o model.json
  autoshard convert model.mlir --specs dtensor --all-values
  autoshard convert --spec "P('x', ('y', 'z'))" --from partition-spec --to gspmd --mesh x=2,y=2,z=2 --rank 3`,
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := o.check(cmd, args); err != nil {
				return err
			}
			c, err := config.Load(cmd.Flags())
			if err != nil {
				return err
			}
			switch {
			case cmd.Flags().Changed("spec"):
				return o.one(s, c)
			case o.specs != "":
				return o.table(cmd.Context(), s, c, args[0])
			}
			model, err := s.Model(cmd.Context(), args[0])
			if err == nil && (len(c.Sizes) > 0 || c.Platform != "") {
				model, err = model.WithSizes(cmd.Context(), c.Sizes, c.Platform)
			}
			if err != nil {
				return err
			}
			out, err := model.Convert()
			if err != nil {
				return err
			}
			return s.Write(c.Output, out)
		},
	}
	o.addFlags(cmd)
	return cmd
}

func (o *options) addFlags(cmd *cobra.Command) {
	flags := cmd.Flags()
	flags.StringVar(&o.specs, "specs", "", "show the shardings of the model in this form: sdy, partition-spec, dtensor or gspmd")
	flags.BoolVar(&o.allValues, "all-values", false, "with --specs: all values that have a sharding")
	flags.StringVar(&o.spec, "spec", "", "convert this sharding")
	flags.StringVar(&o.from, "from", "", "form of --spec")
	flags.StringVar(&o.to, "to", "", "form to write --spec in")
	flags.StringVar(&o.rank, "rank", "", "rank of the tensor that --spec is for, one for each element of a tuple (default: as the text says)")
	flags.StringVar(&o.deviceIDs, "device-ids", "", "devices of --mesh in row-major order, such as 3,1,2,0 (default: in order)")
	config.AddFlags(flags, "mesh", "dim", "platform", "format", "output")
}

// needs says which flags have a meaning only beside another.
var needs = map[string][]string{
	"spec":  {"from", "to", "rank", "device-ids", "mesh"},
	"specs": {"all-values"},
}

// check demands the flags and the argument that belong together.
func (o *options) check(cmd *cobra.Command, args []string) error {
	given := cmd.Flags().Changed
	for _, main := range []string{"spec", "specs"} {
		for _, name := range needs[main] {
			if given(name) && !given(main) {
				return diag.Invalid(diag.BadOption, diag.Position{}, "flag `--%s` needs `--%s`", name, main)
			}
		}
	}
	switch {
	case given("spec") && given("specs"):
		return diag.Invalid(diag.BadOption, diag.Position{}, "flags `--spec` and `--specs` cannot be given together")
	case given("spec"):
		for _, name := range []string{"from", "to"} {
			if !given(name) {
				return diag.Invalid(diag.BadOption, diag.Position{}, "flag `--spec` needs `--%s`, a form: sdy, partition-spec, dtensor or gspmd", name)
			}
		}
		return cmdline.Args()(cmd, args)
	case given("format") && !given("specs"):
		return diag.Invalid(diag.BadOption, diag.Position{}, "a model is converted to model.json alone; `--format` is for `--specs` and `--spec`").
			WithNote(diag.Position{}, "usage: %s", strings.TrimSuffix(cmd.UseLine(), " [flags]"))
	}
	return cmdline.Args("MODEL")(cmd, args)
}

// ints reads numbers between commas; an empty text has none.
func ints(flag, text string) (out []int64, err error) {
	if text == "" {
		return nil, nil
	}
	for part := range strings.SplitSeq(text, ",") {
		n, err := strconv.ParseInt(strings.TrimSpace(part), 10, 32)
		if err != nil || n < 0 {
			return nil, diag.Invalid(diag.BadOption, diag.Position{}, "`--%s` must be whole numbers between commas, not %q", flag, text)
		}
		out = append(out, n)
	}
	return out, nil
}
