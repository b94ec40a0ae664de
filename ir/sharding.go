package ir

import (
	"encoding/binary"
	"slices"
	"strconv"
	"strings"

	"autoshard/internal/lists"
	"autoshard/subaxis"
)

// ShardAxes is a list of axes and sub-axes, major to minor.
type ShardAxes = []subaxis.Ref

// NoPriority is the priority of a dimension that names none; it counts as 0.
const NoPriority = int32(-1)

// DimSharding is the sharding of one dimension: axes from major to minor; a closed one admits no more of them.
type DimSharding struct {
	Axes     ShardAxes
	Closed   bool
	Priority int32 // NoPriority, or the user's priority; 0 is the highest
}

// Reduction says how the partial values along unreduced axes combine.
type Reduction uint8

// The reductions of unreduced axes.
const (
	ReduceSum Reduction = iota
	ReduceMax
	ReduceMin
)

// String returns sum, max or min.
func (r Reduction) String() string { return [...]string{"sum", "max", "min"}[r] }

// Combiner returns the op that makes of two partial values their combination.
func (r Reduction) Combiner() Kind { return [...]Kind{OpAdd, OpMaximum, OpMinimum}[r] }

// ParseReduction returns the reduction that String names so.
func ParseReduction(name string) (Reduction, bool) {
	for r := range ReduceMin + 1 {
		if r.String() == name {
			return r, true
		}
	}
	return ReduceSum, false
}

// Sharding says how a tensor is laid out over a mesh (specification: shardy.md section 1.4).
type Sharding struct {
	Mesh       MeshID
	Dims       []DimSharding
	Replicated ShardAxes // axes that may not shard any dimension, in mesh order
	Unreduced  ShardAxes // axes along which each device holds a partial value, in mesh order
	Reduction  Reduction
}

type shardingTable struct {
	rows  []Sharding
	index map[string]ShardingID
	key   []byte
}

func (t *shardingTable) init() {
	t.rows = make([]Sharding, 1)
	t.index = map[string]ShardingID{}
}

// InternSharding returns the id of a sharding. The slices must not be changed afterwards.
func (m *Module) InternSharding(s Sharding) ShardingID {
	t := &m.shardings
	t.key = appendShardingKey(t.key[:0], &s)
	if id, ok := t.index[string(t.key)]; ok {
		return id
	}
	t.rows = append(t.rows, s)
	id := ShardingID(len(t.rows) - 1)
	t.index[string(t.key)] = id
	return id
}

// FindSharding returns the id of a sharding that was interned before, 0 if it was not.
func (m *Module) FindSharding(s *Sharding) ShardingID {
	t := &m.shardings
	t.key = appendShardingKey(t.key[:0], s)
	return t.index[string(t.key)]
}

func appendShardingKey(b []byte, s *Sharding) []byte {
	b = binary.AppendVarint(b, int64(s.Mesh))
	b = append(b, byte(s.Reduction))
	b = appendAxesKey(b, s.Replicated)
	b = appendAxesKey(b, s.Unreduced)
	for _, d := range s.Dims {
		closed := byte(0)
		if d.Closed {
			closed = 1
		}
		b = append(b, closed)
		b = binary.AppendVarint(b, int64(d.Priority))
		b = appendAxesKey(b, d.Axes)
	}
	return b
}

func appendAxesKey(b []byte, axes ShardAxes) []byte {
	b = binary.AppendVarint(b, int64(len(axes)))
	for _, r := range axes {
		b = binary.AppendVarint(b, int64(r.Axis))
		b = binary.AppendVarint(b, int64(r.Pre))
		b = binary.AppendVarint(b, int64(r.Size))
	}
	return b
}

// ShardingOf returns the content of a sharding. It must not be changed.
func (m *Module) ShardingOf(id ShardingID) *Sharding { return &m.shardings.rows[id] }

// Replicated returns the sharding of that rank without any axes, closed or open.
func (m *Module) Replicated(mesh MeshID, rank int, closed bool) ShardingID {
	dims := slices.Repeat([]DimSharding{{Closed: closed, Priority: NoPriority}}, rank)
	return m.InternSharding(Sharding{Mesh: mesh, Dims: dims})
}

// Clone returns a deep copy that may be changed.
func (s *Sharding) Clone() Sharding {
	c := *s
	c.Dims = slices.Clone(s.Dims)
	for i := range c.Dims {
		c.Dims[i].Axes = slices.Clone(c.Dims[i].Axes)
	}
	c.Replicated = slices.Clone(s.Replicated)
	c.Unreduced = slices.Clone(s.Unreduced)
	return c
}

// IsReplicated says whether no dimension is sharded. Unreduced axes do not matter.
func (s *Sharding) IsReplicated() bool {
	return !slices.ContainsFunc(s.Dims, func(d DimSharding) bool { return len(d.Axes) > 0 })
}

// Equivalent says whether two shardings lay a tensor out alike, open or closed; none, 0, counts as replicated on any mesh
// (specification: shardy.md section 1.4).
func (m *Module) Equivalent(a, b ShardingID) bool {
	whole := func(id ShardingID) bool {
		return id == 0 || m.ShardingOf(id).IsReplicated() && len(m.ShardingOf(id).Unreduced) == 0
	}
	if a == b || whole(a) || whole(b) {
		return a == b || whole(a) && whole(b)
	}
	s, t := m.ShardingOf(a), m.ShardingOf(b)
	return s.Mesh == t.Mesh && slices.Equal(s.Unreduced, t.Unreduced) &&
		slices.EqualFunc(s.Dims, t.Dims, func(x, y DimSharding) bool { return slices.Equal(x.Axes, y.Axes) })
}

// Shards returns into how many blocks dimension d is cut.
func (s *Sharding) Shards(d int) int64 { return subaxis.Product(s.Dims[d].Axes) }

// LocalDims returns the shape of one device's block of a tensor of that shape: each dimension is divided by its
// number of shards, rounded up. Dynamic dimensions stay.
func (s *Sharding) LocalDims(dims []int64) []int64 {
	out := slices.Clone(dims)
	for i := range out {
		if i < len(s.Dims) && out[i] != Dynamic {
			n := s.Shards(i)
			out[i] = (out[i] + n - 1) / n
		}
	}
	return out
}

// Uneven says whether some tensor is cut by axes that do not divide it.
func (m *Module) Uneven() bool {
	for v := ValueID(1); int(v) < m.NumValues(); v++ {
		id, t := m.Sharding(v), m.ValueType(v)
		if id == 0 || t.Kind != TensorKind {
			continue
		}
		s := m.ShardingOf(id)
		for d := range s.Dims {
			if t.Dims[d] != Dynamic && t.Dims[d]%s.Shards(d) != 0 {
				return true
			}
		}
	}
	return false
}

// FormatSharding returns the text of a sharding as Shardy prints it, without the #sdy.sharding prefix.
func (m *Module) FormatSharding(id ShardingID) string {
	s := m.ShardingOf(id)
	mesh := &m.meshes[s.Mesh]
	var b strings.Builder
	dims := lists.Joined(s.Dims, func(d DimSharding) string { return d.Format(&mesh.Mesh) })
	b.WriteString("<" + mesh.FormatRef() + ", [" + dims + "]")
	if len(s.Replicated) > 0 {
		b.WriteString(", replicated={" + mesh.FormatList(s.Replicated) + "}")
	}
	if len(s.Unreduced) > 0 {
		b.WriteString(", unreduced=")
		if s.Reduction != ReduceSum {
			b.WriteString(s.Reduction.String())
		}
		b.WriteString("{" + mesh.FormatList(s.Unreduced) + "}")
	}
	b.WriteString(">")
	return b.String()
}

// Format returns the text of a dimension, such as {"x", ?}p1.
func (d *DimSharding) Format(mesh *subaxis.Mesh) string {
	s := "{" + mesh.FormatList(d.Axes)
	if !d.Closed {
		if len(d.Axes) > 0 {
			s += ", "
		}
		s += "?"
	}
	s += "}"
	if d.Priority != NoPriority {
		s += "p" + strconv.Itoa(int(d.Priority))
	}
	return s
}

// FormatRef returns how shardings name the mesh: @name, or its content where it has none.
func (d *MeshDecl) FormatRef() string {
	if d.Name != "" {
		return "@" + FormatSymbol(d.Name)
	}
	return "mesh" + d.FormatContent()
}

// FormatContent returns the axes and device ids, such as <["x"=2, "y"=4]>.
func (d *MeshDecl) FormatContent() string {
	text := "<[" + lists.Joined(d.Axes, subaxis.Axis.Quoted) + "]"
	if d.DeviceIDs != nil {
		text += ", device_ids=[" + lists.Joined(d.DeviceIDs, func(id int64) string { return strconv.FormatInt(id, 10) }) + "]"
	}
	return text + ">"
}

// FormatSymbol returns a symbol name as it stands behind the @: quoted unless it is a bare identifier.
func FormatSymbol(name string) string {
	for i, c := range []byte(name) {
		letter := c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c == '_'
		if !letter && (i == 0 || c != '$' && c != '.' && (c < '0' || c > '9')) {
			return subaxis.Quote(name)
		}
	}
	if name == "" {
		return `""`
	}
	return name
}
