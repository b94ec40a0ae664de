package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"runtime"
	"slices"
	"strings"
	"sync"
	"time"

	"autoshard/api"
	autoshardv1 "autoshard/api/gen/autoshard/v1"
	"autoshard/api/gen/autoshard/v1/autoshardv1connect"
	"autoshard/benchmarks/site"
)

// server is a server on a port of this machine.
type server struct {
	address string
	stop    func()
}

// newServer starts a server that lets a number of clients in.
func newServer(ctx context.Context, clients int) (*server, error) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return nil, err
	}
	var tokens []api.Token
	for i := range clients {
		tokens = append(tokens, api.Token{Name: fmt.Sprint("client ", i), Secret: secret(i)})
	}
	ctx, cancel := context.WithCancel(ctx)
	done := make(chan struct{})
	go func() {
		_ = api.New(api.Options{Tokens: tokens, MaxWaiting: clients, DrainTime: time.Second}).Serve(ctx, l)
		close(done)
	}()
	return &server{l.Addr().String(), func() { cancel(); <-done }}, nil
}

func secret(i int) string { return fmt.Sprintf("secret-%06d", i) }

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

// result is what became of a wave.
type result struct {
	times      []time.Duration // of answers, the shortest first
	wrong      int
	held       uint64 // bytes of the heap, after a collection
	goroutines int
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
			client := autoshardv1connect.NewAutoshardServiceClient(&http.Client{Transport: bearer{transport, secret(i)}}, "http://"+s.address)
			reply, err := client.Plan(ctx, &autoshardv1.PlanRequest{Source: &autoshardv1.PlanRequest_Text{Text: text}, Hardware: "cpu",
				Mesh: []*autoshardv1.MeshAxis{{Name: "data", Size: 8}}, Steps: 100_000})
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
	r.measure()
	if len(r.times) == 0 {
		return nil, errors.Join(failures...)
	}
	return r, nil
}

// measure takes what the process holds.
func (r *result) measure() {
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	r.held, r.goroutines = m.HeapAlloc, runtime.NumGoroutine()
}

func (r *result) at(part float64) time.Duration { return r.times[int(part*float64(len(r.times)-1))] }

func (r *result) row(name string) string {
	return fmt.Sprintf("| %s | %d | %d | %s | %s | %s | %d MiB | %d |\n", name, len(r.times)+r.wrong, r.wrong,
		site.Milliseconds(r.at(.5).Seconds()), site.Milliseconds(r.at(.95).Seconds()), site.Milliseconds(r.at(1).Seconds()), r.held>>20,
		r.goroutines)
}

// Limits of what is good.
const (
	mostHeld       = 512 << 20
	mostGoroutines = 100
	mostSpread     = 3 // of the 95th percentile, times the median
)

func (r *result) verdict(name string) error {
	switch {
	case r.wrong > 0:
		return fmt.Errorf("%s: %d answers are lost or wrong", name, r.wrong)
	case r.at(.95) > mostSpread*r.at(.5):
		return fmt.Errorf("%s: the 95th percentile is %s, the median %s", name, r.at(.95), r.at(.5))
	case r.held > mostHeld || r.goroutines > mostGoroutines:
		return fmt.Errorf("%s: the process holds %d MiB and %d goroutines", name, r.held>>20, r.goroutines)
	}
	return nil
}

// molest lets clients be hostile until what it returns is called.
func (s *server) molest(ctx context.Context, n int) (stop func()) {
	ctx, cancel := context.WithCancel(ctx)
	kinds := []func(context.Context, string){slow, dying, malformed}
	var wait sync.WaitGroup
	for i := range n {
		wait.Go(func() {
			for ctx.Err() == nil {
				kinds[i%len(kinds)](ctx, s.address)
			}
		})
	}
	return func() { cancel(); wait.Wait() }
}

// dial sends the beginning of a request.
func dial(ctx context.Context, address, body string, length int) (net.Conn, error) {
	var d net.Dialer
	c, err := d.DialContext(ctx, "tcp", address)
	if err != nil {
		return nil, err
	}
	_, err = fmt.Fprintf(c, "POST /autoshard.v1.AutoshardService/Plan HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer %s\r\n"+
		"Content-Type: application/json\r\nContent-Length: %d\r\n\r\n%s", secret(0), length, body)
	return c, err
}

// slow sends a byte now and then.
func slow(ctx context.Context, address string) {
	c, err := dial(ctx, address, "{", 1<<20)
	if err != nil {
		return
	}
	defer c.Close()
	for ctx.Err() == nil {
		if _, err := c.Write([]byte(" ")); err != nil {
			return
		}
		pause(ctx, 50*time.Millisecond)
	}
}

// dying goes away in the middle of its request.
func dying(ctx context.Context, address string) {
	if c, err := dial(ctx, address, `{"text": "func`, 1<<20); err == nil {
		_ = c.Close()
	}
	pause(ctx, 50*time.Millisecond)
}

// malformed sends what is no request, and reads what the server says of it.
func malformed(ctx context.Context, address string) {
	body := strings.Repeat("\x00{]", 100)
	if c, err := dial(ctx, address, body, len(body)); err == nil {
		_ = c.SetReadDeadline(time.Now().Add(time.Second))
		_, _ = io.CopyN(io.Discard, c, 64)
		_ = c.Close()
	}
	pause(ctx, 50*time.Millisecond)
}

func pause(ctx context.Context, d time.Duration) {
	select {
	case <-time.After(d):
	case <-ctx.Done():
	}
}
