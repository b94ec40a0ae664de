package specfmt

import (
	"fmt"
	"slices"

	"autoshard/internal/diag"
	"autoshard/internal/lists"
	"autoshard/ir"
	"autoshard/subaxis"
)

// hloSharding reads a GSPMD sharding over the mesh, or over one that fits where no mesh is given.
func (s *scanner) hloSharding(rank int) (l Layout, dropped []string) {
	h := &hloText{}
	s.hloText(h)
	if s.err != nil {
		return l, nil
	}
	if s.mesh == nil {
		if h.word == "manual" || h.word == "unreduced" {
			s.failf(diag.BadMesh, 0, "a mesh is needed to read `%s`", h.word)
		}
		s.mesh = &ir.MeshDecl{Mesh: fittingMesh(h)}
	}
	l.Mesh = s.mesh
	if h.word != "" {
		s.hloWord(h, &l, rank)
	} else {
		s.hloTiles(h, &l, rank)
	}
	return l, h.dropped.list
}

// hloWord makes the layout of a sharding without tiles.
func (s *scanner) hloWord(h *hloText, l *Layout, rank int) {
	if h.word == "maximal" {
		if !s.mesh.IsMaximal() || s.mesh.DeviceIDs[0] != h.device {
			s.fail(diag.Unsupported(diag.NotSupported, s.start,
				"device %d alone is not expressible over the mesh %s: it needs the mesh <[], device_ids=[%d]>",
				h.device, s.mesh.FormatContent(), h.device))
		}
		return
	}
	if s.mesh.IsMaximal() {
		s.fail(diag.Unsupported(diag.NotSupported, s.start, "`%s` is not expressible over the mesh %s, which stands for one device",
			h.word, s.mesh.FormatContent()))
	}
	all := s.mesh.All()
	switch h.word {
	case "manual":
		l.Manual = all
	case "unreduced":
		l.Sharding.Unreduced = all
	}
	s.pad(&l.Sharding, rank)
	if h.word == "unknown" {
		for i := range l.Sharding.Dims {
			l.Sharding.Dims[i].Closed = false
		}
	}
}

// hloTiles makes the layout of a sharding with tiles.
func (s *scanner) hloTiles(h *hloText, l *Layout, rank int) {
	own := len(h.dims) - len(h.groups)
	if rank != AnyRank && own != rank {
		s.failf(diag.BadShardingRank, h.at, "the tiles have %d dimensions, the tensor has %d", own, rank)
	}
	if !sizeIs(&s.mesh.Mesh, len(h.devices)) {
		s.failf(diag.BadSharding, h.at, "the tiles are on %d devices, the mesh %s has another number",
			len(h.devices), s.mesh.FormatContent())
	}
	if s.err != nil {
		return
	}
	logical := h.devices
	if ids := s.mesh.DeviceIDs; ids != nil {
		logical = lists.Pick(lists.Inverse(ids), h.devices)
	}
	parts, ok := factorDevices(&s.mesh.Mesh, h.dims, own, logical)
	if !ok {
		s.noParts(h)
		return
	}
	for _, axes := range parts[:own] {
		l.Sharding.Dims = append(l.Sharding.Dims, ir.DimSharding{Axes: axes, Closed: true, Priority: ir.NoPriority})
	}
	for i, g := range h.groups {
		axes := parts[own+i]
		switch g {
		case unreducedGroup:
			l.Sharding.Unreduced = subaxis.SortMerge(append(l.Sharding.Unreduced, axes...))
		case manualGroup:
			l.Manual = subaxis.SortMerge(append(l.Manual, axes...))
		}
	}
	if j := slices.IndexFunc(l.Manual, l.split); j >= 0 {
		s.fail(diag.Unsupported(diag.NotSupported, s.pos(h.at), "manual axes must be whole, %s is a part", s.mesh.Format(l.Manual[j])))
	}
}

// noParts fails for tiles that no axes of the mesh and parts of them make; it offers a mesh that does.
func (s *scanner) noParts(h *hloText) {
	mesh := fittingMesh(h)
	err := diag.Unsupported(diag.NotSupported, s.pos(h.at),
		"the tiles are not expressible over the mesh %s: its axes and parts of them do not make these blocks of devices",
		s.mesh.FormatContent())
	fit := scanner{mesh: &ir.MeshDecl{Mesh: mesh}}
	var l Layout
	l.Mesh = fit.mesh
	if fit.hloTiles(h, &l, AnyRank); fit.err == nil {
		err = err.WithNote(diag.Position{}, "with a mesh that has them it is %s", sdyText(&l))
	}
	s.fail(err)
}

// fittingMesh returns a mesh over which the sharding is expressible. Its axes are axis_0, axis_1 and so on.
func fittingMesh(h *hloText) subaxis.Mesh {
	switch {
	case h.word == "maximal":
		return subaxis.Mesh{DeviceIDs: []int64{h.device}}
	case h.word != "":
		return subaxis.Mesh{}
	}
	one := subaxis.Mesh{Axes: []subaxis.Axis{{Name: "axis", Size: int64(len(h.devices))}}}
	own := len(h.dims) - len(h.groups)
	if lists, ok := factorDevices(&one, h.dims, own, h.devices); ok {
		l := Layout{Mesh: &ir.MeshDecl{Mesh: one}}
		for _, axes := range lists {
			l.Sharding.Dims = append(l.Sharding.Dims, ir.DimSharding{Axes: axes})
		}
		if refined, ok := refine(&l); ok {
			return numbered(refined.Mesh.Mesh)
		}
	}
	var axes []subaxis.Axis
	for _, d := range h.dims {
		if d > 1 {
			axes = append(axes, subaxis.Axis{Size: d})
		}
	}
	ids, _ := deviceIDs(axes, h.devices)
	return numbered(subaxis.Mesh{Axes: axes, DeviceIDs: ids})
}

func numbered(mesh subaxis.Mesh) subaxis.Mesh {
	for i := range mesh.Axes {
		mesh.Axes[i].Name = fmt.Sprintf("axis_%d", i)
	}
	return mesh
}
