package diag_test

import (
	"bytes"
	"encoding/json"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/santhosh-tekuri/jsonschema/v6"

	"autoshard/internal/diag"
)

// report has an error with notes and a warning, in names and texts that every format has to escape.
func report() *diag.Report {
	return &diag.Report{
		Files: 2,
		Tool: diag.Tool{Name: "autoshard", Version: "1", Rules: []diag.Rule{{ID: "a-rule", Severity: diag.SeverityWarning, Name: "short",
			Text: "long"}}},
		Findings: []diag.Diagnostic{
			{Code: diag.TypeMismatch, Pos: diag.Position{File: "dir/m 1,é.mlir", Line: 3, Col: 8}, Message: "50% of\n`x`: wrong",
				Source: "  é = bad",
				Notes:  []diag.Note{{Pos: diag.Position{File: "dir/other.mlir", Line: 1, Col: 1}, Message: "declared here"}, {Message: "a hint"}}},
			{Severity: diag.SeverityWarning, Code: "a-rule", Pos: diag.Position{File: "<stdin>"}, Message: "odd"},
		},
	}
}

func TestReportText(t *testing.T) {
	var b strings.Builder
	report().WriteText(&b, nil)
	want := "dir/m 1,é.mlir:3:8: error: 50% of\n`x`: wrong [AS1101]\n    é = bad\n        ^\n" +
		"dir/other.mlir:1:1: note: declared here\nnote: a hint\n<stdin>: warning: odd [a-rule]\n"
	if d := cmp.Diff(want, b.String()); d != "" {
		t.Errorf("-want +got\n%s", d)
	}
	one := diag.Report{Files: 1, Findings: report().Findings[1:]}
	if all, one := report().Summary(), one.Summary(); all != "1 error and 1 warning in 2 files" || one != "1 warning in 1 file" {
		t.Errorf("summaries are %q and %q", all, one)
	}
}

func TestReportGitHub(t *testing.T) {
	var b strings.Builder
	report().WriteGitHub(&b)
	want := "::error file=dir/m 1%2Cé.mlir,line=3,col=8,title=AS1101::50%25 of%0A`x`: wrong%0Adir/other.mlir:1:1: note: declared " +
		"here%0Anote: a hint\n" +
		"::warning file=<stdin>,title=a-rule::odd\n"
	if d := cmp.Diff(want, b.String()); d != "" {
		t.Errorf("-want +got\n%s", d)
	}
}

func TestReportJSON(t *testing.T) {
	var b strings.Builder
	if err := report().WriteJSON(&b); err != nil {
		t.Fatal(err)
	}
	want := `{
  "schema": "autoshard.check/v1",
  "files": 2,
  "errors": 1,
  "warnings": 1,
  "findings": [
    {
      "severity": "error",
      "code": "AS1101",
      "message": "50% of\n` + "`x`" + `: wrong",
      "file": "dir/m 1,é.mlir",
      "line": 3,
      "column": 8,
      "source": "  é = bad",
      "notes": [
        {
          "message": "declared here",
          "file": "dir/other.mlir",
          "line": 1,
          "column": 1
        },
        {
          "message": "a hint"
        }
      ]
    },
    {
      "severity": "warning",
      "code": "a-rule",
      "message": "odd",
      "file": "<stdin>"
    }
  ]
}
`
	if d := cmp.Diff(want, b.String()); d != "" {
		t.Errorf("-want +got\n%s", d)
	}
	b.Reset()
	if err := (&diag.Report{Files: 1}).WriteJSON(&b); err != nil || !strings.Contains(b.String(), `"findings": []`) {
		t.Errorf("without findings: %s, %v", b.String(), err)
	}
}

// sarifSchema holds what the schema of SARIF 2.1.0 demands of the properties that reports use: required ones, types, enums
// and minima (OASIS sarif-schema-2.1.0.json).
const sarifSchema = `{
  "type": "object", "required": ["version", "runs"],
  "properties": {
    "$schema": {"type": "string", "format": "uri"},
    "version": {"enum": ["2.1.0"]},
    "runs": {"type": "array", "items": {"type": "object", "required": ["tool"], "additionalProperties": false, "properties": {
      "tool": {"type": "object", "required": ["driver"], "properties": {"driver": {"type": "object", "required": ["name"], "properties": {
        "name": {"type": "string"}, "version": {"type": "string"},
        "rules": {"type": "array", "uniqueItems": true, "items": {"type": "object", "required": ["id"], "properties": {
          "id": {"type": "string"},
          "shortDescription": {"$ref": "#/$defs/text"}, "fullDescription": {"$ref": "#/$defs/text"},
          "defaultConfiguration": {"type": "object", "properties": {"level": {"$ref": "#/$defs/level"}}}}}}}}}},
      "columnKind": {"enum": ["utf16CodeUnits", "unicodeCodePoints"]},
      "results": {"type": "array", "items": {"type": "object", "required": ["message"], "properties": {
        "ruleId": {"type": "string"}, "ruleIndex": {"type": "integer", "minimum": -1},
        "level": {"$ref": "#/$defs/level"}, "message": {"$ref": "#/$defs/text"},
        "locations": {"type": "array", "items": {"$ref": "#/$defs/location"}},
        "relatedLocations": {"type": "array", "uniqueItems": true, "items": {"$ref": "#/$defs/location"}}}}}}}}
  },
  "$defs": {
    "level": {"enum": ["none", "note", "warning", "error"]},
    "text": {"type": "object", "required": ["text"], "properties": {"text": {"type": "string"}}},
    "location": {"type": "object", "properties": {
      "message": {"$ref": "#/$defs/text"},
      "physicalLocation": {"type": "object", "anyOf": [{"required": ["address"]}, {"required": ["artifactLocation"]}], "properties": {
        "artifactLocation": {"type": "object", "properties": {"uri": {"type": "string", "format": "uri-reference"}}},
        "region": {"type": "object", "properties": {
          "startLine": {"type": "integer", "minimum": 1}, "startColumn": {"type": "integer", "minimum": 1},
          "snippet": {"$ref": "#/$defs/text"}}}}}}}
  }
}`

func TestReportSARIF(t *testing.T) {
	compiler := jsonschema.NewCompiler()
	compiler.AssertFormat()
	document, err := jsonschema.UnmarshalJSON(strings.NewReader(sarifSchema))
	if err != nil {
		t.Fatal(err)
	}
	if err := compiler.AddResource("sarif.json", document); err != nil {
		t.Fatal(err)
	}
	schema, err := compiler.Compile("sarif.json")
	if err != nil {
		t.Fatal(err)
	}
	var b bytes.Buffer
	if err := report().WriteSARIF(&b); err != nil {
		t.Fatal(err)
	}
	log, err := jsonschema.UnmarshalJSON(bytes.NewReader(b.Bytes()))
	if err != nil {
		t.Fatal(err)
	}
	if err := schema.Validate(log); err != nil {
		t.Errorf("%v\n%s", err, b.String())
	}
	checkSARIF(t, b.Bytes())
}

// checkSARIF looks at what the schema cannot say: results point at their rules, places are those of the findings.
func checkSARIF(t *testing.T, log []byte) {
	type place struct {
		PhysicalLocation struct {
			ArtifactLocation struct{ URI string }
			Region           struct{ StartLine, StartColumn int }
		}
	}
	var parsed struct {
		Runs []struct {
			Tool struct {
				Driver struct{ Rules []struct{ ID string } }
			}
			Results []struct {
				RuleID                      string
				RuleIndex                   int
				Level                       string
				Message                     struct{ Text string }
				Locations, RelatedLocations []place
			}
		}
	}
	if err := json.Unmarshal(log, &parsed); err != nil {
		t.Fatal(err)
	}
	run := parsed.Runs[0]
	for _, r := range run.Results {
		if run.Tool.Driver.Rules[r.RuleIndex].ID != r.RuleID {
			t.Errorf("result of rule %s has the index of %s", r.RuleID, run.Tool.Driver.Rules[r.RuleIndex].ID)
		}
	}
	first := run.Results[0]
	at := first.Locations[0].PhysicalLocation
	if at.ArtifactLocation.URI != "dir/m%201%2C%C3%A9.mlir" || at.Region.StartLine != 3 || at.Region.StartColumn != 7 {
		t.Errorf("place is %+v", at)
	}
	if first.Level != "error" || first.Message.Text != "50% of\n`x`: wrong; a hint" || len(first.RelatedLocations) != 1 {
		t.Errorf("result is %+v", first)
	}
	if uri := run.Results[1].Locations[0].PhysicalLocation.ArtifactLocation.URI; uri != "%3Cstdin%3E" {
		t.Errorf("standard input is %s", uri)
	}
}
