package web_test

import (
	"bytes"
	"encoding/json"
	"fmt"

	"autoshard/web"
)

// A report is one file.
func Example() {
	page, err := web.Report([]web.Part{{Name: "plan.json", Document: json.RawMessage(`{"schema":"autoshard.review/v1"}`)}})
	fmt.Println(bytes.HasPrefix(page, []byte("<!doctype html>")), err)
	// Output: true <nil>
}
