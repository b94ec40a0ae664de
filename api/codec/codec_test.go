package codec_test

import (
	"context"
	"errors"
	"fmt"
	"testing"

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
