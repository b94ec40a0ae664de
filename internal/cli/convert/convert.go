// Package convert is the subcommand that writes models and shardings in other forms:
//
//	autoshard convert model.mlir -o model.json                  the framework-neutral model
//	autoshard convert model.json -o model.jaxexport             a file for jax.export.deserialize
//	autoshard convert model.mlir --specs partition-spec         the shardings of its arguments and results
//	autoshard convert --spec "P('x', 'y')" --from partition-spec --to gspmd --mesh x=2,y=4
package convert

import (
	"strings"

	"github.com/spf13/cobra"

	"autoshard"
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
	target    string
}

// Command returns the subcommand.
func Command(s *cmdline.Streams) *cobra.Command {
	o := &options{}
	cmd := &cobra.Command{
		Use:   "convert [MODEL]",
		Short: "Convert a model to another file format, or shardings to other forms",
		Long: `Convert a model to another format, which --format or the extension of the output says: json (.json), the
framework-neutral model.json and the default; mlir (.mlir), text; bytecode (.mlirbc), MLIR bytecode; vhlo (.vhlo, .mlir.bc),
a portable artifact of StableHLO; jax-export (.jaxexport), a file for jax.export.deserialize. The last two are for readers
of StableHLO from the version of --target on.

With --specs, show the shardings of its functions' arguments and results in a form: sdy (Shardy), partition-spec (JAX),
dtensor (PyTorch placements) or gspmd (XLA). With --spec, convert one sharding from a form to another over --mesh.
Notes say what a form leaves out; a sharding that it cannot say ends in exit code 4, with the mesh that it needs.`,
		Example: `  autoshard convert model.mlir -o model.json
  autoshard convert model.json -o model.jaxexport
  autoshard convert model.mlir -o model.vhlo --target 1.0.0
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
			form, err := o.form(cmd, c)
			if err != nil {
				return err
			}
			out, err := model.ConvertTo(cmd.Context(), form, o.target)
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
	flags.StringVar(&o.target, "target", autoshard.DefaultTarget, "version of StableHLO that can read a portable artifact or a JAX export")
	flags.BoolVar(&o.allValues, "all-values", false, "with --specs: all values that have a sharding")
	flags.StringVar(&o.spec, "spec", "", "convert this sharding")
	flags.StringVar(&o.from, "from", "", "form of --spec")
	flags.StringVar(&o.to, "to", "", "form to write --spec in")
	flags.StringVar(&o.rank, "rank", "", "rank of the tensor that --spec is for, one for each element of a tuple (default: as the text says)")
	flags.StringVar(&o.deviceIDs, "device-ids", "", "devices of --mesh in row-major order, such as 3,1,2,0 (default: in order)")
	config.AddFlags(flags, "mesh", "dim", "platform", "format", "output")
	config.AllowFormats(flags, config.Text, config.JSON, config.MLIR, config.Bytecode, config.VHLO, config.JAXExport)
}

// extensions are the formats of models by the ends of file names.
var extensions = []struct {
	end    string
	format config.Format
}{{".mlir.bc", config.VHLO}, {".vhlo", config.VHLO}, {".mlirbc", config.Bytecode}, {".mlir", config.MLIR},
	{".jaxexport", config.JAXExport}, {".json", config.JSON}}

// form returns the format to write a model in.
func (o *options) form(cmd *cobra.Command, c *config.Config) (autoshard.Form, error) {
	format := config.JSON
	for _, e := range extensions {
		if strings.HasSuffix(c.Output, e.end) {
			format = e.format
			break
		}
	}
	if c.Given("format") && (c.Format != config.Text || cmd.Flags().Changed("format")) {
		format = c.Format
	}
	if format == config.Text {
		return "", diag.Invalid(diag.BadOption, diag.Position{}, "a model has the formats json, mlir, bytecode, vhlo and jax-export, not text")
	}
	if cmd.Flags().Changed("target") && format != config.VHLO && format != config.JAXExport {
		return "", diag.Invalid(diag.BadOption, diag.Position{}, "flag `--target` is for the formats vhlo and jax-export, not %s", format)
	}
	return autoshard.Form(format), nil
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
	case given("target") && given("specs"):
		return diag.Invalid(diag.BadOption, diag.Position{}, "flag `--target` is for models that are converted, not for `--specs`")
	}
	return cmdline.Args("MODEL")(cmd, args)
}
