package cost

import (
	"cmp"
	"slices"

	"gonum.org/v1/gonum/stat/combin"

	"autoshard/internal/diag"
	"autoshard/internal/lists"
	"autoshard/subaxis"
)

// Topology is a logical mesh laid over the network of some hardware. It is immutable and safe for concurrent use.
//
// Devices are numbered row-major, the last axis fastest. On switches, device d is chip d: neighbours share a node.
// On a torus the mesh is refined into the physical axes, again row-major: a logical axis may be one physical axis,
// several, a part of one, or any mix. The inner, contiguous part of a ring is a line; an outer part is as many
// interleaved rings as the inner part has chips, which share the links (specification: cost.md section 1.2).
//
// Where the mesh lists ids of devices, its device i is the chip that would be device DeviceIDs[i] of a mesh in order. Groups of chips
// that run along other axes of that cost what they cost there; others are routed chip by chip.
type Topology struct {
	hw       Hardware
	options  Options
	eta      Efficiency
	mesh     subaxis.Mesh
	order    order
	devices  int64
	physical []physical // of a torus, major to minor; the network between slices comes first
	axes     [][]part   // of a torus: the parts of every logical axis, major to minor
}

// physical is an axis of the torus, or the network between slices.
type physical struct {
	size int64
	wrap bool
	dcn  bool
}

// part is size chips of a physical axis, stride apart.
type part struct {
	axis   int
	stride int64
	size   int64
}

// SliceShape is the shape of the slice of a torus that a mesh runs on, with the axes that close to rings. A nil Wrap
// leaves those to the hardware's rule; an empty Shape leaves it to NewTopology.
type SliceShape struct {
	Shape []int64
	Wrap  []bool
}

// maxDevices bounds the meshes that a topology describes.
const maxDevices = 1 << 24

// NewTopology lays a mesh over the hardware's network. A torus gets the slice that clouds offer for so many chips:
// whole 4x4x4 cubes where the wrap rule asks for them, else the most compact shape; where several orders of its axes
// are possible, the one that cuts logical axes into the fewest parts. A mesh larger than the largest slice spans
// several, the fewest possible, with the major axes between them.
//
// Where the torus names its slice, that is taken, and a mesh that is a multiple of it spans several.
//
// It fails with diag.ErrInvalid for a mesh or hardware that is not valid, or where the mesh cannot be cut out of the named slice.
func NewTopology(hw Hardware, mesh subaxis.Mesh, o Options) (*Topology, error) {
	if err := hw.Validate(); err != nil {
		return nil, err
	}
	t := &Topology{hw: hw, options: o, eta: hw.efficiency(o), mesh: mesh, order: order{known: map[string]placement{}}, devices: 1}
	for _, a := range mesh.Axes {
		if a.Size < 1 {
			return nil, diag.Invalid(diag.BadMesh, diag.Position{}, "axis %q has size %d, it must be at least 1", a.Name, a.Size)
		}
		if a.Size > maxDevices || t.devices*a.Size > maxDevices {
			return nil, diag.Invalid(diag.BadMesh, diag.Position{}, "the mesh has more than %d devices", maxDevices)
		}
		t.devices *= a.Size
	}
	if hw.Torus != nil {
		return t, t.layOut(hw.Torus.Slice)
	}
	return t, nil
}

// Hardware returns the profile.
func (t *Topology) Hardware() *Hardware { return &t.hw }

// Options returns the conventions.
func (t *Topology) Options() Options { return t.options }

// Devices returns the number of devices of the mesh.
func (t *Topology) Devices() int64 { return t.devices }

// Slice returns the shape of one slice of a torus, in the order of the topology's physical axes, and the number of
// slices. It returns nil and 1 for switches.
func (t *Topology) Slice() (SliceShape, int64) {
	var s SliceShape
	count := int64(1)
	for _, p := range t.physical {
		if p.dcn {
			count = p.size
			continue
		}
		s.Shape = append(s.Shape, p.size)
		s.Wrap = append(s.Wrap, p.wrap)
	}
	return s, count
}

// layOut chooses the slice and refines the mesh into its axes.
func (t *Topology) layOut(slice SliceShape) error {
	if len(slice.Shape) > 0 {
		return t.layOutOn(slice)
	}
	torus := t.hw.Torus
	for _, count := range divisors(t.devices) {
		if count > 1 && torus.DCN == 0 {
			break
		}
		if t.devices/count > lists.Product(torus.Shape) {
			continue
		}
		for _, shape := range sliceShapes(t.devices/count, torus) {
			if t.refine(count, SliceShape{Shape: shape}) {
				return nil
			}
		}
	}
	return diag.Invalid(diag.BadMesh, diag.Position{},
		"a mesh of %d devices is no part of a %v torus of %q, and `torus.dcn` allows no second slice",
		t.devices, torus.Shape, t.hw.Name)
}

func (t *Topology) layOutOn(slice SliceShape) error {
	torus := t.hw.Torus
	if slice.Wrap != nil && len(slice.Wrap) != len(slice.Shape) {
		return diag.Invalid(diag.BadOption, diag.Position{}, "the slice has %d axes but %d wrap flags", len(slice.Shape), len(slice.Wrap))
	}
	if !fits(slice.Shape, torus.Shape) {
		return diag.Invalid(diag.BadOption, diag.Position{}, "a slice %v is no part of a %v torus of %q", slice.Shape, torus.Shape, t.hw.Name)
	}
	chips := lists.Product(slice.Shape)
	switch count := t.devices / chips; {
	case t.devices%chips != 0:
		return diag.Invalid(diag.BadOption, diag.Position{}, "a mesh of %d devices is no multiple of a slice %v", t.devices, slice.Shape)
	case count > 1 && torus.DCN == 0:
		return diag.Invalid(diag.BadOption, diag.Position{},
			"a mesh of %d devices is larger than the slice %v and hardware %q has no `torus.dcn`", t.devices, slice.Shape, t.hw.Name)
	case !t.refine(count, slice):
		return diag.Invalid(diag.BadOption, diag.Position{}, "the mesh cannot be cut out of a slice %v, leave the shape open or change it",
			slice.Shape)
	}
	return nil
}

// refine cuts the mesh out of count slices, in the order of the slice's axes that needs the fewest parts.
func (t *Topology) refine(count int64, slice SliceShape) bool {
	fewest := -1
	wrap := slice.Wrap
	if wrap == nil {
		wrap = t.hw.Torus.wraps(slice.Shape)
	}
	for _, order := range combin.Permutations(len(slice.Shape), len(slice.Shape)) {
		var axes []physical
		if count > 1 {
			axes = append(axes, physical{size: count, dcn: true})
		}
		axes = append(axes, lists.Map(order, func(i int) physical { return physical{size: slice.Shape[i], wrap: wrap[i]} })...)
		parts, ok := cut(t.mesh.Axes, axes)
		if n := countParts(parts); ok && (fewest < 0 || n < fewest) {
			fewest, t.physical, t.axes = n, axes, parts
		}
	}
	return fewest >= 0
}

// wraps applies the rule of cost.md section 1.2 to the shape of a slice.
func (t *Torus) wraps(shape []int64) []bool {
	cubes := len(shape) == len(t.Shape)
	for _, s := range shape {
		cubes = cubes && s%4 == 0
	}
	out := make([]bool, len(shape))
	for i, s := range shape {
		switch t.Wrap {
		case WrapFull:
			out[i] = s == slices.Max(t.Shape)
		case WrapCubes:
			out[i] = cubes
		}
	}
	return out
}

// cut refines a mesh into physical axes, both row-major. It fails where their sizes have no common refinement.
func cut(mesh []subaxis.Axis, axes []physical) ([][]part, bool) {
	out := make([][]part, len(mesh))
	p, left, stride := len(axes), int64(1), int64(1)
	for i := len(mesh) - 1; i >= 0; i-- {
		for need := mesh[i].Size; need > 1; {
			for left == 1 {
				if p--; p < 0 {
					return nil, false
				}
				left, stride = axes[p].size, 1
			}
			n := subaxis.GCD(need, left)
			if n == 1 {
				return nil, false
			}
			out[i] = append(out[i], part{p, stride, n})
			need, left, stride = need/n, left/n, stride*n
		}
		slices.Reverse(out[i])
	}
	return out, true
}

func countParts(axes [][]part) int {
	n := 0
	for _, parts := range axes {
		n += len(parts)
	}
	return n
}

// sliceShapes returns the shapes of n chips that a torus offers, the likeliest first.
func sliceShapes(n int64, torus *Torus) [][]int64 {
	var out [][]int64
	var extend func(shape []int64, left int64)
	extend = func(shape []int64, left int64) {
		if len(shape) == len(torus.Shape)-1 {
			if shape = append(slices.Clone(shape), left); slices.IsSorted(shape) && fits(shape, torus.Shape) {
				out = append(out, shape)
			}
			return
		}
		for _, d := range divisors(left) {
			if d <= slices.Max(torus.Shape) && (len(shape) == 0 || d >= shape[len(shape)-1]) {
				extend(append(slices.Clone(shape), d), left/d)
			}
		}
	}
	extend(nil, n)
	cubes := func(shape []int64) int {
		if torus.Wrap != WrapCubes || slices.ContainsFunc(shape, func(s int64) bool { return s%4 != 0 }) {
			return 1
		}
		return 0
	}
	slices.SortFunc(out, func(a, b []int64) int {
		if c := cmp.Compare(cubes(a), cubes(b)); c != 0 {
			return c
		}
		for i := len(a) - 1; i >= 0; i-- {
			if a[i] != b[i] {
				return cmp.Compare(a[i], b[i])
			}
		}
		return 0
	})
	return out
}

// SmallestSlice returns the smallest power of two of chips whose memories hold the bytes, with the shape of the slice
// that NewTopology takes for it on a torus, or nil on switches or beyond the largest slice. Bytes must be at most
// 2^24 times the memory of a chip.
func (h *Hardware) SmallestSlice(bytes float64) (chips int64, shape []int64) {
	chips = 1
	for float64(chips)*h.HBMBytes < bytes && chips < maxDevices {
		chips *= 2
	}
	if h.Torus == nil {
		return chips, nil
	}
	if shapes := sliceShapes(chips, h.Torus); len(shapes) > 0 {
		return chips, shapes[0]
	}
	return chips, nil
}

// fits says whether a slice can be cut out of the largest one, its axes in any order.
func fits(shape, largest []int64) bool {
	if len(shape) > len(largest) || slices.ContainsFunc(shape, func(s int64) bool { return s < 1 }) {
		return false
	}
	a, b := slices.Clone(shape), slices.Clone(largest)
	slices.Sort(a)
	slices.Sort(b)
	b = b[len(b)-len(a):]
	for i := range a {
		if a[i] > b[i] {
			return false
		}
	}
	return true
}

// divisors returns all divisors in ascending order.
func divisors(n int64) []int64 {
	var low, high []int64
	for d := int64(1); d*d <= n; d++ {
		if n%d != 0 {
			continue
		}
		low = append(low, d)
		if d*d != n {
			high = append(high, n/d)
		}
	}
	slices.Reverse(high)
	return append(low, high...)
}
