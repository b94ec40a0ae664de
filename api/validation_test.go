package api

import (
	"errors"
	"math"
	"slices"
	"strings"
	"testing"

	"buf.build/gen/go/bufbuild/protovalidate/protocolbuffers/go/buf/validate"
	"connectrpc.com/connect"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protoreflect"

	autoshardv1 "autoshard/api/gen/autoshard/v1"
)

func asConnect(err error, to **connect.Error) bool { return errors.As(err, to) }

// Every field of a request has a rule, but for those that take every value and messages, whose fields have rules. Numbers of models are
// checked by what reads models, which knows their lines.
func TestEveryFieldHasRules(t *testing.T) {
	seen := map[protoreflect.FullName]bool{}
	var walk func(m protoreflect.MessageDescriptor)
	walk = func(m protoreflect.MessageDescriptor) {
		if seen[m.FullName()] || m.FullName().Parent() == "google.protobuf" {
			return
		}
		seen[m.FullName()] = true
		for i := range m.Fields().Len() {
			f := m.Fields().Get(i)
			if f.Message() != nil {
				walk(f.Message())
			}
			if !proto.HasExtension(f.Options(), validate.E_Field) && !free(f) {
				t.Errorf("%s has no rule", f.FullName())
			}
		}
		for i := range m.Oneofs().Len() {
			if o := m.Oneofs().Get(i); !o.IsSynthetic() && !proto.HasExtension(o.Options(), validate.E_Oneof) {
				t.Errorf("%s has no rule", o.FullName())
			}
		}
	}
	methods := autoshardv1.File_autoshard_v1_service_proto.Services().Get(0).Methods()
	for i := range methods.Len() {
		walk(methods.Get(i).Input())
	}
	if len(seen) < 40 {
		t.Errorf("only %d messages were found", len(seen))
	}
}

// free says whether a field may have every value that its type has, or is checked elsewhere.
func free(f protoreflect.FieldDescriptor) bool {
	switch f.Kind() {
	case protoreflect.BoolKind, protoreflect.Uint64Kind:
		return !f.IsList()
	case protoreflect.MessageKind:
		return !f.IsList()
	case protoreflect.Int32Kind, protoreflect.Int64Kind, protoreflect.Uint32Kind, protoreflect.DoubleKind:
		return !f.IsList() && (strings.HasPrefix(string(f.FullName()), "autoshard.v1.Model.") ||
			slices.Contains([]protoreflect.FullName{"autoshard.v1.Gain.saved_bytes", "autoshard.v1.Gain.saved_peak"}, f.FullName()))
	}
	return false
}

// What breaks a rule is said with the field as JSON has it, a code, and Protovalidate's own account, over every way to ask.
func TestBrokenRules(t *testing.T) {
	r := start(t, Options{}, nil)
	c := client(t, r)
	plan := func(change func(*autoshardv1.PlanRequest)) func() error {
		return func() error {
			request := textRequest(sum)
			change(request)
			_, err := c.Plan(t.Context(), request)
			return err
		}
	}
	stream := func(request *autoshardv1.StreamPlanRequest) func() error {
		return func() error {
			s, err := c.StreamPlan(t.Context(), request)
			if err != nil {
				return err
			}
			for s.Receive() {
			}
			return s.Err()
		}
	}
	for want, call := range map[string]func() error{
		"`memory` must be greater than or equal to 0":       plan(func(r *autoshardv1.PlanRequest) { r.Memory = -1 }),
		"`searchMemory` must be greater than or equal to 0": plan(func(r *autoshardv1.PlanRequest) { r.SearchMemory = 1 << 40 }),
		"`taste` must be greater than or equal to 0 and":    plan(func(r *autoshardv1.PlanRequest) { r.Taste = new(math.NaN()) }),
		"`fileName` must be at most 1024 bytes":             plan(func(r *autoshardv1.PlanRequest) { r.FileName = strings.Repeat("x", 2000) }),
		"`pins[1].value` must be at most 65536 bytes": plan(func(r *autoshardv1.PlanRequest) {
			r.Pins = []*autoshardv1.Pin{{}, {Value: strings.Repeat("x", 70000)}}
		}),
		"`mesh` and `devices` are both given":               plan(func(r *autoshardv1.PlanRequest) { r.Devices = 8 }),
		"one of `text`, `model` and `artifact` is required": plan(func(r *autoshardv1.PlanRequest) { r.Source = nil }),
		"`plan` is required":                                stream(&autoshardv1.StreamPlanRequest{}),
		"`artifact` is required in `plan`":                  stream(&autoshardv1.StreamPlanRequest{Plan: &autoshardv1.PlanRequest{}}),
		"`plan.steps` must be greater than or equal to 0": stream(&autoshardv1.StreamPlanRequest{
			Plan: &autoshardv1.PlanRequest{Source: textRequest(sum).Source, Steps: -1}}),
	} {
		err := call()
		list := diagnostics(t, err)
		if connect.CodeOf(err) != connect.CodeInvalidArgument || len(list) != 1 || !strings.Contains(list[0].Message, want) ||
			list[0].Code == "" || list[0].Position.GetFile() != "request" {
			t.Errorf("%s: %v with %v", want, err, list)
		}
		var e *connect.Error
		if !asConnect(err, &e) || !slices.ContainsFunc(e.Details(), func(d *connect.ErrorDetail) bool {
			return d.Type() == "buf.validate.Violations"
		}) {
			t.Errorf("%s: no violations in %v", want, err)
		}
	}
	if !strings.Contains(r.log.String(), "code=invalid_argument") {
		t.Error("nothing is logged")
	}
}
