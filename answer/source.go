package answer

import (
	"context"
	"crypto/sha256"
	"fmt"

	"autoshard/ir"
	"autoshard/ir/gspmd"
	"autoshard/specialize"
	"autoshard/subaxis"
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
func Hash[T string | []byte](text T) string {
	h := sha256.New()
	const piece = 64 << 10 // bytes of a string are copied
	for ; len(text) > piece; text = text[piece:] {
		h.Write([]byte(text[:piece]))
	}
	h.Write([]byte(text))
	return fmt.Sprintf("sha256:%x", h.Sum(nil))
}

// Shardy returns a copy of the module with all its shardings in Shardy's dialect. Those of GSPMD are over a mesh of these axes where the
// module declares none; where there are no axes either, said says over which mesh they are. Errors are those of gspmd.Import.
func (s *Source) Shardy(ctx context.Context, axes []subaxis.Axis) (m *ir.Module, said string, err error) {
	m = s.Module.Clone()
	said, err = gspmd.Import(ctx, m, axes)
	return m, said, err
}

// Inlined is Shardy with calls inlined and static sizes. Errors are also of class diag.ErrInvalid or diag.ErrUnsupported, or the context's.
func (s *Source) Inlined(ctx context.Context, axes []subaxis.Axis) (m *ir.Module, said string, err error) {
	if m, said, err = s.Shardy(ctx, axes); err != nil {
		return nil, "", err
	}
	if !specialize.Needed(m) {
		return m, said, ir.InlineCalls(ctx, m)
	}
	_, err = specialize.Run(ctx, m, specialize.Options{Platforms: s.Platforms})
	return m, said, err
}
