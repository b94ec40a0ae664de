package api

import (
	"context"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"

	"google.golang.org/protobuf/proto"

	"autoshard"
	autoshardv1 "autoshard/api/gen/autoshard/v1"
	"autoshard/api/gen/autoshard/v1/autoshardv1connect"
	"autoshard/api/plancache"
)

// cached is a server with a cache that counts its plans, and keeps the options of the last.
func cached(t *testing.T) (autoshardv1connect.AutoshardServiceClient, *atomic.Int64, *atomic.Pointer[autoshard.PlanOptions], *running) {
	t.Helper()
	cache, err := plancache.Open(filepath.Join(t.TempDir(), "plans"), plancache.Options{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = cache.Close() })
	made, last := &atomic.Int64{}, &atomic.Pointer[autoshard.PlanOptions]{}
	r := start(t, Options{Cache: cache}, func(s *service) {
		s.makePlan = func(ctx context.Context, m *autoshard.Model, o autoshard.PlanOptions) (*autoshard.Plan, error) {
			made.Add(1)
			last.Store(&o)
			return autoshard.MakePlan(ctx, m, o)
		}
	})
	return client(t, r), made, last, r
}

// A request that is sent again is answered from the cache, and any other is not.
func TestCachedPlans(t *testing.T) {
	c, made, last, r := cached(t)
	ask := func(change func(*autoshardv1.PlanRequest), fromCache bool) *autoshardv1.PlanResponse {
		t.Helper()
		request := trained(t)
		change(request)
		before := made.Load()
		got, err := c.Plan(t.Context(), request)
		if err != nil {
			t.Fatal(err)
		}
		if got.Cached != fromCache || (made.Load() == before) != fromCache {
			t.Errorf("cached is %v, want %v; %d plans were made", got.Cached, fromCache, made.Load()-before)
		}
		return got
	}
	same := func(*autoshardv1.PlanRequest) {}
	first := ask(same, false)
	again := ask(same, true)
	again.Cached = false
	if !proto.Equal(first, again) {
		t.Error("the answer of the cache is another one")
	}
	fresh := ask(func(r *autoshardv1.PlanRequest) { r.Cache = autoshardv1.CacheUse_CACHE_USE_NONE }, false)
	if !proto.Equal(first, fresh) {
		t.Error("without the cache the answer is another one")
	}
	for _, change := range []func(*autoshardv1.PlanRequest){
		func(r *autoshardv1.PlanRequest) { r.Seed++ }, func(r *autoshardv1.PlanRequest) { r.Memory = 1 << 30 },
		func(r *autoshardv1.PlanRequest) { r.FileName = "other" }, func(r *autoshardv1.PlanRequest) { r.Hardware = "h100" },
		func(r *autoshardv1.PlanRequest) { r.Annotated = true }, func(r *autoshardv1.PlanRequest) { r.Mesh[0].Name = "other" },
		func(r *autoshardv1.PlanRequest) {
			r.Source = &autoshardv1.PlanRequest_Text{Text: r.GetText() + "\n"}
		},
	} {
		ask(change, false)
		if last.Load().From != nil {
			t.Error("a search began with an earlier plan though nobody asked for that")
		}
	}
	if text := r.log.String(); strings.Contains(text, "cache") {
		t.Errorf("the log has %s", text)
	}
}

// A program with other names, lines and numbers is planned from the plan of the one that is like it, where the request wants that. The plan
// says so, and is nobody's answer who does not.
func TestPlansOfLikePrograms(t *testing.T) {
	c, made, last, _ := cached(t)
	first, err := c.Plan(t.Context(), trained(t))
	if err != nil {
		t.Fatal(err)
	}
	request := trained(t)
	request.Source = &autoshardv1.PlanRequest_Text{Text: strings.ReplaceAll(request.GetText(), "%arg", "%input")}
	request.Cache = autoshardv1.CacheUse_CACHE_USE_LIKE
	second, err := c.Plan(t.Context(), request)
	if err != nil {
		t.Fatal(err)
	}
	if from := last.Load().From; from == nil || from.Hashes.Plan != first.Plan.Hashes.Plan ||
		second.Plan.Options.From != first.Plan.Hashes.Plan || second.Plan.Certificate.Cost > first.Plan.Certificate.Cost {
		t.Errorf("the second plan began with %v and costs %d, the first %d", from != nil, second.Plan.Certificate.Cost,
			first.Plan.Certificate.Cost)
	}
	request.Cache = 0
	third, err := c.Plan(t.Context(), request)
	if err != nil || third.Cached || third.Plan.Options.From != "" || made.Load() != 3 {
		t.Errorf("the third plan is of the cache: %v, began with %q, error %v", third.GetCached(), third.GetPlan().GetOptions().GetFrom(), err)
	}
}

// What a deadline cut short is no answer for others.
func TestEarlyPlansAreNotKept(t *testing.T) {
	c, made, _, r := cached(t)
	r.service.makePlan = func(ctx context.Context, m *autoshard.Model, o autoshard.PlanOptions) (*autoshard.Plan, error) {
		made.Add(1)
		plan, err := autoshard.MakePlan(ctx, m, o)
		if err == nil {
			plan.Certificate.Status = statusEarly
		}
		return plan, err
	}
	for range 2 {
		if got, err := c.Plan(t.Context(), textRequest(sum)); err != nil || got.Cached {
			t.Errorf("cached is %v, error %v", got.GetCached(), err)
		}
	}
	if made.Load() != 2 {
		t.Errorf("%d plans were made", made.Load())
	}
}
