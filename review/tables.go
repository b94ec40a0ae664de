package review

import (
	"encoding/binary"
	"path"
	"strconv"
	"strings"

	"autoshard/answer"
	"autoshard/internal/lists"
	"autoshard/ir"
	"autoshard/subaxis"
)

// none stands for a text, value or operation that is not there.
const none = int32(-1)

// tables write each text, type, list of axes and sharding once.
type tables struct {
	m         *ir.Module
	d         *Document
	strings   map[string]int32
	axes      map[string]int32
	types     map[ir.TypeID]int32
	shardings map[ir.ShardingID]int32
}

// newTables returns the tables of a new document about a module and a mesh of it.
func newTables(m *ir.Module, mesh ir.MeshID) *tables {
	t := &tables{m: m, d: &Document{Schema: Schema}, strings: map[string]int32{}, axes: map[string]int32{}, types: map[ir.TypeID]int32{},
		shardings: map[ir.ShardingID]int32{}}
	t.list(nil)
	t.d.Shardings = []Sharding{{Dims: []int32{}}}
	t.shardings[0] = 0
	of := &m.Mesh(mesh).Mesh
	t.d.Mesh = append([]answer.MeshAxis{}, of.Axes...)
	t.d.DeviceIDs = lists.Of(int(of.Devices()), func(i int) int64 { return of.DeviceID(int64(i)) })
	t.d.File = mainFile(m)
	return t
}

// text returns the number of a text.
func (t *tables) text(s string) int32 {
	if s == "" {
		return none
	}
	i, ok := t.strings[s]
	if !ok {
		i = int32(len(t.d.Strings))
		t.strings[s] = i
		t.d.Strings = append(t.d.Strings, s)
	}
	return i
}

// list returns the number of a list of axes.
func (t *tables) list(axes []subaxis.Ref) int32 {
	var key []byte
	for _, a := range axes {
		for _, n := range []int32{a.Axis, a.Pre, a.Size} {
			key = binary.LittleEndian.AppendUint32(key, uint32(n))
		}
	}
	i, ok := t.axes[string(key)]
	if !ok {
		i = int32(len(t.d.Axes))
		t.axes[string(key)] = i
		t.d.Axes = append(t.d.Axes, lists.Of(len(axes), func(k int) AxisPart {
			return AxisPart{axes[k].Axis, axes[k].Pre, axes[k].Size}
		}))
	}
	return i
}

// typ returns the number of a type.
func (t *tables) typ(id ir.TypeID) int32 {
	i, ok := t.types[id]
	if !ok {
		i = int32(len(t.d.Types))
		t.types[id] = i
		of := t.m.TypeOf(id)
		t.d.Types = append(t.d.Types, Type{answer.FormatType(of, of.Dims), append([]int64{}, of.Dims...), of.Bytes()})
	}
	return i
}

// sharding returns the number of a sharding.
func (t *tables) sharding(id ir.ShardingID) int32 {
	i, ok := t.shardings[id]
	if !ok {
		i = int32(len(t.d.Shardings))
		t.shardings[id] = i
		of := t.m.ShardingOf(id)
		t.d.Shardings = append(t.d.Shardings, Sharding{
			Dims:      lists.Of(len(of.Dims), func(k int) int32 { return t.list(of.Dims[k].Axes) }),
			Unreduced: t.list(of.Unreduced),
		})
	}
	return i
}

// source returns the place of the user's program that a location stands for: a line of the main file, or file and line.
func (t *tables) source(loc ir.LocID) int32 {
	l := t.m.FileLoc(loc)
	switch {
	case l.Kind != ir.LocFile:
		return none
	case l.File == t.d.File:
		return t.text(":" + strconv.Itoa(l.Line))
	}
	return t.text(path.Base(l.File) + ":" + strconv.Itoa(l.Line))
}

// short writes a place as source does.
func (t *tables) short(text string) string {
	file, line, ok := answer.CutLine(text)
	switch {
	case !ok:
		return text
	case file == t.d.File:
		return ":" + strconv.Itoa(line)
	}
	return path.Base(file) + ":" + strconv.Itoa(line)
}

// mainFile returns the file that most operations come from, of two the first by name, "" where none is known.
func mainFile(m *ir.Module) (best string) {
	count := map[string]int{}
	m.Walk(m.MainFunc().Body, func(op ir.OpID) {
		if l := m.FileLoc(m.OpLoc(op)); l.Kind == ir.LocFile {
			count[l.File]++
		}
	})
	for file, n := range count {
		if n > count[best] || n == count[best] && file < best {
			best = file
		}
	}
	return best
}

// shortScoped writes a place with its scope, as answer.Scoped has it: the line short.
func (t *tables) shortScoped(text string) string {
	if i := strings.LastIndex(text, " ("); i >= 0 && strings.HasSuffix(text, ")") {
		return text[:i+2] + t.short(text[i+2:len(text)-1]) + ")"
	}
	return t.short(text)
}
