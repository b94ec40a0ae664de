package bytecode

import (
	"cmp"
	"context"
	"math"
	"strconv"

	"autoshard/internal/diag"
	"autoshard/ir"
	"autoshard/ir/mlir"
	"autoshard/ir/vhlo"
)

// Options say what to read and how much of it. A zero limit means the default.
type Options struct {
	File     string // name of the source in positions
	Base     int    // offset of the bytecode in that file
	MaxBytes int    // of the file; default 1 GiB, at most 2 GiB - 1
	MaxDepth int    // of nested regions, types, attributes and locations; default 1,000
}

const (
	defaultMaxBytes = 1 << 30
	defaultMaxDepth = 1000
)

// Is says whether a file is bytecode: no text begins so.
func Is(data []byte) bool { return len(data) >= len(Magic) && string(data[:len(Magic)]) == Magic }

// Read reads a module, whose constants point into the data. The ops of portable artifacts become those of StableHLO.
// Errors are of class diag.ErrInvalid, diag.ErrTooLarge or diag.ErrUnsupported and carry the offset, or they are
// the context's.
func Read(ctx context.Context, data []byte, opts Options) (*ir.Module, error) {
	opts.MaxBytes = cmp.Or(opts.MaxBytes, defaultMaxBytes)
	opts.MaxDepth = cmp.Or(opts.MaxDepth, defaultMaxDepth)
	r := &reader{ctx: ctx, m: ir.NewModule(), opts: opts, asm: nil}
	if limit := min(opts.MaxBytes, math.MaxInt32); len(data) > limit {
		return nil, diag.TooLarge(diag.InputTooLarge, r.position(0), "input has %d bytes, the limit is %d", len(data), limit)
	}
	var err error
	if r.tables, err = split(data); err != nil {
		return nil, r.errorOf(err)
	}
	r.m.SetSource(opts.File, "")
	r.asm = mlir.NewAssembler(r.m, mlir.Options{File: opts.File, MaxDepth: opts.MaxDepth})
	r.vhlo = vhlo.NewReader(r.m)
	r.attrRows, r.typeRows = make([]memo[any], len(r.attrs)), make([]memo[ir.TypeID], len(r.types))
	r.addResources()
	if err := r.readModule(); err != nil {
		return nil, r.errorOf(err)
	}
	return r.m, nil
}

// addResources makes the blobs known by their keys, which need not be unique in a file.
func (r *reader) addResources() {
	r.blobs = map[string][]byte{}
	for i := range r.resources {
		b := &r.resources[i]
		if _, twice := r.blobs[b.key]; twice {
			b.key = freeKey(b.key, r.blobs)
		}
		r.blobs[b.key] = b.data
		if b.data != nil {
			r.m.AddResource(ir.Resource{Name: b.key, Align: b.align, Data: b.data})
		}
	}
}

// freeKey returns a key like another one that no resource has.
func freeKey(key string, taken map[string][]byte) string {
	for n := 1; ; n++ {
		free := key + "_" + strconv.Itoa(n)
		if _, found := taken[free]; !found {
			return free
		}
	}
}
