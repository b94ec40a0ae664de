package api

import (
	"encoding/binary"
	"fmt"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"regexp"
	"strings"
	"testing"

	"autoshard/api/gen/autoshard/v1/autoshardv1connect"
	healthv1connect "autoshard/api/gen/grpc/health/v1/grpc_health_v1connect"
)

// framed is a message as streams and gRPC send it.
func framed(message string) string {
	return string(binary.BigEndian.AppendUint32([]byte{0}, uint32(len(message)))) + message
}

// requestLine is what the log says about a request: procedure, protocol, client and, but for ok, code.
var requestLine = regexp.MustCompile(`^time=\S+ level=INFO msg=request ` +
	`procedure=(\S+) protocol=(\S+) client=(\S+) time=\S+ waited=\S+(?: code=(\S+))?\n$`)

// Each request is logged and counted once, with its code, also where nobody could read it; nothing of its content is logged.
func TestEveryRequestIsRecorded(t *testing.T) {
	const (
		plan   = autoshardv1connect.AutoshardServicePlanProcedure
		stream = autoshardv1connect.AutoshardServiceStreamPlanProcedure
		watch  = autoshardv1connect.AutoshardServiceWatchJobProcedure
		list   = autoshardv1connect.AutoshardServiceListJobsProcedure
		review = autoshardv1connect.ReviewServiceReviewProcedure
		easy   = autoshardv1connect.AutoshardServiceListHardwareProcedure
		good   = `{"text": "secret"}`
	)
	log := &logBuffer{}
	s := New(Options{MaxRequest: 1 << 16, Tokens: []Token{{Name: "ann", Secret: "one"}, {Name: "bob", Secret: "two", PerMinute: 1}},
		Logger: slog.New(slog.NewTextHandler(log, nil))})
	handler, recorded := s.Handler(), 0
	for _, test := range []struct {
		name, path, kind, body, header string
		want                           string // protocol, client and code
	}{
		{"no JSON", plan, "json", "secret", "", "connect ann invalid_argument"},
		{"unknown field", plan, "json", `{"secret": 1}`, "", "connect ann invalid_argument"},
		{"no protobuf", plan, "proto", "secret", "", "connect ann invalid_argument"},
		{"no protobuf in gRPC", plan, "grpc", framed("secret"), "", "grpc ann invalid_argument"},
		{"no protobuf in gRPC-Web", plan, "grpc-web", framed("secret"), "", "grpcweb ann invalid_argument"},
		{"no message in gRPC", plan, "grpc", "", "", "grpc ann unimplemented"},
		{"no JSON in a stream", stream, "connect+json", framed("secret"), "", "connect ann invalid_argument"},
		{"no JSON in a stream of gRPC", stream, "grpc+json", framed("secret"), "", "grpc ann invalid_argument"},
		{"no JSON for a review", review, "json", "secret", "", "connect ann invalid_argument"},
		{"too large", plan, "json", strings.Repeat(" ", 1<<17), "", "connect ann resource_exhausted"},
		{"unknown codec", plan, "secret", good, "", "connect ann unknown"},
		{"unknown codec in gRPC", plan, "grpc+secret", good, "", "grpc ann unknown"},
		{"unknown compression", plan, "json", good, "Content-Encoding: secret", "connect ann unimplemented"},
		{"unknown compression in a stream", stream, "connect+json", good, "Connect-Content-Encoding: secret", "connect ann unimplemented"},
		{"unknown compression in gRPC", plan, "grpc", good, "Grpc-Encoding: secret", "grpc ann unimplemented"},
		{"no time", plan, "json", good, "Connect-Timeout-Ms: secret", "connect ann invalid_argument"},
		{"against the rules", list, "json", `{"pageSize": 5000}`, "", "connect ann invalid_argument"},
		{"against the rules in a stream", stream, "connect+json", framed(`{}`), "", "connect ann invalid_argument"},
		{"in no lane", watch, "connect+json", framed(`{"id": "secret"}`), "", "connect ann unimplemented"},
		{"no token", plan, "json", good, "Authorization: Bearer secret", "connect 192.0.2.1 unauthenticated"},
		{"no token and an unknown codec", plan, "secret", good, "Authorization: Bearer secret", "connect 192.0.2.1 unauthenticated"},
		{"no token in gRPC", plan, "grpc", good, "Authorization: Bearer secret", "grpc 192.0.2.1 unauthenticated"},
		{"within the quota", easy, "json", "{}", "Authorization: Bearer two", "connect bob "},
		{"over the quota", easy, "json", "{}", "Authorization: Bearer two", "connect bob resource_exhausted"},
		{"no program", plan, "json", good, "", "connect ann invalid_argument"},
		{"no procedure", plan + "secret", "json", good, "", ""},
		{"health", healthv1connect.HealthCheckProcedure, "json", "secret", "", ""},
	} {
		r := httptest.NewRequest(http.MethodPost, test.path, strings.NewReader(test.body))
		r.Header.Set("Content-Type", "application/"+test.kind)
		r.Header.Set("Authorization", "Bearer one")
		if name, value, ok := strings.Cut(test.header, ": "); ok {
			r.Header.Set(name, value)
		}
		before := len(log.String())
		handler.ServeHTTP(httptest.NewRecorder(), r)
		said := log.String()[before:]
		if test.want == "" && said == "" {
			continue
		}
		recorded++
		if got := requestLine.FindStringSubmatch(said); got == nil || got[1] != test.path || strings.Join(got[2:], " ") != test.want {
			t.Errorf("%s: want %s, the log says %q", test.name, test.want, said)
		}
	}
	if text := log.String(); strings.Contains(text, "secret") {
		t.Errorf("the log has content of requests: %s", text)
	}
	w := httptest.NewRecorder()
	s.Debug().ServeHTTP(w, httptest.NewRequest(http.MethodGet, "/metrics", nil))
	for _, want := range []string{fmt.Sprintf("autoshard_wait_seconds_count %d\n", recorded),
		`autoshard_request_seconds_count{code="unauthenticated",procedure="` + plan + `"} 3` + "\n"} {
		if !strings.Contains(w.Body.String(), want) {
			t.Errorf("metrics have no %q:\n%s", want, w.Body)
		}
	}
}
