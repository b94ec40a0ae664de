package trace_test

import (
	"encoding/json"
	"testing"

	"autoshard/trace"
)

// Perfetto shows a process for every user priority, a track for every op priority, and every step once, one after the other; the counters
// end with the numbers of steps that changed something and of those that were refused.
func TestPerfetto(t *testing.T) {
	doc, err := sample().Describe(t.Context(), plain{}, trace.Options{Round: -1, Refusals: true})
	if err != nil {
		t.Fatal(err)
	}
	text, err := doc.Perfetto()
	if err != nil {
		t.Fatal(err)
	}
	var got struct {
		TraceEvents []struct {
			Name, Ph     string
			Ts, Pid, Tid int
			Args         map[string]any
		}
	}
	if err := json.Unmarshal(text, &got); err != nil {
		t.Fatal(err)
	}
	tracks, steps := map[string]int{}, 0
	last := map[string]any{}
	for _, e := range got.TraceEvents {
		switch e.Ph {
		case "M":
			tracks[e.Args["name"].(string)] = e.Pid
		case "X":
			if e.Ts != steps {
				t.Errorf("step %d at %d", steps, e.Ts)
			}
			if steps == 2 && (e.Args["reason"] != "used by another dimension" || e.Name != "refusal axis0:(1)2" || e.Pid != 2) {
				t.Errorf("the refusal is %+v", e)
			}
			steps++
		case "C":
			last = e.Args
		}
	}
	if steps != 4 || tracks["user priority 0"] != 1 || tracks["user priority 1"] != 2 || tracks["op priority 2"] != 2 {
		t.Errorf("%d steps on %v", steps, tracks)
	}
	if last["changed"] != 2.0 || last["refused"] != 1.0 {
		t.Errorf("counters end with %v", last)
	}
}
