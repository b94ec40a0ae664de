package api

import (
	"encoding/json"
	"io"
	"net/http"
	"strings"
	"testing"

	"connectrpc.com/connect"
	"google.golang.org/protobuf/proto"

	"autoshard"
	autoshardv1 "autoshard/api/gen/autoshard/v1"
	"autoshard/api/gen/autoshard/v1/autoshardv1connect"
	"autoshard/cost"
)

const annotated = `sdy.mesh @mesh = <["x"=2]>
func.func @main(%arg0: tensor<8x4xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {}]>}) -> tensor<8x4xf32> {
  %0 = stablehlo.tanh %arg0 : tensor<8x4xf32>
  return %0 : tensor<8x4xf32>
}`

func reviewed(t *testing.T, c autoshardv1connect.ReviewServiceClient, q *autoshardv1.ReviewRequest) *autoshard.ReviewDocument {
	t.Helper()
	r, err := c.Review(t.Context(), q)
	if err != nil {
		t.Fatal(err)
	}
	d := &autoshard.ReviewDocument{}
	if err := json.Unmarshal(r.Document, d); err != nil || !autoshard.IsReview(r.Document) {
		t.Fatalf("the document is none: %v", err)
	}
	return d
}

// Documents are made of models and plans, as files and as messages; what a server was started for is found by name.
func TestReview(t *testing.T) {
	subject := Subject{Name: "here", Document: []byte(`{"schema":"autoshard.review/v1"}`), Plan: textRequest(sum)}
	r := start(t, Options{Subjects: []Subject{subject, {Name: "bare"}}}, nil)
	c := autoshardv1connect.NewReviewServiceClient(httpClient(t, true), r.url)
	listed, err := c.ListSubjects(t.Context(), &autoshardv1.ListSubjectsRequest{})
	if err != nil || len(listed.Names) != 2 || listed.Names[0] != "here" {
		t.Fatalf("%v, %v", listed, err)
	}
	got, err := c.Review(t.Context(), &autoshardv1.ReviewRequest{Subject: &autoshardv1.ReviewRequest_Name{Name: "here"}})
	if err != nil || string(got.Document) != string(subject.Document) || !got.Plannable {
		t.Errorf("%v, %v", got, err)
	}
	again, err := c.GetPlanRequest(t.Context(), &autoshardv1.GetPlanRequestRequest{Name: "here"})
	if err != nil || !proto.Equal(again.Plan, subject.Plan) {
		t.Errorf("%v, %v", again, err)
	}
	for name, want := range map[string]string{"there": "nothing is called", "bare": "not at hand"} {
		_, err := c.GetPlanRequest(t.Context(), &autoshardv1.GetPlanRequestRequest{Name: name})
		if connect.CodeOf(err) != connect.CodeInvalidArgument || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v", name, err)
		}
	}
	model := &autoshardv1.ReviewRequest{Subject: &autoshardv1.ReviewRequest_Content{Content: []byte(annotated)}, FileName: "m.mlir"}
	if d := reviewed(t, c, model); d.Propagation == nil || len(d.Propagation.Kind) != 2 || d.File != "m.mlir" {
		t.Errorf("of the model: %+v", d)
	}
	planned, err := client(t, r).Plan(t.Context(), &autoshardv1.PlanRequest{Source: &autoshardv1.PlanRequest_Text{Text: annotated}})
	if err != nil {
		t.Fatal(err)
	}
	d := reviewed(t, c, &autoshardv1.ReviewRequest{Subject: &autoshardv1.ReviewRequest_Plan{Plan: planned.Plan}})
	if d.Plan == nil || d.Plan.Estimate.Seconds != planned.Plan.Estimate.Seconds {
		t.Errorf("of the plan: %+v", d)
	}
	for want, q := range map[string]*autoshardv1.ReviewRequest{
		"is required":          {},
		"nothing is called":    {Subject: &autoshardv1.ReviewRequest_Name{Name: "there"}},
		"declares no mesh":     {Subject: &autoshardv1.ReviewRequest_Content{Content: []byte(sum)}},
		"m.mlir":               {Subject: &autoshardv1.ReviewRequest_Content{Content: []byte("module {")}, FileName: "m.mlir"},
		"at most 1024":         {Subject: &autoshardv1.ReviewRequest_Content{Content: []byte(annotated)}, FileName: strings.Repeat("m", 2000)},
		"none of the built-in": {Subject: &autoshardv1.ReviewRequest_Plan{Plan: foreign(planned.Plan)}},
	} {
		if _, err := c.Review(t.Context(), q); connect.CodeOf(err) != connect.CodeInvalidArgument || !strings.Contains(err.Error(), want) {
			t.Errorf("want %q, got %v", want, err)
		}
	}
}

// foreign returns a plan for hardware that nobody here knows.
func foreign(p *autoshardv1.Plan) *autoshardv1.Plan {
	out := proto.CloneOf(p)
	out.Hardware = "other"
	return out
}

// The page is for everybody, what it shows only for those who have a token; nothing else of the server is a page.
func TestPage(t *testing.T) {
	r := start(t, Options{Tokens: []Token{{Name: "a", Secret: "one"}}}, nil)
	for path, want := range map[string]int{"/": 200, "/app.js": 200, "/app.css": 200, "/index.html": 401, "/other": 401} {
		response, err := httpClient(t, false).Get(r.url + path)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := io.Copy(io.Discard, response.Body); err != nil || response.StatusCode != want {
			t.Errorf("%s: %d, %v", path, response.StatusCode, err)
		}
		response.Body.Close()
		if policy := response.Header.Get("Content-Security-Policy"); want == 200 && !strings.HasPrefix(policy, "default-src 'none'") {
			t.Errorf("%s has the policy %q", path, policy)
		}
	}
	c := autoshardv1connect.NewReviewServiceClient(httpClient(t, true), r.url)
	if _, err := c.ListSubjects(t.Context(), &autoshardv1.ListSubjectsRequest{}); connect.CodeOf(err) != connect.CodeUnauthenticated {
		t.Errorf("without a token: %v", err)
	}
	if status, _ := post(t, r.url+"/", "{}"); status != http.StatusUnauthorized {
		t.Errorf("what is sent to the page: status %d", status)
	}
}

// The request that a plan came from makes the plan again.
func TestRequestAgain(t *testing.T) {
	model, err := autoshard.ReadModel(t.Context(), "m.mlir", []byte(annotated))
	if err != nil {
		t.Fatal(err)
	}
	pin, err := autoshard.ParsePin("out0=P('x', None)")
	if err != nil {
		t.Fatal(err)
	}
	hw, err := cost.Lookup("cpu")
	if err != nil {
		t.Fatal(err)
	}
	p, err := autoshard.MakePlan(t.Context(), model, autoshard.PlanOptions{Hardware: hw, Memory: 1 << 20, Seed: 3, Pins: []autoshard.Pin{pin}})
	if err != nil {
		t.Fatal(err)
	}
	again, err := RequestAgain(p, []byte(annotated))
	if err != nil {
		t.Fatal(err)
	}
	got, err := client(t, start(t, Options{}, nil)).Plan(t.Context(), again)
	if err != nil {
		t.Fatal(err)
	}
	if o := got.Plan.Options; got.Plan.Hardware != "cpu" || got.Plan.MemoryLimit != 1<<20 || o.Seed != 3 || len(o.Pins) != 1 ||
		got.Plan.Hashes.Options != p.Hashes.Options {
		t.Errorf("options are %v, want those of %+v", o, p.Options)
	}
	first, err := RequestFor(p.Mesh, hw, 5, autoshard.ModelRequest{File: "m.mlir", Sizes: []string{"b=1"}}, []byte(annotated))
	if err != nil || first.Hardware != "cpu" || first.Memory != 5 || first.FileName != "m.mlir" || len(first.Mesh) != 1 ||
		first.Mesh[0].Size != 2 || first.Sizes[0] != "b=1" {
		t.Errorf("%v, %v", first, err)
	}
}
