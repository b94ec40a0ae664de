package api

import (
	"context"
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"time"

	"google.golang.org/protobuf/proto"

	"autoshard"
	autoshardv1 "autoshard/api/gen/autoshard/v1"
	"autoshard/api/plancache"
	"autoshard/cost"
)

// question is a request for a plan, as the cache of plans knows it; the zero value is one that the cache has nothing to do with.
type question struct {
	cache *plancache.Cache
	key   string // of all that the answer depends on
	like  string // of what questions that are alike have in common
}

// ask returns what the cache is to be asked. Hardware profiles and the way to plan belong to a version of the program.
func (s *service) ask(r *autoshardv1.PlanRequest) (question, error) {
	if s.cache == nil || r.GetCache() == autoshardv1.CacheUse_CACHE_USE_NONE {
		return question{}, nil
	}
	plain := proto.CloneOf(r)
	plain.Cache = autoshardv1.CacheUse_CACHE_USE_UNSPECIFIED
	key, err := hashOf(plain)
	return question{cache: s.cache, key: key}, err
}

// hashOf returns the hash of a message and the version of the program.
func hashOf(m proto.Message) (string, error) {
	text, err := proto.MarshalOptions{Deterministic: true}.Marshal(m)
	sum := sha256.Sum256(append([]byte(autoshard.Version()+"\x00"), text...))
	return fmt.Sprintf("%x", sum), err
}

// liken finds out what the question is like: one about a program of the same likeness, for a mesh of the same axes, the same hardware and
// the same options, whatever the pins, sizes of the mesh and budgets of work are.
func (q *question) liken(ctx context.Context, r *autoshardv1.PlanRequest, model *autoshard.Model, hw *cost.Hardware) error {
	program, err := model.Likeness(ctx)
	if err != nil {
		return err
	}
	profile, err := json.Marshal(hw)
	if err != nil {
		return err
	}
	plain := proto.CloneOf(r)
	plain.Source, plain.FileName, plain.Pins, plain.Forbidden, plain.Budgets, plain.From = nil, program, nil, nil, nil, nil
	plain.Cache, plain.Annotated, plain.Steps, plain.Seed, plain.Memory, plain.SearchMemory = 0, false, 0, 0, 0, 0
	plain.Hardware, plain.Topology = string(profile), ""
	for _, axis := range plain.Mesh {
		axis.Size = 0
	}
	q.like, err = hashOf(plain)
	return err
}

// answer returns the answer of an earlier request, nil where there is none. A cache that cannot be read has none.
func (s *service) answer(q question) *autoshardv1.PlanResponse {
	if q.cache == nil {
		return nil
	}
	response, err := q.cache.Get(q.key, time.Now())
	s.cacheUsed(response != nil, err)
	if response != nil {
		response.Cached = true
	}
	return response
}

// begin lets a search begin with the latest plan for a question that is like this, where the request wants that.
func (s *service) begin(ctx context.Context, q question, r *autoshardv1.PlanRequest, o *autoshard.PlanOptions) error {
	if q.cache == nil || o.From != nil || r.GetCache() != autoshardv1.CacheUse_CACHE_USE_LIKE {
		return nil
	}
	response, err := q.cache.Like(q.like, time.Now())
	if err != nil || response.GetPlan() == nil {
		s.cacheUsed(false, err)
		return nil
	}
	o.From, err = planOf(ctx, "cache", response.GetPlan())
	return err
}

// keep keeps an answer for later requests, if nothing but them decides about it: no deadline, and no earlier plan that the cache had.
func (s *service) keep(q question, r *autoshardv1.PlanRequest, response *autoshardv1.PlanResponse) {
	plan := response.GetPlan()
	if q.cache == nil || plan.GetCertificate().GetStatus() == statusEarly {
		return
	}
	key := q.key
	if plan.GetOptions().GetFrom() != "" && r.GetFrom() == nil {
		key = "like " + q.key // the next one that is like it begins with it, and nobody else finds it
	}
	if err := q.cache.Put(key, q.like, response, time.Now()); err != nil {
		s.limiter.logger.Warn("a plan is not kept", "error", err)
	}
}

// statusEarly is the status of plans whose search was cut short.
const statusEarly = "early"

// cacheUsed counts how the cache is used.
func (s *service) cacheUsed(hit bool, err error) {
	outcome := "miss"
	switch {
	case err != nil:
		outcome = "error"
		s.limiter.logger.Warn("the cache of plans is not read", "error", err)
	case hit:
		outcome = "hit"
	}
	s.limiter.metrics.cache.WithLabelValues(outcome).Inc()
}
