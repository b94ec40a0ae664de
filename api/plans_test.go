package api

import (
	"encoding/json"
	"os"
	"path/filepath"
	"testing"

	"connectrpc.com/connect"
	"google.golang.org/protobuf/proto"

	"autoshard"
	autoshardv1 "autoshard/api/gen/autoshard/v1"
)

// planned returns the service's plan of a program on a mesh.
func planned(t *testing.T, r *running, axis *autoshardv1.MeshAxis) *autoshardv1.Plan {
	t.Helper()
	request := textRequest(sum)
	request.Mesh = []*autoshardv1.MeshAxis{axis}
	got, err := client(t, r).Plan(t.Context(), request)
	if err != nil {
		t.Fatal(err)
	}
	return got.GetPlan()
}

// Two plans of the service are compared as the command line compares them.
func TestDiffPlans(t *testing.T) {
	r := start(t, Options{}, nil)
	a := planned(t, r, &autoshardv1.MeshAxis{Name: "x", Size: 2})
	b := planned(t, r, &autoshardv1.MeshAxis{Name: "x", Size: 4})
	same, err := client(t, r).DiffPlans(t.Context(), &autoshardv1.DiffPlansRequest{Before: a, After: a})
	if err != nil || !same.GetDifference().GetSame() {
		t.Errorf("a plan differs from itself: %v, %v", same, err)
	}
	other, err := client(t, r).DiffPlans(t.Context(), &autoshardv1.DiffPlansRequest{Before: a, After: b})
	if err != nil {
		t.Fatal(err)
	}
	if d := other.GetDifference(); d.GetSame() || d.GetAsked()[0].GetName() != "mesh" || d.GetAsked()[0].GetAfter() != "x=4" {
		t.Errorf("the difference is %v", d)
	}
	_, err = client(t, r).DiffPlans(t.Context(), &autoshardv1.DiffPlansRequest{Before: a})
	if connect.CodeOf(err) != connect.CodeInvalidArgument {
		t.Errorf("without a plan: %v", err)
	}
}

// A plan of the service works out as it says; a changed one does not, and that is no error.
func TestCheckPlan(t *testing.T) {
	r := start(t, Options{}, nil)
	plan := planned(t, r, &autoshardv1.MeshAxis{Name: "x", Size: 2})
	changed := proto.CloneOf(plan)
	changed.Estimate.PeakBytes++
	for want, p := range map[bool]*autoshardv1.Plan{true: plan, false: changed} {
		got, err := client(t, r).CheckPlan(t.Context(), &autoshardv1.CheckPlanRequest{Plan: p, ModelHash: plan.GetHashes().GetModel()})
		if err != nil || got.GetAudit().GetPassed() != want {
			t.Errorf("want %v, got %v, %v", want, got, err)
		}
	}
	_, err := client(t, r).CheckPlan(t.Context(), &autoshardv1.CheckPlanRequest{Plan: &autoshardv1.Plan{Schema: "autoshard.plan/v2"}})
	if connect.CodeOf(err) != connect.CodeInvalidArgument {
		t.Errorf("a plan of another version: %v", err)
	}
}

// Every field of a difference and of an audit is a field of its message, and the other way round.
func TestAnswersAboutPlans(t *testing.T) {
	tensor := facadePlans().Example(1).Inputs[0]
	tensor.Role, tensor.RefinedSpec, tensor.Donated = "r", "P()", true
	for _, c := range []struct {
		value   any
		message proto.Message
	}{
		{&autoshard.Difference{Asked: []autoshard.PlanChange{{}}, Figures: []autoshard.PlanFigure{{}}, Traffic: []autoshard.TrafficPair{{}},
			Values: []autoshard.ValuePair{{Before: &tensor, After: &tensor}}}, &autoshardv1.Difference{}},
		{&autoshard.PlanAudit{Items: []autoshard.AuditPoint{{Note: "n", Faults: []string{"f"}}}}, &autoshardv1.PlanAudit{}},
	} {
		text, err := json.Marshal(c.value)
		if err != nil {
			t.Fatal(err)
		}
		var object map[string]any
		if err := json.Unmarshal(text, &object); err != nil {
			t.Fatal(err)
		}
		compareFields(t, "answer", object, c.message.ProtoReflect().Descriptor())
	}
}

// A request may leave the mesh to the service, and then says for how many devices; the plan lists the meshes that were tried.
func TestDevices(t *testing.T) {
	r := start(t, Options{}, nil)
	text, err := os.ReadFile(filepath.Join("..", "examples", "mlp_train.mlir"))
	if err != nil {
		t.Fatal(err)
	}
	request := textRequest(string(text))
	request.Mesh, request.Devices = nil, 8
	got, err := client(t, r).Plan(t.Context(), request)
	if err != nil {
		t.Fatal(err)
	}
	if list := got.GetPlan().GetMeshes(); len(list) != 4 || !list[0].GetFull() || got.GetPlan().GetOptions().GetDevices() != 8 {
		t.Errorf("meshes are %v", list)
	}
	request.Mesh = mesh("x", 8)
	if _, err := client(t, r).Plan(t.Context(), request); connect.CodeOf(err) != connect.CodeInvalidArgument {
		t.Errorf("a mesh and a number of devices: %v", err)
	}
}
