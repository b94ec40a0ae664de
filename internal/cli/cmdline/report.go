package cmdline

import (
	"bytes"
	"encoding/json"

	"autoshard"
	"autoshard/internal/config"
	"autoshard/internal/diag"
)

// Tool describes this program as the maker of a report.
func Tool(rules []diag.Rule) diag.Tool {
	return diag.Tool{Name: "autoshard", Version: autoshard.Version(), Rules: rules}
}

// WriteJSON writes a value as a JSON document; what names it where that is not possible.
func (s *Streams) WriteJSON(file, what string, value any) error {
	out, err := json.MarshalIndent(value, "", "  ")
	if err != nil {
		return diag.Internal(diag.Bug, diag.Position{}, "write %s: %v", what, err)
	}
	return s.Write(file, append(out, '\n'))
}

// WriteReport writes a report in the format and to the place that the configuration says.
func (s *Streams) WriteReport(c *config.Config, report *diag.Report) error {
	var out bytes.Buffer
	var err error
	switch c.Format {
	case config.JSON:
		err = report.WriteJSON(&out)
	case config.SARIF:
		err = report.WriteSARIF(&out)
	case config.GitHub:
		report.WriteGitHub(&out)
	default:
		report.WriteText(&out, s.Source)
	}
	if err != nil {
		return diag.Internal(diag.Bug, diag.Position{}, "write report: %v", err)
	}
	return s.Write(c.Output, out.Bytes())
}

// WriteFindings writes the findings of an answer as a report of one file.
func (s *Streams) WriteFindings(c *config.Config, list []autoshard.Finding) error {
	return s.WriteReport(c, s.reportOf(list))
}

// WarnOf shows the findings of an answer on standard error.
func (s *Streams) WarnOf(list []autoshard.Finding) { s.reportOf(list).WriteText(s.Err, s.Source) }

// reportOf returns a report of one file that holds the findings of an answer.
func (s *Streams) reportOf(list []autoshard.Finding) *diag.Report {
	report := &diag.Report{Files: 1, Tool: Tool(autoshard.FindingRules())}
	for i := range list {
		d := list[i].Diagnostic()
		d.Source = diag.SourceLine(s.Source(d.Pos.File), d.Pos.Line)
		report.Findings = append(report.Findings, d)
	}
	return report
}
