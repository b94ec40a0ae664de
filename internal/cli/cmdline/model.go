package cmdline

import (
	"context"
	"path/filepath"

	"autoshard"
	"autoshard/internal/config"
)

// Model reads a model from a file or standard input.
func (s *Streams) Model(ctx context.Context, file string) (*autoshard.Model, error) {
	name, text, err := s.Read(ctx, file)
	if err != nil {
		return nil, err
	}
	return autoshard.ReadModel(ctx, name, text)
}

// Program reads what can be run: a plan, the text of a shard_map program, or a manual computation; the content decides.
func (s *Streams) Program(ctx context.Context, file string) (*autoshard.Program, error) {
	name, text, err := s.Read(ctx, file)
	if err != nil {
		return nil, err
	}
	return autoshard.ReadProgram(ctx, name, text)
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

// OutputFormat returns the format of the output: that of --format where it is given, otherwise that of the output
// file's extension.
func OutputFormat(c *config.Config) config.Format {
	if c.FormatSet {
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
