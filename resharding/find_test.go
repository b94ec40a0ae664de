package resharding_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"autoshard/backend/mesh"
	"autoshard/backend/tensor"
	"autoshard/blocks"
	"autoshard/cost"
	"autoshard/diag"
	"autoshard/ir/dtype"
	"autoshard/program"
	"autoshard/resharding"
	"autoshard/shardmap"
	"autoshard/subaxis"

	"pgregory.net/rapid"
)

// pairs are drawn in each check, so that a run of a hundred checks sees a thousand.
const pairs = 10

// Between any two layouts on meshes of up to 4 x 4 x 4 devices, along axes and parts of axes in any order: the devices hold after the steps
// what the answer says, made of what it says that they hold before; they send the bytes that it says; and Shardy's order takes no less
// time. Within the memory that the steps take there is that way, within less another one or none.
func TestFoundWays(t *testing.T) {
	shorter, dearer := 0, 0
	rapid.Check(t, func(t *rapid.T) {
		axes := drawMesh(t)
		for range pairs {
			r := drawRequest(t, axes)
			a, err := resharding.Find(t.Context(), r)
			if err != nil {
				t.Fatalf("%+v: %v", r, err)
			}
			runs(t, r, a)
			if s := a.Shardy; s != nil {
				if s.Seconds < a.Seconds {
					t.Fatalf("%s to %s takes %g s, in Shardy's order %g s", r.From, r.To, a.Seconds, s.Seconds)
				}
				if dearer++; s.Seconds > a.Seconds {
					shorter++
				}
			}
			within(t, r, a)
		}
	})
	t.Logf("Shardy's order is another one %d times, and takes longer %d times", dearer, shorter)
}

// Summands that are exchanged stay summands of one sum, although devices that hold the same place of it may send any of theirs. A larger
// axis takes the place of a smaller one by a part of it: then nothing is gathered. Where Shardy's order is no program,
// there is another one.
func TestPairs(t *testing.T) {
	for _, c := range []struct{ mesh, shape, from, to, hardware, want string }{
		{"x=4,y=2,z=4", "f32[4]", `[{"x"}], unreduced={"y"}`, `[{"z"}], unreduced={"y"}`, "h100", "collective_permute"},
		{"x=3,y=2,z=4", "f32[12,4]", `[{"x", "y"}, {"z"}]`, `[{"z", "x"}, {"y"}]`, "tpu-v5e", "all_gather all_to_all all_slice all_slice"},
		{"x=2,y=2,z=4", "f32[48,4,48]", `[{}, {}, {"y"}]`, `[{"x"}, {}, {"z"}]`, "cpu", "all_slice all_slice collective_permute"},
	} {
		t.Run(c.from+" to "+c.to, func(t *testing.T) {
			hardware, err := cost.Lookup(c.hardware)
			if err != nil {
				t.Fatal(err)
			}
			r := &resharding.Request{Mesh: meshOf(c.mesh), Tensor: c.shape, From: c.from, To: c.to, Hardware: hardware}
			a, err := resharding.Find(t.Context(), r)
			if err != nil {
				t.Fatal(err)
			}
			var kinds []string
			for _, s := range a.Steps {
				kinds = append(kinds, s.Kind)
			}
			if got := strings.Join(kinds, " "); got != c.want {
				t.Errorf("%s to %s is %s, want %s", c.from, c.to, got, c.want)
			}
			runs(t, r, a)
		})
	}
}

// meshOf reads x=4,y=2.
func meshOf(text string) (axes []subaxis.Axis) {
	for part := range strings.SplitSeq(text, ",") {
		var a subaxis.Axis
		if _, err := fmt.Sscanf(strings.Replace(part, "=", " ", 1), "%s %d", &a.Name, &a.Size); err != nil {
			panic(err)
		}
		axes = append(axes, a)
	}
	return axes
}

// drawMesh draws up to three axes of two to four devices.
func drawMesh(t *rapid.T) []subaxis.Axis {
	var axes []subaxis.Axis
	for i, size := range rapid.SliceOfN(rapid.Int64Range(2, 4), 1, 3).Draw(t, "mesh") {
		axes = append(axes, subaxis.Axis{Name: string(rune('x' + i)), Size: size})
	}
	return axes
}

// drawRequest draws two layouts of a tensor of up to three dimensions. The first may be partial, and the second along some of its axes.
func drawRequest(t *rapid.T, axes []subaxis.Axis) *resharding.Request {
	shape := rapid.SliceOfN(rapid.SampledFrom([]int64{4, 12, 16, 48}), 1, 3).Draw(t, "shape")
	hardware, err := cost.Lookup(rapid.SampledFrom([]string{"tpu-v5e", "h100", "cpu"}).Draw(t, "hardware"))
	if err != nil {
		t.Fatal(err)
	}
	from, pending := drawSharding(t, axes, shape, nil)
	to, _ := drawSharding(t, axes, shape, pending)
	return &resharding.Request{Mesh: axes, Tensor: dtype.Format(dtype.F32, shape), From: from, To: to, Hardware: hardware}
}

// drawSharding draws a sharding in Shardy's notation, and the axes along which it is partial. Those are any of the mesh where nothing is
// pending yet, or some of what is.
func drawSharding(t *rapid.T, axes []subaxis.Axis, shape []int64, pending []string) (text string, partial []string) {
	dims, room := make([][]string, len(shape)), slices.Clone(shape)
	first := pending == nil
	for _, i := range rapid.Permutation(slices.Collect(indices(len(axes)))).Draw(t, "order") {
		parts := []string{fmt.Sprintf("%q", axes[i].Name)}
		sizes := []int64{axes[i].Size}
		if axes[i].Size == 4 && rapid.Bool().Draw(t, "halves") {
			parts, sizes = []string{parts[0] + ":(1)2", parts[0] + ":(2)2"}, []int64{2, 2}
		}
		for k, part := range parts {
			place := rapid.IntRange(-2, len(shape)-1).Draw(t, "place")
			switch {
			case place == -2 && len(parts) == 1 && (first && rapid.Bool().Draw(t, "partial") || slices.Contains(pending, part)):
				partial = append(partial, part)
			case place >= 0 && room[place]%sizes[k] == 0 && !joins(dims[place], part):
				dims[place], room[place] = append(dims[place], part), room[place]/sizes[k]
			}
		}
	}
	var lists []string
	for _, d := range dims {
		lists = append(lists, "{"+strings.Join(d, ", ")+"}")
	}
	text = "[" + strings.Join(lists, ", ") + "]"
	if len(partial) > 0 {
		slices.Sort(partial)
		text += ", unreduced={" + strings.Join(partial, ", ") + "}"
	}
	if partial == nil {
		partial = []string{}
	}
	return text, partial
}

// joins says whether a part of an axis follows the part before it, which Shardy writes as one.
func joins(list []string, part string) bool {
	return len(list) > 0 && strings.TrimSuffix(list[len(list)-1], ":(1)2") == strings.TrimSuffix(part, ":(2)2")
}

func indices(n int) func(func(int) bool) {
	return func(yield func(int) bool) {
		for i := range n {
			if !yield(i) {
				return
			}
		}
	}
}

// tester is what runs needs of a test.
type tester interface {
	Context() context.Context
	Fatal(args ...any)
	Fatalf(format string, args ...any)
}

// runs executes the steps on blocks that add up to the tensor as the answer says, and checks what they make and send.
func runs(t tester, r *resharding.Request, a *resharding.Answer) {
	m, id, err := program.Parse(t.Context(), a.Program)
	if err != nil {
		t.Fatal(err)
	}
	p, err := shardmap.Lower(t.Context(), m, id)
	if err == nil {
		err = shardmap.LowerAxes(t.Context(), p)
	}
	if err != nil {
		t.Fatal(err)
	}
	args := make([][]*tensor.Tensor, p.Mesh.Devices())
	for _, b := range a.From.Blocks {
		for _, devices := range b.Copies {
			for i, d := range devices {
				args[d] = []*tensor.Tensor{part(&b, p.Inputs[0].Dims, int64(i+1))}
			}
		}
	}
	outs, traffic, err := mesh.Run(t.Context(), p.Module, p.Main, len(args), args, mesh.Options{})
	if err != nil {
		t.Fatal(err)
	}
	sent := int64(0)
	for _, c := range p.Collectives {
		sent += traffic.Bytes(c.Op)
	}
	if sent != a.Bytes {
		t.Fatalf("%s to %s sends %d bytes, not %d\n%s", r.From, r.To, sent, a.Bytes, a.Program)
	}
	n := int64(len(a.From.Blocks[0].Copies[0])) // summands, which are 1 to n times an element
	for _, b := range a.To.Blocks {
		for _, devices := range b.Copies {
			total := outs[devices[0]][0].Floats()
			for _, d := range devices[1:] {
				for i, v := range outs[d][0].Floats() {
					total[i] += v
				}
			}
			if want := part(&b, p.Inputs[0].Dims, n*(n+1)/2).Floats(); !slices.Equal(total, want) {
				t.Fatalf("%s to %s: devices %v hold %v, want %v\n%s", r.From, r.To, devices, total, want, a.Program)
			}
		}
	}
}

// part returns a block of the tensor whose elements are numbers of their places, times a factor.
func part(b *blocks.Block, dims []int64, factor int64) *tensor.Tensor {
	shape := make([]int64, len(dims))
	for d, r := range b.Ranges {
		shape[d] = r[1] - r[0]
	}
	x := tensor.New(dtype.F32, shape)
	values := make([]float64, x.Len())
	for i := range values {
		place := int64(0)
		for d, at := range tensor.Unravel(int64(i), shape) {
			place = place*dims[d] + b.Ranges[d][0] + at
		}
		values[i] = float64(place%1009) * float64(factor)
	}
	x = tensor.FromFloats(dtype.F32, shape, values...)
	return &x
}

// within asks again with as much memory as the steps take, and with a byte less.
func within(t *rapid.T, r *resharding.Request, a *resharding.Answer) {
	if len(a.Steps) == 0 {
		return
	}
	tight := *r
	tight.Memory = a.PeakBytes
	if again, err := resharding.Find(t.Context(), &tight); err != nil || again.Program != a.Program {
		t.Fatalf("%s to %s with %d bytes: %v", r.From, r.To, tight.Memory, err)
	}
	tight.Memory--
	switch again, err := resharding.Find(t.Context(), &tight); {
	case errors.Is(err, diag.ErrInfeasible):
	case err != nil:
		t.Fatal(err)
	case again.PeakBytes > tight.Memory || again.Seconds < a.Seconds*(1-1e-9):
		t.Fatalf("%s to %s with %d bytes takes %d, and %g s in place of %g", r.From, r.To, tight.Memory, again.PeakBytes, again.Seconds,
			a.Seconds)
	}
}
