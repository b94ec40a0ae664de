// Package explain propagates a user's shardings and says how that went: all steps in order, or the steps by which one value
// came by its axes, and what kept others away.
//
//	x, err := explain.Explain(ctx, source, explain.Question{Value: "%5[0]", WhyNot: "model"})
package explain
