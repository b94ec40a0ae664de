package codec_test

import (
	"context"
	"errors"
	"fmt"
	"testing"

	"google.golang.org/protobuf/proto"

	"autoshard/api/codec"
	autoshardv1 "autoshard/api/gen/autoshard/v1"
)

func ExampleText() {
	text, err := codec.Text(context.Background(), &autoshardv1.MeshAxis{Name: "data", Size: 1 << 40})
	fmt.Println(string(text), err)
	// Output:
	// {
	//   "name": "data",
	//   "size": 1099511627776
	// } <nil>
}

// What is not set is left out, is written, or is an error, as asked; unknown fields are errors.
func TestForms(t *testing.T) {
	axis := &autoshardv1.MeshAxis{Name: "data"}
	if text, err := codec.Given(t.Context(), axis); err != nil || string(text) != "{\n  \"name\": \"data\"\n}" {
		t.Errorf("%s, %v", text, err)
	}
	if text, err := codec.JSON("json").Marshal(axis); err != nil || string(text) != `{"name":"data","size":0}` {
		t.Errorf("%s, %v", text, err)
	}
	for _, text := range []string{"", " ", `{"nmae": "x"}`, `[]`} {
		if err := codec.JSON("json").Unmarshal([]byte(text), axis); err == nil {
			t.Errorf("%q is no error", text)
		}
	}
	ended, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := codec.Text(ended, axis); !errors.Is(err, context.Canceled) {
		t.Errorf("after the end: %v", err)
	}
}

// Strings that are no UTF-8 become some in both forms, at any depth; the message stays as it is.
func TestBytesInStrings(t *testing.T) {
	m := &autoshardv1.ExplainResponse{Text: "a\xffb"}
	page := &autoshardv1.PropagateResponse{Model: "m\xff", Inputs: []*autoshardv1.Tensor{{Name: "\xfe"}}}
	strings := &autoshardv1.PlanRequest{Without: []string{"fine", "\xc0"}}
	for _, from := range []proto.Message{m, page, strings} {
		binary, err := codec.Binary{}.Marshal(from)
		if err != nil {
			t.Fatal(err)
		}
		text, err := codec.JSON("json").Marshal(from)
		if err != nil {
			t.Fatal(err)
		}
		one, other := proto.CloneOf(from), proto.CloneOf(from)
		proto.Reset(one)
		proto.Reset(other)
		if err := errors.Join((codec.Binary{}).Unmarshal(binary, one), codec.JSON("json").Unmarshal(text, other)); err != nil {
			t.Fatal(err)
		}
		if !proto.Equal(one, other) || proto.Equal(one, from) {
			t.Errorf("%v and %v are made of %v", one, other, from)
		}
	}
	if m.Text != "a\xffb" {
		t.Errorf("the message is now %v", m)
	}
	if err := (codec.Binary{}).Unmarshal([]byte{0xff}, m); err == nil {
		t.Error("what is no message is no error")
	}
}
