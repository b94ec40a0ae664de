package api

import (
	"bytes"
	"context"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"google.golang.org/protobuf/encoding/protojson"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protoregistry"

	autoshardv1 "autoshard/api/gen/autoshard/v1"
)

// procedures returns the methods of the service that answer once, and their empty requests.
func procedures(t testing.TB) (names []string, requests []proto.Message) {
	t.Helper()
	methods := autoshardv1.File_autoshard_v1_service_proto.Services().Get(0).Methods()
	for i := range methods.Len() {
		m := methods.Get(i)
		if m.IsStreamingServer() {
			continue
		}
		typ, err := protoregistry.GlobalTypes.FindMessageByName(m.Input().FullName())
		if err != nil {
			t.Fatal(err)
		}
		names = append(names, string(m.Parent().FullName())+"/"+string(m.Name()))
		requests = append(requests, typ.New().Interface())
	}
	return names, requests
}

// samples are requests that have answers, as JSON.
func samples(f *testing.F) []string {
	text, err := os.ReadFile(filepath.Join("..", "examples", "mlp.json"))
	if err != nil {
		f.Fatal(err)
	}
	plan, err := New(Options{}).service.Plan(f.Context(), &autoshardv1.PlanRequest{Hardware: "cpu",
		Source: &autoshardv1.PlanRequest_Text{Text: string(text)}})
	if err != nil {
		f.Fatal(err)
	}
	out := []string{"{}", `{"text": "func.func @main() { return }", "mesh": [{"name": "x", "size": 2}]}`}
	for _, m := range []proto.Message{
		textRequest(sum), &autoshardv1.EmitRequest{Plan: plan.Plan, Form: "shardmap"}, &autoshardv1.MemoryRequest{Plan: plan.Plan},
		&autoshardv1.DiffPlansRequest{Before: plan.Plan, After: plan.Plan}, &autoshardv1.CheckPlanRequest{Plan: plan.Plan},
		&autoshardv1.WeighPlanRequest{Plan: textRequest(sum), Value: "a"},
		&autoshardv1.ExplainRequest{Source: &autoshardv1.Source{Source: &autoshardv1.Source_Text{Text: sum}}, Value: "a[0]"},
	} {
		text, err := protojson.Marshal(m)
		if err != nil {
			f.Fatal(err)
		}
		out = append(out, string(text))
	}
	return out
}

// Whatever is sent to a method, as JSON or in binary, the answer is no internal error, and comes in time.
func FuzzRequests(f *testing.F) {
	names, messages := procedures(f)
	for _, text := range samples(f) {
		for i := range names {
			f.Add(uint8(i), []byte(text), false)
			request := messages[i].ProtoReflect().New().Interface()
			if protojson.Unmarshal([]byte(text), request) == nil {
				binary, err := proto.Marshal(request)
				if err != nil {
					f.Fatal(err)
				}
				f.Add(uint8(i), binary, true)
			}
		}
	}
	handler := New(Options{MaxTime: 2 * time.Second}).Handler()
	f.Fuzz(func(t *testing.T, method uint8, body []byte, binary bool) {
		name := names[int(method)%len(names)]
		ctx, cancel := context.WithTimeout(t.Context(), 10*time.Second)
		defer cancel()
		r := httptest.NewRequest(http.MethodPost, "/"+name, bytes.NewReader(body)).WithContext(ctx)
		r.Header.Set("Content-Type", "application/json")
		if binary {
			r.Header.Set("Content-Type", "application/proto")
		}
		w := httptest.NewRecorder()
		handler.ServeHTTP(w, r)
		if w.Code == http.StatusInternalServerError || strings.Contains(w.Body.String(), `"internal"`) || ctx.Err() != nil {
			t.Errorf("%s: status %d, %s", name, w.Code, w.Body)
		}
	})
}
