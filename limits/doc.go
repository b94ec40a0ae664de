// Package limits holds plans to what a team wrote down: how much memory, how large gathers, which inputs whole on every device.
//
//	limit, err := limits.Parse("no-gather > 64MiB")
//	for _, d := range limits.Check(plan, model, []limits.Limit{limit}) {
//		fmt.Println(d.Pos, d.Message) // train.py:40 an all-gather along data makes 128 MiB on every device, more than 64.0 MiB
//	}
//
// A limit is a rule's name and, for most, a number behind > or <: what a plan may have at most. Findings stand at the line of the user's
// program that they come from, as far as plan and model know it.
package limits
