package gspmd

import (
	"cmp"
	"slices"
	"strings"

	"gonum.org/v1/gonum/stat/combin"

	"autoshard/internal/diag"
	"autoshard/internal/lists"
	"autoshard/ir"
	"autoshard/ir/mlir"
	"autoshard/ir/specfmt"
	"autoshard/shardmap/refine"
	"autoshard/subaxis"
)

// meshesAttr is the entry of the frontend attributes of a module with its meshes.
const meshesAttr = "xla.sdy.meshes"

// namedMeshes declares the meshes that stand in the frontend attributes of the module: {mesh = #sdy.mesh<["x"=2]>}.
func (im *importer) namedMeshes() error {
	m := im.m
	text := m.Attrs.Frontend().Str(meshesAttr)
	if text == "" {
		return nil
	}
	a, err := mlir.ParseAttr(m, text, diag.Position{})
	if err != nil {
		return at(err, diag.Position{})
	}
	dict, _ := a.(ir.DictAttr)
	for _, e := range dict {
		if _, declared := m.LookupMesh(e.Name); declared {
			continue
		}
		opaque, _ := e.Value.(ir.OpaqueAttr)
		mesh, ok := strings.CutPrefix(string(opaque), "#sdy.")
		l, _, err := specfmt.Parse(specfmt.Sdy, nil, 0, "<"+mesh+", []>", diag.Position{})
		if !ok || err != nil {
			return diag.Invalid(diag.BadMesh, diag.Position{}, "the mesh @%s cannot be read in %s = %s", e.Name, meshesAttr, text)
		}
		m.AddMesh(e.Name, l.Mesh.Mesh, nil, 0)
	}
	m.Attrs = withoutFrontend(m.Attrs, meshesAttr)
	return nil
}

// chooseMesh finds the mesh of texts of GSPMD, if there are any: one that is declared, that of the axes, or the one that follows.
func (im *importer) chooseMesh(axes []subaxis.Axis) (said string, err error) {
	texts, err := im.texts()
	if err != nil || len(texts) == 0 {
		return "", err
	}
	for id := range im.m.NamedMeshes() {
		if len(im.m.Mesh(id).Axes) > 0 {
			im.mesh = id
			return "", nil
		}
	}
	if len(axes) > 0 {
		mesh := subaxis.Mesh{Axes: axes}
		im.mesh = im.m.AddMesh("mesh", subaxis.Mesh{Axes: axes, DeviceIDs: im.order(mesh, texts)}, nil, 0)
		return "", nil
	}
	mesh, err := im.following(texts)
	if err != nil || mesh.Devices() == 1 && len(changes(im.m)) == 0 { // a program of one device leaves open what it is used with
		return "", err
	}
	im.mesh = im.m.AddMesh("mesh", mesh, nil, 0)
	return "the model's shardings are those of GSPMD, where axes have no names: they are over @mesh (" +
		lists.Joined(mesh.Axes, subaxis.Axis.String) + "); --mesh gives names", nil
}

// text is one sharding of GSPMD, and a mesh of its own that it is over; that has no axes where every device has the same.
type text struct {
	op   ir.OpID
	text string
	specfmt.Layout
}

// texts returns the shardings of GSPMD that are tiles, in the order of the program, if there are any of GSPMD at all.
func (im *importer) texts() (out []text, err error) {
	for p := range annotations(im.m) {
		if p.sdyText() != "" || p.attrs.Str(shardingAttr) == "" {
			continue
		}
		elements, _ := specfmt.TupleElements(p.attrs.Str(shardingAttr))
		for _, e := range elements {
			t := text{op: p.op, text: e, Layout: specfmt.Layout{Mesh: &ir.MeshDecl{}}}
			if strings.Contains(e, "devices=") { // no word such as {manual} says how many devices there are
				if t.Layout, _, err = specfmt.Parse(specfmt.GSPMD, nil, specfmt.AnyRank, e, diag.Position{}); err != nil {
					return nil, at(err, im.m.OpPos(p.op))
				}
			}
			out = append(out, t)
		}
	}
	return out, nil
}

// following returns the mesh of the fewest axes that all texts can be said over.
func (im *importer) following(texts []text) (subaxis.Mesh, error) {
	flat := subaxis.Mesh{Axes: []subaxis.Axis{{Name: "axis", Size: im.m.Attrs.Int("mhlo.num_partitions", 1)}}}
	for _, t := range texts {
		flat.Axes[0].Size = max(flat.Axes[0].Size, t.Mesh.Devices())
	}
	mesh, err := im.cut(flat, texts)
	if err != nil {
		flat.DeviceIDs = together(flat.Axes[0].Size, texts)
		mesh, err = im.cut(flat, texts)
	}
	return mesh, err
}

// together returns an order of devices in which those are together that have the same block by the first text, among them those that do by
// the second, and so on. The texts of one mesh are over parts of one axis of devices in this order.
func together(n int64, texts []text) []int64 {
	order := lists.Range[int64](int(n))
	for _, t := range slices.Backward(texts) {
		if t.Mesh.Devices() != n {
			continue
		}
		block := make([]int64, n)
		for p := range n {
			for _, axes := range t.axes() {
				id := t.Mesh.DeviceID(p)
				block[id] = block[id]*n + t.Mesh.ShardIndex(p, axes)
			}
		}
		slices.SortStableFunc(order, func(a, b int64) int { return cmp.Compare(block[a], block[b]) })
	}
	return order
}

// axes returns the lists of axes that the text names.
func (t *text) axes() []ir.ShardAxes {
	out := []ir.ShardAxes{t.Manual, t.Sharding.Unreduced}
	for _, d := range t.Sharding.Dims {
		out = append(out, d.Axes)
	}
	return out
}

// cut cuts the one axis of all devices where texts need it.
func (im *importer) cut(flat subaxis.Mesh, texts []text) (subaxis.Mesh, error) {
	cuts := refine.New(flat)
	for _, t := range texts {
		for _, axes := range t.axes() {
			if len(axes) == 0 {
				continue
			}
			table, ok := flat.Numbers(&t.Mesh.Mesh, axes...)
			refs, found := flat.Find(table)
			if !ok || !found {
				return flat, diag.Unsupported(diag.NotSupported, im.m.OpPos(t.op), "no mesh of %d devices has axes for all shardings of the model; "+
					"this is `%s`", flat.Devices(), t.text)
			}
			if err := cuts.Add(refs...); err != nil {
				return flat, at(err, im.m.OpPos(t.op))
			}
		}
	}
	return cuts.Mesh().Fine, nil
}

// order returns the order in which a mesh has to list its devices for all texts to be over it: nil where it need not list them, or where
// that would not help, and otherwise one in which the axes that follow from the texts, or few prime factors of theirs, stand in some order.
func (im *importer) order(mesh subaxis.Mesh, texts []text) []int64 {
	over := func(ids []int64) bool {
		d := &ir.MeshDecl{Mesh: subaxis.Mesh{Axes: mesh.Axes, DeviceIDs: ids}}
		return !slices.ContainsFunc(texts, func(t text) bool {
			_, _, err := specfmt.Parse(specfmt.GSPMD, d, specfmt.AnyRank, t.text, diag.Position{})
			return err != nil
		})
	}
	fine, err := im.following(texts)
	if over(nil) || err != nil || fine.Devices() != mesh.Devices() {
		return nil
	}
	if over(fine.DeviceIDs) {
		return fine.DeviceIDs
	}
	if axes := inPrimes(fine.Axes); len(axes) <= mostAxes {
		fine.Axes = axes
	}
	if len(fine.Axes) > mostAxes {
		return nil
	}
	for _, axes := range combin.Permutations(len(fine.Axes), len(fine.Axes)) {
		ids := make([]int64, fine.Devices())
		refs := lists.Map(axes, fine.Full)
		for p := range fine.Devices() {
			ids[fine.ShardIndex(p, refs)] = fine.DeviceID(p)
		}
		if over(ids) {
			return ids
		}
	}
	return nil
}

// inPrimes returns axes of the prime factors of their sizes.
func inPrimes(axes []subaxis.Axis) (out []subaxis.Axis) {
	for _, a := range axes {
		for left, p := a.Size, int64(2); left > 1; {
			if left%p != 0 {
				p++
				continue
			}
			out = append(out, subaxis.Axis{Size: p})
			left /= p
		}
	}
	return out
}

// mostAxes bounds the axes of which all orders are tried.
const mostAxes = 6
