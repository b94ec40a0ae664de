package api

import (
	"bytes"
	"context"
	encodingbinary "encoding/binary"
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

// procedure is a method of the service.
type procedure struct {
	name   string
	empty  proto.Message // its request
	stream bool          // it answers with a stream
}

// procedures returns the methods of the service.
func procedures(t testing.TB) (list []procedure) {
	t.Helper()
	methods := autoshardv1.File_autoshard_v1_service_proto.Services().Get(0).Methods()
	for i := range methods.Len() {
		m := methods.Get(i)
		typ, err := protoregistry.GlobalTypes.FindMessageByName(m.Input().FullName())
		if err != nil {
			t.Fatal(err)
		}
		list = append(list, procedure{string(m.Parent().FullName()) + "/" + string(m.Name()), typ.New().Interface(), m.IsStreamingServer()})
	}
	return list
}

// post makes a request of a body, as Connect wants it.
func (p *procedure) post(ctx context.Context, body []byte, binary bool) *http.Request {
	kind := "json"
	if binary {
		kind = "proto"
	}
	if p.stream {
		kind = "connect+" + kind
		body = append(encodingbinary.BigEndian.AppendUint32([]byte{0}, uint32(len(body))), body...)
	}
	r := httptest.NewRequest(http.MethodPost, "/"+p.name, bytes.NewReader(body)).WithContext(ctx)
	r.Header.Set("Content-Type", "application/"+kind)
	return r
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
		&autoshardv1.RunRequest{Program: &autoshardv1.RunRequest_Text{Text: summed}, Print: true, Profile: true, Outputs: true},
		&autoshardv1.RunRequest{Program: &autoshardv1.RunRequest_Plan{Plan: plan.Plan}}, &autoshardv1.VerifyRequest{Plan: plan.Plan},
		&autoshardv1.StreamPlanRequest{Plan: textRequest(sum)}, &autoshardv1.StartJobRequest{Plan: textRequest(sum)},
		&autoshardv1.PropagateRequest{Source: &autoshardv1.PropagateRequest_Text{Text: sum}, Mesh: mesh("x", 2), Trace: true, PageSize: 1},
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
	methods := procedures(f)
	for _, text := range samples(f) {
		for i := range methods {
			f.Add(uint8(i), []byte(text), false)
			request := methods[i].empty.ProtoReflect().New().Interface()
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
		m := &methods[int(method)%len(methods)]
		ctx, cancel := context.WithTimeout(t.Context(), 10*time.Second)
		defer cancel()
		w := httptest.NewRecorder()
		handler.ServeHTTP(w, m.post(ctx, body, binary))
		if w.Code == http.StatusInternalServerError || strings.Contains(w.Body.String(), `"internal"`) || ctx.Err() != nil {
			t.Errorf("%s: status %d, %s", m.name, w.Code, w.Body)
		}
	})
}
