package autoshard

import (
	"context"

	"autoshard/cost"
	"autoshard/explain"
	"autoshard/review"
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
