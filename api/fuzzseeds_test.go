package api

import (
	"bytes"
	"context"
	"errors"
	"reflect"
	"testing"

	"google.golang.org/protobuf/encoding/protojson"
	"google.golang.org/protobuf/proto"

	autoshardv1 "autoshard/api/gen/autoshard/v1"
	"autoshard/backend/tensor"
	"autoshard/backend/tensor/npz"
	"autoshard/ir/dtype"
	healthv1 "google.golang.org/grpc/health/grpc_health_v1"
)

// written is a small program with a mesh, shardings, a priority, a call and a loop.
const written = `module @m {
sdy.mesh @mesh = <["x"=2, "y"=2]>
func.func @main(%arg0: tensor<4x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}p1, {?}]>} loc("p/a"),
    %arg1: tensor<8x4xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {"y", ?}]>}, %arg2: tensor<4x4xf32>) -> (tensor<4x4xf32>) {
  %c = stablehlo.constant dense<0> : tensor<i32>
  %0 = stablehlo.dot_general %arg0, %arg1, contracting_dims = [1] x [0] : (tensor<4x8xf32>, tensor<8x4xf32>) -> tensor<4x4xf32>
  %1 = sdy.sharding_constraint %0 <@mesh, [{"y"}, {?}]> : tensor<4x4xf32>
  %2 = call @f(%1) : (tensor<4x4xf32>) -> tensor<4x4xf32>
  %3:2 = stablehlo.while(%iterArg = %c, %iterArg_0 = %2) : tensor<i32>, tensor<4x4xf32>
  cond {
    %c_1 = stablehlo.constant dense<3> : tensor<i32>
    %5 = stablehlo.compare LT, %iterArg, %c_1 : (tensor<i32>, tensor<i32>) -> tensor<i1>
    stablehlo.return %5 : tensor<i1>
  } do {
    %c_1 = stablehlo.constant dense<1> : tensor<i32>
    %5 = stablehlo.add %iterArg, %c_1 : tensor<i32>
    %6 = stablehlo.add %iterArg_0, %arg2 : tensor<4x4xf32>
    stablehlo.return %5, %6 : tensor<i32>, tensor<4x4xf32>
  }
  return %3#1 : tensor<4x4xf32>
}
func.func private @f(%arg0: tensor<4x4xf32>) -> tensor<4x4xf32> {
  %0 = stablehlo.tanh %arg0 : tensor<4x4xf32>
  return %0 : tensor<4x4xf32>
}
}
`

// manual is a program with a manual computation.
const manual = `sdy.mesh @mesh = <["x"=2]>
func.func @main(%arg0: tensor<4xf32>) -> tensor<4xf32> {
  %0 = sdy.manual_computation(%arg0) in_shardings=[<@mesh, [{"x"}]>] out_shardings=[<@mesh, [{"x"}]>]
      manual_axes={"x"} (%arg1: tensor<2xf32>) {
    %1 = stablehlo.negate %arg1 : tensor<2xf32>
    sdy.return %1 : tensor<2xf32>
  } : (tensor<4xf32>) -> tensor<4xf32>
  return %0 : tensor<4xf32>
}
`

// symbolic is a program for two platforms of any batch.
const symbolic = `func.func @main(%arg0: tensor<?x4xf32>) -> tensor<?x4xf32> {
  %0 = stablehlo.add %arg0, %arg0 : tensor<?x4xf32>
  return %0 : tensor<?x4xf32>
}
`

// custom has an operation whose rule the request says.
const custom = `func.func @main(%arg0: tensor<4x4xf32>) -> tensor<4xf32> {
  %0 = stablehlo.custom_call @f(%arg0) : (tensor<4x4xf32>) -> tensor<4xf32>
  return %0 : tensor<4xf32>
}
`

// seeds are requests of a method that have answers, in both forms, and one that is empty.
func seeds(f *testing.F, s *fuzzed, m *procedure) (list [][]byte) {
	list = append(list, []byte("{}"), nil)
	for _, r := range append(s.requests(f), reflections(f)...) {
		if reflect.TypeOf(r) != reflect.TypeOf(m.empty) {
			continue
		}
		text, err := protojson.Marshal(r)
		if err != nil {
			f.Fatal(err)
		}
		binary, err := proto.Marshal(r)
		if err != nil {
			f.Fatal(err)
		}
		list = append(list, text, binary)
	}
	return list
}

// must returns what a call gives that does not fail.
func must[T any](f *testing.F) func(T, error) T {
	return func(v T, err error) T {
		f.Helper()
		if err != nil {
			f.Fatal(err)
		}
		return v
	}
}

func textSource(text string) *autoshardv1.Source {
	return &autoshardv1.Source{Source: &autoshardv1.Source_Text{Text: text}}
}

// sources are programs in all forms.
func (s *fuzzed) sources(f *testing.F) (list []*autoshardv1.Source) {
	model := &autoshardv1.Model{}
	if err := protojson.Unmarshal([]byte(sum), model); err != nil {
		f.Fatal(err)
	}
	list = []*autoshardv1.Source{textSource(sum), textSource(written), textSource(manual),
		{Source: &autoshardv1.Source_Text{Text: symbolic}, Sizes: []string{"arg0[0]=4"}, FileName: "m.mlir"},
		{Source: &autoshardv1.Source_Model{Model: model}}}
	for _, form := range []string{"bytecode", "vhlo", "jax-export"} {
		made := must[*autoshardv1.ConvertResponse](f)(s.service.Convert(context.Background(),
			&autoshardv1.ConvertRequest{Source: textSource(written), Form: form}))
		list = append(list, &autoshardv1.Source{Source: &autoshardv1.Source_Artifact{Artifact: made.GetContent()}})
	}
	return list
}

// requests are requests of all methods that have answers.
func (s *fuzzed) requests(f *testing.F) (list []proto.Message) {
	add := func(r ...proto.Message) { list = append(list, r...) }
	planned := planSeeds()
	for _, r := range planned {
		add(r, &autoshardv1.StreamPlanRequest{Plan: r}, &autoshardv1.StartJobRequest{Plan: r},
			&autoshardv1.WeighPlanRequest{Plan: r, Value: "arg0", Axis: "x"})
	}
	add(&autoshardv1.StartJobRequest{Plan: planned[0], RequestId: "request 0", Seconds: 0.01},
		&autoshardv1.StartJobRequest{Plan: textRequest(sum), RequestId: "request 0"},
		&autoshardv1.WeighPlanRequest{Plan: planned[0], Value: "arg1"}, &autoshardv1.WeighPlanRequest{Plan: planned[1], Value: "a"},
		&autoshardv1.WeighPlanRequest{Plan: planned[1], Most: 2})
	for _, id := range []string{"0000000000000001", "0000000000000002", "0000000000000003", "1", ""} {
		add(&autoshardv1.GetJobRequest{Id: id, Result: true}, &autoshardv1.WatchJobRequest{Id: id}, &autoshardv1.CancelJobRequest{Id: id},
			&autoshardv1.ListJobsRequest{PageSize: 1, PageToken: id})
	}
	for _, source := range s.sources(f) {
		add(&autoshardv1.CheckRequest{Source: source, Disabled: []string{"unused-mesh"}},
			&autoshardv1.ExplainRequest{Source: source, Value: "%arg1[1]", WhyNot: "x"},
			&autoshardv1.ExplainRequest{Source: source, Value: "%arg0[0]"})
		for _, form := range []string{"json", "mlir", "bytecode", "vhlo", "jax-export"} {
			add(&autoshardv1.ConvertRequest{Source: source, Form: form})
		}
	}
	add(&autoshardv1.CheckRequest{Source: textSource(sum), Mesh: mesh("x", 2)},
		&autoshardv1.ExplainRequest{Source: textSource(sum), Mesh: mesh("x", 2), Value: "a"},
		&autoshardv1.ConvertRequest{Source: textSource(written), Form: "vhlo", Target: "1.0.0"},
		&autoshardv1.ListHardwareRequest{}, &autoshardv1.ListSubjectsRequest{})
	for _, r := range planned[:3] {
		s.planRequests(f, r, add)
	}
	for _, name := range []string{"a", "b", "c"} {
		add(&autoshardv1.ReviewRequest{Subject: &autoshardv1.ReviewRequest_Name{Name: name}},
			&autoshardv1.GetPlanRequestRequest{Name: name}, &healthv1.HealthCheckRequest{Service: name})
	}
	add(&autoshardv1.ReviewRequest{Subject: &autoshardv1.ReviewRequest_Content{Content: []byte(written)}},
		&autoshardv1.ReviewRequest{Subject: &autoshardv1.ReviewRequest_Content{Content: []byte(sum)}, Mesh: mesh("z", 2)},
		&autoshardv1.ReviewRequest{Subject: &autoshardv1.ReviewRequest_Content{Content: []byte(symbolic)}, FileName: "m",
			Sizes: []string{"arg0[0]=4"}},
		&autoshardv1.RunRequest{Program: &autoshardv1.RunRequest_Text{Text: summed}, Print: true, Profile: true, Outputs: true},
		&autoshardv1.RunRequest{Program: &autoshardv1.RunRequest_Text{Text: summed}, Printed: []string{"y"}, Unchecked: true, CheckNans: true,
			Seed: 1, MaxMemory: 1 << 20, FileName: "s"},
		&autoshardv1.RunRequest{Program: &autoshardv1.RunRequest_Text{Text: manual}, Outputs: true},
		&healthv1.HealthCheckRequest{Service: "autoshard.v1.AutoshardService"})
	return append(list, s.propagations(f)...)
}

// planSeeds are requests for plans, which have all fields among them.
func planSeeds() []*autoshardv1.PlanRequest {
	text := func(text string) *autoshardv1.PlanRequest {
		return &autoshardv1.PlanRequest{Source: &autoshardv1.PlanRequest_Text{Text: text}}
	}
	full := textRequest(sum)
	full.Mesh = append(full.Mesh, mesh("y", 2)...)
	full.FileName, full.Memory, full.Steps, full.Seed, full.Annotated = "m.json", 1<<20, 10_000, 3, true
	full.WholeAxes, full.SearchMemory, full.Without, full.Taste = true, 1<<28, []string{"merge-collectives"}, new(0.01)
	full.Pins = []*autoshardv1.Pin{{Value: "a", Sharding: `[{"x"}, {?}]`}}
	full.Forbidden = []*autoshardv1.Forbid{{Value: "b", Axes: []string{"y"}}}
	full.Topology, full.Cache = "2x4", autoshardv1.CacheUse_CACHE_USE_LIKE
	devices := text(written)
	devices.Devices, devices.Source = 4, &autoshardv1.PlanRequest_Text{Text: sum}
	sized := text(symbolic)
	sized.Sizes, sized.Mesh, sized.SerialMatmul, sized.SeparateCollectives = []string{"arg0[0]=8"}, mesh("x", 2), true, true
	custom := text(custom)
	custom.Mesh, custom.Rules, custom.Hardware = mesh("x", 2), []string{"f: (i j) -> (i)"}, "cpu"
	short := textRequest(sum)
	short.TripCounts = []*autoshardv1.TripCount{{Loop: "0", Count: 3}} // which the program has not
	short.Memory, short.Cache = 64, autoshardv1.CacheUse_CACHE_USE_NONE
	return []*autoshardv1.PlanRequest{text(written), textRequest(sum), text(manual), full, devices, sized, custom, short}
}

// planRequests adds requests that take a plan.
func (s *fuzzed) planRequests(f *testing.F, r *autoshardv1.PlanRequest, add func(...proto.Message)) {
	plan := must[*autoshardv1.PlanResponse](f)(s.service.Plan(context.Background(), r)).GetPlan()
	zeros := tensor.New(dtype.F32, []int64{8, 4}) // what sum takes and gives
	var inputs, outputs bytes.Buffer
	if err := errors.Join(npz.Write(&inputs, []npz.Array{{Name: "arg0", Tensor: zeros}}),
		npz.Write(&outputs, []npz.Array{{Name: "out0", Tensor: zeros}})); err != nil {
		f.Fatal(err)
	}
	add(&autoshardv1.DiffPlansRequest{Before: plan, After: plan},
		&autoshardv1.CheckPlanRequest{Plan: plan, ModelHash: plan.GetHashes().GetModel()},
		&autoshardv1.EstimateRequest{Plan: plan, Hardware: "cpu"}, &autoshardv1.MemoryRequest{Plan: plan}, &autoshardv1.VerifyRequest{Plan: plan},
		&autoshardv1.VerifyRequest{Plan: plan, Inputs: inputs.Bytes(), Expected: outputs.Bytes()},
		&autoshardv1.ReviewRequest{Subject: &autoshardv1.ReviewRequest_Plan{Plan: plan}},
		&autoshardv1.RunRequest{Program: &autoshardv1.RunRequest_Plan{Plan: plan}, Print: true, Outputs: true, Expected: outputs.Bytes()})
	for _, form := range []string{"jax", "stablehlo", "shardmap", "sdy", "reshards", "collectives", "local", "json", "report", "memory-svg",
		"review", "annotated"} {
		add(&autoshardv1.EmitRequest{Plan: plan, Form: form})
	}
	again := proto.CloneOf(r)
	again.From = plan
	add(again)
}

// propagations are requests to propagate, also of a second page.
func (s *fuzzed) propagations(f *testing.F) (list []proto.Message) {
	for _, source := range s.sources(f) {
		r := &autoshardv1.PropagateRequest{Trace: true, Sizes: source.GetSizes(), MaxPriority: new(int32(1))}
		switch of := source.GetSource().(type) {
		case *autoshardv1.Source_Text:
			r.Source = &autoshardv1.PropagateRequest_Text{Text: of.Text}
		case *autoshardv1.Source_Model:
			r.Source, r.Mesh = &autoshardv1.PropagateRequest_Model{Model: of.Model}, mesh("x", 2)
		case *autoshardv1.Source_Artifact:
			r.Source = &autoshardv1.PropagateRequest_Artifact{Artifact: of.Artifact}
		}
		list = append(list, r)
	}
	first := &autoshardv1.PropagateRequest{Source: &autoshardv1.PropagateRequest_Text{Text: written}, Trace: true, PageSize: 1}
	second := proto.CloneOf(first)
	second.PageToken = must[*autoshardv1.PropagateResponse](f)(s.service.Propagate(context.Background(), first)).GetNextPageToken()
	return append(list, first, second)
}

// reflections are questions about the schema, of both versions.
func reflections(f *testing.F) (list []proto.Message) {
	for _, version := range []string{"v1", "v1alpha"} {
		m := procedureOf(f, "grpc.reflection."+version+".ServerReflection/ServerReflectionInfo")
		for _, text := range []string{`{"listServices": ""}`, `{"fileByFilename": "autoshard/v1/service.proto"}`,
			`{"fileContainingSymbol": "autoshard.v1.AutoshardService"}`, `{"allExtensionNumbersOfType": "autoshard.v1.Plan"}`,
			`{"fileContainingExtension": {"containingType": "google.protobuf.FieldOptions", "extensionNumber": 1159}}`} {
			r := m.empty.ProtoReflect().New().Interface()
			if err := protojson.Unmarshal([]byte(text), r); err != nil {
				f.Fatal(err)
			}
			list = append(list, r)
		}
	}
	return list
}
