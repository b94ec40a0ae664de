package api

import (
	"os"
	"strings"
	"testing"

	_ "google.golang.org/grpc/reflection/grpc_reflection_v1" // its messages
	_ "google.golang.org/grpc/reflection/grpc_reflection_v1alpha"

	"autoshard/api/gen/autoshard/v1/autoshardv1connect"
	healthv1connect "autoshard/api/gen/grpc/health/v1/grpc_health_v1connect"
)

// One function a method, so that each is fuzzed for as long as is wanted: `go run -C tools ./fuzz` does all.

func FuzzPlan(f *testing.F)         { fuzz(f, "autoshard.v1.AutoshardService/Plan") }
func FuzzStreamPlan(f *testing.F)   { fuzz(f, "autoshard.v1.AutoshardService/StreamPlan") }
func FuzzWeighPlan(f *testing.F)    { fuzz(f, "autoshard.v1.AutoshardService/WeighPlan") }
func FuzzDiffPlans(f *testing.F)    { fuzz(f, "autoshard.v1.AutoshardService/DiffPlans") }
func FuzzCheckPlan(f *testing.F)    { fuzz(f, "autoshard.v1.AutoshardService/CheckPlan") }
func FuzzPropagate(f *testing.F)    { fuzz(f, "autoshard.v1.AutoshardService/Propagate") }
func FuzzExplain(f *testing.F)      { fuzz(f, "autoshard.v1.AutoshardService/Explain") }
func FuzzCheck(f *testing.F)        { fuzz(f, "autoshard.v1.AutoshardService/Check") }
func FuzzConvert(f *testing.F)      { fuzz(f, "autoshard.v1.AutoshardService/Convert") }
func FuzzEstimate(f *testing.F)     { fuzz(f, "autoshard.v1.AutoshardService/Estimate") }
func FuzzMemory(f *testing.F)       { fuzz(f, "autoshard.v1.AutoshardService/Memory") }
func FuzzEmit(f *testing.F)         { fuzz(f, "autoshard.v1.AutoshardService/Emit") }
func FuzzVerify(f *testing.F)       { fuzz(f, "autoshard.v1.AutoshardService/Verify") }
func FuzzRun(f *testing.F)          { fuzz(f, "autoshard.v1.AutoshardService/Run") }
func FuzzStartJob(f *testing.F)     { fuzz(f, "autoshard.v1.AutoshardService/StartJob") }
func FuzzGetJob(f *testing.F)       { fuzz(f, "autoshard.v1.AutoshardService/GetJob") }
func FuzzWatchJob(f *testing.F)     { fuzz(f, "autoshard.v1.AutoshardService/WatchJob") }
func FuzzCancelJob(f *testing.F)    { fuzz(f, "autoshard.v1.AutoshardService/CancelJob") }
func FuzzListJobs(f *testing.F)     { fuzz(f, "autoshard.v1.AutoshardService/ListJobs") }
func FuzzListHardware(f *testing.F) { fuzz(f, "autoshard.v1.AutoshardService/ListHardware") }

func FuzzListSubjects(f *testing.F) { fuzz(f, "autoshard.v1.ReviewService/ListSubjects") }
func FuzzReview(f *testing.F)       { fuzz(f, "autoshard.v1.ReviewService/Review") }
func FuzzSubjectPlan(f *testing.F)  { fuzz(f, "autoshard.v1.ReviewService/GetPlanRequest") }

func FuzzHealthCheck(f *testing.F) { fuzz(f, "grpc.health.v1.Health/Check") }
func FuzzHealthList(f *testing.F)  { fuzz(f, "grpc.health.v1.Health/List") }
func FuzzHealthWatch(f *testing.F) { fuzz(f, "grpc.health.v1.Health/Watch") }

func FuzzReflection(f *testing.F) {
	fuzz(f, "grpc.reflection.v1.ServerReflection/ServerReflectionInfo")
}
func FuzzReflectionAlpha(f *testing.F) {
	fuzz(f, "grpc.reflection.v1alpha.ServerReflection/ServerReflectionInfo")
}

// Every method that a server has is fuzzed.
func TestEveryMethodIsFuzzed(t *testing.T) {
	source, err := os.ReadFile("fuzzmethods_test.go")
	if err != nil {
		t.Fatal(err)
	}
	for _, service := range []string{autoshardv1connect.AutoshardServiceName, autoshardv1connect.ReviewServiceName, healthv1connect.HealthName,
		"grpc.reflection.v1.ServerReflection", "grpc.reflection.v1alpha.ServerReflection"} {
		for _, name := range methodsOf(t, service) {
			if !strings.Contains(string(source), `fuzz(f, "`+name+`")`) {
				t.Errorf("no function fuzzes %s", name)
			}
		}
	}
}
