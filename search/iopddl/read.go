// Package iopddl reads selection problems in the JSON format of the ASPLOS/EuroSys 2025 contest on intra-operator parallelism
// (solver.md section 1.2):
//
//	{"problem": {"name": "tiny",
//	             "nodes": {"intervals": [[0, 2], [1, 3]], "costs": [[1, 2], [3]], "usages": [[5, 4], [6]]},
//	             "edges": {"nodes": [[0, 1]], "costs": [[7, 8]]},
//	             "usage_limit": 10}}
//
// Keys may come in any order and unknown ones are skipped. Files compressed by gzip are recognised by their first bytes.
package iopddl

import (
	"bufio"
	"compress/gzip"
	"errors"
	"fmt"
	"io"
	"math"

	"autoshard/internal/diag"
	"autoshard/search"
)

// MaxBytes bounds the uncompressed size of a file.
const MaxBytes = 4 << 30

// Instance is a problem as read. Problem may have auxiliary nodes behind the N nodes of the file, one for every edge of three or more
// nodes: only the first N entries of a solution count.
type Instance struct {
	Name    string
	Problem *search.Problem
	N       int
}

// Read reads an instance from r in one pass, compressed or not. file names the source in errors. Errors are of class diag.ErrInvalid for
// malformed files (with the byte offset or the index of the node or edge), diag.ErrTooLarge for files beyond a limit.
func Read(r io.Reader, file string) (*Instance, error) {
	br := bufio.NewReaderSize(r, 1<<16)
	var in io.Reader = br
	if magic, _ := br.Peek(2); len(magic) == 2 && magic[0] == 0x1f && magic[1] == 0x8b {
		gz, err := gzip.NewReader(br)
		if err != nil {
			return nil, diag.Invalid(diag.BadFile, diag.Position{File: file}, "gzip: %v", err)
		}
		in = gz
	}
	d := &decoder{scanner: scanner{in: in, buf: make([]byte, 1<<16)}}
	d.file()
	if d.err == nil {
		d.check()
	}
	if d.err != nil {
		return nil, located(d.err, file)
	}
	inst, err := d.build()
	if err != nil {
		return nil, located(err, file)
	}
	return inst, nil
}

// located adds the file to the diagnostics of an error.
func located(err error, file string) error {
	var e *diag.Error
	if errors.As(err, &e) {
		for i := range e.Diagnostics {
			e.Diagnostics[i].Pos.File = file
		}
		return e
	}
	return fmt.Errorf("%s: %w", file, err)
}

// ragged is a list of lists of integers.
type ragged struct {
	seen bool
	end  []int
	v    []int64
}

func (r *ragged) len() int { return len(r.end) }

func (r *ragged) at(i int) []int64 {
	if i == 0 {
		return r.v[:r.end[0]]
	}
	return r.v[r.end[i-1]:r.end[i]]
}

// decoder collects the fields; the edges' shapes are known only when the whole file is read.
type decoder struct {
	scanner
	found                                     bool
	name                                      string
	intervals, costs, usages, pairs, matrices ragged
	limit                                     int64
	hasLimit                                  bool
}

func (d *decoder) file() {
	d.object(func(key string) {
		if key == "problem" {
			d.found = true
			d.problem()
			return
		}
		d.skip(0)
	})
	if d.peek(); d.err == nil && !d.atEnd() {
		d.syntax()
	}
}

func (d *decoder) problem() {
	d.object(func(key string) {
		switch key {
		case "name":
			d.label()
		case "nodes":
			d.nodes()
		case "edges":
			d.edges()
		case "usage_limit":
			if d.peek() == 'n' {
				d.skip(0)
				return
			}
			d.limit, d.hasLimit = d.integer(), true
		default:
			d.skip(0)
		}
	})
}

func (d *decoder) label() {
	if d.peek() == '"' {
		d.name = d.text()
		return
	}
	d.skip(0)
}

func (d *decoder) nodes() {
	d.object(func(key string) {
		switch key {
		case "intervals":
			d.lists(&d.intervals)
		case "costs":
			d.lists(&d.costs)
		case "usages":
			d.lists(&d.usages)
		default:
			d.skip(0)
		}
	})
}

func (d *decoder) edges() {
	d.object(func(key string) {
		switch key {
		case "nodes":
			d.lists(&d.pairs)
		case "costs":
			d.lists(&d.matrices)
		default:
			d.skip(0)
		}
	})
}

// lists reads a list of lists of integers.
func (d *decoder) lists(r *ragged) {
	r.seen = true
	d.array(func() {
		d.array(func() { r.v = append(r.v, d.integer()) })
		r.end = append(r.end, len(r.v))
	})
}

func (d *decoder) check() {
	if !d.found {
		d.invalid(`missing "problem"`)
		return
	}
	for _, f := range []struct {
		key string
		r   *ragged
	}{
		{"nodes.intervals", &d.intervals}, {"nodes.costs", &d.costs}, {"nodes.usages", &d.usages},
		{"edges.nodes", &d.pairs}, {"edges.costs", &d.matrices},
	} {
		if !f.r.seen {
			d.invalid("missing %q", f.key)
			return
		}
	}
	if n := d.intervals.len(); n != d.costs.len() || n != d.usages.len() {
		d.invalid("nodes: %d intervals, %d costs, %d usages", n, d.costs.len(), d.usages.len())
		return
	}
	if d.pairs.len() != d.matrices.len() {
		d.invalid("edges: %d node lists, %d cost lists", d.pairs.len(), d.matrices.len())
		return
	}
	for i := range d.intervals.len() {
		if iv := d.intervals.at(i); len(iv) != 2 {
			d.invalid("node %d: interval has %d numbers", i, len(iv))
			return
		} else if lo, hi := iv[0], iv[1]; lo < hi && (lo < 0 || hi > math.MaxInt32) {
			d.invalid("node %d: interval [%d, %d] is not within 0 and %d", i, lo, hi, math.MaxInt32)
			return
		}
	}
}
