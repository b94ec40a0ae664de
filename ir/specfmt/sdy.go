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
// dimensions alone.
func (s *scanner) sdy(rank int) (l Layout, err error) {
	short := true
	if s.next("#sdy.sharding"); s.next("<") {
		short = false
		if err := s.sdyMesh(); err != nil {
			return l, err
		}
		if err := s.expect(","); err != nil {
			return l, err
		}
	}
	if s.mesh == nil {
		return l, s.errorf(diag.BadMesh, s.at, "a mesh is needed to read this sharding")
	}
	l.Mesh = s.mesh
	if err := s.expect("["); err != nil {
		return l, err
	}
	if err := s.list("]", func() error { return s.sdyDimension(&l.Sharding) }); err != nil {
		return l, err
	}
	for s.next(",") {
		if err := s.sdySet(&l.Sharding); err != nil {
			return l, err
		}
	}
	if !short {
		if err := s.expect(">"); err != nil {
			return l, err
		}
	}
	if err := s.end(); err != nil {
		return l, err
	}
	return l, s.sdyRank(&l.Sharding, rank)
}

// sdyRank checks the number of dimensions: Shardy leaves none out.
func (s *scanner) sdyRank(sharding *ir.Sharding, rank int) error {
	plain := len(sharding.Dims)+len(sharding.Replicated)+len(sharding.Unreduced) == 0
	switch {
	case s.mesh.IsMaximal() && !plain:
		return s.errorf(diag.BadSharding, 0, "the mesh stands for one device: the sharding can have no dimensions and no axes")
	case s.mesh.IsMaximal(), rank == AnyRank, len(sharding.Dims) == rank:
		return nil
	}
	return s.errorf(diag.BadShardingRank, 0, "the sharding has %d dimensions, the tensor has %d", len(sharding.Dims), rank)
}

// sdyMesh reads @name, or a mesh in place, which is the mesh at hand or gives it.
func (s *scanner) sdyMesh() error {
	s.space()
	at := s.at
	if s.next("@") {
		name := s.word()
		if name == "" {
			var err error
			if name, err = s.quoted(`"`); err != nil {
				return err
			}
		}
		if s.mesh != nil && s.mesh.Name != name {
			return s.errorf(diag.UnknownMesh, at, "the mesh is %s, not @%s", s.mesh.FormatRef(), ir.FormatSymbol(name))
		}
		return nil
	}
	if err := s.expect("mesh"); err != nil {
		return err
	}
	mesh, err := s.meshContent()
	if err != nil {
		return err
	}
	if s.mesh != nil && !s.mesh.Equal(&mesh) {
		return s.errorf(diag.BadMesh, at, "the text has another mesh than %s", s.mesh.FormatContent())
	}
	if s.mesh == nil {
		s.mesh = &ir.MeshDecl{Mesh: mesh}
	}
	return nil
}

// meshContent reads <["x"=2], device_ids=[1, 0]> (specification: shardy.md section 1.1).
func (s *scanner) meshContent() (mesh subaxis.Mesh, err error) {
	s.space()
	at := s.at
	if err := s.expect("<"); err != nil {
		return mesh, err
	}
	if err := s.expect("["); err != nil {
		return mesh, err
	}
	if err := s.list("]", func() error { return s.meshAxis(&mesh) }); err != nil {
		return mesh, err
	}
	if s.next(",") {
		if err := s.expect("device_ids=["); err != nil {
			return mesh, err
		}
		err := s.list("]", func() error {
			id, err := s.number(64)
			mesh.DeviceIDs = append(mesh.DeviceIDs, id)
			return err
		})
		if err != nil {
			return mesh, err
		}
	}
	if err := s.expect(">"); err != nil {
		return mesh, err
	}
	if mesh.DeviceIDs == nil || mesh.IsMaximal() {
		return mesh, nil
	}
	ids, ok := deviceIDs(mesh.Axes, mesh.DeviceIDs)
	if !ok {
		return mesh, s.errorf(diag.BadMesh, at, "%s", badDevices)
	}
	mesh.DeviceIDs = ids
	return mesh, nil
}

func (s *scanner) meshAxis(mesh *subaxis.Mesh) error {
	s.space()
	at := s.at
	name, err := s.quoted(`"`)
	if err != nil {
		return err
	}
	if _, ok := mesh.Lookup(name); ok {
		return s.errorf(diag.DuplicateAxis, at, "mesh axis %q is given twice", name)
	}
	if err := s.expect("="); err != nil {
		return err
	}
	size, err := s.number(32)
	if err == nil && size < 1 {
		err = s.errorf(diag.BadMesh, at, "mesh axis %q has size %d, must be at least 1", name, size)
	}
	mesh.Axes = append(mesh.Axes, subaxis.Axis{Name: name, Size: size})
	return err
}

func (s *scanner) sdyDimension(sharding *ir.Sharding) (err error) {
	d := ir.DimSharding{Priority: ir.NoPriority}
	if err := s.expect("{"); err != nil {
		return err
	}
	if d.Axes, d.Closed, err = s.axes("}", `"`); err != nil {
		return err
	}
	if s.peek() == 'p' {
		s.at++
		n, err := s.number(32)
		if err != nil {
			return err
		}
		d.Priority = int32(n)
	}
	sharding.Dims = append(sharding.Dims, d)
	return nil
}

func (s *scanner) sdySet(sharding *ir.Sharding) (err error) {
	switch {
	case s.next("replicated="):
		sharding.Replicated, err = s.set(`"`)
	case s.next("unreduced"):
		s.next("=")
		if name := s.word(); name != "" {
			var ok bool
			if sharding.Reduction, ok = ir.ParseReduction(name); !ok {
				s.at -= len(name)
				return s.expected("sum, max or min")
			}
		}
		sharding.Unreduced, err = s.set(`"`)
	default:
		err = s.expected(strconv.Quote("replicated=") + " or " + strconv.Quote("unreduced="))
	}
	return err
}
