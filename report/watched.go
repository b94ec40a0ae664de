package report

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"autoshard/answer"
	"autoshard/backend/tensor"
	"autoshard/internal/lists"
	"autoshard/internal/pyprint"
	"autoshard/ir/dtype"
	"autoshard/program"
)

// Watched returns what devices held while a program ran, device by device with their coordinates on the mesh, and the whole outputs, if
// final. A call of jax.debug.print shows its text where source gives the Python file that it stands in; "" is for files that are not there.
func Watched(w *program.Watched, outputs []answer.Tensor, final bool, source func(file string) string) string {
	var b strings.Builder
	for _, text := range Sights(w, source) {
		b.WriteString(text)
	}
	if final {
		for i, t := range w.Result.Outputs {
			fmt.Fprintf(&b, "FINAL RESULT %s\n%s\n\n", outputs[i].Name, Elements(t))
		}
	}
	return b.String()
}

// Sights returns what devices held at each moment, in the order of the run, as [Watched] shows it.
func Sights(w *program.Watched, source func(file string) string) []string {
	texts := make([]string, len(w.Sights))
	for i := range w.Sights {
		s := &w.Sights[i]
		var b strings.Builder
		b.WriteString(sightTitle(w, s) + "\n")
		call := printed(s, source)
		for j := range s.Devices {
			d := &s.Devices[j]
			fmt.Fprintf(&b, "On device %d at mesh coordinates %s = %s:\n%s\n\n", d.Device, pythonTuple(w.Axes),
				pythonTuple(lists.Map(d.Coordinates, func(at int64) string { return strconv.FormatInt(at, 10) })), heldText(d, call))
		}
		texts[i] = b.String()
	}
	return texts
}

// printed returns the call of jax.debug.print that a sight is, nil for others and where its format is not known.
func printed(s *program.Sight, source func(file string) string) *pyprint.Call {
	if s.Moment != "called" || s.At.Line == 0 {
		return nil
	}
	call, _ := pyprint.Find(source(s.At.File), s.At.Line, s.At.Col)
	return call
}

// heldText returns what a device prints, or the elements that it holds.
func heldText(d *program.Held, call *pyprint.Call) string {
	values := make([]pyprint.Value, len(d.Blocks))
	for i := range d.Blocks {
		values[i] = pyprint.Value{Scalar: scalar(&d.Blocks[i]), Text: Elements(&d.Blocks[i])}
	}
	if call != nil {
		if text, ok := call.Text(values); ok {
			return text
		}
	}
	return strings.Join(lists.Map(values, func(v pyprint.Value) string { return v.Text }), "\n")
}

// scalar returns the number of a tensor without dimensions, nil for others.
func scalar(t *tensor.Tensor) any {
	if t.Rank() > 0 {
		return nil
	}
	switch t.DType.Kind() {
	case dtype.Bool:
		return t.Ints()[0] != 0
	case dtype.Signed:
		return t.Ints()[0]
	case dtype.Unsigned:
		return uint64(t.Ints()[0])
	case dtype.Float:
		return t.Floats()[0]
	}
	return nil
}

// sightTitle names a value and the moment: BEFORE psum[axes=(i,)] of x.
func sightTitle(w *program.Watched, s *program.Sight) string {
	title := strings.Join(s.Values, ", ")
	switch s.Moment {
	case "before":
		title = "BEFORE " + s.Op + " of " + title
	case "after":
		title = "AFTER " + s.Op + ": " + title
	case "called":
		title = "CALLBACK reads " + title
		if s.At.Line > 0 {
			title = fmt.Sprintf("CALLBACK at %s:%d reads %s", s.At.File, s.At.Line, strings.Join(s.Values, ", "))
		}
	}
	if s.Time > 0 || slices.ContainsFunc(w.Sights, func(o program.Sight) bool {
		return o.Time > 0 && o.Moment == s.Moment && slices.Equal(o.Values, s.Values) && o.Op == s.Op && o.At == s.At
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
