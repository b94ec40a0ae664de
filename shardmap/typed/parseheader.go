package typed

import (
	"slices"
	"strings"

	"autoshard/internal/diag"
	"autoshard/internal/lists"
	"autoshard/ir"
	"autoshard/subaxis"
)

// headerSpecs are what the header says about parameters and results.
type headerSpecs struct {
	in, out []Spec
	donated []string // names of parameters
}

// checkDonated refuses donations of what is no parameter.
func (r *reader) checkDonated(donated []string, args []ir.ValueID) {
	known := lists.Map(args, r.p.NameOf)
	for i, name := range donated {
		switch {
		case !slices.Contains(known, name):
			r.fail(diag.Undefined, "donated input `%s` is no parameter of `lambda`%s", name, diag.DidYouMean(name, known))
		case slices.Contains(donated[:i], name):
			r.fail(diag.Redefined, "input `%s` is donated twice", name)
		}
	}
}

// headerKeys are what the header has besides the name.
var headerKeys = []string{"mesh", "device_ids", "manual", "check", "in_specs", "out_specs", "donated"}

// markKeys notes which values of the header begin in the current line.
func (r *reader) markKeys() {
	if r.header == nil {
		r.header = map[string]diag.Position{"shard_map": r.place()}
	}
	for _, key := range headerKeys {
		at := strings.Index(r.line, key+"=")
		if _, seen := r.header[key]; seen || at < 0 {
			continue
		}
		pos := r.place()
		pos.Col += at
		r.header[key] = pos
	}
}

// readHeader reads shard_map @name key=value ...
func (r *reader) readHeader(text string) (specs headerSpecs) {
	r.key = "shard_map"
	defer func() { r.key = "" }()
	parts, err := splitTop(text, ' ')
	if err != nil || len(parts) < 2 || parts[0] != "shard_map" || !strings.HasPrefix(parts[1], "@") {
		r.fail(diag.Syntax, "expected `shard_map @name mesh=(...) ...`")
		return specs
	}
	r.p.Name = strings.Trim(parts[1][1:], `"`)
	given := map[string]string{"manual": "", "check": "true"}
	for _, part := range parts[2:] {
		key, value, ok := strings.Cut(part, "=")
		if !ok {
			r.fail(diag.Syntax, "expected key=value, found %q", part)
			return specs
		}
		if !slices.Contains(headerKeys, key) {
			r.fail(diag.Syntax, "unknown key %q; the header has mesh, device_ids, manual, check, in_specs, out_specs and donated", key)
			return specs
		}
		given[key] = value
	}
	r.key = "check"
	r.p.Check = given["check"] == "true"
	if r.p.Check != (given["check"] != "false") {
		r.fail(diag.Syntax, "check is true or false, not %q", given["check"])
	}
	r.mesh(given["mesh"], given["manual"])
	r.deviceIDs(given["device_ids"])
	r.key = "in_specs"
	specs.in = r.specs(given["in_specs"])
	r.key = "out_specs"
	specs.out = r.specs(given["out_specs"])
	if donated := given["donated"]; donated != "" {
		r.key = "donated"
		specs.donated = r.tuple(donated)
	}
	return specs
}

func (r *reader) mesh(mesh, manual string) {
	if mesh == "" {
		r.fail(diag.BadMesh, "the header needs a mesh=(...), which cannot be empty (E_MESH_EMPTY)")
		return
	}
	r.key = "mesh"
	for _, item := range r.tuple(mesh) {
		name, size, _ := strings.Cut(item, "=")
		r.p.Mesh.Axes = append(r.p.Mesh.Axes, subaxis.Axis{Name: name, Size: r.integer(size)})
	}
	if err := r.p.checkMesh(); err != nil {
		r.locate(err)
		return
	}
	r.p.Manual = r.p.allAxes()
	if manual == "" {
		return
	}
	r.key = "manual"
	if err := r.p.setManual(r.tuple(manual)); err != nil {
		r.locate(err)
	}
	if err := r.p.checkManual(); err != nil {
		r.locate(err)
	}
}

// deviceIDs reads which device is at each place of the mesh.
func (r *reader) deviceIDs(text string) {
	if text == "" {
		return
	}
	r.key = "device_ids"
	r.p.Mesh.DeviceIDs = lists.Map(r.tuple(text), r.integer)
	if err := r.p.checkMesh(); err != nil {
		r.locate(err)
	}
	if slices.IsSorted(r.p.Mesh.DeviceIDs) {
		r.p.Mesh.DeviceIDs = nil
	}
}

// tuple returns the items of (a, b) or (a,).
func (r *reader) tuple(text string) []string {
	inner, ok := strings.CutPrefix(strings.TrimSpace(text), "(")
	if ok {
		inner, ok = strings.CutSuffix(inner, ")")
	}
	if !ok {
		r.fail(diag.Syntax, "expected a list in parentheses, found %q", text)
		return nil
	}
	return r.items(inner)
}

// items splits a list at its commas; one may follow the last item.
func (r *reader) items(text string) []string {
	parts, err := splitTop(text, ',')
	if err != nil {
		r.fail(diag.Syntax, "%v in %q", err, text)
		return nil
	}
	var out []string
	for i, part := range parts {
		part = strings.TrimSpace(part)
		if part == "" && i == len(parts)-1 {
			break
		}
		out = append(out, part)
	}
	return out
}

func (r *reader) specs(text string) []Spec {
	var out []Spec
	if text == "" {
		r.fail(diag.Syntax, "the header needs in_specs=(...) and out_specs=(...)")
		return nil
	}
	for _, item := range r.tuple(text) {
		inner, ok := strings.CutPrefix(item, "P")
		if !ok {
			r.fail(diag.Syntax, "expected a spec P(...), found %q (E_SPEC_TYPE)", item)
			return nil
		}
		var s Spec
		for _, entry := range r.tuple(inner) {
			switch {
			case entry == "None":
				s.Dims = append(s.Dims, nil)
			case strings.HasPrefix(entry, "unreduced="):
				s.Unreduced = r.axisSet(entry[len("unreduced="):])
			case strings.HasPrefix(entry, "reduced="):
				s.Reduced = r.axisSet(entry[len("reduced="):])
			case strings.HasPrefix(entry, "("):
				s.Dims = append(s.Dims, r.unquote(r.tuple(entry)))
			default:
				s.Dims = append(s.Dims, r.unquote([]string{entry}))
			}
		}
		out = append(out, s)
	}
	return out
}

func (r *reader) axisSet(text string) []string {
	return r.unquote(r.inBraces(text))
}

// inBraces returns the items of {a, b}.
func (r *reader) inBraces(text string) []string {
	if len(text) < 2 || text[0] != '{' || text[len(text)-1] != '}' {
		r.fail(diag.Syntax, "expected axes in braces, found %q", text)
		return nil
	}
	return r.items(text[1 : len(text)-1])
}

func (r *reader) unquote(items []string) []string {
	for i, s := range items {
		if len(s) < 3 || s[0] != '\'' || s[len(s)-1] != '\'' {
			r.fail(diag.Syntax, "expected the name of an axis in quotes, found %q", s)
			return nil
		}
		items[i] = s[1 : len(s)-1]
	}
	return items
}
