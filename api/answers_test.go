package api

import (
	"archive/zip"
	"bytes"
	"context"
	"crypto/tls"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"connectrpc.com/connect"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protoreflect"

	"autoshard"
	"autoshard/api/codec"
	autoshardv1 "autoshard/api/gen/autoshard/v1"
	"autoshard/api/gen/autoshard/v1/autoshardv1connect"
	"autoshard/program"
	"autoshard/report"
)

// Every field of the JSON form of an answer is a field of its message, and the other way round.
func TestAnswerSchemas(t *testing.T) {
	for _, pair := range []struct {
		value   any
		message proto.Message
	}{
		{autoshard.Explanation{}, &autoshardv1.Explanation{}},
		{autoshard.Weighing{}, &autoshardv1.Weighing{}},
		{autoshard.Decision{}, &autoshardv1.Decision{}},
		{program.Breakdown{}, &autoshardv1.Breakdown{}},
		{program.Memory{}, &autoshardv1.MemoryUse{}},
		{autoshard.Check{}, &autoshardv1.Verification{}},
		{report.ProfileJSON{}, &autoshardv1.HardwareProfile{}},
	} {
		compareTypes(t, reflect.TypeOf(pair.value), pair.message.ProtoReflect().Descriptor())
	}
}

// compareTypes compares the JSON names of a type and of those in it with the fields of a message.
func compareTypes(t *testing.T, typ reflect.Type, message protoreflect.MessageDescriptor) {
	t.Helper()
	seen := map[string]bool{}
	for _, f := range reflect.VisibleFields(typ) {
		name, _, _ := strings.Cut(f.Tag.Get("json"), ",")
		if f.Anonymous || !f.IsExported() || name == "-" {
			continue
		}
		seen[name] = true
		field := message.Fields().ByJSONName(name)
		if field == nil {
			t.Errorf("%s has no field for %s.%s", message.FullName(), typ, name)
			continue
		}
		inner := f.Type
		for inner.Kind() == reflect.Slice || inner.Kind() == reflect.Pointer {
			inner = inner.Elem()
		}
		if isMessage := field.Message() != nil; isMessage != (inner.Kind() == reflect.Struct) {
			t.Errorf("%s is of another kind than %s.%s", field.FullName(), typ, name)
		} else if isMessage {
			compareTypes(t, inner, field.Message())
		}
	}
	for i := range message.Fields().Len() {
		if f := message.Fields().Get(i); !seen[f.JSONName()] {
			t.Errorf("%s is nothing of %s", f.FullName(), typ)
		}
	}
}

// trained is a request for a plan of a training step with a memory limit.
func trained(t *testing.T) *autoshardv1.PlanRequest {
	t.Helper()
	text, err := os.ReadFile(filepath.Join("..", "examples", "mlp_train.mlir"))
	if err != nil {
		t.Fatal(err)
	}
	return &autoshardv1.PlanRequest{Source: &autoshardv1.PlanRequest_Text{Text: string(text)}, Mesh: mesh("x", 4), Hardware: "cpu"}
}

// A stream of a plan reports stages and ends with the plan of the unary call.
func TestStreamPlan(t *testing.T) {
	r := start(t, Options{}, nil)
	want, err := client(t, r).Plan(t.Context(), trained(t))
	if err != nil {
		t.Fatal(err)
	}
	for name, options := range map[string][]connect.ClientOption{"connect": nil, "grpc": {connect.WithGRPC()},
		"grpc-web": {connect.WithGRPCWeb()}, "json": {connect.WithCodec(codec.JSON("json"))}} {
		stream, err := client(t, r, options...).StreamPlan(t.Context(), &autoshardv1.StreamPlanRequest{Plan: trained(t)})
		if err != nil {
			t.Fatal(err)
		}
		var stages []string
		var got *autoshardv1.PlanResponse
		for stream.Receive() {
			if p := stream.Msg().GetProgress(); p != nil {
				stages = append(stages, p.Stage)
			}
			got = stream.Msg().GetResult()
		}
		if err := stream.Err(); err != nil {
			t.Fatal(err)
		}
		if err := stream.Close(); err != nil {
			t.Error(err)
		}
		if len(stages) == 0 || got.GetPlan().GetHashes().GetPlan() != want.Plan.Hashes.Plan {
			t.Errorf("%s: stages %v, plan %v, want %v", name, stages, got.GetPlan().GetHashes(), want.Plan.Hashes)
		}
	}
}

// What is wrong with a streamed request is an error with diagnostics, as in a unary call.
func TestStreamErrors(t *testing.T) {
	r := start(t, Options{}, nil)
	stream, err := client(t, r).StreamPlan(t.Context(), &autoshardv1.StreamPlanRequest{Plan: textRequest("func.func")})
	if err != nil {
		t.Fatal(err)
	}
	for stream.Receive() {
	}
	var failed *connect.Error
	if err := stream.Err(); connect.CodeOf(err) != connect.CodeInvalidArgument || !asError(err, &failed) || len(failed.Details()) == 0 {
		t.Errorf("error is %v", err)
	}
}

func asError(err error, to **connect.Error) bool {
	e, ok := err.(*connect.Error)
	*to = e
	return ok
}

// All answers about a plan are those of the façade.
func TestPlanAnswers(t *testing.T) {
	r := start(t, Options{}, nil)
	c := client(t, r)
	made, err := c.Plan(t.Context(), trained(t))
	if err != nil {
		t.Fatal(err)
	}
	memory, err := c.Memory(t.Context(), &autoshardv1.MemoryRequest{Plan: made.Plan})
	if err != nil {
		t.Fatal(err)
	}
	if got := memory.Memory; got.PeakBytes != made.Plan.Estimate.PeakBytes || len(got.Classes) != len(got.AtPeak) || len(got.Curve) == 0 {
		t.Errorf("peak is %d, %d in the plan", got.PeakBytes, made.Plan.Estimate.PeakBytes)
	}
	breakdown, err := c.Estimate(t.Context(), &autoshardv1.EstimateRequest{Plan: made.Plan})
	if err != nil {
		t.Fatal(err)
	}
	if got := breakdown.Breakdown; got.Estimate.Seconds != made.Plan.Estimate.Seconds || len(got.Groups) == 0 {
		t.Errorf("a step takes %v, %v in the plan", got.Estimate.Seconds, made.Plan.Estimate.Seconds)
	}
	if _, err := c.Estimate(t.Context(), &autoshardv1.EstimateRequest{Plan: made.Plan, Hardware: "h900"}); connect.CodeOf(err) !=
		connect.CodeInvalidArgument {
		t.Errorf("unknown hardware: %v", err)
	}
	for form, want := range map[string]string{"json": `"schema": "autoshard.plan/v1"`, "report": "step time", "jax": "import jax",
		"stablehlo": "func.func", "shardmap": "shard_map", "local": "func.func", "memory-svg": "<svg", "review": "<!doctype html>",
		"annotated": "sdy.sharding"} {
		got, err := c.Emit(t.Context(), &autoshardv1.EmitRequest{Plan: made.Plan, Form: form})
		if err != nil || !strings.Contains(got.Text, want) {
			t.Errorf("%s: %v, text %.100q", form, err, got.GetText())
		}
	}
	if _, err := c.Emit(t.Context(), &autoshardv1.EmitRequest{Plan: made.Plan, Form: "jsn"}); connect.CodeOf(err) !=
		connect.CodeInvalidArgument || !strings.Contains(err.Error(), "json") {
		t.Errorf("unknown form: %v", err)
	}
}

// WeighPlan answers about one value, or returns decisions.
func TestWeighPlan(t *testing.T) {
	r := start(t, Options{}, nil)
	c := client(t, r)
	weighed, err := c.WeighPlan(t.Context(), &autoshardv1.WeighPlanRequest{Plan: textRequest(sum), Value: "a"})
	if err != nil {
		t.Fatal(err)
	}
	if w := weighed.Weighing; w.Value != "a" || w.Now.GetSeconds() <= 0 || len(w.Others) == 0 {
		t.Errorf("weighing is %v", w)
	}
	decided, err := c.WeighPlan(t.Context(), &autoshardv1.WeighPlanRequest{Plan: textRequest(sum)})
	if err != nil || decided.Weighing != nil {
		t.Errorf("decisions are %v, error %v", decided, err)
	}
	if _, err := c.WeighPlan(t.Context(), &autoshardv1.WeighPlanRequest{Plan: textRequest(sum), Value: "q"}); connect.CodeOf(err) !=
		connect.CodeInvalidArgument {
		t.Errorf("unknown value: %v", err)
	}
}

// A run is verified with random arrays, and what it should not give is in the reply.
func TestVerify(t *testing.T) {
	r := start(t, Options{}, nil)
	c := client(t, r)
	made, err := c.Plan(t.Context(), textRequest(sum))
	if err != nil {
		t.Fatal(err)
	}
	verified := func(request *autoshardv1.VerifyRequest) *autoshardv1.Verification {
		t.Helper()
		stream, err := c.Verify(t.Context(), request)
		if err != nil {
			t.Fatal(err)
		}
		var result *autoshardv1.Verification
		for stream.Receive() {
			result = stream.Msg().GetResult().GetVerification()
		}
		if err := stream.Err(); err != nil {
			t.Fatal(err)
		}
		return result
	}
	if v := verified(&autoshardv1.VerifyRequest{Plan: made.Plan}); !v.GetPassed() || v.GetProof().GetWrong() != 0 {
		t.Errorf("verification is %v", v)
	}
	wrong := npzFile(t, "out0")
	if v := verified(&autoshardv1.VerifyRequest{Plan: made.Plan, Expected: wrong}); v.GetPassed() || v.Outputs[0].Wrong == nil {
		t.Errorf("verification is %v", v)
	}
}

// npzFile is a file of NumPy with one array f32[8,4] of zeros.
func npzFile(t *testing.T, name string) []byte {
	t.Helper()
	var b bytes.Buffer
	z := zip.NewWriter(&b)
	w, err := z.Create(name + ".npy")
	if err != nil {
		t.Fatal(err)
	}
	header := "{'descr': '<f4', 'fortran_order': False, 'shape': (8, 4), }"
	header += strings.Repeat(" ", 117-len(header)) + "\n"
	if _, err := w.Write(append([]byte("\x93NUMPY\x01\x00\x76\x00"+header), make([]byte, 128)...)); err != nil {
		t.Fatal(err)
	}
	if err := z.Close(); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

// Models are explained, checked and converted; hardware is listed.
func TestModelAnswers(t *testing.T) {
	r := start(t, Options{}, nil)
	c := client(t, r)
	source := &autoshardv1.Source{Source: &autoshardv1.Source_Text{Text: strings.NewReplacer(`"inputs"`,
		`"meshes": [{"axes": [{"name": "x", "size": 4}]}], "inputs"`, `"type"`, `"sharding": "[{\"x\"}, {}]", "type"`).Replace(sum)}}
	explained, err := c.Explain(t.Context(), &autoshardv1.ExplainRequest{Source: source, Value: "result 0[0]"})
	if err != nil {
		t.Fatal(err)
	}
	if d := explained.Explanation.Dims; len(d) != 1 || d[0].Axes != `"x"` || len(d[0].Links) == 0 {
		t.Errorf("explanation is %v", explained)
	}
	checked, err := c.Check(t.Context(), &autoshardv1.CheckRequest{Source: source})
	if err != nil {
		t.Errorf("warnings are %v, error %v", checked, err)
	}
	converted, err := c.Convert(t.Context(), &autoshardv1.ConvertRequest{Source: source, Form: "mlir"})
	if err != nil || !bytes.Contains(converted.GetContent(), []byte("stablehlo.add")) {
		t.Errorf("conversion is %s, error %v", converted.GetContent(), err)
	}
	listed, err := c.ListHardware(t.Context(), &autoshardv1.ListHardwareRequest{})
	if err != nil || len(listed.Profiles) < 5 || len(listed.Profiles[0].Facts) == 0 {
		t.Errorf("profiles are %v, error %v", listed, err)
	}
}

// Requests need one of the tokens; health checks do not.
func TestTokens(t *testing.T) {
	r := start(t, Options{Tokens: []Token{{Name: "a", Secret: "one"}, {Name: "b", Secret: "two"}}}, nil)
	request := func(ctx context.Context, header string) error {
		ctx, info := connect.NewClientContext(ctx)
		if header != "" {
			info.RequestHeader().Set("Authorization", header)
		}
		_, err := client(t, r).ListHardware(ctx, &autoshardv1.ListHardwareRequest{})
		return err
	}
	for header, ok := range map[string]bool{"Bearer one": true, "bearer two": true, "Bearer three": false, "Basic one": false, "one": false,
		"": false, "Bearer ": false} {
		if err := request(t.Context(), header); ok != (err == nil) || !ok && connect.CodeOf(err) != connect.CodeUnauthenticated {
			t.Errorf("%q: %v", header, err)
		}
	}
	if status, _ := post(t, r.url+"/grpc.health.v1.Health/Check", "{}"); status != http.StatusOK {
		t.Errorf("health: status %d", status)
	}
}

// A token's quota is used up by its own requests alone.
func TestQuotas(t *testing.T) {
	r := start(t, Options{Tokens: []Token{{Name: "a", Secret: "one", PerMinute: 2}, {Name: "b", Secret: "two"}}}, nil)
	ask := func(secret string) error {
		ctx, info := connect.NewClientContext(t.Context())
		info.RequestHeader().Set("Authorization", "Bearer "+secret)
		_, err := client(t, r).ListHardware(ctx, &autoshardv1.ListHardwareRequest{})
		return err
	}
	for range 2 {
		if err := ask("one"); err != nil {
			t.Error(err)
		}
	}
	var refused *connect.Error
	if err := ask("one"); connect.CodeOf(err) != connect.CodeResourceExhausted || !asError(err, &refused) ||
		refused.Meta().Get("Retry-After") != "30" {
		t.Errorf("the third request in a minute: %v, %v", err, refused.Meta())
	}
	if err := ask("two"); err != nil {
		t.Error(err)
	}
}

// Connections are encrypted, over HTTP/1.1 and HTTP/2.
func TestTLS(t *testing.T) {
	local := httptest.NewUnstartedServer(nil) // it has a certificate
	local.StartTLS()
	defer local.Close()
	r := start(t, Options{TLS: &tls.Config{Certificates: local.TLS.Certificates, MinVersion: tls.VersionTLS12}}, nil)
	transport := local.Client().Transport.(*http.Transport).Clone()
	defer transport.CloseIdleConnections()
	for _, http2 := range []bool{false, true} {
		transport.Protocols = &http.Protocols{}
		transport.Protocols.SetHTTP1(!http2)
		transport.Protocols.SetHTTP2(http2)
		c := autoshardv1connect.NewAutoshardServiceClient(&http.Client{Transport: transport}, strings.Replace(r.url, "http:", "https:", 1))
		if _, err := c.ListHardware(t.Context(), &autoshardv1.ListHardwareRequest{}); err != nil {
			t.Errorf("HTTP/2 %v: %v", http2, err)
		}
	}
}

// Operators see what requests came to, and profiles.
func TestDebug(t *testing.T) {
	r := start(t, Options{}, nil)
	if _, err := client(t, r).Plan(t.Context(), textRequest(sum)); err != nil {
		t.Fatal(err)
	}
	if _, err := client(t, r).Plan(t.Context(), textRequest("func.func")); err == nil {
		t.Fatal("no error")
	}
	for path, wants := range map[string][]string{
		"/metrics": {`autoshard_request_seconds_count{code="ok",procedure="/autoshard.v1.AutoshardService/Plan"} 1`,
			`autoshard_request_seconds_count{code="invalid_argument",procedure="/autoshard.v1.AutoshardService/Plan"} 1`,
			"autoshard_wait_seconds_count 2", "autoshard_waiting 0", "autoshard_working 0", "go_goroutines"},
		"/debug/pprof/": {"heap"},
	} {
		w := httptest.NewRecorder()
		r.Debug().ServeHTTP(w, httptest.NewRequest(http.MethodGet, path, nil))
		for _, want := range wants {
			if !strings.Contains(w.Body.String(), want) {
				t.Errorf("%s has no %q:\n%s", path, want, w.Body)
			}
		}
	}
}
