// Package cost predicts what a sharded computation takes on a cluster: the time of collectives, of matrix products
// and of other ops, and the memory over time. It is arithmetic alone; package cost/estimate applies it to programs.
//
// A [Hardware] describes one chip and the network between chips. A [Topology] lays the axes of a logical mesh over
// that network, so that a collective over some of the axes knows its rings, lines or switches:
//
//	hw, _ := cost.Lookup("tpu-v5e")
//	t, _ := cost.NewTopology(hw, subaxis.Mesh{Axes: []subaxis.Axis{{Name: "data", Size: 8}, {Name: "model", Size: 4}}}, cost.Planning())
//	model := subaxis.Ref{Axis: 1, Pre: 1, Size: 4}
//	c := t.Collective(collectives.AllGather, []subaxis.Ref{model}, 1<<25) // 32 MiB on every device afterwards
//	c.Seconds    // 6.9e-4: a line of four chips
//	c.TotalBytes // what all 32 devices send
//
// Units are those of the SI: bytes, bytes a second, FLOP a second, seconds. Formulas follow the specification
// cost.md; [Book] gives the conventions under which its reference values hold, [Planning] the ones to plan with.
package cost
