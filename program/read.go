package program

import (
	"bytes"
	"context"

	"autoshard/internal/diag"
	"autoshard/internal/filekind"
	"autoshard/ir/gspmd"
	"autoshard/ir/mlirfile"
	"autoshard/shardmap/typed"
)

// IsShardMap says whether a text is a shard_map program: its first word, behind comments, is shard_map.
func IsShardMap(src []byte) bool {
	for line := range bytes.Lines(src) {
		line = bytes.TrimSpace(line)
		if len(line) == 0 || line[0] == '#' {
			continue
		}
		word, _, _ := bytes.Cut(line, []byte(" "))
		return string(word) == "shard_map"
	}
	return false
}

// IsManualComputation says whether a program is MLIR with a manual computation, as JAX exports a shard_map:
// ReadShardMap reads it too.
func IsManualComputation(src []byte) bool {
	name := "sdy.manual_computation"
	if mlirfile.IsBinary(src) {
		name = "manual_computation" // dialects are named apart
	}
	return !filekind.IsJSON(src) && (bytes.Contains(src, []byte(name)) || gspmd.NamesBlocks(src))
}

// ReadShardMap reads a program and checks its types, or finds them and inserts the casts where the text gives none. The
// text is that of a shard_map program, or MLIR whose function main is one manual computation; what JAX's check would refuse of that is read
// with the check off, and a note says why. File names the source in errors, which are located and of class diag.ErrInvalid,
// diag.ErrTooLarge or diag.ErrUnsupported, or the context's.
func ReadShardMap(ctx context.Context, file string, src []byte) (s *Program, err error) {
	defer diag.Recover("read", &err)
	if !IsShardMap(src) {
		return importShardMap(ctx, file, src)
	}
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	p, err := typed.Parse(string(src), file)
	if err != nil {
		return nil, err
	}
	return readTyped(p)
}

// ReadUnchecked reads the text of a shard_map program with its check off, whatever the text says: nothing is refused because of what
// varies. Errors are those of [ReadShardMap], and of class diag.ErrInvalid for specs that need the check.
func ReadUnchecked(ctx context.Context, file string, src []byte) (s *Program, err error) {
	defer diag.Recover("read", &err)
	p, err := typed.Parse(string(src), file)
	switch {
	case err != nil:
		return nil, err
	case !p.Check:
		return readTyped(p)
	}
	return uncheckedOf(ctx, p)
}

// readTyped checks the types of a program that was parsed, or finds them.
func readTyped(p *typed.Program) (*Program, error) {
	var warnings []diag.Diagnostic
	if p.Variance == nil {
		report, err := p.Elaborate(typed.Options{})
		if err != nil {
			return nil, err
		}
		warnings = report.Warnings
	} else if err := p.Typecheck(typed.Options{}); err != nil {
		return nil, err
	}
	s := describe(p)
	s.Warnings = warnings
	return s, nil
}

// importShardMap makes a program of a manual computation.
func importShardMap(ctx context.Context, file string, src []byte) (*Program, error) {
	m, _, err := mlirfile.Read(ctx, src, file)
	if err != nil {
		return nil, err
	}
	if _, err := gspmd.Import(ctx, m, nil); err != nil {
		return nil, err
	}
	p, err := typed.Import(ctx, m, typed.ImportOptions{Whole: true})
	if err == nil {
		return describe(p), nil
	}
	// JAX may have exported it with its check off, of which the text says nothing.
	unchecked, again := typed.Import(ctx, m, typed.ImportOptions{Whole: true, Unchecked: true})
	if again != nil {
		return nil, err
	}
	s := describe(unchecked)
	s.Notes = append(s.Notes, "the check is off: "+reasonOf(err))
	return s, nil
}
