package answer

import (
	"context"

	"autoshard/ir"
	"autoshard/specialize"
)

// Source is a verified program that a user asks about.
type Source struct {
	Name      string
	Module    *ir.Module // as it was read; it must not be changed
	Platforms []string   // by index, where the program is for several and says their names
	Platform  string     // that was chosen where the user did not
	Dropped   []string   // arguments of the exported function that the program does not take
}

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
