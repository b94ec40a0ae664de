package check

import (
	"context"
	"slices"

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
		if program, err = improve(ctx, s, c, file, program); err != nil {
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

// advise returns what a program that JAX exported sends although it need not, where the program is one shard_map and nothing else.
func advise(ctx context.Context, c *config.Config, name string, text []byte) (found []diag.Diagnostic, err error) {
	program, err := autoshard.ReadShardMap(ctx, name, text)
	if err != nil {
		return nil, ctx.Err() // `run` and `emit` say what keeps it from being one
	}
	return findings(ctx, c, program)
}

// improve rewrites a program in its file, when both have given the same outputs.
func improve(ctx context.Context, s *cmdline.Streams, c *config.Config, file string, p *autoshard.Program) (*autoshard.Program, error) {
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
	out, err := better.Emit(ctx, "shardmap")
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
