// Package iopddl reads and writes selection problems in the JSON format of the ASPLOS/EuroSys 2025 contest on intra-operator parallelism
// (solver.md section 1.2), and evaluates solutions of them:
//
//	{"problem": {"name": "tiny",
//	             "nodes": {"intervals": [[0, 2], [1, 3]], "costs": [[1, 2], [3]], "usages": [[5, 4], [6]]},
//	             "edges": {"nodes": [[0, 1]], "costs": [[7, 8]]},
//	             "usage_limit": 10}}
//
// Keys may come in any order and unknown ones are skipped. Files compressed by gzip are recognised by their first bytes. Files of a
// gigabyte are read in one pass: lists of numbers stay text until the shapes are known, and texts that are equal are kept once.
//
//	inst, err := iopddl.Read(file, "tiny.json")
//	r, err := search.Solve(ctx, inst.Problem, search.Options{})
//	inst.Solution(r.Solution) // [1 0], of cost 13
package iopddl

import (
	"bufio"
	"compress/gzip"
	"crypto/sha256"
	"io"

	"autoshard/internal/diag"
	"autoshard/search"
)

// MaxBytes bounds the uncompressed size of a file unless Options say otherwise.
const MaxBytes = 4 << 30

// Options of reading. The zero value is good.
type Options struct {
	MaxBytes int64 // most bytes, uncompressed; 0 means MaxBytes
	Digest   bool  // compute Instance.SHA256
}

// Instance is a problem as read. Problem may have auxiliary nodes behind the N nodes of the file, one for every edge of three or more
// nodes.
type Instance struct {
	Name    string
	Problem *search.Problem
	N       int
	Bytes   int64    // size of the file, uncompressed
	SHA256  [32]byte // of the uncompressed file, if Options.Digest asks for it
}

// Solution returns the part of a solution of the problem that is about the file's nodes.
func (in *Instance) Solution(x []int32) []int32 { return x[:in.N] }

// Read reads an instance with the zero Options.
func Read(r io.Reader, file string) (*Instance, error) { return Options{}.Read(r, file) }

// Read reads an instance from r in one pass, compressed or not. file names the source in errors. Errors are of class diag.ErrInvalid for
// malformed files and diag.ErrTooLarge for those beyond a limit, with line, column, and byte or the index of the node or edge; or that of a
// context which ends r.
func (o Options) Read(r io.Reader, file string) (*Instance, error) {
	d, err := o.decode(r, file)
	if err != nil {
		return nil, err
	}
	inst := &Instance{Name: d.name, N: d.costs.len, Bytes: d.offset()}
	if d.digest != nil {
		d.digest.Sum(inst.SHA256[:0])
	}
	inst.Problem, err = d.build()
	if err != nil {
		return nil, err
	}
	return inst, nil
}

// decode reads a file and checks everything but sums.
func (o Options) decode(r io.Reader, file string) (*decoder, error) {
	d, err := o.scanner(r, file)
	if err != nil {
		return nil, err
	}
	d.matrices.pool = newPool()
	d.costs.counts = []int32{}
	d.top()
	if d.err == nil {
		d.check()
	}
	return d, d.err
}

// scanner returns a decoder at the beginning of a stream, unpacked.
func (o Options) scanner(r io.Reader, file string) (*decoder, error) {
	if o.MaxBytes <= 0 {
		o.MaxBytes = MaxBytes
	}
	d := &decoder{scanner: scanner{file: file, most: o.MaxBytes}}
	if o.Digest {
		d.digest = sha256.New()
	}
	br := bufio.NewReaderSize(r, firstRead)
	d.in = br
	if magic, _ := br.Peek(2); len(magic) == 2 && magic[0] == 0x1f && magic[1] == 0x8b {
		d.zipped = true
		gz, err := gzip.NewReader(br)
		if err != nil {
			return nil, d.readError(err)
		}
		d.in = gz
	}
	return d, nil
}

// decoder collects the fields; the shapes of edges are known only when the whole file is read.
type decoder struct {
	scanner
	name                                      string
	intervals, costs, usages, pairs, matrices lists
	limit                                     int64
	hasLimit                                  bool
	scratch                                   []int64
}

// top reads the object of the file.
func (d *decoder) top() {
	found := false
	d.object(map[string]func(){"problem": func() {
		found = true
		d.problem()
	}})
	if d.peek(); d.err == nil && !d.atEnd() {
		d.syntax()
	}
	if !found {
		d.fail(diag.BadModel, 0, `missing "problem"`)
	}
}

func (d *decoder) problem() {
	d.peek()
	at := d.offset()
	nodes, edges := at, at
	d.object(map[string]func(){
		"name": d.label,
		"nodes": func() {
			nodes = d.fields(map[string]func(){
				"intervals": func() { d.field(&d.intervals) }, "costs": func() { d.field(&d.costs) }, "usages": func() { d.field(&d.usages) },
			})
		},
		"edges": func() {
			edges = d.fields(map[string]func(){"nodes": func() { d.field(&d.pairs) }, "costs": func() { d.field(&d.matrices) }})
		},
		"usage_limit": d.usageLimit,
	})
	for _, f := range []struct {
		key string
		in  int64
		l   *lists
	}{
		{"nodes.intervals", nodes, &d.intervals}, {"nodes.costs", nodes, &d.costs}, {"nodes.usages", nodes, &d.usages},
		{"edges.nodes", edges, &d.pairs}, {"edges.costs", edges, &d.matrices},
	} {
		if !f.l.seen {
			d.fail(diag.BadModel, f.in, "missing %q", f.key)
		}
	}
}

// label reads the name; one that is no string counts as none.
func (d *decoder) label() {
	if d.peek() == '"' {
		d.name = d.text()
		return
	}
	d.skip(0)
}

func (d *decoder) usageLimit() {
	if d.peek() == 'n' {
		d.literal()
		return
	}
	d.limit, d.hasLimit = d.integer(), true
}

// fields reads an object of fields and returns where it begins.
func (d *decoder) fields(known map[string]func()) int64 {
	d.peek()
	at := d.offset()
	d.object(known)
	return at
}

// field reads a list of lists of integers.
func (d *decoder) field(l *lists) {
	l.seen = true
	d.open('[', "list")
	d.elements(']', func() {
		text, at := d.list()
		if d.err != nil {
			return
		}
		if l.pool != nil {
			if id, _, found := l.pool.lookup(text); found {
				l.add(at, text, int(l.pool.counts[id]))
				return
			}
		}
		var bad int
		var problem string
		d.scratch, bad, problem = parseList(d.scratch[:0], text)
		switch bad := at + 1 + int64(bad); problem {
		case "":
			l.add(at, text, len(d.scratch))
		case notSeparated:
			d.fail(diag.Syntax, bad, "syntax error at byte %d", bad)
		default:
			d.fail(diag.Syntax, bad, "byte %d: %s", bad, problem)
		}
	})
}
