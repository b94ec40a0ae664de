// Package subaxis is the algebra of mesh axes and their parts.
//
// A mesh is an ordered list of named axes. An axis of size n can be split: the sub-axis x:(m)k is the middle
// dimension when n is reshaped to [m, k, n/(m*k)]. A [Ref] names an axis or a sub-axis by its pre-size m and
// its size k; a full axis is the part with pre-size 1 and the axis's own size, so that no operation needs a
// special case for it. Shardings are lists of refs, major to minor.
//
//	x := subaxis.Ref{Axis: 0, Pre: 1, Size: 2} // "x":(1)2 where x has size 4
//	y := subaxis.Ref{Axis: 0, Pre: 2, Size: 2} // "x":(2)2
//	x.Overlaps(y)                              // false
//	x.CanMerge(y)                              // true: together they are "x"
//
// Specification: shardy.md sections 1.1 and 1.2.
package subaxis

import (
	"slices"
	"strconv"

	"autoshard/internal/lists"
)

// Axis is a named dimension of a mesh. Size is at least 1.
type Axis struct {
	Name string `json:"name"` // unique in the mesh
	Size int64  `json:"size"` // number of devices along it
}

// String writes an axis as options do: data=4.
func (a Axis) String() string { return a.Name + "=" + strconv.FormatInt(a.Size, 10) }

// Quoted writes an axis as MLIR does: "data"=4.
func (a Axis) Quoted() string { return Quote(a.Name) + "=" + strconv.FormatInt(a.Size, 10) }

// Mesh is an ordered list of axes over devices. DeviceIDs is nil where device i of the row-major order has id i.
// A mesh without axes and with one device id is maximal: it stands for that device alone.
type Mesh struct {
	Axes      []Axis
	DeviceIDs []int64
}

// Devices returns the number of devices: the product of the axis sizes, 1 without axes.
func (m *Mesh) Devices() int64 {
	n := int64(1)
	for _, a := range m.Axes {
		n *= a.Size
	}
	return n
}

// IsMaximal says whether the mesh stands for one explicit device.
func (m *Mesh) IsMaximal() bool { return len(m.Axes) == 0 && len(m.DeviceIDs) == 1 }

// IsEmpty says whether the mesh has neither axes nor devices: it is compatible with every other mesh.
func (m *Mesh) IsEmpty() bool { return len(m.Axes) == 0 && len(m.DeviceIDs) == 0 }

// Lookup returns the full axis of that name.
func (m *Mesh) Lookup(name string) (Ref, bool) {
	for i, a := range m.Axes {
		if a.Name == name {
			return m.Full(i), true
		}
	}
	return Ref{}, false
}

// Full returns axis i as a whole.
func (m *Mesh) Full(i int) Ref { return Ref{Axis: int32(i), Pre: 1, Size: int32(m.Axes[i].Size)} }

// All returns all axes in mesh order: the numbers along them are the places of the devices.
func (m *Mesh) All() []Ref {
	return lists.Of(len(m.Axes), m.Full)
}

// IsFull says whether the ref is a whole axis of the mesh.
func (m *Mesh) IsFull(r Ref) bool { return r.Pre == 1 && int64(r.Size) == m.Axes[r.Axis].Size }

// Equal compares axes and device ids.
func (m *Mesh) Equal(o *Mesh) bool {
	return slices.Equal(m.Axes, o.Axes) && slices.Equal(m.DeviceIDs, o.DeviceIDs)
}

// Format returns the ref as Shardy prints it: "x" or "x":(2)4, with the quotes.
func (m *Mesh) Format(r Ref) string {
	name := Quote(m.Axes[r.Axis].Name)
	if m.IsFull(r) {
		return name
	}
	return name + ":(" + strconv.Itoa(int(r.Pre)) + ")" + strconv.Itoa(int(r.Size))
}

// FormatList returns the refs separated by ", ".
func (m *Mesh) FormatList(refs []Ref) string {
	return lists.Joined(refs, m.Format)
}

// Coordinate returns the position of a device along a ref. Device is the index in row-major order of the axes
// (the logical device, before DeviceIDs is applied).
func (m *Mesh) Coordinate(device int64, r Ref) int64 { return device / m.Stride(r) % int64(r.Size) }

// Stride returns the distance of neighbours along a ref in the row-major order of devices.
func (m *Mesh) Stride(r Ref) int64 {
	stride := m.Axes[r.Axis].Size / r.Next()
	for _, minor := range m.Axes[r.Axis+1:] {
		stride *= minor.Size
	}
	return stride
}

// ShardIndex returns the position of a device in the row-major order of the refs, major to minor: the number of
// the block it holds of a dimension that is sharded by them.
func (m *Mesh) ShardIndex(device int64, refs []Ref) int64 {
	index := int64(0)
	for _, r := range refs {
		index = index*int64(r.Size) + m.Coordinate(device, r)
	}
	return index
}

// DeviceID returns the id of a logical device.
func (m *Mesh) DeviceID(logical int64) int64 {
	if m.DeviceIDs != nil {
		return m.DeviceIDs[logical]
	}
	return logical
}

// Groups partitions the logical devices into groups that differ only in their coordinates along refs. Inside a
// group, devices are ordered by ShardIndex over refs; groups are ordered by their first device.
func (m *Mesh) Groups(refs []Ref) [][]int64 {
	n := m.Devices()
	size := Product(refs)
	first := map[string]int{}
	var groups [][]int64
	key := make([]byte, 0, 64)
	rest := m.complement(refs)
	for d := int64(0); d < n; d++ {
		key = key[:0]
		for _, r := range rest {
			key = strconv.AppendInt(key, m.Coordinate(d, r), 10)
			key = append(key, ',')
		}
		g, ok := first[string(key)]
		if !ok {
			g = len(groups)
			first[string(key)] = g
			groups = append(groups, make([]int64, size))
		}
		groups[g][m.ShardIndex(d, refs)] = d
	}
	return groups
}

// complement returns the parts of the mesh that refs leave out, in mesh order.
func (m *Mesh) complement(refs []Ref) []Ref {
	return Difference(m.All(), refs)
}

// Quote returns a name as MLIR writes it: in quotes, with quotes and bytes that are not printable ASCII as \XX.
func Quote(name string) string { return string(AppendQuoted(nil, name)) }

// AppendQuoted appends what Quote returns.
func AppendQuoted(out []byte, name string) []byte {
	const digits = "0123456789ABCDEF"
	out = append(out, '"')
	for _, c := range []byte(name) {
		switch {
		case c == '\\':
			out = append(out, `\\`...)
		case c < 0x20 || c > 0x7E || c == '"':
			out = append(out, '\\', digits[c>>4], digits[c&15])
		default:
			out = append(out, c)
		}
	}
	return append(out, '"')
}
