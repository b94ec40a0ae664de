package trace

import (
	"encoding/json"
	"fmt"
)

// Perfetto returns the trace in the trace event format of Chrome, which https://ui.perfetto.dev shows: every user priority is a process,
// every op priority a track of it, and every step a slice as long as any other, in order. Counters say how many steps have given axes, and
// how many have kept them away. A slice is called by what the step does with which axes, so that equal ones have one colour.
func (d *Document) Perfetto() ([]byte, error) {
	p := perfetto{TimeUnit: "ms", Events: []perfettoEvent{}}
	for r := range d.Rounds {
		round := &d.Rounds[r]
		p.name("process_name", r+1, 0, fmt.Sprintf("user priority %d", round.UserPriority))
		moved, refused := 0, 0
		for l := range round.Levels {
			level := &round.Levels[l]
			p.name("thread_name", r+1, l+1, fmt.Sprintf("op priority %d", level.OpPriority))
			for s := range level.Steps {
				step := &level.Steps[s]
				p.step(step, r+1, l+1)
				if step.Kind == "refusal" {
					refused++
				} else {
					moved++
				}
				p.Events = append(p.Events, perfettoEvent{Name: "dimensions", Phase: "C", Time: p.now, Process: r + 1,
					Args: map[string]any{"changed": moved, "refused": refused}})
			}
		}
	}
	return json.Marshal(&p)
}

// perfetto is a document of the trace event format.
type perfetto struct {
	TimeUnit string          `json:"displayTimeUnit"`
	Events   []perfettoEvent `json:"traceEvents"`
	now      int             // microseconds: the number of steps so far
}

type perfettoEvent struct {
	Name     string         `json:"name"`
	Phase    string         `json:"ph"`
	Category string         `json:"cat,omitempty"`
	Time     int            `json:"ts"`
	Duration int            `json:"dur,omitempty"`
	Process  int            `json:"pid"`
	Thread   int            `json:"tid"`
	Args     map[string]any `json:"args"`
}

// name calls a process or a thread.
func (p *perfetto) name(what string, process, thread int, text string) {
	p.Events = append(p.Events, perfettoEvent{Name: what, Phase: "M", Process: process, Thread: thread, Args: map[string]any{"name": text}})
}

// step adds a slice of one microsecond.
func (p *perfetto) step(s *Step, process, thread int) {
	args := map[string]any{"axes": s.Axes, "to": s.To}
	for name, text := range map[string]string{"from": s.From, "op": s.Op, "reason": s.Reason, "against": s.Against, "other": s.Other} {
		if text != "" {
			args[name] = text
		}
	}
	p.Events = append(p.Events, perfettoEvent{Name: s.Kind + " " + s.Axes, Phase: "X", Category: s.Kind, Time: p.now, Duration: 1,
		Process: process, Thread: thread, Args: args})
	p.now++
}
