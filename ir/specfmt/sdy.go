package specfmt

import (
	"strconv"

	"autoshard/internal/diag"
	"autoshard/ir"
	"autoshard/subaxis"
)

// formatSdy writes a sharding as Shardy prints it, without #sdy.sharding (specification: shardy.md section 1.4).
func formatSdy(l *Layout) (string, []string, error) {
	m := ir.NewModule()
	s := l.Sharding
	s.Mesh = m.AddMesh(l.Mesh.Name, l.Mesh.Mesh, nil, 0)
	var dropped left
	dropped.axes("manual", &l.Mesh.Mesh, l.Manual)
	return m.FormatSharding(m.InternSharding(s)), dropped.list, nil
}

// sdy reads #sdy.sharding<@mesh, [{"x", ?}p1, {}], replicated={"y"}>, the same without #sdy.sharding, or its list of
// dimensions alone. Lists of axes stay as they are written, so that the verifier sees what Shardy's sees.
func (s *scanner) sdy(rank int) (l Layout) {
	s.verbatim = true
	short := true
	if s.next("#sdy.sharding"); s.next("<") {
		short = false
		s.sdyMesh()
		s.expect(",")
	}
	if s.mesh == nil {
		s.failf(diag.BadMesh, s.at, "a mesh is needed to read this sharding")
		return l
	}
	l.Mesh = s.mesh
	s.expect("[")
	s.list("]", func() { s.sdyDimension(&l.Sharding) })
	for s.next(",") {
		s.sdySet(&l.Sharding)
	}
	if !short {
		s.expect(">")
	}
	s.end()
	s.sdyRank(&l.Sharding, rank)
	return l
}

// sdyRank checks the number of dimensions: Shardy leaves none out.
func (s *scanner) sdyRank(sharding *ir.Sharding, rank int) {
	plain := len(sharding.Dims)+len(sharding.Replicated)+len(sharding.Unreduced) == 0
	switch {
	case s.mesh.IsMaximal() && !plain:
		s.failf(diag.BadSharding, 0, "the mesh stands for one device: the sharding can have no dimensions and no axes")
	case !s.mesh.IsMaximal() && rank != AnyRank && len(sharding.Dims) != rank:
		s.failf(diag.BadShardingRank, 0, "the sharding has %d dimensions, the tensor has %d", len(sharding.Dims), rank)
	}
}

// sdyMesh reads @name, or a mesh in place, which is the mesh at hand or gives it.
func (s *scanner) sdyMesh() {
	s.space()
	at := s.at
	if s.next("@") {
		name := s.word()
		if name == "" {
			name = s.quoted(`"`)
		}
		switch {
		case s.mesh != nil && s.mesh.Name == "":
			s.mesh = &ir.MeshDecl{Mesh: s.mesh.Mesh, Name: name}
		case s.mesh != nil && s.mesh.Name != name:
			s.failf(diag.UnknownMesh, at, "the mesh is %s, not @%s", s.mesh.FormatRef(), ir.FormatSymbol(name))
		}
		return
	}
	s.expect("mesh")
	mesh := s.meshContent()
	if s.mesh != nil && !s.mesh.Equal(&mesh) {
		s.failf(diag.BadMesh, at, "the text has another mesh than %s", s.mesh.FormatContent())
	}
	if s.mesh == nil {
		s.mesh = &ir.MeshDecl{Mesh: mesh}
	}
}

// meshContent reads <["x"=2], device_ids=[1, 0]> (specification: shardy.md section 1.1).
func (s *scanner) meshContent() (mesh subaxis.Mesh) {
	s.space()
	at := s.at
	s.expect("<")
	s.expect("[")
	s.list("]", func() { s.meshAxis(&mesh) })
	if s.next(",") {
		s.expect("device_ids=[")
		s.list("]", func() { mesh.DeviceIDs = append(mesh.DeviceIDs, s.number(64)) })
	}
	if !s.expect(">") || mesh.DeviceIDs == nil || mesh.IsMaximal() {
		return mesh
	}
	ids, ok := deviceIDs(mesh.Axes, mesh.DeviceIDs)
	if !ok {
		s.failf(diag.BadMesh, at, "%s", badDevices)
	}
	mesh.DeviceIDs = ids
	return mesh
}

func (s *scanner) meshAxis(mesh *subaxis.Mesh) {
	s.space()
	at := s.at
	name := s.quoted(`"`)
	if _, ok := mesh.Lookup(name); ok {
		s.failf(diag.DuplicateAxis, at, "mesh axis %q is given twice", name)
	}
	s.expect("=")
	size := s.number(32)
	if size < 1 {
		s.failf(diag.BadMesh, at, "mesh axis %q has size %d, must be at least 1", name, size)
	}
	mesh.Axes = append(mesh.Axes, subaxis.Axis{Name: name, Size: size})
}

func (s *scanner) sdyDimension(sharding *ir.Sharding) {
	d := ir.DimSharding{Priority: ir.NoPriority}
	s.expect("{")
	d.Axes, d.Closed = s.axes("}", `"`)
	if s.peek() == 'p' {
		s.at++
		d.Priority = int32(s.number(32))
	}
	sharding.Dims = append(sharding.Dims, d)
}

func (s *scanner) sdySet(sharding *ir.Sharding) {
	switch {
	case s.next("replicated="):
		sharding.Replicated = s.set(`"`)
	case s.next("unreduced"):
		s.next("=")
		if name := s.word(); name != "" {
			s.reduction(&sharding.Reduction, name)
		}
		sharding.Unreduced = s.set(`"`)
	default:
		s.expected(strconv.Quote("replicated=") + " or " + strconv.Quote("unreduced="))
	}
}
