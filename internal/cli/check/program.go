package check

import (
	"context"
	"slices"
	"unicode/utf8"

	"autoshard"
	"autoshard/internal/cli/arrays"
	"autoshard/internal/cli/cmdline"
	"autoshard/internal/config"
	"autoshard/internal/diag"
)

// checkProgram returns the warnings about a shard_map program, and what it sends although it need not. With fix it is rewritten, and
// what that has made good is said on standard error.
func checkProgram(ctx context.Context, s *cmdline.Streams, c *config.Config, file string, text []byte, fix bool) ([]diag.Diagnostic,
	error) {
	program, err := autoshard.ReadShardMap(ctx, cmdline.Name(file), text)
	if err != nil {
		return nil, err
	}
	found := slices.DeleteFunc(slices.Clone(program.Warnings), func(d diag.Diagnostic) bool {
		return slices.Contains(c.Disabled, string(d.Code))
	})
	if fix {
		if program, err = improve(ctx, s, c, file, "shardmap", program); err != nil {
			return nil, err
		}
	}
	advice, err := findings(ctx, c, program)
	return append(found, advice...), err
}

// findings returns what a program sends although it need not.
func findings(ctx context.Context, c *config.Config, program *autoshard.Program) (found []diag.Diagnostic, err error) {
	advice, err := program.Advise(ctx, c.Hardware, c.Disabled)
	for i := range advice {
		found = append(found, advice[i].Finding)
	}
	return found, err
}

// checkManual returns what the shard_maps of a model send although they need not. With fix the model becomes a manual computation that does
// not; one that is no text stays as it is.
func checkManual(ctx context.Context, s *cmdline.Streams, c *config.Config, file string, text []byte, fix bool) ([]diag.Diagnostic,
	error) {
	program, err := autoshard.ReadProgram(ctx, cmdline.Name(file), text)
	if err != nil {
		return nil, ctx.Err() // `run` and `emit` say what keeps it from being one
	}
	if fix && utf8.Valid(text) {
		if program, err = improve(ctx, s, c, file, "sdy", program); err != nil {
			return nil, err
		}
	}
	advice, err := findings(ctx, c, program)
	if fix && len(advice) > 0 {
		s.Note("%s: --fix rewrites texts: `emit --format sdy` and `emit --format shardmap` write them", cmdline.Name(file))
	}
	return advice, err
}

// improve rewrites a program in its file, in one of its forms, when both have given the same outputs.
func improve(ctx context.Context, s *cmdline.Streams, c *config.Config, file, form string, p *autoshard.Program) (*autoshard.Program,
	error) {
	better, made, err := p.Improve(ctx, c.Hardware, c.Disabled)
	if err != nil || len(made) == 0 {
		return p, err
	}
	data, err := arrays.Find(ctx, s, c, arrays.Of(p), "")
	if err != nil {
		return nil, err
	}
	if err := p.Agrees(ctx, better, data.Inputs, data.Tolerance); err != nil {
		return nil, err
	}
	out, err := better.Emit(ctx, form)
	if err != nil {
		return nil, err
	}
	for i := range made {
		s.Note("%s: fixed: %s", cmdline.Name(file), made[i].Finding.Message)
	}
	s.Note("%s: both programs give the same outputs (inputs: %s)", cmdline.Name(file), data.Source)
	if file == "-" {
		file = ""
	}
	return better, s.Write(file, out)
}
