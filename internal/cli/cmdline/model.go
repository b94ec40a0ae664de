package cmdline

import (
	"context"
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/pflag"

	"autoshard"
	"autoshard/cost"
	"autoshard/internal/config"
	"autoshard/internal/diag"
	"autoshard/internal/filekind"
)

// Model reads a model from a file or standard input.
func (s *Streams) Model(ctx context.Context, file string) (*autoshard.Model, error) {
	name, text, err := s.Read(ctx, file)
	if err != nil {
		return nil, err
	}
	return autoshard.ReadModel(ctx, name, text)
}

// Program reads what can be run: a plan, the text of a shard_map program, or a manual computation; the content decides. Without check it
// is a shard_map program whose check is off.
func (s *Streams) Program(ctx context.Context, file string, check bool) (*autoshard.Program, error) {
	name, text, err := s.Read(ctx, file)
	if err != nil {
		return nil, err
	}
	switch isPlan := filekind.Is(text, filekind.Plan); {
	case !isPlan && check:
		return autoshard.ReadProgram(ctx, name, text)
	case !isPlan:
		return autoshard.ReadProgramUnchecked(ctx, name, text)
	}
	plan, err := s.readPlan(ctx, name, text)
	if err != nil {
		return nil, err
	}
	p, err := plan.Lowered(ctx)
	if err != nil || check {
		return p, err
	}
	return p.WithoutCheck(ctx)
}

// Plan reads a plan.json.
func (s *Streams) Plan(ctx context.Context, file string) (*autoshard.Plan, error) {
	name, text, err := s.Read(ctx, file)
	if err != nil {
		return nil, err
	}
	return s.readPlan(ctx, name, text)
}

// readPlan reads a plan.json, and says on standard error what of it a later version has added.
func (s *Streams) readPlan(ctx context.Context, name string, text []byte) (*autoshard.Plan, error) {
	plan, err := autoshard.ReadPlan(ctx, name, text)
	if err == nil && len(plan.Unknown) > 0 {
		const shown = 5
		list := plan.Unknown[:min(shown, len(plan.Unknown))]
		if more := len(plan.Unknown) - shown; more > 0 {
			list = append(slices.Clip(list), fmt.Sprintf("%d more", more))
		}
		s.Note("%s: fields of a later version are left out: %s", name, strings.Join(list, ", "))
	}
	return plan, err
}

// Specialized reads a model, makes it that of the sizes and the platform that the user chose, and gives its operations
// the user's sharding rules.
func (s *Streams) Specialized(ctx context.Context, file string, c *config.Config) (*autoshard.Model, error) {
	name, text, err := s.Read(ctx, file)
	if err != nil {
		return nil, err
	}
	return Specialize(ctx, name, text, c)
}

// Specialize is Streams.Specialized for a text that was read from a file of that name.
func Specialize(ctx context.Context, name string, text []byte, c *config.Config) (*autoshard.Model, error) {
	model, err := autoshard.ReadModel(ctx, name, text)
	if err != nil {
		return nil, err
	}
	if model, err = model.WithSizes(ctx, c.Sizes, c.Platform); err != nil {
		return nil, err
	}
	if len(c.Rules) == 0 {
		return model, nil
	}
	return model.WithRules(c.Rules)
}

// Deployed is what a device runs.
type Deployed struct {
	Program *autoshard.Program
	plan    *autoshard.Plan // that it is the program of; nil for a shard_map program
	file    string
}

// Deployed reads what a device runs: of a plan or a shard_map program or, of a model, with the shardings that its user wrote. The options
// of modelOnly are refused where there is no model.
func (s *Streams) Deployed(ctx context.Context, c *config.Config, flags *pflag.FlagSet, file string, modelOnly ...string) (*Deployed,
	error) {
	name, src, err := s.Read(ctx, file)
	if err != nil {
		return nil, err
	}
	d := &Deployed{file: name}
	if made := filekind.Is(src, filekind.Plan); made || filekind.Is(src, filekind.ShardMap) {
		for _, option := range modelOnly {
			if flags.Changed(option) {
				return nil, diag.Invalid(diag.BadOption, diag.Position{File: "--" + option}, "%s has its shardings already: `--%s` is for models",
					name, option)
			}
		}
		if !made {
			d.Program, err = autoshard.ReadProgram(ctx, name, src)
			return d, err
		}
		d.plan, err = s.readPlan(ctx, name, src)
	} else {
		d.plan, err = annotated(ctx, s, c, name, src)
	}
	if err != nil {
		return nil, err
	}
	d.Program, err = d.plan.Lowered(ctx)
	return d, err
}

// annotated returns the plan of a model with the shardings that its user wrote.
func annotated(ctx context.Context, s *Streams, c *config.Config, name string, src []byte) (*autoshard.Plan, error) {
	model, err := Specialize(ctx, name, src, c)
	if err != nil {
		return nil, err
	}
	plan, err := autoshard.PlanAsAnnotated(ctx, model, autoshard.PlanOptions{Mesh: c.Mesh, Hardware: c.Hardware, Memory: c.Memory,
		Without: c.Without, WholeAxes: c.WholeAxes})
	if err != nil {
		return nil, err
	}
	s.WarnOf(plan.Findings)
	return plan, nil
}

// Hardware returns the hardware of --hardware or, without it, that which a plan was made for.
func (d *Deployed) Hardware(c *config.Config) (cost.Hardware, error) {
	if d.plan == nil {
		return c.Hardware, nil
	}
	return ProfileOf(d.plan, c, d.file)
}

// OutputFormat returns the format of the output: that of --format where it is given, otherwise that of the output
// file's extension.
func OutputFormat(c *config.Config) config.Format {
	if c.Given("format") {
		return c.Format
	}
	switch filepath.Ext(c.Output) {
	case ".json":
		return config.JSON
	case ".mlir":
		return config.MLIR
	}
	return c.Format
}
