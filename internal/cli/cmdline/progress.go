package cmdline

import (
	"fmt"
	"io"
	"strings"
	"sync"
	"time"

	"autoshard"
	"autoshard/internal/config"
	"autoshard/internal/diag"
)

// Progress returns a function that reports the stages of planning on standard error, and one to call at the end. Both
// do nothing where the option or the lack of a terminal says so.
func (s *Streams) Progress(when config.Progress) (show func(autoshard.Progress), done func()) {
	terminal := s.Terminal()
	if when == config.Never || when == config.Auto && !terminal {
		return func(autoshard.Progress) {}, func() {}
	}
	m := &meter{w: s.Err, terminal: terminal, start: time.Now(), end: make(chan struct{})}
	if terminal {
		go m.tick()
	}
	return m.show, sync.OnceFunc(m.done)
}

// meter shows the latest report: in place on a terminal, where the time goes on, otherwise one line for each change of
// stage.
type meter struct {
	mu       sync.Mutex
	w        io.Writer
	terminal bool
	start    time.Time
	latest   autoshard.Progress
	end      chan struct{}
}

const (
	clearLine = "\r\x1b[K"
	tickTime  = 200 * time.Millisecond
)

func (m *meter) tick() {
	ticker := time.NewTicker(tickTime)
	defer ticker.Stop()
	for {
		select {
		case <-ticker.C:
			m.mu.Lock()
			m.draw()
			m.mu.Unlock()
		case <-m.end:
			return
		}
	}
}

func (m *meter) show(p autoshard.Progress) {
	m.mu.Lock()
	defer m.mu.Unlock()
	before := m.latest.Stage
	m.latest = p
	switch {
	case before == p.Stage: // a terminal shows it with the next tick
	case m.terminal:
		m.draw()
	default:
		fmt.Fprintln(m.w, m.line(time.Since(m.start)))
	}
}

func (m *meter) draw() {
	if m.latest.Stage != "" {
		fmt.Fprint(m.w, clearLine, m.line(time.Since(m.start)))
	}
}

// line is a stage with the time since the beginning and, once they are known, how many strategies are searched, the cost of the best
// plan and how far that may be from the best.
func (m *meter) line(elapsed time.Duration) string {
	p := &m.latest
	var known []string
	if p.Strategies > 0 {
		known = append(known, diag.Count(p.Strategies, "strategy", "strategies"))
	}
	if p.Seconds > 0 {
		known = append(known, "cost "+diag.Seconds(p.Seconds))
		if p.Bound > 0 {
			known = append(known, fmt.Sprintf("gap %.3g %%", 100*(p.Seconds-p.Bound)/p.Seconds))
		}
	}
	text := fmt.Sprintf("%s %.1f s", p.Stage, elapsed.Seconds())
	if len(known) > 0 {
		text += ": " + strings.Join(known, ", ")
	}
	return text
}

func (m *meter) done() {
	m.mu.Lock()
	defer m.mu.Unlock()
	if !m.terminal {
		return
	}
	close(m.end)
	if m.latest.Stage != "" {
		fmt.Fprint(m.w, clearLine)
		m.latest.Stage = ""
	}
}
