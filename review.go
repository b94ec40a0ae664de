package autoshard

import (
	"context"

	"autoshard/cost"
	"autoshard/explain"
	"autoshard/internal/diag"
	"autoshard/review"
	"autoshard/review/modelexplorer"
)

// ReviewDocument is what a page in a browser shows of a propagation or a plan.
type ReviewDocument = review.Document

// ReviewPropagation propagates a model and returns the document of all steps. Errors are those of Propagate.
func ReviewPropagation(ctx context.Context, model *Model, o PropagateOptions) (*ReviewDocument, error) {
	o.Filter = TraceFilter{} // the page chooses
	about, err := explain.Propagate(ctx, model.source(), o)
	if err != nil {
		return nil, err
	}
	x, err := explain.NewExplainer(ctx, model.source(), o)
	if err != nil {
		return nil, err
	}
	return review.Propagation(ctx, x, about)
}

// ReviewPlan returns the document of a plan, priced on a hardware. Errors are those of Plan.Lowered.
func ReviewPlan(ctx context.Context, p *Plan, hardware cost.Hardware) (*ReviewDocument, error) {
	return review.Plan(ctx, p, hardware)
}

// IsReview says whether a text is the JSON form of a ReviewDocument.
func IsReview(text []byte) bool { return review.Is(text) }

// NodeData are what nodes of a model show in Model Explorer.
type NodeData = modelexplorer.Document

// NodeDataOf is what these are.
type NodeDataOf = modelexplorer.Quantity

// The node data: how results of an operation lie, what a device's blocks of them take and, of plans, microseconds and bytes that all
// devices send in a step.
const (
	NodeSharding = modelexplorer.Sharding
	NodeMemory   = modelexplorer.Memory
	NodeTime     = modelexplorer.Time
	NodeSent     = modelexplorer.Sent
)

// PropagationNodeData propagates a model, and returns node data for the graph of its file. Errors are those of Propagate, and [ErrInvalid]
// for node data of plans.
func PropagationNodeData(ctx context.Context, model *Model, o PropagateOptions, of NodeDataOf) (*NodeData, error) {
	x, err := explain.NewExplainer(ctx, model.source(), o)
	if err != nil {
		return nil, err
	}
	return modelexplorer.Propagation(ctx, model.read, x.Recording(), of)
}

// PlanNodeData returns node data of a plan for the graph of the file of its model, priced on a hardware. Errors are those of Plan.Lowered,
// and [ErrInvalid] for another model than the plan's.
func PlanNodeData(ctx context.Context, model *Model, p *Plan, hardware cost.Hardware, of NodeDataOf) (*NodeData, error) {
	if p.Hashes.Model != model.hash {
		return nil, diag.Invalid(diag.BadFile, diag.Position{File: model.file},
			"this is not the model that the plan was made from, whose nodes the plan knows")
	}
	return modelexplorer.Plan(ctx, model.read, p, hardware, of)
}
