package cost_test

import (
	"fmt"

	"autoshard/collectives"
	"autoshard/cost"
	"autoshard/subaxis"
)

func Example() {
	hw, _ := cost.Lookup("tpu-v5e")
	t, _ := cost.NewTopology(hw, subaxis.Mesh{Axes: []subaxis.Axis{{Name: "data", Size: 8}, {Name: "model", Size: 4}}}, cost.Planning())
	model := subaxis.Ref{Axis: 1, Pre: 1, Size: 4}
	c := t.Collective(collectives.AllGather, []subaxis.Ref{model}, 1<<25)
	fmt.Printf("%.1e s, %d bytes from each of %d devices, %d in all\n", c.Seconds, c.BytesPerDevice, t.Devices(), c.TotalBytes)
	// Output: 6.9e-04 s, 25165824 bytes from each of 32 devices, 805306368 in all
}

func ExampleTopology_MatmulOptions() {
	hw, _ := cost.Lookup("tpu-v5p")
	t, _ := cost.NewTopology(hw, subaxis.Mesh{Axes: []subaxis.Axis{{Name: "x", Size: 4}}}, cost.Planning())
	x := []subaxis.Ref{{Axis: 0, Pre: 1, Size: 4}}
	m := cost.Matmul{I: 1024, J: 8192, K: 8192, SizeA: 2, SizeB: 2, SizeC: 2}
	options, _ := t.MatmulOptions(m, []cost.Cut{{Axes: x, A: cost.OnJ, B: cost.OnJ}})
	for _, o := range options {
		fmt.Printf("%s result on %-9v %.0f us\n", o.Names[0], o.Result[0], 1e6*o.Upper)
	}
	// Output:
	// 3a result on -         258 us
	// 3b result on I         171 us
	// 3b result on K         171 us
	// 3c result on unreduced 79 us
}
