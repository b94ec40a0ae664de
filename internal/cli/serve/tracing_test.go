package serve

import (
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	collector "go.opentelemetry.io/proto/otlp/collector/trace/v1"
	"google.golang.org/protobuf/proto"
)

// Spans go to the collector that the environment names, with the name of the service; without one there are none.
func TestTracing(t *testing.T) {
	got := make(chan *collector.ExportTraceServiceRequest, 1)
	server := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		message := &collector.ExportTraceServiceRequest{}
		if err := proto.Unmarshal(body, message); err != nil {
			t.Error(err)
		}
		got <- message
	}))
	defer server.Close()
	t.Setenv("OTEL_EXPORTER_OTLP_ENDPOINT", server.URL)
	t.Setenv("OTEL_RESOURCE_ATTRIBUTES", "where=here")
	provider, flush, err := tracing(t.Context())
	if err != nil || provider == nil {
		t.Fatal(provider, err)
	}
	_, span := provider.Tracer("test").Start(t.Context(), "work")
	span.End()
	var log strings.Builder
	flush(slog.New(slog.NewTextHandler(&log, nil)))
	message := <-got
	text := message.String()
	for _, want := range []string{`"work"`, `"autoshard"`, `"here"`} {
		if !strings.Contains(text, want) {
			t.Errorf("no %s in %s", want, text)
		}
	}
	if log.Len() > 0 {
		t.Error(log.String())
	}
}

// Variables switch spans off, and what cannot be is said.
func TestTracingVariables(t *testing.T) {
	for _, c := range []struct {
		name, value string
		problem     string
	}{
		{"OTEL_SDK_DISABLED", "true", ""},
		{"OTEL_TRACES_EXPORTER", "none", ""},
		{"OTEL_TRACES_EXPORTER", "zipkin", "must be otlp or none"},
		{"OTEL_EXPORTER_OTLP_PROTOCOL", "grpc", "must be http/protobuf"},
	} {
		t.Run(c.name+" "+c.value, func(t *testing.T) {
			t.Setenv("OTEL_EXPORTER_OTLP_ENDPOINT", "http://127.0.0.1:1")
			t.Setenv(c.name, c.value)
			provider, _, err := tracing(t.Context())
			if provider != nil || (err == nil) != (c.problem == "") || err != nil && !strings.Contains(err.Error(), c.problem) {
				t.Errorf("%v, %v", provider, err)
			}
		})
	}
	t.Setenv("OTEL_EXPORTER_OTLP_ENDPOINT", "")
	if provider, _, err := tracing(t.Context()); provider != nil || err != nil {
		t.Errorf("without variables: %v, %v", provider, err)
	}
}
