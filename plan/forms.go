package plan

import (
	"fmt"
	"strconv"
	"strings"

	"autoshard/answer"
	"autoshard/internal/diag"
	"autoshard/ir/specfmt"
)

// frameworks are the systems in whose form shardings can be written: what a Python file imports for it, and how it makes the mesh.
var frameworks = map[specfmt.Form]struct{ imports, mesh string }{
	specfmt.PartitionSpec: {"from jax.sharding import PartitionSpec as P", "jax.make_mesh(tuple(MESH.values()), tuple(MESH))"},
	specfmt.DTensor: {"from torch.distributed.tensor import Replicate, Shard",
		"init_device_mesh(kind, tuple(MESH.values()), mesh_dim_names=tuple(MESH))"},
}

// Python returns the shardings of inputs and outputs by name, as a Python file with the dicts MESH, INPUTS and OUTPUTS, in a form:
// partition-spec, for JAX, or dtensor, the placements of PyTorch. The mesh is the plan's refined mesh: every axis exists. Errors are of
// class diag.ErrInvalid for another form, and diag.ErrUnsupported where the form cannot say a sharding, or the plan's parts of axes have
// no common refinement.
func (p *Plan) Python(form string) (text string, err error) {
	defer diag.Recover("write", &err)
	f, err := specfmt.ParseForm(form)
	if err != nil {
		return "", err
	}
	framework, ok := frameworks[f]
	if !ok {
		return "", diag.Invalid(diag.BadOption, diag.Position{}, "a plan is written as partition-spec or dtensor, not as %s", f)
	}
	if len(p.RefinedMesh) == 0 {
		return "", diag.Unsupported(diag.NotSupported, diag.Position{}, "the plan cuts along parts of axes that have no common refinement: no "+
			"mesh has all of them as axes; `--no-sub-axes` plans without parts")
	}
	var b strings.Builder
	fmt.Fprintf(&b, "\"\"\"Shardings of %s on %s, as autoshard planned them.\"\"\"\n\n%s\n\nMESH = {", p.Model,
		answer.FormatAxes(p.RefinedMesh), framework.imports)
	for i, a := range p.RefinedMesh {
		if i > 0 {
			b.WriteString(", ")
		}
		fmt.Fprintf(&b, "%s: %d", strconv.Quote(a.Name), a.Size)
	}
	fmt.Fprintf(&b, "}  # %s\n", framework.mesh)
	for _, part := range []struct {
		name string
		list []answer.Tensor
	}{{"INPUTS", p.Inputs}, {"OUTPUTS", p.Outputs}} {
		fmt.Fprintf(&b, "\n%s = {\n", part.name)
		for i := range part.list {
			spec, err := p.spec(f, &part.list[i])
			if err != nil {
				return "", err
			}
			fmt.Fprintf(&b, "    %s: %s,\n", strconv.Quote(part.list[i].Name), spec)
		}
		b.WriteString("}\n")
	}
	return b.String(), nil
}

// spec returns the sharding of a tensor over the refined mesh in a form; None for what is no tensor.
func (p *Plan) spec(f specfmt.Form, t *answer.Tensor) (string, error) {
	_, shape, ok := t.Shape()
	if !ok || t.RefinedSpec == "" {
		return "None", nil
	}
	mesh, err := specfmt.NewMesh(p.RefinedMesh, nil)
	if err != nil {
		return "", err
	}
	l, _, err := specfmt.Parse(specfmt.PartitionSpec, mesh, len(shape), t.RefinedSpec, diag.Position{File: t.Name})
	if err != nil {
		return "", err
	}
	text, _, err := specfmt.Format(f, &l)
	return text, err
}
