package report

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"autoshard/answer"
	"autoshard/internal/lists"
	"autoshard/program"
)

// Watched returns what devices held while a program ran, device by device with their coordinates on the mesh, and the whole outputs, if
// final.
func Watched(w *program.Watched, outputs []answer.Tensor, final bool) string {
	var b strings.Builder
	for _, text := range Sights(w) {
		b.WriteString(text)
	}
	if final {
		for i, t := range w.Result.Outputs {
			fmt.Fprintf(&b, "FINAL RESULT %s\n%s\n\n", outputs[i].Name, Elements(t))
		}
	}
	return b.String()
}

// Sights returns what devices held at each moment, in the order of the run.
func Sights(w *program.Watched) []string {
	texts := make([]string, len(w.Sights))
	for i := range w.Sights {
		s := &w.Sights[i]
		var b strings.Builder
		b.WriteString(sightTitle(w, s) + "\n")
		for j := range s.Devices {
			d := &s.Devices[j]
			fmt.Fprintf(&b, "On device %d at mesh coordinates %s = %s:\n%s\n\n", d.Device, pythonTuple(w.Axes),
				pythonTuple(lists.Map(d.Coordinates, func(at int64) string { return strconv.FormatInt(at, 10) })), Elements(d.Block))
		}
		texts[i] = b.String()
	}
	return texts
}

// sightTitle names a value and the moment: BEFORE psum[axes=(i,)] of x.
func sightTitle(w *program.Watched, s *program.Sight) string {
	title := ""
	switch s.Moment {
	case "before":
		title = "BEFORE " + s.Op + " of " + s.Value
	case "after":
		title = "AFTER " + s.Op + ": " + s.Value
	case "called":
		title = "CALLBACK reads " + s.Value
	default:
		title = s.Value
	}
	if s.Time > 0 || slices.ContainsFunc(w.Sights, func(o program.Sight) bool {
		return o.Time > 0 && o.Moment == s.Moment && o.Value == s.Value && o.Op == s.Op
	}) {
		title += fmt.Sprintf(", iteration %d", s.Time)
	}
	return title
}

// pythonTuple returns a list as Python writes a tuple.
func pythonTuple(parts []string) string {
	if len(parts) == 1 {
		return "(" + parts[0] + ",)"
	}
	return "(" + strings.Join(parts, ", ") + ")"
}
