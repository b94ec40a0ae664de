package api

import (
	"cmp"
	"context"
	"encoding/json"
	"net/http"
	"slices"

	"autoshard"
	autoshardv1 "autoshard/api/gen/autoshard/v1"
	"autoshard/internal/diag"
	"autoshard/internal/filekind"
	"autoshard/internal/lists"
	"autoshard/web"
)

// Subject is what a server was started to show.
type Subject struct {
	Name     string
	Document []byte                   // JSON of a review.Document
	Plan     *autoshardv1.PlanRequest // that plans the program anew; nil where the program is not at hand
}

// reviewer implements ReviewService.
type reviewer struct{ subjects []Subject }

func newReviewer(subjects []Subject) *reviewer { return &reviewer{subjects} }

// ListSubjects returns what the server was started to show.
func (r *reviewer) ListSubjects(context.Context, *autoshardv1.ListSubjectsRequest) (*autoshardv1.ListSubjectsResponse, error) {
	return &autoshardv1.ListSubjectsResponse{Names: lists.Map(r.subjects, func(s Subject) string { return s.Name })}, nil
}

// Review returns the document of a plan or a propagation.
func (r *reviewer) Review(ctx context.Context, q *autoshardv1.ReviewRequest) (*autoshardv1.ReviewResponse, error) {
	switch of := q.GetSubject().(type) {
	case *autoshardv1.ReviewRequest_Name:
		s, err := r.find(of.Name)
		if err != nil {
			return nil, err
		}
		return &autoshardv1.ReviewResponse{Document: s.Document, Plannable: s.Plan != nil}, nil
	case *autoshardv1.ReviewRequest_Plan:
		plan, err := planOf(ctx, "plan", of.Plan)
		if err != nil {
			return nil, err
		}
		return planReview(ctx, plan)
	case *autoshardv1.ReviewRequest_Content:
		file := cmp.Or(q.GetFileName(), defaultFile)
		if !filekind.Is(of.Content, filekind.Plan) {
			return modelReview(ctx, q, file, of.Content)
		}
		plan, err := autoshard.ReadPlan(ctx, file, of.Content)
		if err != nil {
			return nil, err
		}
		return planReview(ctx, plan)
	}
	return nil, invalid("one of `name`, `content` and `plan` is required")
}

// GetPlanRequest returns the request that plans the program of a subject anew.
func (r *reviewer) GetPlanRequest(_ context.Context, q *autoshardv1.GetPlanRequestRequest) (*autoshardv1.GetPlanRequestResponse, error) {
	s, err := r.find(q.GetName())
	if err != nil {
		return nil, err
	}
	if s.Plan == nil {
		return nil, invalid("the program of `%s` is not at hand", s.Name)
	}
	return &autoshardv1.GetPlanRequestResponse{Plan: s.Plan}, nil
}

func (r *reviewer) find(name string) (*Subject, error) {
	i := slices.IndexFunc(r.subjects, func(s Subject) bool { return s.Name == name })
	if i < 0 {
		return nil, invalid("nothing is called `%s` here", name)
	}
	return &r.subjects[i], nil
}

func planReview(ctx context.Context, plan *autoshard.Plan) (*autoshardv1.ReviewResponse, error) {
	d, err := planDocument(ctx, plan)
	return reviewMessage(d, err)
}

// planDocument returns what the page shows of a plan, for the hardware that it was made for.
func planDocument(ctx context.Context, plan *autoshard.Plan) (*autoshard.ReviewDocument, error) {
	hw, err := hardwareOf(plan, "")
	if err != nil {
		return nil, err
	}
	return autoshard.ReviewPlan(ctx, plan, hw)
}

func modelReview(ctx context.Context, q *autoshardv1.ReviewRequest, file string, content []byte) (*autoshardv1.ReviewResponse, error) {
	model, err := autoshard.ReadModel(ctx, file, content)
	if err != nil {
		return nil, err
	}
	if model, err = model.WithSizes(ctx, q.GetSizes(), ""); err != nil {
		return nil, err
	}
	d, err := autoshard.ReviewPropagation(ctx, model, autoshard.PropagateOptions{Mesh: meshOf(q.GetMesh())})
	return reviewMessage(d, err)
}

// reviewMessage returns a document, or the error of making it.
func reviewMessage(d *autoshard.ReviewDocument, err error) (*autoshardv1.ReviewResponse, error) {
	if err != nil {
		return nil, err
	}
	text, err := json.Marshal(d)
	if err != nil {
		return nil, diag.Internal(diag.Bug, diag.Position{}, "document: %v", err)
	}
	return &autoshardv1.ReviewResponse{Document: text}, nil
}

// withPage serves the page at / to everybody: it holds no secrets, and asks for tokens itself.
func withPage(next http.Handler) http.Handler {
	page := web.Handler()
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Method == http.MethodGet && web.Has(r.URL.Path) {
			page.ServeHTTP(w, r)
			return
		}
		next.ServeHTTP(w, r)
	})
}
