package convert

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"text/tabwriter"

	"autoshard"
	"autoshard/internal/cli/cmdline"
	"autoshard/internal/config"
	"autoshard/internal/diag"
	"autoshard/internal/lists"
)

// table writes the shardings of a model in a form.
func (o *options) table(ctx context.Context, s *cmdline.Streams, c *config.Config, file string) error {
	format, err := specFormat(c)
	if err != nil {
		return err
	}
	model, err := s.Model(ctx, file)
	if err != nil {
		return err
	}
	specs, problems := model.Specs(ctx, o.specs, o.allValues)
	if problems != nil && !errors.Is(problems, diag.ErrUnsupported) {
		return problems
	}
	if format == config.JSON {
		err = s.WriteJSON(c.Output, "shardings", struct {
			Form   string                `json:"form"`
			Values []autoshard.ValueSpec `json:"values"`
		}{o.specs, specs})
	} else {
		err = s.Write(c.Output, []byte(text(specs)))
	}
	if err != nil {
		return err
	}
	return problems
}

// specFormat returns the output format, text or json.
func specFormat(c *config.Config) (config.Format, error) {
	format := cmdline.OutputFormat(c)
	if format != config.Text && format != config.JSON {
		return "", diag.Invalid(diag.BadOption, diag.Position{}, "shardings have the formats text and json, not %s", format)
	}
	return format, nil
}

// text returns a table for people: by mesh and function, with notes below.
func text(specs []autoshard.ValueSpec) string {
	var b strings.Builder
	var meshes, notes []string
	for _, v := range specs {
		if v.Mesh != "" && !slices.Contains(meshes, v.Mesh) {
			meshes = append(meshes, v.Mesh)
		}
	}
	if len(meshes) == 1 {
		fmt.Fprintf(&b, "mesh %s\n", meshes[0])
	}
	w := tabwriter.NewWriter(&b, 0, 0, 2, ' ', 0)
	for i, v := range specs {
		if i == 0 || specs[i-1].Function != v.Function {
			fmt.Fprintf(w, "\n@%s\n", v.Function)
		}
		spec := v.Spec.Spec
		switch {
		case v.Problem != "":
			spec = fmt.Sprintf("not expressible (%d)", place(&notes, v.Problem))
			if v.RefinedSpec != "" {
				spec += fmt.Sprintf("; over %s: %s", v.RefinedMesh, v.RefinedSpec)
			}
		case spec == "":
			spec = "-"
		}
		for _, n := range v.Notes {
			spec += fmt.Sprintf(" (%d)", place(&notes, n))
		}
		if len(meshes) > 1 && v.Mesh != "" {
			spec += "\tmesh " + v.Mesh
		}
		fmt.Fprintf(w, "  %s\t%s\t%s\n", v.Label(), v.Type, spec)
	}
	w.Flush()
	for i, n := range notes {
		if i == 0 {
			b.WriteString("\n")
		}
		fmt.Fprintf(&b, "(%d) %s\n", i+1, n)
	}
	return b.String()
}

// place returns the number of a note, which it adds if it is new.
func place(notes *[]string, note string) int {
	if i := slices.Index(*notes, note); i >= 0 {
		return i + 1
	}
	*notes = append(*notes, note)
	return len(*notes)
}

// specName names the text of --spec in errors.
const specName = "--spec"

// one converts the sharding of --spec.
func (o *options) one(s *cmdline.Streams, c *config.Config) error {
	format, err := specFormat(c)
	if err != nil {
		return err
	}
	request := autoshard.SpecRequest{Text: o.spec, Name: specName, From: o.from, To: o.to, Axes: c.Mesh}
	ranks, err := cmdline.Numbers("rank", o.rank)
	if err != nil {
		return err
	}
	request.Ranks = lists.Map(ranks, func(r int64) int { return int(r) })
	if request.DeviceIDs, err = cmdline.Numbers("device-ids", o.deviceIDs); err != nil {
		return err
	}
	specs, err := autoshard.ConvertSpec(request)
	if err != nil {
		return cmdline.Quote(err, specName, o.spec)
	}
	if format == config.JSON {
		return s.WriteJSON(c.Output, "shardings", struct {
			Form  string           `json:"form"`
			Specs []autoshard.Spec `json:"specs"`
		}{o.to, specs})
	}
	var b strings.Builder
	for _, v := range specs {
		b.WriteString(v.Spec + "\n")
		if len(c.Mesh) == 0 && v.Mesh != "" {
			s.Note("note: mesh %s", v.Mesh)
		}
		for _, n := range v.Notes {
			s.Note("note: %s", n)
		}
	}
	return s.Write(c.Output, []byte(b.String()))
}
