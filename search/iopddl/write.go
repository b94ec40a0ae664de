package iopddl

import (
	"bufio"
	"encoding/json"
	"io"
	"strconv"
	"strings"

	"autoshard/internal/diag"
	"autoshard/search"
)

// Write writes a problem, uncompressed, such that [Read] returns an equal one. Nodes that are live at no time get the interval [0, 0], and
// the problem's constant becomes an edge without nodes. It fails with diag.ErrInvalid if w does.
func Write(w io.Writer, name string, p *search.Problem) error {
	e := &encoder{w: bufio.NewWriterSize(w, firstRead)}
	quoted, err := json.Marshal(strings.ToValidUTF8(name, "\uFFFD"))
	if err != nil {
		return diag.Internal(diag.Bug, diag.Position{}, "quote a name: %v", err)
	}
	e.text(`{"problem": {"name": ` + string(quoted) + ",\n\"nodes\": {\n")
	e.nodes(p)
	e.text("},\n\"edges\": {\n")
	e.edges(p)
	e.text("}")
	if p.HasLimit {
		e.text(",\n\"usage_limit\": ")
		e.number(p.Limit)
	}
	e.text("}}\n")
	if err := e.w.Flush(); err != nil {
		return diag.Invalid(diag.BadFile, diag.Position{}, "cannot write: %v", err)
	}
	return nil
}

// encoder writes JSON. The errors of its writer stick to that.
type encoder struct {
	w       *bufio.Writer
	scratch []byte
}

func (e *encoder) text(s string) { _, _ = e.w.WriteString(s) }

func (e *encoder) number(v int64) {
	e.scratch = strconv.AppendInt(e.scratch[:0], v, 10)
	_, _ = e.w.Write(e.scratch)
}

// list writes a list of integers.
func (e *encoder) list(values []int64) {
	for i, v := range values {
		e.text([]string{"[", ","}[min(i, 1)])
		e.number(v)
	}
	e.text([]string{"[]", "]"}[min(len(values), 1)])
}

// field writes a list of n lists.
func (e *encoder) field(key string, n int, list func(i int)) {
	e.text(`"` + key + `": [`)
	for i := range n {
		if i > 0 {
			e.text(",")
		}
		list(i)
	}
	e.text("]")
}

func (e *encoder) nodes(p *search.Problem) {
	n := p.NumNodes()
	e.field("intervals", n, func(i int) {
		lo, hi := p.Lo[i], p.Hi[i]
		if lo >= hi {
			lo, hi = 0, 0
		}
		e.list([]int64{int64(lo), int64(hi)})
	})
	e.text(",\n")
	e.field("costs", n, func(i int) { e.list(p.Cost[p.Off[i]:p.Off[i+1]]) })
	e.text(",\n")
	e.field("usages", n, func(i int) { e.list(p.Use[p.Off[i]:p.Off[i+1]]) })
}

func (e *encoder) edges(p *search.Problem) {
	m, all := p.NumEdges(), p.NumEdges()
	if p.Constant != 0 {
		all++
	}
	e.field("nodes", all, func(i int) {
		if i == m {
			e.list(nil)
			return
		}
		e.list([]int64{int64(p.EA[i]), int64(p.EB[i])})
	})
	e.text(",\n")
	e.field("costs", all, func(i int) {
		if i == m {
			e.list([]int64{p.Constant})
			return
		}
		e.list(p.EdgeCosts(i))
	})
}
