package api

import (
	"testing"

	"go.opentelemetry.io/otel/sdk/trace"
	"go.opentelemetry.io/otel/sdk/trace/tracetest"

	autoshardv1 "autoshard/api/gen/autoshard/v1"
)

// A request has a span with the stages of its work, also where its answer is a stream, in the trace of the client.
func TestSpans(t *testing.T) {
	spans := tracetest.NewSpanRecorder()
	r := start(t, Options{Traces: trace.NewTracerProvider(trace.WithSpanProcessor(spans))}, nil)
	c := client(t, r)
	if _, err := c.Plan(t.Context(), textRequest(sum)); err != nil {
		t.Fatal(err)
	}
	stream, err := c.StreamPlan(t.Context(), &autoshardv1.StreamPlanRequest{Plan: textRequest(sum)})
	if err != nil {
		t.Fatal(err)
	}
	for stream.Receive() {
	}
	if err := stream.Err(); err != nil {
		t.Fatal(err)
	}
	_ = stream.Close()
	if err := r.stop(); err != nil {
		t.Fatal(err)
	}
	ended := spans.Ended()
	if len(ended) != 2 {
		t.Fatalf("%d spans", len(ended))
	}
	for i, name := range []string{"autoshard.v1.AutoshardService/Plan", "autoshard.v1.AutoshardService/StreamPlan"} {
		events := map[string]bool{}
		for _, e := range ended[i].Events() {
			events[e.Name] = true
		}
		if ended[i].Name() != name || !events["admitted"] || !events["search"] {
			t.Errorf("span %s has %v", ended[i].Name(), events)
		}
	}
}
