package program

import (
	"autoshard/diag"
	"autoshard/ir"
)

// written are the collectives that people wrote in a model, by the place in the source that they come from. Others of its program move
// values between manual computations and the ops around them.
type written struct {
	m  *ir.Module
	at map[diag.Position]ir.OpID
}

// From tells the model that the program of a plan comes from, so that advice is about what people wrote there, and found at its lines. What
// has no location in the model has one in its text.
func (p *Program) From(m *ir.Module) {
	m = m.Clone()
	m.LocateByText()
	p.written = &written{m: m, at: map[diag.Position]ir.OpID{}}
	for op := ir.OpID(1); int(op) < m.NumOps(); op++ {
		if at := placeOf(m, op); m.Kind(op).Communicates() && p.written.at[at] == 0 {
			p.written.at[at] = op
		}
	}
}

// placeOf returns the place in the source that an op comes from.
func placeOf(m *ir.Module, op ir.OpID) diag.Position {
	at, _ := m.FilePos(m.OpLoc(op))
	return at
}

// has says whether people wrote the collective that comes from a place; where no model is told, they wrote all.
func (w *written) has(at diag.Position) bool { return w == nil || w.at[at] != 0 }

// locate moves a finding to the line of the model.
func (w *written) locate(d *diag.Diagnostic, at diag.Position) {
	if w == nil {
		return
	}
	d.Pos = w.m.OpPos(w.at[at])
	d.Source = w.m.SourceLine(d.Pos.Line)
	if at.File != d.Pos.File {
		d.Notes = append(d.Notes, diag.Note{Pos: at, Message: "it comes from here"})
	}
}
