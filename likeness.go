package autoshard

import (
	"context"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"autoshard/answer"
	"autoshard/ir"
	"autoshard/ir/mlir"
)

// Likeness returns a hash that programs have in common which differ only in names, locations and the number of equal layers, whether these
// are written one after the other or are iterations of a loop. It is that of the set of lines that a program consists of, without what
// differs; programs that are not alike may have it in common, too. Errors are the context's.
func (m *Model) Likeness(ctx context.Context) (string, error) {
	text, err := mlir.Write(ctx, m.module, mlir.PrintOptions{})
	if err != nil {
		return "", err
	}
	layers := layerCounts(m.module)
	seen := map[string]bool{}
	for line := range strings.Lines(string(text)) {
		line = called.ReplaceAllString(strings.TrimSpace(line), "")
		line = sized.ReplaceAllStringFunc(line, func(s string) string {
			number := strings.Trim(s, "<x>")
			if layers[number] {
				return strings.Replace(s, number, "L", 1)
			}
			return s
		})
		seen[once(line)] = true
	}
	lines := make([]string, 0, len(seen))
	for line := range seen {
		lines = append(lines, line)
	}
	slices.Sort(lines)
	return answer.Hash(strings.Join(lines, "\n")), nil
}

// called is what a program calls values, functions, arguments and results.
var called = regexp.MustCompile(`%[\w#:.$-]+|@[\w.$-]+|(?:jax\.arg_info|jax\.result_info|autoshard\.name) = "(?:[^"\\]|\\.)*"`)

// sized is the first dimension of a type, or a number that is all of a constant.
var sized = regexp.MustCompile(`<\d+[x>]`)

// once returns a line with each part of its lists where it first comes: as many operands as there are layers are as one.
func once(line string) string {
	parts := strings.Split(line, ", ")
	kept := parts[:0]
	for _, part := range parts {
		if !slices.Contains(kept, part) {
			kept = append(kept, part)
		}
	}
	return strings.Join(kept, ", ")
}

// layerCounts returns how often the loops of a module run: as many layers as their inputs may have stacked up.
func layerCounts(m *ir.Module) map[string]bool {
	out := map[string]bool{}
	for _, op := range m.OpsOf(m.Body(), ir.OpWhile) {
		if n, ok := ir.TripCount(m, op); ok && n > 1 {
			out[strconv.FormatInt(n, 10)] = true
		}
	}
	return out
}
