package api

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"buf.build/go/protovalidate"
	"github.com/bufbuild/protocompile"
	"github.com/google/go-cmp/cmp"
	"google.golang.org/protobuf/encoding/protojson"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protodesc"
	"google.golang.org/protobuf/reflect/protoreflect"
	"google.golang.org/protobuf/testing/protocmp"
	"google.golang.org/protobuf/types/descriptorpb"
	"pgregory.net/rapid"

	"autoshard"
	"autoshard/api/codec"
	autoshardv1 "autoshard/api/gen/autoshard/v1"
)

// The generated code is that of the .proto files.
func TestGeneratedCode(t *testing.T) {
	compiler := protocompile.Compiler{Resolver: protocompile.WithStandardImports(&protocompile.SourceResolver{ImportPaths: []string{"proto"}})}
	for file, generated := range map[string]protoreflect.FileDescriptor{
		"autoshard/v1/answers.proto": autoshardv1.File_autoshard_v1_answers_proto,
		"autoshard/v1/jobs.proto":    autoshardv1.File_autoshard_v1_jobs_proto,
		"autoshard/v1/model.proto":   autoshardv1.File_autoshard_v1_model_proto,
		"autoshard/v1/plan.proto":    autoshardv1.File_autoshard_v1_plan_proto,
		"autoshard/v1/review.proto":  autoshardv1.File_autoshard_v1_review_proto,
		"autoshard/v1/run.proto":     autoshardv1.File_autoshard_v1_run_proto,
		"autoshard/v1/service.proto": autoshardv1.File_autoshard_v1_service_proto,
	} {
		compiled, err := compiler.Compile(t.Context(), file)
		if err != nil {
			t.Fatal(err)
		}
		if d := cmp.Diff(canonical(compiled[0]), canonical(generated), protocmp.Transform()); d != "" {
			t.Errorf("code of %s is not current, run `go generate ./api`:\n%s", file, d)
		}
	}
}

// canonical is a descriptor without what compilers leave out or write differently.
func canonical(f protoreflect.FileDescriptor) *descriptorpb.FileDescriptorProto {
	out := protodesc.ToFileDescriptorProto(f)
	out.SourceCodeInfo = nil
	return out
}

// facadePlans draws plans with all fields, at the limits of what JSON keeps exactly.
func facadePlans() *rapid.Generator[autoshard.Plan] {
	text := rapid.StringOf(rapid.RuneFrom([]rune("a\"\\<>&\n\t{é日\u2028")))
	numbers := rapid.OneOf(rapid.SampledFrom([]int64{0, 1, 1<<53 + 1, math.MaxInt64}), rapid.Int64Min(0))
	seconds := rapid.OneOf(rapid.SampledFrom([]float64{0, 1e-12, 0.1, 1e21, math.MaxFloat64, math.SmallestNonzeroFloat64}),
		rapid.Float64Range(0, 1))
	return rapid.Custom(func(t *rapid.T) autoshard.Plan {
		n, s, x := func() int64 { return numbers.Draw(t, "n") }, func() string { return text.Draw(t, "s") },
			func() float64 { return seconds.Draw(t, "x") }
		estimate := func() autoshard.Estimate {
			return autoshard.Estimate{Seconds: x(), ComputeSeconds: x(), CollectiveSeconds: x(), PeakBytes: n(), SentBytes: n()}
		}
		replaces := int(n() >> 32 & 0xffff)
		tensor := autoshard.Tensor{Index: replaces, Name: s(), Role: s(), Type: s(), LocalType: s(), Sharding: s(), Spec: s(),
			Axes:       []string{s()},
			WholeBytes: n(), Bytes: n(), User: n()%2 == 0, Replaces: &replaces, Donated: n()%2 == 1, RefinedSpec: s()}
		axes := []autoshard.MeshAxis{{Name: s(), Size: n()}}
		return autoshard.Plan{
			Schema: autoshard.PlanSchema, Model: s(), Mesh: axes, RefinedMesh: axes, Hardware: s(), Memory: n(),
			Inputs: []autoshard.Tensor{tensor}, Outputs: []autoshard.Tensor{}, Dropped: []string{s()},
			Collectives: []autoshard.Collective{{Kind: s(), Axes: []string{s()}, Groups: []string{s()}, Type: s(), Count: n(), Bytes: n(),
				Seconds: x(), Source: s()}},
			Estimate:    estimate(),
			Constraints: []autoshard.Constraint{{Type: s(), Sharding: s(), Spec: s(), RefinedSpec: s(), Source: s()}},
			Timeline: autoshard.Timeline{Seconds: x(), Hidden: x(), Ahead: replaces,
				Busy: []autoshard.LinkBusy{{Links: s(), Seconds: x()}}},
			Options: autoshard.PlanRequest{Topology: s(), Devices: n(), Taste: x(), Steps: n(), Seed: uint64(n()), SearchMemory: n(),
				Model:      autoshard.ModelRequest{File: s(), Sizes: []string{s()}, Platform: s(), Rules: []string{s()}},
				Budgets:    []autoshard.Budget{{Kind: s(), Axes: []string{s()}, Bytes: n(), Each: n()%2 == 1}},
				TripCounts: []autoshard.TripCount{{Loop: s(), Count: n()}},
				Pins:       []autoshard.Pin{{Value: s(), Sharding: s()}}, Forbidden: []autoshard.Forbid{{Value: s(), Axes: []string{s()}}},
				WholeAxes: n()%2 == 1, Without: []string{s()}, From: s()},
			Hashes:       autoshard.Hashes{Model: s(), Hardware: s(), Options: s(), Plan: s()},
			Rewrites:     []autoshard.Gain{{Rewrite: s(), SavedSeconds: x(), SavedBytes: n(), SavedPeak: n()}},
			Microbatches: n(),
			Recomputed:   []autoshard.Recomputed{{Op: s(), Type: s(), Count: n(), Seconds: x(), Source: s()}},
			Merged:       &autoshard.Merging{Collectives: replaces, Into: replaces, SavedSeconds: x()},
			Baselines:    []autoshard.Baseline{{Name: s(), Note: s(), Fits: n()%2 == 1, Estimate: estimate()}},
			Meshes:       []autoshard.TriedMesh{{Mesh: axes, Full: n()%2 == 1, Fits: n()%2 == 1, Seconds: x(), PeakBytes: n()}},
			Certificate:  autoshard.Certificate{Cost: n(), Bound: n(), Gap: x(), Status: s(), Steps: n(), Seed: uint64(n())<<1 | 1, Scope: s()},
			Findings: []autoshard.Finding{{Code: s(), Severity: s(), Message: s(), File: s(), Line: int(n() >> 32 & 0xffff),
				Column: int(n() >> 32 & 0xffff), Source: s(), Value: s()}},
			Program: s(),
		}
	})
}

// A plan becomes a message and comes back, through JSON and through the wire, without loss.
func TestPlanSchema(t *testing.T) {
	form := codec.JSON("json")
	rapid.Check(t, func(t *rapid.T) {
		plan := facadePlans().Draw(t, "plan")
		message, err := planMessage(t.Context(), &plan)
		if err != nil {
			t.Fatal(err)
		}
		if err := protovalidate.Validate(message); err != nil {
			t.Fatal(err)
		}
		wire, err := proto.Marshal(message)
		if err != nil {
			t.Fatal(err)
		}
		received := &autoshardv1.Plan{}
		if err := proto.Unmarshal(wire, received); err != nil {
			t.Fatal(err)
		}
		text, err := form.Marshal(received)
		if err != nil {
			t.Fatal(err)
		}
		back, err := autoshard.ReadPlan(t.Context(), "reply", text)
		if err != nil {
			t.Fatalf("%v\n%s", err, text)
		}
		if d := cmp.Diff(string(plan.JSON()), string(back.JSON())); d != "" {
			t.Fatal(d)
		}
		again := &autoshardv1.Plan{}
		if err := form.Unmarshal(text, again); err != nil {
			t.Fatal(err)
		}
		if !proto.Equal(message, again) {
			t.Fatal(cmp.Diff(message, again, protocmp.Transform()))
		}
	})
}

// Every field of plan.json is a field of the message and the other way round, so that neither can drift.
func TestPlanFields(t *testing.T) {
	plan := facadePlans().Example(1)
	plan.Outputs, plan.Baselines[0].Note, plan.Inputs[0].Role = plan.Inputs, "n", "r"
	plan.Inputs[0].Donated, plan.Inputs[0].RefinedSpec, plan.Constraints[0].RefinedSpec = true, "P()", "P()"
	plan.Microbatches = 2
	plan.Options.Topology, plan.Options.Devices, plan.Options.WholeAxes, plan.Options.From = "4x4", 8, true, "sha256:0"
	plan.Options.Model = autoshard.ModelRequest{Sizes: []string{"b=1"}, Platform: "cpu", Rules: []string{"a: (i)->(i)"}}
	plan.Findings[0] = autoshard.Finding{File: "f", Line: 1, Column: 1, Source: "s", Value: "v"}
	var object map[string]any
	if err := json.Unmarshal(plan.JSON(), &object); err != nil {
		t.Fatal(err)
	}
	compareFields(t, "plan", object, (&autoshardv1.Plan{}).ProtoReflect().Descriptor())
}

func compareFields(t *testing.T, path string, object map[string]any, d protoreflect.MessageDescriptor) {
	t.Helper()
	for i := range d.Fields().Len() {
		f := d.Fields().Get(i)
		value, ok := object[f.JSONName()]
		if !ok {
			t.Errorf("%s.%s is in the message only", path, f.JSONName())
			continue
		}
		if list, ok := value.([]any); ok {
			value = list[0]
		}
		if child, ok := value.(map[string]any); ok {
			compareFields(t, path+"."+f.JSONName(), child, f.Message())
		}
	}
	for name := range object {
		if d.Fields().ByJSONName(name) == nil {
			t.Errorf("%s.%s is in plan.json only", path, name)
		}
	}
}

// model.json is the JSON form of the message Model: it reads, and writes to a model that reads as the same program.
func TestModelSchema(t *testing.T) {
	text, err := os.ReadFile(filepath.Join("..", "examples", "mlp.json"))
	if err != nil {
		t.Fatal(err)
	}
	message := &autoshardv1.Model{}
	if err := (codec.JSON("json")).Unmarshal(text, message); err != nil {
		t.Fatal(err)
	}
	request := &autoshardv1.PlanRequest{Source: &autoshardv1.PlanRequest_Model{Model: message}}
	got, err := readModel(t.Context(), request)
	if err != nil {
		t.Fatal(err)
	}
	want, err := autoshard.ReadModel(t.Context(), "mlp.json", text)
	if err != nil {
		t.Fatal(err)
	}
	lines, err := codec.Given(t.Context(), message)
	if err != nil {
		t.Fatal(err)
	}
	var indented bytes.Buffer
	if err := json.Indent(&indented, lines, "", "  "); err != nil {
		t.Fatal(err)
	}
	if d := cmp.Diff(indented.String(), string(lines)); d != "" {
		t.Error(d)
	}
	gotText, err := got.ConvertTo(t.Context(), autoshard.FormJSON, "")
	if err != nil {
		t.Fatal(err)
	}
	wantText, err := want.ConvertTo(t.Context(), autoshard.FormJSON, "")
	if err != nil {
		t.Fatal(err)
	}
	if d := cmp.Diff(stripLocations(string(wantText)), stripLocations(string(gotText))); d != "" {
		t.Error(d)
	}
}

// Long lists of a plan are converted in pieces.
func TestPieces(t *testing.T) {
	plan := autoshard.Plan{Schema: autoshard.PlanSchema}
	for i := range 3*pieceLength + 1 {
		plan.Inputs = append(plan.Inputs, autoshard.Tensor{Index: i})
		plan.Outputs = append(plan.Outputs, autoshard.Tensor{Index: i, Name: "out"})
		plan.Collectives = append(plan.Collectives, autoshard.Collective{Count: int64(i), Axes: []string{"x"}})
	}
	message, err := planMessage(t.Context(), &plan)
	if err != nil {
		t.Fatal(err)
	}
	want := &autoshardv1.Plan{}
	if err := protojson.Unmarshal(plan.JSON(), want); err != nil {
		t.Fatal(err)
	}
	if d := cmp.Diff(want, message, protocmp.Transform()); d != "" {
		t.Error(d)
	}
	ended, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := planMessage(ended, &plan); !errors.Is(err, context.Canceled) {
		t.Errorf("after the end: %v", err)
	}
}

// stripLocations removes fields with the place in the file, which differ between two layouts of one model.
func stripLocations(text string) string {
	var kept []string
	for line := range strings.Lines(text) {
		if !strings.Contains(line, `"location"`) {
			kept = append(kept, strings.TrimRight(line, ",\n"))
		}
	}
	return strings.Join(kept, "\n")
}

func TestCodecSpecialValues(t *testing.T) {
	for x, want := range map[float64]string{math.Inf(1): `"Infinity"`, math.Inf(-1): `"-Infinity"`, 0.5: "0.5", 16e9: "16000000000"} {
		got, err := (codec.JSON("json")).Marshal(&autoshardv1.Estimate{Seconds: x})
		if err != nil || !strings.HasPrefix(string(got), `{"seconds":`+want+`,`) {
			t.Errorf("%v is written as %s, %v", x, got, err)
		}
	}
}
