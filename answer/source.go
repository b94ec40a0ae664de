package answer

import (
	"context"
	"crypto/sha256"
	"fmt"

	"autoshard/ir"
	"autoshard/specialize"
)

// Source is a verified program that a user asks about.
type Source struct {
	Name      string
	Given     Given
	Hash      string     // of the text that it was read from, as [Hash] writes it
	Module    *ir.Module // as it was read; it must not be changed
	Platforms []string   // by index, where the program is for several and says their names
	Platform  string     // that was chosen where the user did not
	Dropped   []string   // arguments of the exported function that the program does not take
}

// Given says which program a user gave.
type Given struct {
	File     string   `json:"file"`               // that the program was read from, as the user named it
	Sizes    []string `json:"sizes"`              // given to symbolic and dynamic dimensions, such as b=64
	Platform string   `json:"platform,omitempty"` // that was asked for, of a program for several
	Rules    []string `json:"rules"`              // sharding rules that were given to custom operations
}

// Hash returns the SHA-256 sum of a text as plans write it: sha256:, and 64 hexadecimal digits.
func Hash(text []byte) string { return fmt.Sprintf("sha256:%x", sha256.Sum256(text)) }

// Inlined returns a copy of the module with calls inlined and static sizes. Errors are of class diag.ErrInvalid or
// diag.ErrUnsupported, or the context's.
func (s *Source) Inlined(ctx context.Context) (*ir.Module, error) {
	c := s.Module.Clone()
	if !specialize.Needed(c) {
		return c, ir.InlineCalls(ctx, c)
	}
	_, err := specialize.Run(ctx, c, specialize.Options{Platforms: s.Platforms})
	return c, err
}
