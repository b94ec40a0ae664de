package cmdline

import (
	"context"
	"path/filepath"

	"autoshard"
	"autoshard/internal/config"
)

// Model reads a model from a file or standard input, and gives its operations the user's sharding rules.
func (s *Streams) Model(ctx context.Context, file string, rules ...string) (*autoshard.Model, error) {
	name, text, err := s.Read(ctx, file)
	if err != nil {
		return nil, err
	}
	model, err := autoshard.ReadModel(ctx, name, text)
	if err != nil || len(rules) == 0 {
		return model, err
	}
	return model.WithRules(rules)
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
