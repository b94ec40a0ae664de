package jaxexport

import (
	"bytes"
	"cmp"
	"encoding/binary"

	"autoshard/internal/lists"
)

// The versions that are written (specification: bytecode.md section C.2).
const (
	serializationVersion = 12
	callingConvention    = 10
)

// Write returns the file of an export in the format of jaxlib 0.12. Types and shardings of the leaves are those of
// InAvals, OutAvals, InShardings and OutShardings; the tables of unique ones are made of them. The module may be given in
// pieces, which take the place of Module.
func Write(e *Exported, module ...[]byte) []byte {
	n := e.normal()
	if len(module) == 0 {
		module = [][]byte{e.Module}
	}
	const fields = 1 << 12 // bytes beside the module, mostly
	out := &output{module: &n.Module, pieces: module}
	out.data = make([]byte, 4, out.moduleSize()+fields)
	out.table(0, n.fields)
	return out.data
}

// normal returns an export as the newest version has it: leaves by their index into the tables of unique ones.
func (e *Exported) normal() *Exported {
	n := *e
	n.SerializationVersion = serializationVersion
	n.CallingConvention = cmp.Or(n.CallingConvention, callingConvention)
	n.oldIn, n.oldOut, n.oldDevices = nil, nil, 0
	n.oldInAvals, n.oldOutAvals = e.InAvals, e.OutAvals
	n.UniqueAvals, n.UniqueMeshes, n.UniqueShardings = nil, nil, nil
	u := &unique{e: &n, avals: map[string]uint32{}, meshes: map[string]uint32{}, shardings: map[string]uint32{}}
	n.InAvalIDs, n.OutAvalIDs = u.avalIDs(e.InAvals), u.avalIDs(e.OutAvals)
	n.InShardingIDs, n.OutShardingIDs = u.shardingIDs(e.InShardings), u.shardingIDs(e.OutShardings)
	if e.VJP != nil {
		n.VJP = e.VJP.normal()
	}
	return &n
}

// unique fills the tables of unique types, meshes and shardings. Equal ones have the same bytes on their own.
type unique struct {
	e                        *Exported
	avals, meshes, shardings map[string]uint32
}

// content returns the bytes of a table on its own.
func content(move func(fields)) string {
	out := &output{data: make([]byte, 4)}
	out.table(0, move)
	return string(out.data)
}

// add returns the index of a row in a table of unique ones.
func add[T any, P record[T]](index map[string]uint32, table *[]T, row T) uint32 {
	key := content(P(&row).fields)
	id, ok := index[key]
	if !ok {
		id = uint32(len(*table))
		index[key] = id
		*table = append(*table, row)
	}
	return id
}

func (u *unique) avalIDs(list []Aval) []uint32 {
	return lists.Map(list, func(a Aval) uint32 { return add(u.avals, &u.e.UniqueAvals, a) })
}

func (u *unique) shardingIDs(list []*Sharding) []uint32 {
	out := make([]uint32, len(list))
	for i, s := range list {
		if s == nil {
			continue
		}
		v := *s
		if v.Mesh != nil {
			v.MeshID = add(u.meshes, &u.e.UniqueMeshes, *v.Mesh)
			v.Mesh = nil // the table of meshes has it
		}
		out[i] = add(u.shardings, &u.e.UniqueShardings, v) + 1
	}
	return out
}

// output is a FlatBuffer that grows from its front: what a table refers to follows it.
type output struct {
	data   []byte
	module *[]byte // the field that has the pieces instead of its bytes
	pieces [][]byte
}

func (o *output) moduleSize() (n int) {
	for _, p := range o.pieces {
		n += len(p)
	}
	return n
}

func (o *output) align(n int) {
	for len(o.data)%n != 0 {
		o.data = append(o.data, 0)
	}
}

// refer makes the offset at a place lead to the end, where what it refers to comes next.
func (o *output) refer(at int) {
	binary.LittleEndian.PutUint32(o.data[at:], uint32(len(o.data)-at))
}

// vector begins a vector, to which the offset at a place leads.
func (o *output) vector(at, n int) {
	o.align(4)
	o.refer(at)
	o.data = binary.LittleEndian.AppendUint32(o.data, uint32(n))
}

// offsets begins a vector of n offsets and returns the place of the first one.
func (o *output) offsets(at, n int) int {
	o.vector(at, n)
	first := len(o.data)
	o.data = append(o.data, make([]byte, 4*n)...)
	return first
}

func (o *output) str(at int, s string) {
	o.vector(at, len(s))
	o.data = append(append(o.data, s...), 0)
}

// table writes a table and what it refers to; the offset at a place leads there.
func (o *output) table(at int, move func(fields)) {
	t := &tableWriter{}
	move(t)
	slots := 0
	for _, f := range t.list {
		slots = max(slots, f.slot+1)
	}
	vtable := make([]byte, 4+2*slots)
	body := make([]byte, 4) // begins with the distance to the vtable
	places := make([]int, len(t.list))
	for i, f := range t.list {
		for len(body)%len(f.data) != 0 {
			body = append(body, 0)
		}
		places[i] = len(body)
		binary.LittleEndian.PutUint16(vtable[4+2*f.slot:], uint16(len(body)))
		body = append(body, f.data...)
	}
	binary.LittleEndian.PutUint16(vtable, uint16(len(vtable)))
	binary.LittleEndian.PutUint16(vtable[2:], uint16(len(body)))
	o.align(4)
	start := len(o.data)
	o.data = append(o.data, vtable...)
	o.align(4)
	pos := len(o.data)
	o.refer(at)
	binary.LittleEndian.PutUint32(body, uint32(pos-start))
	o.data = append(o.data, body...)
	for i, f := range t.list {
		if f.write != nil {
			f.write(o, pos+places[i])
		}
	}
}

// tableWriter collects the fields of one table. It implements fields.
type tableWriter struct{ list []field }

// field is what a table has in a slot: a number, or an offset to what write writes.
type field struct {
	slot  int
	data  []byte
	write func(o *output, at int)
}

// number appends a number that is not zero.
func (t *tableWriter) number(slot int, v any) {
	data, _ := binary.Append(nil, binary.LittleEndian, v) // cannot fail: v is of known size
	if len(bytes.Trim(data, "\x00")) > 0 {
		t.bits(slot, data)
	}
}

func (t *tableWriter) bits(slot int, data []byte) {
	t.list = append(t.list, field{slot: slot, data: data})
}

func (t *tableWriter) refer(slot int, write func(o *output, at int)) {
	t.list = append(t.list, field{slot, make([]byte, 4), write})
}

func (t *tableWriter) optionalUint32(slot int, v **uint32) {
	if *v != nil {
		t.bits(slot, binary.LittleEndian.AppendUint32(nil, **v))
	}
}

func (t *tableWriter) str(slot int, v *string) {
	if *v != "" {
		t.refer(slot, func(o *output, at int) { o.str(at, *v) })
	}
}

func (t *tableWriter) bytes(slot int, v *[]byte) {
	t.refer(slot, func(o *output, at int) {
		if v == o.module {
			o.vector(at, o.moduleSize())
			for _, p := range o.pieces {
				o.data = append(o.data, p...)
			}
			return
		}
		o.vector(at, len(*v))
		o.data = append(o.data, *v...)
	})
}

func (t *tableWriter) uint8s(slot int, v *[]uint8) { t.bytes(slot, v) }

func (t *tableWriter) strs(slot int, v *[]string) {
	t.refer(slot, func(o *output, at int) {
		first := o.offsets(at, len(*v))
		for i, s := range *v {
			o.str(first+4*i, s)
		}
	})
}

func (t *tableWriter) uint16s(slot int, v *[]uint16) { t.numbers(slot, len(*v), *v) }

func (t *tableWriter) uint32s(slot int, v *[]uint32) { t.numbers(slot, len(*v), *v) }

// numbers appends a slice of n numbers of known size.
func (t *tableWriter) numbers(slot, n int, list any) {
	t.refer(slot, func(o *output, at int) {
		o.vector(at, n)
		o.data, _ = binary.Append(o.data, binary.LittleEndian, list) // cannot fail
	})
}

func (t *tableWriter) resize(_, n int) int { return n }

func (t *tableWriter) child(slot int, has bool, move func(fields)) {
	if has {
		t.refer(slot, func(o *output, at int) { o.table(at, move) })
	}
}

func (t *tableWriter) children(slot, n int, move func(int, fields)) {
	t.refer(slot, func(o *output, at int) {
		first := o.offsets(at, n)
		for i := range n {
			o.table(first+4*i, func(f fields) { move(i, f) })
		}
	})
}
