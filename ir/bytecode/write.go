package bytecode

import (
	"cmp"
	"fmt"
	"slices"

	"autoshard/internal/diag"
	"autoshard/ir"
	"autoshard/ir/mlir"
	"autoshard/ir/vhlo"
)

// WriteOptions say how to write a module.
type WriteOptions struct {
	Version  int    // of the encoding, 0 to 6
	Producer string // who wrote it; default autoshard
}

// Write returns a module as MLIR bytecode. Errors are of class diag.ErrUnsupported: what cannot be written.
func Write(m *ir.Module, opts WriteOptions) ([]byte, error) {
	if opts.Version < 0 || opts.Version > maxVersion {
		return nil, diag.Invalid(diag.BadOption, diag.Position{}, "the versions of bytecode are 0 to %d, not %d", maxVersion, opts.Version)
	}
	opts.Producer = cmp.Or(opts.Producer, "autoshard")
	pieces, err := newWriter(m, opts).pieces()
	return slices.Concat(pieces...), err
}

// WriteArtifact returns a module as a portable artifact, see Artifact.
func WriteArtifact(m *ir.Module, target vhlo.Version) ([]byte, error) {
	pieces, err := Artifact(m, target)
	return slices.Concat(pieces...), err
}

// Artifact returns, in pieces, a module as a portable artifact for readers of StableHLO from the target version on. Ops of other
// dialects stay in it as they are. Errors are of class diag.ErrUnsupported and name the op that the target cannot express.
// Constants of the module are among the pieces: they must not be changed.
func Artifact(m *ir.Module, target vhlo.Version) ([][]byte, error) {
	if target.Before(vhlo.Oldest) || vhlo.Newest.Before(target) {
		return nil, diag.Invalid(diag.BadOption, diag.Position{}, "the versions of StableHLO artifacts are %s to %s, not %s",
			vhlo.Oldest, vhlo.Newest, target)
	}
	w := newWriter(m, WriteOptions{Version: target.BytecodeVersion(), Producer: vhlo.ProducerPrefix + target.String()})
	w.isArtifact, w.target, w.vhlo = true, target, vhlo.NewWriter(m, target)
	return w.pieces()
}

// writer collects the tables of a file.
type writer struct {
	WriteOptions
	version    int
	m          *ir.Module
	dis        *mlir.Disassembler
	asm        *mlir.Assembler // reads types inside texts
	isArtifact bool
	target     vhlo.Version
	vhlo       *vhlo.Writer

	strings, dialects, properties, resources interned
	ops                                      []writtenName
	opIndex                                  map[string]int
	attrs, types                             entryTable
	attrIndex                                map[attrKey]int
	typeIndex                                map[typeKey]int

	numbers, castNumbers []int32           // by ValueID; of the values, and of what they are cast to
	firstCast            map[ir.OpID]int32 // numbers of what operands are cast to
	at                   ir.OpID           // the op at hand
	err                  error
}

func newWriter(m *ir.Module, opts WriteOptions) *writer {
	return &writer{WriteOptions: opts, version: opts.Version, m: m, dis: mlir.NewDisassembler(m),
		asm: mlir.NewAssembler(m, mlir.Options{}), opIndex: map[string]int{}, attrIndex: map[attrKey]int{}, typeIndex: map[typeKey]int{},
		numbers: make([]int32, m.NumValues()), castNumbers: make([]int32, m.NumValues()), firstCast: map[ir.OpID]int32{}}
}

// refuse notes what cannot be written, at the op at hand.
func (w *writer) refuse(format string, args ...any) {
	if w.err != nil {
		return
	}
	what := fmt.Sprintf(format, args...)
	if w.at != 0 {
		what = fmt.Sprintf("'%s' op: %s", w.m.OpName(w.at), what)
	}
	w.err = diag.Unsupported(diag.NotSupported, w.m.OpPos(w.at), "%s", what)
}

// part is a section: pieces that follow each other in the file.
type part struct {
	id     sectionID
	align  int
	pieces [][]byte
}

func (p *part) size() int {
	n := 0
	for _, b := range p.pieces {
		n += len(b)
	}
	return n
}

// pieces returns the file in pieces, of which large constants are some: they are not copied.
func (w *writer) pieces() ([][]byte, error) {
	irSection := w.topLevel()
	if w.err != nil {
		return nil, w.err
	}
	parts := []part{{id: sectionDialects}, {id: sectionOffsets, pieces: [][]byte{w.offsets()}}, {id: sectionEntries, pieces: w.entries()},
		{id: sectionIR, pieces: [][]byte{irSection}}}
	if len(w.resources.list) > 0 {
		offsets, data := w.resourceSections()
		parts = append(parts, part{id: sectionResourceOffsets, pieces: [][]byte{offsets}}, data)
	}
	parts[0].pieces = [][]byte{w.dialectSection()}
	parts = append(parts, part{id: sectionStrings, pieces: [][]byte{w.stringSection()}})
	if w.version >= versionProperties {
		parts = append(parts, part{id: sectionProperties, pieces: [][]byte{w.propertySection()}})
	}
	head := append(appendVarint([]byte(Magic), uint64(w.version)), w.Producer...)
	out := [][]byte{append(head, 0)}
	at := len(out[0])
	for i := range parts {
		head := parts[i].head(at)
		out = append(append(out, head), parts[i].pieces...)
		at += len(head) + parts[i].size()
	}
	return out, nil
}

// head returns the header of a section that begins at an offset of the file.
func (p *part) head(at int) []byte {
	if p.align == 0 {
		return appendVarint([]byte{byte(p.id)}, uint64(p.size()))
	}
	out := appendVarint([]byte{byte(p.id) | sectionAligned}, uint64(p.size()))
	return padded(appendVarint(out, uint64(p.align)), at, p.align)
}

// padded adds padding up to a multiple of n, where out stands at an offset.
func padded(out []byte, at, n int) []byte {
	for (at+len(out))%n != 0 {
		out = append(out, paddingByte)
	}
	return out
}

func (w *writer) stringSection() []byte {
	list := w.strings.list
	out := appendVarint(nil, uint64(len(list)))
	for i := range list {
		out = appendVarint(out, uint64(len(list[len(list)-1-i])+1))
	}
	for _, s := range list {
		out = append(append(out, s...), 0)
	}
	return out
}

func (w *writer) dialectSection() []byte {
	out := appendVarint(nil, uint64(len(w.dialects.list)))
	for _, name := range w.dialects.list {
		if i := uint64(w.strings.add(name)); w.version < versionDialects {
			out = appendVarint(out, i)
		} else {
			out = appendFlagged(out, i, false)
		}
	}
	if w.version >= versionElidedLocs {
		out = appendVarint(out, uint64(len(w.ops)))
	}
	return appendGroups(out, w.ops, func(o writtenName) int { return o.dialect }, func(out []byte, o writtenName) []byte {
		if w.version < versionProperties {
			return appendVarint(out, uint64(o.name))
		}
		return appendFlagged(out, uint64(o.name), o.registered)
	})
}

// appendGroups appends rows by runs of one dialect: the dialect, how many, and the rows.
func appendGroups[T any](out []byte, rows []T, dialect func(T) int, appendRow func([]byte, T) []byte) []byte {
	for len(rows) > 0 {
		n := 1
		for n < len(rows) && dialect(rows[n]) == dialect(rows[0]) {
			n++
		}
		out = appendVarint(appendVarint(out, uint64(dialect(rows[0]))), uint64(n))
		for _, r := range rows[:n] {
			out = appendRow(out, r)
		}
		rows = rows[n:]
	}
	return out
}

// offsets is the section of the sizes of attributes and types.
func (w *writer) offsets() []byte {
	out := appendVarint(appendVarint(nil, uint64(len(w.attrs.rows))), uint64(len(w.types.rows)))
	for _, table := range []*entryTable{&w.attrs, &w.types} {
		out = appendGroups(out, table.rows, func(e writtenEntry) int { return e.dialect }, func(out []byte, e writtenEntry) []byte {
			return appendFlagged(out, uint64(len(e.head)+len(e.tail)), e.custom)
		})
	}
	return out
}

func (w *writer) entries() [][]byte {
	var out [][]byte
	for _, table := range []*entryTable{&w.attrs, &w.types} {
		for _, e := range table.rows {
			out = append(out, e.head)
			if e.tail != nil {
				out = append(out, e.tail)
			}
		}
	}
	return out
}

func (w *writer) propertySection() []byte {
	out := appendVarint(nil, uint64(len(w.properties.list)))
	for _, p := range w.properties.list {
		out = append(appendVarint(out, uint64(len(p))), p...)
	}
	return out
}

// resourceSections returns the sections of the resources that constants refer to: their sizes, and their blobs, whose
// padding holds where the section itself is aligned.
func (w *writer) resourceSections() (offsets []byte, data part) {
	blobs := map[string]ir.Resource{}
	for _, r := range w.m.Resources() {
		blobs[r.Name] = r
	}
	data = part{id: sectionResources, align: 1}
	offsets = appendVarint(nil, 0) // external groups
	offsets = appendVarint(appendVarint(offsets, uint64(w.dialects.add(builtin))), uint64(len(w.resources.list)))
	at := 0
	for _, key := range w.resources.list {
		offsets = appendVarint(offsets, uint64(w.strings.add(key)))
		r, found := blobs[key]
		size := 0
		if found {
			align := max(1, int(r.Align))
			data.align = max(data.align, align)
			head := appendVarint(appendVarint(nil, uint64(align)), uint64(len(r.Data)))
			head = padded(head, at, align)
			data.pieces = append(data.pieces, head, r.Data)
			size = len(head) + len(r.Data)
		}
		offsets = append(appendVarint(offsets, uint64(size)), resourceBlob)
		at += size
	}
	return offsets, data
}
