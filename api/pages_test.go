package api

import (
	"testing"

	"connectrpc.com/connect"
	"github.com/google/go-cmp/cmp"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/testing/protocmp"

	autoshardv1 "autoshard/api/gen/autoshard/v1"
)

// merge puts pages of a trace together.
func merge(into, page *autoshardv1.Trace) {
	for _, round := range page.GetRounds() {
		last := len(into.Rounds) - 1
		if last < 0 || into.Rounds[last].UserPriority != round.UserPriority {
			into.Rounds = append(into.Rounds, &autoshardv1.Trace_Round{UserPriority: round.UserPriority, Summary: round.Summary})
			last++
		}
		for _, level := range round.Levels {
			levels := into.Rounds[last].Levels
			if level.First > 0 {
				levels[len(levels)-1].Steps = append(levels[len(levels)-1].Steps, level.Steps...)
				continue
			}
			into.Rounds[last].Levels = append(levels, level)
		}
	}
}

// Pages of any size are the trace, in order, and only the first has the rest of the answer.
func TestTracePages(t *testing.T) {
	c := client(t, start(t, Options{}, nil))
	request := &autoshardv1.PropagateRequest{Trace: true,
		Source: &autoshardv1.PropagateRequest_Text{Text: string(example(t, "transformer_train_megatron_priorities.mlir"))}}
	whole, err := c.Propagate(t.Context(), request)
	if err != nil || whole.NextPageToken != "" {
		t.Fatalf("next page %q, %v", whole.GetNextPageToken(), err)
	}
	for _, size := range []int32{1 << 16, 700, 201} {
		request.PageSize, request.PageToken = size, ""
		got, pages := &autoshardv1.Trace{}, 0
		for {
			page, err := c.Propagate(t.Context(), request)
			if err != nil {
				t.Fatal(err)
			}
			if first := pages == 0; first != (page.Program != "") || first != (len(page.Inputs) > 0) {
				t.Errorf("page %d has program %.20q and %d inputs", pages, page.Program, len(page.Inputs))
			}
			pages++
			merge(got, page.Trace)
			if request.PageToken = page.NextPageToken; page.NextPageToken == "" {
				break
			}
		}
		if d := cmp.Diff(whole.Trace, got, protocmp.Transform()); d != "" {
			t.Errorf("pages of %d steps: %s", size, d)
		}
		if size < 1000 && pages < 2 {
			t.Errorf("%d pages of %d steps", pages, size)
		}
	}
	request.PageSize, request.PageToken = 700, ""
	page, err := c.Propagate(t.Context(), request)
	if err != nil {
		t.Fatal(err)
	}
	other := proto.CloneOf(request)
	other.PageToken, other.PageSize = page.NextPageToken, 500
	if _, err := c.Propagate(t.Context(), other); connect.CodeOf(err) != connect.CodeInvalidArgument {
		t.Errorf("a token of another request: %v", err)
	}
}
