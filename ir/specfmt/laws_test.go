package specfmt_test

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"autoshard/internal/diag"
	"autoshard/ir"
	"autoshard/ir/specfmt"
	"autoshard/subaxis"
)

// drawLayout makes a layout over a mesh of at most 64 devices, with parts of axes in any order.
func drawLayout(t *rapid.T) specfmt.Layout {
	mesh := &ir.MeshDecl{Name: "mesh"}
	for i := range 4 - rapid.IntRange(1, 3).Draw(t, "fewer axes") {
		size := rapid.SampledFrom([]int64{2, 4, 3, 1}).Draw(t, "size")
		mesh.Axes = append(mesh.Axes, subaxis.Axis{Name: string(rune('a' + i)), Size: size})
	}
	if rapid.Bool().Draw(t, "device ids") {
		ids := make([]int64, mesh.Devices())
		for i := range ids {
			ids[i] = int64(i)
		}
		if ids = rapid.Permutation(ids).Draw(t, "ids"); !slices.IsSorted(ids) {
			mesh.DeviceIDs = ids
		}
	}
	l := specfmt.Layout{Mesh: mesh}
	rank := rapid.SampledFrom([]int{1, 2, 0, 3}).Draw(t, "rank")
	lists := drawParts(t, &mesh.Mesh, rank+2)
	l.Sharding.Replicated, l.Sharding.Unreduced = subaxis.SortMerge(lists[rank]), subaxis.SortMerge(lists[rank+1])
	if len(l.Sharding.Unreduced) > 0 {
		l.Sharding.Reduction = ir.Reduction(rapid.IntRange(0, 2).Draw(t, "reduction"))
	}
	for _, axes := range lists[:rank] {
		d := ir.DimSharding{Closed: rapid.Bool().Draw(t, "closed"), Priority: ir.NoPriority}
		if len(axes) > 0 || !d.Closed {
			d.Priority = rapid.Int32Range(ir.NoPriority, 2).Draw(t, "priority")
		}
		for _, r := range axes {
			d.Axes = subaxis.AppendMerge(d.Axes, r)
		}
		l.Sharding.Dims = append(l.Sharding.Dims, d)
	}
	return l
}

// drawParts cuts the axes into parts and deals them, shuffled, to lists; few go to none.
func drawParts(t *rapid.T, mesh *subaxis.Mesh, lists int) [][]subaxis.Ref {
	var parts []subaxis.Ref
	for i := range mesh.Axes {
		if mesh.Axes[i].Size == 4 && rapid.Bool().Draw(t, "cut") {
			parts = append(parts, subaxis.Ref{Axis: int32(i), Pre: 1, Size: 2}, subaxis.Ref{Axis: int32(i), Pre: 2, Size: 2})
		} else {
			parts = append(parts, mesh.Full(i))
		}
	}
	out := make([][]subaxis.Ref, lists)
	for _, p := range rapid.Permutation(parts).Draw(t, "parts") {
		if l := rapid.IntRange(0, lists).Draw(t, "list"); l < lists {
			out[l] = append(out[l], p)
		}
	}
	return out
}

// layouts runs a check on many layouts: rapid alone draws too few for the rare ones.
func layouts(t *testing.T, check func(*rapid.T, *specfmt.Layout)) {
	t.Helper()
	rapid.Check(t, func(t *rapid.T) {
		for range 10 {
			l := drawLayout(t)
			check(t, &l)
		}
	})
}

// blocks returns what a layout puts on each device, by device id: the block of each dimension, and the group of
// devices whose partial values add up.
func blocks(l *specfmt.Layout) map[int64]string {
	out := map[int64]string{}
	sums := l.Mesh.Groups(l.Sharding.Unreduced)
	group := map[int64][]int64{}
	for _, g := range sums {
		var ids []int64
		for _, d := range g {
			ids = append(ids, l.Mesh.DeviceID(d))
		}
		slices.Sort(ids)
		for _, d := range g {
			group[d] = ids
		}
	}
	for d := range l.Mesh.Devices() {
		var b strings.Builder
		for i, dim := range l.Sharding.Dims {
			fmt.Fprintf(&b, "%d of %d, ", l.Mesh.ShardIndex(d, dim.Axes), l.Sharding.Shards(i))
		}
		fmt.Fprintf(&b, "partial with %v, manual %d", group[d], l.Mesh.ShardIndex(d, l.Manual))
		out[l.Mesh.DeviceID(d)] = b.String()
	}
	return out
}

// Each form, read back, puts the same block on every device, or says that it cannot; then the refined mesh can.
func TestRoundTrips(t *testing.T) {
	for f := specfmt.Sdy; f <= specfmt.GSPMD; f++ {
		t.Run(f.String(), func(t *testing.T) {
			said, refused := 0, 0
			layouts(t, func(t *rapid.T, l *specfmt.Layout) {
				text, _, err := specfmt.Format(f, l)
				if err != nil {
					refused++
					checkRefined(t, f, l, err)
					return
				}
				said++
				checkRead(t, f, l, text)
			})
			if said == 0 || refused == 0 && (f == specfmt.PartitionSpec || f == specfmt.DTensor) {
				t.Errorf("%d layouts are expressible, %d are not: the test shows nothing", said, refused)
			}
		})
	}
}

func checkRead(t *rapid.T, f specfmt.Form, l *specfmt.Layout, text string) {
	if got := specfmt.FormOf(" " + text); got != f && len(l.Sharding.Dims) > 0 {
		t.Fatalf("%s is taken for a text of the form %s, not %s", text, got, f)
	}
	back, _, err := specfmt.Parse(f, l.Mesh, len(l.Sharding.Dims), text, diag.Position{})
	if err != nil {
		t.Fatalf("%s: %v", text, err)
	}
	if d := cmp.Diff(blocks(l), blocks(&back)); d != "" {
		t.Fatalf("%s reads back with other blocks: %s", text, d)
	}
	if again, _, err := specfmt.Format(f, &back); err != nil || again != text {
		t.Fatalf("%s reads back as %s, %v", text, again, err)
	}
}

func checkRefined(t *rapid.T, f specfmt.Form, l *specfmt.Layout, err error) {
	refined, ok := specfmt.Refine(l)
	if !ok || !errors.Is(err, diag.ErrUnsupported) {
		t.Fatalf("no refined mesh: %v", err)
	}
	if d := cmp.Diff(blocks(l), blocks(&refined)); d != "" {
		t.Fatalf("the refined mesh has other blocks: %s", d)
	}
	text, _, e := specfmt.Format(f, &refined)
	notes := diag.Diagnostics(err)[0].Notes
	if e != nil || len(notes) != 1 || !strings.HasSuffix(notes[0].Message, " it is "+text) {
		t.Fatalf("%v: over the refined mesh it is %s, %v, the note is %v", err, text, e, notes)
	}
	checkRead(t, f, &refined, text)
}

// What a form leaves out is said, and only that.
func TestDropped(t *testing.T) {
	layouts(t, func(t *rapid.T, l *specfmt.Layout) {
		f := specfmt.Form(rapid.IntRange(0, 3).Draw(t, "form"))
		text, dropped, err := specfmt.Format(f, l)
		if err != nil {
			return
		}
		back, _, err := specfmt.Parse(f, l.Mesh, len(l.Sharding.Dims), text, diag.Position{})
		if err != nil {
			t.Fatal(err)
		}
		all := strings.Join(dropped, "\n")
		var open, priority bool
		for i, d := range l.Sharding.Dims {
			open = open || d.Closed != back.Sharding.Dims[i].Closed
			priority = priority || d.Priority != back.Sharding.Dims[i].Priority
		}
		for word, lost := range map[string]bool{
			"open dimensions": open,
			"priorities":      priority,
			"replicated axes": !slices.Equal(l.Sharding.Replicated, back.Sharding.Replicated),
			"the reduction":   l.Sharding.Reduction != back.Sharding.Reduction,
		} {
			if lost != strings.Contains(all, word) {
				t.Fatalf("%s: lost %s: %v, said: %q", text, word, lost, all)
			}
		}
	})
}

// The sdy form and the notation lose nothing.
func TestLossless(t *testing.T) {
	layouts(t, func(t *rapid.T, l *specfmt.Layout) {
		m := ir.NewModule()
		s := l.Sharding
		s.Mesh = m.AddMesh("mesh", l.Mesh.Mesh, nil, 0)
		id := m.InternSharding(s)
		for f, text := range map[specfmt.Form]string{specfmt.Sdy: m.FormatSharding(id), specfmt.PartitionSpec: specfmt.Notation(m, id)} {
			back, _, err := specfmt.Parse(f, m.Mesh(s.Mesh), len(s.Dims), text, diag.Position{})
			back.Sharding.Mesh = s.Mesh
			if err != nil || m.InternSharding(back.Sharding) != id {
				t.Fatalf("%s reads back as %v, %v", text, back.Sharding, err)
			}
		}
	})
}

// The devices of a tiling are those that its text lists or computes: iota, reshape, transpose, tile by tile.
func TestTilesByDefinition(t *testing.T) {
	layouts(t, func(t *rapid.T, l *specfmt.Layout) {
		text, _, err := specfmt.Format(specfmt.GSPMD, l)
		if err != nil {
			t.Fatal(err)
		}
		if !strings.HasPrefix(text, "{devices=[") {
			for i := range l.Sharding.Dims {
				if l.Sharding.Shards(i) > 1 {
					t.Fatalf("%s says nothing of dimension %d", text, i)
				}
			}
			return
		}
		dims, devices := expand(t, text)
		for tile, device := range devices {
			logical := int64(device)
			if l.Mesh.DeviceIDs != nil {
				logical = int64(slices.Index(l.Mesh.DeviceIDs, int64(device)))
			}
			rest := tile
			for i := len(dims) - 1; i >= 0; i-- {
				block := rest % dims[i]
				rest /= dims[i]
				if i < len(l.Sharding.Dims) && int64(block) != l.Mesh.ShardIndex(logical, l.Sharding.Dims[i].Axes) {
					t.Fatalf("%s: tile %d on device %d is block %d of dimension %d, not %d", text, tile, device, block, i,
						l.Mesh.ShardIndex(logical, l.Sharding.Dims[i].Axes))
				}
			}
		}
	})
}

// expand evaluates {devices=[…]<=[…]T(…) …} in the plainest way: by walking over all coordinates.
func expand(t *rapid.T, text string) (dims, devices []int) {
	head, rest, _ := strings.Cut(strings.Trim(strings.TrimPrefix(text, "{devices="), "{}"), "]")
	dims = ints(t, strings.Trim(head, "["))
	rest, _, _ = strings.Cut(rest, " ")
	iota, ok := strings.CutPrefix(rest, "<=[")
	if !ok {
		return dims, ints(t, rest)
	}
	shapeText, transpose, _ := strings.Cut(iota, "]")
	shape := ints(t, shapeText)
	perm := ints(t, strings.Trim(transpose, "T()"))
	if transpose == "" {
		perm = []int{0}
	}
	at := make([]int, len(shape)) // coordinates in the transposed array
	for {
		device := 0
		for axis, size := range shape {
			device = device*size + at[slices.Index(perm, axis)]
		}
		devices = append(devices, device)
		i := len(at) - 1
		for ; i >= 0; i-- {
			if at[i]++; at[i] < shape[perm[i]] {
				break
			}
			at[i] = 0
		}
		if i < 0 {
			return dims, devices
		}
	}
}

func ints(t *rapid.T, text string) (out []int) {
	if text == "" {
		return nil
	}
	for part := range strings.SplitSeq(text, ",") {
		var n int
		if _, err := fmt.Sscan(part, &n); err != nil {
			t.Fatalf("%q: %v", text, err)
		}
		out = append(out, n)
	}
	return out
}

// Placements mean what PyTorch does: cut by the first axis, then each piece by the next, where a strided shard first
// sees its dimension as runs and takes its share of each.
func TestPlacementsByDefinition(t *testing.T) {
	layouts(t, func(t *rapid.T, l *specfmt.Layout) {
		text, _, err := specfmt.Format(specfmt.DTensor, l)
		if err != nil {
			return
		}
		placements := strings.Split(strings.NewReplacer("[", "", "]", "", ", split", " split").Replace(text), ", ")
		for logical := range l.Mesh.Devices() {
			for d := range l.Sharding.Dims {
				size := int(l.Mesh.Devices()) * 2
				rows := make([]int, size)
				for i := range rows {
					rows[i] = i
				}
				for axis, p := range placements {
					var dim, runs int
					if n, _ := fmt.Sscanf(p, "Shard(%d)", &dim); n == 1 {
						runs = 1
					} else if n, _ := fmt.Sscanf(p, "_StridedShard(%d split_factor=%d)", &dim, &runs); n != 2 {
						continue
					}
					if dim == d {
						rows = takeShare(rows, runs, int(l.Mesh.Axes[axis].Size), int(l.Mesh.Coordinate(logical, l.Mesh.Full(axis))))
					}
				}
				block := size / int(l.Sharding.Shards(d))
				first := block * int(l.Mesh.ShardIndex(logical, l.Sharding.Dims[d].Axes))
				if len(rows) != block || rows[0] != first || !slices.IsSorted(rows) || rows[len(rows)-1] != first+block-1 {
					t.Fatalf("%s: device %d holds %v of dimension %d, not the %d from %d on", text, logical, rows, d, block, first)
				}
			}
		}
	})
}

// takeShare returns the share of one of n devices of each of the runs.
func takeShare(rows []int, runs, n, device int) (out []int) {
	run := len(rows) / runs
	share := run / n
	for i := range runs {
		out = append(out, rows[i*run+device*share:i*run+(device+1)*share]...)
	}
	return out
}

// Manual axes go with the GSPMD form.
func TestManual(t *testing.T) {
	layouts(t, func(t *rapid.T, l *specfmt.Layout) {
		var free ir.ShardAxes
		for i := range l.Mesh.Axes {
			uses := func(r subaxis.Ref) bool { return r.Axis == int32(i) }
			used := slices.ContainsFunc(l.Sharding.Unreduced, uses)
			for _, d := range l.Sharding.Dims {
				used = used || slices.ContainsFunc(d.Axes, uses)
			}
			if !used && l.Mesh.Axes[i].Size > 1 {
				free = append(free, l.Mesh.Full(i))
			}
		}
		l.Manual = free
		text, _, err := specfmt.Format(specfmt.GSPMD, l)
		if err != nil {
			t.Fatal(err)
		}
		if len(free) > 0 != strings.Contains(text, "manual") {
			t.Fatalf("%s with manual axes %v", text, free)
		}
		checkRead(t, specfmt.GSPMD, l, text)
	})
}
