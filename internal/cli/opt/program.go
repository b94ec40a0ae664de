package opt

import (
	"bytes"
	"context"
	"errors"
	"time"

	"autoshard/internal/diag"
	"autoshard/ir"
	"autoshard/ir/mlir"
	"autoshard/ir/mlirfile"
	"autoshard/ir/pass"
)

// optimizer runs one pipeline on the programs of one file.
type optimizer struct {
	*flags
	pipeline *pass.Pipeline
	dumps    *dumper
	file     string
	timings  []pass.Timing
}

// separator divides programs, on a line of its own, and stands between them in the output.
const separator = "// -----"

// programs returns the printed programs of a text. All are run, the errors of all that fail come together.
func (o *optimizer) programs(ctx context.Context, text []byte) ([]byte, error) {
	if !o.split || mlirfile.IsBinary(text) {
		return o.program(ctx, text, 0)
	}
	var out []byte
	var failed *diag.Error
	for i, part := range parts(text) {
		printed, err := o.program(ctx, part.text, part.line)
		var e *diag.Error
		switch {
		case err == nil && i > 0:
			out = append(append(out, separator+"\n"...), printed...)
		case err == nil:
			out = append(out, printed...)
		case !errors.As(err, &e):
			return nil, err
		case failed == nil:
			failed = e
		default:
			failed.Diagnostics = append(failed.Diagnostics, e.Diagnostics...)
		}
	}
	if failed != nil {
		return nil, failed
	}
	return out, nil
}

// part is a program of a file that has several.
type part struct {
	text []byte
	line int // number of lines before it
}

func parts(text []byte) []part {
	list := []part{{}}
	start := 0
	lines := 0
	for at := 0; at < len(text); lines++ {
		end := len(text)
		if i := bytes.IndexByte(text[at:], '\n'); i >= 0 {
			end = at + i + 1
		}
		if string(bytes.TrimSpace(text[at:end])) == separator {
			list[len(list)-1].text = text[start:at]
			start = end
			list = append(list, part{line: lines + 1})
		}
		at = end
	}
	list[len(list)-1].text = text[start:]
	return list
}

// program parses, verifies, runs and prints one program that stands behind that many lines of its file.
func (o *optimizer) program(ctx context.Context, text []byte, lines int) (printed []byte, err error) {
	defer func() {
		if lines > 0 {
			shift(err, lines)
		}
	}()
	m, _, err := mlirfile.Read(ctx, text, o.file)
	if err != nil {
		return nil, err
	}
	m.LocateByText()
	if err := ir.Verify(ctx, m); err != nil {
		return nil, err
	}
	start := time.Now()
	timings, err := o.pipeline.Run(ctx, m, pass.Hooks{
		SkipVerify: !o.verify,
		After:      func(i int, s pass.Step, m *ir.Module) error { return o.dumps.dump(i, s, m) },
		Now:        func() time.Duration { return time.Since(start) },
	})
	o.timings = append(o.timings, timings...)
	if err != nil {
		return nil, err
	}
	return mlir.Print(m, mlir.PrintOptions{DebugInfo: o.debugInfo}), nil
}

// shift moves the places of an error down by lines.
func shift(err error, lines int) {
	found := diag.Diagnostics(err)
	for i := range found {
		if found[i].Pos.Line > 0 {
			found[i].Pos.Line += lines
		}
		for n := range found[i].Notes {
			if found[i].Notes[n].Pos.Line > 0 {
				found[i].Notes[n].Pos.Line += lines
			}
		}
	}
}
