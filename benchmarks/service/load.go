package main

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"sync"
	"time"

	autoshardv1 "autoshard/api/gen/autoshard/v1"
	"autoshard/api/gen/autoshard/v1/autoshardv1connect"
	"autoshard/benchmarks/site"
)

// bearer sends a token with each request.
type bearer struct {
	http.RoundTripper
	token string
}

// RoundTrip implements http.RoundTripper.
func (b bearer) RoundTrip(r *http.Request) (*http.Response, error) {
	r = r.Clone(r.Context())
	r.Header.Set("Authorization", "Bearer "+b.token)
	return b.RoundTripper.RoundTrip(r)
}

// client is a client of the server with a token of its own.
func (s *server) client(over http.RoundTripper, i int) autoshardv1connect.AutoshardServiceClient {
	return autoshardv1connect.NewAutoshardServiceClient(&http.Client{Transport: bearer{over, secret(i)}}, "http://"+s.address)
}

// request asks for the plan of a small model.
func request(text string) *autoshardv1.PlanRequest {
	return &autoshardv1.PlanRequest{Source: &autoshardv1.PlanRequest_Text{Text: text}, Hardware: "cpu",
		Mesh: []*autoshardv1.MeshAxis{{Name: "data", Size: 8}}, Steps: 100_000}
}

// result is what became of a wave.
type result struct {
	times []time.Duration // of answers, the shortest first
	wrong int
	state
}

// wave sends requests at once, each from a client of its own.
func (s *server) wave(ctx context.Context, text string, n int) (*result, error) {
	transport := &http.Transport{}
	defer transport.CloseIdleConnections()
	hashes, times, failures := make([]string, n), make([]time.Duration, n), make([]error, n)
	var wait sync.WaitGroup
	start := time.Now()
	for i := range n {
		wait.Go(func() {
			reply, err := s.client(transport, i).Plan(ctx, request(text))
			hashes[i], times[i], failures[i] = reply.GetPlan().GetHashes().GetPlan(), time.Since(start), err
		})
	}
	wait.Wait()
	r := &result{}
	for i, hash := range hashes {
		if hash == "" || hash != hashes[0] {
			r.wrong++
			continue
		}
		r.times = append(r.times, times[i])
	}
	slices.Sort(r.times)
	if len(r.times) == 0 {
		return nil, errors.Join(failures...)
	}
	return r, nil
}

// measure takes what the server holds, beyond what it did before any request, once it has seen that clients are gone, and how long its
// processors worked since a state.
func (s *server) measure(r *result, begun, since *state) (err error) {
	time.Sleep(500 * time.Millisecond)
	r.state, err = s.state()
	r.held -= begun.held
	r.seconds -= since.seconds
	return err
}

func (r *result) at(part float64) time.Duration { return r.times[int(part*float64(len(r.times)-1))] }

func (r *result) row(name string) string {
	return fmt.Sprintf("| %s | %d | %d | %s | %s | %s | %.1f s | %d MiB | %d | %d |\n", name, len(r.times)+r.wrong, r.wrong,
		site.Milliseconds(r.at(.5).Seconds()), site.Milliseconds(r.at(.95).Seconds()), site.Milliseconds(r.at(1).Seconds()), r.seconds,
		r.held>>20, r.goroutines, r.files)
}

// Limits of what is good.
const (
	mostHeld       = 64 << 20
	mostGoroutines = 50
	mostFiles      = 50
	mostSpread     = 3 // of the 95th percentile, times the median
)

func (r *result) verdict(name string) error {
	switch {
	case r.wrong > 0:
		return fmt.Errorf("%s: %d answers are lost or wrong", name, r.wrong)
	case name != "" && r.at(.95) > mostSpread*r.at(.5):
		return fmt.Errorf("%s: the 95th percentile is %s, the median %s", name, r.at(.95), r.at(.5))
	case r.held > mostHeld || r.goroutines > mostGoroutines || r.files > mostFiles:
		return fmt.Errorf("%s: the server holds %d MiB, %d goroutines and %d files", name, r.held>>20, r.goroutines, r.files)
	}
	return nil
}
