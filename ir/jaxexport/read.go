package jaxexport

import (
	"encoding/binary"

	"autoshard/internal/diag"
	"autoshard/internal/lists"
	"autoshard/ir/bytecode"
)

// moduleSlot is where the root table has the program.
const moduleSlot = 13

// Is says whether a file is an export: a FlatBuffer with bytecode where exports have it.
func Is(data []byte) bool {
	r := &reader{data: data, budget: 1}
	root := r.table(0)
	if r.err != nil {
		return false
	}
	module, _ := root.vector(moduleSlot, 1)
	return r.err == nil && bytecode.Is(module)
}

// maxDepth bounds how deep tables nest.
const maxDepth = 1000

// Read reads a file. Its module points into the data. Errors are of class diag.ErrInvalid or diag.ErrTooLarge and carry
// the offset.
func Read(data []byte, file string) (*Exported, error) {
	r := &reader{data: data, file: file, budget: 8*len(data) + 1}
	e := &Exported{}
	root := r.table(0)
	e.fields(root)
	if r.err == nil {
		e.finish(r)
		_, e.ModuleAt = root.vector(moduleSlot, 1)
	}
	if r.err != nil {
		return nil, r.err
	}
	return e, nil
}

// reader checks offsets. After the first problem everything reads as absent.
type reader struct {
	data   []byte
	file   string
	budget int // elements and tables that may still be read: shared ones count again
	depth  int
	err    error
}

func (r *reader) fail(at int, format string, args ...any) {
	if r.err == nil {
		pos := diag.Position{File: r.file, Binary: true, Offset: int64(at)}
		r.err = diag.Invalid(diag.BadBytecode, pos, "invalid JAX export: "+format, args...)
	}
}

// spend counts what is read.
func (r *reader) spend(at, n int) bool {
	if r.budget -= n; r.budget < 0 {
		r.fail(at, "tables are shared too often")
	}
	return r.err == nil
}

// at returns n bytes at an offset, nil where the file has none.
func (r *reader) at(off, n int) []byte {
	if r.err != nil || off < 0 || n < 0 || off > len(r.data) || n > len(r.data)-off {
		r.fail(off, "offset points beyond the end")
		return nil
	}
	return r.data[off : off+n : off+n]
}

func (r *reader) uint32(off int) int {
	if b := r.at(off, 4); b != nil {
		return int(binary.LittleEndian.Uint32(b))
	}
	return 0
}

func (r *reader) uint16(off int) int {
	if b := r.at(off, 2); b != nil {
		return int(binary.LittleEndian.Uint16(b))
	}
	return 0
}

// tableReader reads one table. It implements fields.
type tableReader struct {
	*reader
	pos    int
	vtable []byte // the offsets of the fields
	size   int    // of the table itself
}

// table follows the offset at a place to a table.
func (r *reader) table(at int) *tableReader {
	t := &tableReader{reader: r}
	t.pos = at + r.uint32(at)
	vtable := t.pos - int(int32(r.uint32(t.pos)))
	length := r.uint16(vtable)
	t.size = r.uint16(vtable + 2)
	if r.err == nil && (length < 4 || length%2 != 0) {
		r.fail(vtable, "table has a malformed list of fields")
	}
	if r.spend(t.pos, 1) {
		t.vtable = r.at(vtable+4, length-4)
	}
	return t
}

// field returns the n bytes of a field and where they lie, nil where it is absent.
func (t *tableReader) field(slot, n int) ([]byte, int) {
	if t.err != nil || 2*slot+2 > len(t.vtable) {
		return nil, 0
	}
	off := int(binary.LittleEndian.Uint16(t.vtable[2*slot:]))
	if off == 0 {
		return nil, 0
	}
	if off+n > t.size {
		t.fail(t.pos, "field %d lies outside its table", slot)
		return nil, 0
	}
	return t.at(t.pos+off, n), t.pos + off
}

func (t *tableReader) number(slot int, v any) {
	if b, _ := t.field(slot, binary.Size(v)); b != nil {
		binary.Decode(b, binary.LittleEndian, v) // cannot fail: b has the size of v
	}
}

func (t *tableReader) optionalUint32(slot int, v **uint32) {
	if b, _ := t.field(slot, 4); b != nil {
		n := binary.LittleEndian.Uint32(b)
		*v = &n
	}
}

// vector returns the elements of a vector, of size bytes each, and where they lie; nil where it is absent.
func (t *tableReader) vector(slot, size int) ([]byte, int) {
	b, at := t.field(slot, 4)
	if b == nil {
		return nil, 0
	}
	at += int(binary.LittleEndian.Uint32(b))
	n := t.uint32(at)
	if n > len(t.data)/size {
		t.fail(at, "vector has more elements than the file has bytes")
		return nil, 0
	}
	return t.at(at+4, n*size), at + 4
}

func (t *tableReader) str(slot int, v *string) {
	if b, at := t.field(slot, 4); b != nil {
		*v = t.text(at)
	}
}

// text follows the offset at a place to a string.
func (r *reader) text(at int) string {
	at += r.uint32(at)
	n := r.uint32(at)
	b := r.at(at+4, n)
	if !r.spend(at, n/8) {
		return ""
	}
	return string(b)
}

func (t *tableReader) bytes(slot int, v *[]byte) {
	if b, _ := t.vector(slot, 1); b != nil {
		*v = b
	}
}

func (t *tableReader) uint8s(slot int, v *[]uint8) { t.bytes(slot, v) }

func (t *tableReader) strs(slot int, v *[]string) {
	elements(t, slot, 4, v, func(b []byte, at int) string { return t.text(at) })
}

func (t *tableReader) uint16s(slot int, v *[]uint16) {
	elements(t, slot, 2, v, func(b []byte, at int) uint16 { return binary.LittleEndian.Uint16(b) })
}

func (t *tableReader) uint32s(slot int, v *[]uint32) {
	elements(t, slot, 4, v, func(b []byte, at int) uint32 { return binary.LittleEndian.Uint32(b) })
}

// elements reads a vector element by element.
func elements[T any](t *tableReader, slot, size int, v *[]T, one func(b []byte, at int) T) {
	b, at := t.vector(slot, size)
	if b == nil || !t.spend(at, len(b)/size) {
		return
	}
	*v = make([]T, len(b)/size)
	for i := range *v {
		(*v)[i] = one(b[i*size:], at+i*size)
	}
}

func (t *tableReader) resize(slot, _ int) int {
	b, at := t.vector(slot, 4)
	if !t.spend(at, len(b)/4) {
		return 0
	}
	return len(b) / 4
}

func (t *tableReader) child(slot int, _ bool, move func(fields)) {
	if b, at := t.field(slot, 4); b != nil {
		t.nested(at, move)
	}
}

func (t *tableReader) children(slot, _ int, move func(int, fields)) {
	b, at := t.vector(slot, 4)
	for i := range len(b) / 4 {
		if t.err != nil {
			return
		}
		t.nested(at+4*i, func(f fields) { move(i, f) })
	}
}

// nested reads a table inside another one.
func (r *reader) nested(at int, move func(fields)) {
	if r.depth++; r.depth > maxDepth && r.err == nil {
		r.err = diag.TooLarge(diag.NestingTooDeep, diag.Position{File: r.file, Binary: true, Offset: int64(at)},
			"tables are nested deeper than %d levels", maxDepth)
	}
	if t := r.table(at); r.err == nil {
		move(t)
	}
	r.depth--
}

// finish resolves what versions say in different ways.
func (e *Exported) finish(r *reader) {
	if !bytecode.Is(e.Module) {
		r.fail(0, "no program in it: field %d is no MLIR bytecode", moduleSlot)
		return
	}
	if e.Devices == 0 && e.oldDevices > 0 {
		e.Devices = uint32(e.oldDevices)
	}
	e.InAvals, e.OutAvals = e.avals(r, e.InAvalIDs, e.oldInAvals), e.avals(r, e.OutAvalIDs, e.oldOutAvals)
	e.InShardings, e.OutShardings = e.shardings(r, e.InShardingIDs, e.oldIn), e.shardings(r, e.OutShardingIDs, e.oldOut)
	if e.VJP != nil {
		e.VJP.finish(r)
	}
}

func (e *Exported) avals(r *reader, ids []uint32, old []Aval) []Aval {
	if len(ids) == 0 {
		return old
	}
	out := make([]Aval, len(ids))
	for i, id := range ids {
		if id >= uint32(len(e.UniqueAvals)) {
			r.fail(0, "leaf has type %d of %d", id, len(e.UniqueAvals))
			return nil
		}
		out[i] = e.UniqueAvals[id]
	}
	return out
}

func (e *Exported) shardings(r *reader, ids []uint32, old []oldSharding) []*Sharding {
	for i := range e.UniqueShardings {
		s := &e.UniqueShardings[i]
		if s.Mesh == nil && s.MeshID < uint32(len(e.UniqueMeshes)) {
			s.Mesh = &e.UniqueMeshes[s.MeshID]
		}
	}
	if len(ids) == 0 {
		return lists.Map(old, func(o oldSharding) *Sharding { return o.named })
	}
	out := make([]*Sharding, len(ids))
	for i, id := range ids {
		switch {
		case id == 0:
		case id > uint32(len(e.UniqueShardings)):
			r.fail(0, "leaf has sharding %d of %d", id, len(e.UniqueShardings))
			return nil
		default:
			out[i] = &e.UniqueShardings[id-1]
		}
	}
	return out
}
