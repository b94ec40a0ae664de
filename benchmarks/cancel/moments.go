package main

import (
	"context"
	"fmt"
	"math/rand/v2"
	"net"
	"net/http"
	"slices"
	"time"

	"autoshard/api"
	autoshardv1 "autoshard/api/gen/autoshard/v1"
	"autoshard/api/gen/autoshard/v1/autoshardv1connect"
)

const (
	// ahead is how long before the cancellation the small request is sent, so that it waits.
	ahead = 30 * time.Millisecond
	// latest is the last moment of a cancellation: a little later the small request would be let in beside the plan.
	latest = 4500 * time.Millisecond
)

const small = `func.func @main(%a: tensor<8xf32>) -> tensor<8xf32> {
  return %a : tensor<8xf32>
}`

// server is a service with one slot on loopback.
type server struct {
	client autoshardv1connect.AutoshardServiceClient
	stop   func() error
}

func serve(ctx context.Context) (*server, error) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return nil, err
	}
	ctx, cancel := context.WithCancel(ctx)
	done := make(chan error, 1)
	go func() { done <- api.New(api.Options{MaxConcurrent: 1}).Serve(ctx, l) }()
	var p http.Protocols
	p.SetUnencryptedHTTP2(true)
	transport := &http.Transport{Protocols: &p}
	stop := func() error {
		transport.CloseIdleConnections()
		cancel()
		return <-done
	}
	return &server{autoshardv1connect.NewAutoshardServiceClient(&http.Client{Transport: transport}, "http://"+l.Addr().String()), stop}, nil
}

// cancellations returns the row of a model in the table of waits.
func cancellations(ctx context.Context, name string, text []byte, moments int, seed uint64, most time.Duration) (string, error) {
	s, err := serve(ctx)
	if err != nil {
		return "", err
	}
	defer s.stop()
	request := &autoshardv1.PlanRequest{Source: &autoshardv1.PlanRequest_Text{Text: string(text)}, Hardware: hardware, Memory: memory,
		Annotated: true}
	for _, a := range axes {
		request.Mesh = append(request.Mesh, &autoshardv1.MeshAxis{Name: a.Name, Size: a.Size})
	}
	begin := time.Now()
	if _, err := s.client.Plan(ctx, request); err != nil {
		return "", fmt.Errorf("%s: %w", name, err)
	}
	whole := time.Since(begin)
	rng := rand.New(rand.NewPCG(seed, 0))
	var waits []time.Duration
	for len(waits) < moments {
		wait, counts, err := s.cancel(ctx, request, ahead+time.Duration(rng.Int64N(int64(min(whole, latest)))))
		if err != nil {
			return "", fmt.Errorf("%s: %w", name, err)
		}
		if counts {
			waits = append(waits, wait)
		}
	}
	slices.Sort(waits)
	at := func(share float64) string { return milliseconds(waits[int(share*float64(len(waits)-1))]) }
	row := fmt.Sprintf("| %s | %s | %d | %s | %s | %s | %s |\n", name, milliseconds(whole), len(waits), at(0.5), at(0.95), at(0.99), at(1))
	if longest := waits[len(waits)-1]; longest > most {
		return row, fmt.Errorf("%s: a canceled plan held its slot for %v", name, longest)
	}
	return row, nil
}

// cancel cancels a plan at a moment and returns how long the small request behind it waits after that. It does not count
// where the plan was faster.
func (s *server) cancel(ctx context.Context, request *autoshardv1.PlanRequest, moment time.Duration) (wait time.Duration, counts bool,
	err error) {
	planning, cancel := context.WithCancel(ctx)
	defer cancel()
	planned := make(chan error, 1)
	go func() {
		_, err := s.client.Plan(planning, request)
		planned <- err
	}()
	time.Sleep(moment - ahead)
	answered := make(chan error, 1)
	go func() {
		_, err := s.client.Propagate(ctx, &autoshardv1.PropagateRequest{Source: &autoshardv1.PropagateRequest_Text{Text: small},
			Mesh: []*autoshardv1.MeshAxis{{Name: "x", Size: 2}}})
		answered <- err
	}()
	var early error
	select {
	case early = <-answered: // the plan is done, or has not begun yet
		cancel()
		<-planned
		return 0, false, early
	case <-time.After(ahead):
	}
	canceled := time.Now()
	cancel()
	err = <-answered
	wait = time.Since(canceled)
	return wait, <-planned != nil, err
}
