package cmdline

import (
	"fmt"
	"io"
	"sync"

	"autoshard"
	"autoshard/internal/config"
)

// Progress returns a function that reports the stages of planning on standard error, and one to call at the end. Both
// do nothing where the option or the lack of a terminal says so.
func (s *Streams) Progress(when config.Progress) (report func(autoshard.Progress), done func()) {
	terminal := s.Terminal()
	if when == config.Never || when == config.Auto && !terminal {
		return nil, func() {}
	}
	m := &meter{w: s.Err, terminal: terminal}
	return m.report, m.done
}

// meter shows the latest report: in place on a terminal, otherwise one line for each change of stage.
type meter struct {
	mu       sync.Mutex
	w        io.Writer
	terminal bool
	stage    string
}

const clearLine = "\r\x1b[K"

func (m *meter) report(p autoshard.Progress) {
	m.mu.Lock()
	defer m.mu.Unlock()
	switch {
	case m.terminal && p.Cost > 0:
		fmt.Fprintf(m.w, "%s%s: cost %.4g us, bound %.4g us", clearLine, p.Stage, float64(p.Cost)/1e6, float64(p.Bound)/1e6)
	case m.terminal:
		fmt.Fprintf(m.w, "%s%s", clearLine, p.Stage)
	case m.stage != p.Stage:
		fmt.Fprintln(m.w, p.Stage)
	}
	m.stage = p.Stage
}

func (m *meter) done() {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.terminal && m.stage != "" {
		fmt.Fprint(m.w, clearLine)
	}
}
