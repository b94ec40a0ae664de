// Package plan chooses shardings for a program by cost: it prices plans that need no search, searches for better ones
// under the memory limit, lowers and prices what it finds, and says how good the best one is.
//
//	p, err := plan.Make(ctx, &answer.Source{Name: "train", Module: m}, plan.Options{Mesh: axes, Hardware: hw})
//	p.Certificate.Gap // how far the plan may be from the best
//
// Plans are files, which are compared ([Diff]) and worked out again ([Plan.Check]). A [Session] plans with pins changed, and weighs
// alternatives ([Session.Weigh]).
package plan
