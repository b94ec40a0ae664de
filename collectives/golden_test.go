package collectives_test

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"autoshard/collectives"
	"autoshard/internal/lists"
	"autoshard/ir"
	"autoshard/ir/dataflow"
	"autoshard/ir/mlir"
	"autoshard/rewrites"
	"autoshard/subaxis"

	"github.com/cockroachdb/datadriven"
)

// bytesSent prices a step by what the devices of a group send.
type bytesSent struct{}

func (bytesSent) Price(kind collectives.Kind, axes []subaxis.Ref, bytes int64) int64 {
	n := subaxis.Product(axes)
	return 1000 + collectives.SentBytes(kind, n, collectives.GroupBytes(kind, n, bytes))
}

// TestGolden shows the stages of partitioning one after the other: settle (Settle), manual (RestrictManual), insert (Insert,
// of factors that Derive chooses) and expand (Expand, with the planner's cheapest steps or, with "shardy", in Shardy's order).
// partition is insert and expand in one; derive prints the factors, gathered what FindGathered finds for them, unpermute what
// Unpermute makes of collectives. The meshes are @mesh, x=4,
// y=2, and @six. Rewrite the files with:
// go test ./collectives -rewrite
func TestGolden(t *testing.T) {
	datadriven.Walk(t, "testdata", func(t *testing.T, path string) {
		datadriven.RunTest(t, path, func(t *testing.T, d *datadriven.TestData) string {
			m, err := mlir.Parse(t.Context(), []byte("sdy.mesh @mesh = <[\"x\"=4, \"y\"=2]>\nsdy.mesh @six = <[\"x\"=6]>\n"+d.Input), mlir.Options{})
			if err == nil {
				err = ir.Verify(t.Context(), m)
			}
			if err != nil {
				t.Fatalf("%s: %v", d.Pos, err)
			}
			out, err := stage(t.Context(), m, d.Cmd, d.HasArg("shardy"))
			if err != nil {
				return fmt.Sprintf("error: %v\n", err)
			}
			if err := ir.Verify(t.Context(), m); err != nil {
				t.Fatalf("%s: broken: %v", d.Pos, err)
			}
			return out
		})
	})
}

func stage(ctx context.Context, m *ir.Module, name string, shardy bool) (string, error) {
	mesh, _ := m.LookupMesh("mesh")
	planner := collectives.NewPlanner(bytesSent{}, m.Mesh(mesh).Axes)
	order := planner.Cheapest
	if shardy {
		order = collectives.Shardy
	}
	switch name {
	case "manual":
		collectives.RestrictManual(m)
		return body(m), nil
	case "body":
		err := partitionBody(ctx, m, mesh, planner)
		return body(m), err
	case "expand":
		err := collectives.Expand(ctx, m, collectives.Expansion{Order: order})
		return body(m), err
	}
	if err := collectives.Settle(ctx, m, mesh); err != nil {
		return "", err
	}
	assignment, err := collectives.Derive(ctx, m)
	if err != nil {
		return "", err
	}
	switch name {
	case "derive":
		return factors(m, mesh, assignment), nil
	case "gathered":
		return gathered(ctx, m, assignment)
	case "insert":
		_, err = collectives.Insert(ctx, m, mesh, assignment, collectives.Anywhere)
	case "partition":
		how := collectives.Rewriting{Reach: collectives.Anywhere, Without: rewrites.Of(rewrites.All()...)}
		_, err = collectives.Partition(ctx, m, mesh, assignment, planner, how)
	case "unpermute":
		collectives.Unpermute(m)
	case "rewrite":
		how := collectives.Rewriting{Reach: collectives.Anywhere}
		done, err := collectives.Partition(ctx, m, mesh, assignment, planner, how)
		return fmt.Sprint(done.Changed.List(), "\n", body(m)), err
	}
	return body(m), err
}

// partitionBody makes the communications of the first manual computation explicit, which returns values as they lie.
func partitionBody(ctx context.Context, m *ir.Module, mesh ir.MeshID, planner *collectives.Planner) error {
	inside := m.RegionBlock(m.OpsOf(m.MainFunc().Body, ir.OpSdyManualComputation)[0], 0)
	args := m.BlockArgs(inside)
	outer := lists.Map(args, m.Sharding)
	for _, arg := range args {
		m.SetSharding(arg, dataflow.OwnerSharding(m, arg))
	}
	err := collectives.PartitionBody(ctx, m, mesh, inside, lists.Map(m.Operands(m.LastOp(inside)), m.Sharding), planner)
	for i, arg := range args {
		m.SetSharding(arg, outer[i])
	}
	return err
}

// factors lists the axes of the factors of each op.
func factors(m *ir.Module, mesh ir.MeshID, assignment collectives.Assignment) string {
	var out strings.Builder
	for op, factors := range assignment {
		if factors == nil {
			continue
		}
		out.WriteString(m.OpName(ir.OpID(op)))
		for f, axes := range factors {
			fmt.Fprintf(&out, " %c={%s}", 'i'+f, m.Mesh(mesh).FormatList(axes))
		}
		out.WriteByte('\n')
	}
	return out.String()
}

// gathered lists what is gathered because of what its op cannot do.
func gathered(ctx context.Context, m *ir.Module, assignment collectives.Assignment) (string, error) {
	all, err := collectives.FindGathered(ctx, m, assignment)
	var out strings.Builder
	for _, g := range all {
		mesh := m.Mesh(m.ShardingOf(m.Sharding(m.Result(g.Op, 0))).Mesh)
		fmt.Fprintf(&out, "%s operand %d, dimension %d along %s, %d bytes %d times: %s\n", m.OpName(g.Op), g.Operand, g.Dim,
			mesh.FormatList(g.Axes), g.Bytes, g.Times, g.Why)
	}
	return out.String(), err
}

// body returns the functions of a module.
func body(m *ir.Module) string {
	var out strings.Builder
	for line := range strings.Lines(string(mlir.Print(m, mlir.PrintOptions{}))) {
		if text, inside := strings.CutPrefix(line, "  "); inside && !strings.HasPrefix(text, "sdy.mesh") {
			out.WriteString(text)
		}
	}
	return out.String()
}

func must[T any](v T, err error) T {
	if err != nil {
		panic(err)
	}
	return v
}

// Both steps on a product whose summed dimension is cut: its partial results are resharded, which is one reduce-scatter.
func Example() {
	ctx := context.Background()
	m := must(mlir.Parse(ctx, []byte(`
sdy.mesh @mesh = <["x"=4]>
func.func @main(%a: tensor<8x16xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {"x"}]>}, %b: tensor<16x32xf32>) -> tensor<8x32xf32> {
  %0 = stablehlo.dot %a, %b {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{}, {"x"}]>]>}
    : (tensor<8x16xf32>, tensor<16x32xf32>) -> tensor<8x32xf32>
  return %0 : tensor<8x32xf32>
}`), mlir.Options{}))
	mesh, _ := m.LookupMesh("mesh")
	must(0, collectives.Settle(ctx, m, mesh))
	factors := make(collectives.Assignment, m.NumOps())
	m.Walk(m.Body(), func(op ir.OpID) {
		if m.Kind(op) == ir.OpDot { // ([i, k], [k, j])->([i, j])
			factors[op] = collectives.Factors{nil, nil, {m.Mesh(mesh).Full(0)}}
		}
	})
	show := func() {
		main, _ := m.Main()
		for op := range m.Ops(m.Func(main).Body) {
			for _, v := range m.Results(op) {
				fmt.Println(m.OpName(op), m.FormatSharding(m.Sharding(v)))
			}
		}
	}
	must(collectives.Insert(ctx, m, mesh, factors, collectives.Anywhere))
	show()
	planner := collectives.NewPlanner(bytesSent{}, m.Mesh(mesh).Axes)
	must(0, collectives.Expand(ctx, m, collectives.Expansion{Order: planner.Cheapest}))
	show()
	// Output:
	// sdy.reshard <@mesh, [{"x"}, {}]>
	// stablehlo.dot <@mesh, [{}, {}], unreduced={"x"}>
	// sdy.reshard <@mesh, [{}, {"x"}]>
	// sdy.all_slice <@mesh, [{"x"}, {}]>
	// stablehlo.dot <@mesh, [{}, {}], unreduced={"x"}>
	// sdy.reduce_scatter <@mesh, [{}, {"x"}]>
}
