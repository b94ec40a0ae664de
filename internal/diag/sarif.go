package diag

import (
	"fmt"
	"io"
	"strings"
)

// The parts of a SARIF 2.1.0 log that a report fills (OASIS standard, sections 3.13 to 3.58).
type (
	sarifLog struct {
		Schema  string     `json:"$schema"`
		Version string     `json:"version"`
		Runs    []sarifRun `json:"runs"`
	}
	sarifRun struct {
		Tool       sarifTool     `json:"tool"`
		ColumnKind string        `json:"columnKind"`
		Results    []sarifResult `json:"results"`
	}
	sarifTool struct {
		Driver sarifDriver `json:"driver"`
	}
	sarifDriver struct {
		Name    string      `json:"name"`
		Version string      `json:"version,omitempty"`
		Rules   []sarifRule `json:"rules"`
	}
	sarifRule struct {
		ID            Code        `json:"id"`
		Short         sarifText   `json:"shortDescription"`
		Full          sarifText   `json:"fullDescription"`
		Configuration sarifConfig `json:"defaultConfiguration"`
	}
	sarifConfig struct {
		Level string `json:"level"`
	}
	sarifText struct {
		Text string `json:"text"`
	}
	sarifResult struct {
		RuleID    Code            `json:"ruleId"`
		RuleIndex int             `json:"ruleIndex"`
		Level     string          `json:"level"`
		Message   sarifText       `json:"message"`
		Locations []sarifLocation `json:"locations,omitempty"`
		Related   []sarifLocation `json:"relatedLocations,omitempty"`
	}
	sarifLocation struct {
		Physical sarifPhysical `json:"physicalLocation"`
		Message  *sarifText    `json:"message,omitempty"`
	}
	sarifPhysical struct {
		Artifact sarifArtifact `json:"artifactLocation"`
		Region   *sarifRegion  `json:"region,omitempty"`
	}
	sarifArtifact struct {
		URI string `json:"uri"`
	}
	sarifRegion struct {
		StartLine   int        `json:"startLine,omitempty"`
		StartColumn int        `json:"startColumn,omitempty"`
		ByteOffset  *int64     `json:"byteOffset,omitempty"`
		Snippet     *sarifText `json:"snippet,omitempty"`
	}
)

// WriteSARIF writes the findings as a SARIF 2.1.0 log with one run. Notes with a place become related locations, the
// others part of the message.
func (r *Report) WriteSARIF(w io.Writer) error {
	run := sarifRun{Tool: sarifTool{sarifDriver{Name: r.Tool.Name, Version: r.Tool.Version, Rules: []sarifRule{}}},
		ColumnKind: "unicodeCodePoints", Results: []sarifResult{}}
	index := map[Code]int{}
	add := func(rule Rule) {
		index[rule.ID] = len(index)
		run.Tool.Driver.Rules = append(run.Tool.Driver.Rules,
			sarifRule{rule.ID, sarifText{rule.Name}, sarifText{rule.Text}, sarifConfig{rule.Severity.String()}})
	}
	for _, rule := range r.Tool.Rules {
		add(rule)
	}
	for i := range r.Findings {
		d := &r.Findings[i]
		if _, ok := index[d.Code]; !ok {
			add(ruleOf(d))
		}
		run.Results = append(run.Results, sarifResultOf(d, index[d.Code]))
	}
	return writeIndented(w, sarifLog{"https://json.schemastore.org/sarif-2.1.0.json", "2.1.0", []sarifRun{run}})
}

// ruleOf describes the code of a finding that no rule stands for.
func ruleOf(d *Diagnostic) Rule {
	for _, e := range Explanations() {
		if e.Code == d.Code {
			return Rule{ID: e.Code, Severity: d.Severity, Name: e.Name, Text: e.Text}
		}
	}
	return Rule{ID: d.Code, Severity: d.Severity, Name: string(d.Code), Text: string(d.Code)}
}

func sarifResultOf(d *Diagnostic, rule int) sarifResult {
	out := sarifResult{RuleID: d.Code, RuleIndex: rule, Level: d.Severity.String(), Message: sarifText{d.Message}}
	if d.Pos.File != "" {
		out.Locations = []sarifLocation{{Physical: physical(d.Pos, d.Source)}}
	}
	for _, n := range d.Notes {
		if n.Pos.File == "" {
			out.Message.Text += "; " + n.Message
			continue
		}
		out.Related = append(out.Related, sarifLocation{physical(n.Pos, ""), &sarifText{n.Message}})
	}
	return out
}

func physical(p Position, source string) sarifPhysical {
	out := sarifPhysical{Artifact: sarifArtifact{fileURI(p.File)}}
	if p.Binary {
		out.Region = &sarifRegion{ByteOffset: byteOffset(p)}
	}
	if p.Line > 0 {
		out.Region = &sarifRegion{StartLine: p.Line, StartColumn: max(0, runeColumn(source, p.Col))}
		if source != "" {
			out.Region.Snippet = &sarifText{printable(source)}
		}
	}
	return out
}

// fileURI returns the URI reference of a file name (RFC 3986): relative as it is, absolute with the scheme file.
func fileURI(name string) string {
	var b strings.Builder
	if strings.HasPrefix(name, "/") {
		b.WriteString("file://")
	}
	for i := range len(name) {
		c := name[i]
		plain := c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9' || strings.IndexByte("-._~/", c) >= 0
		switch {
		case c == '\\':
			b.WriteByte('/')
		case plain:
			b.WriteByte(c)
		default:
			fmt.Fprintf(&b, "%%%02X", c)
		}
	}
	return b.String()
}
