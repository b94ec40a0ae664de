package client_test

import (
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"testing"

	"connectrpc.com/connect"
	"go.uber.org/goleak"

	"autoshard"
	"autoshard/api"
	"autoshard/api/client"
	autoshardv1 "autoshard/api/gen/autoshard/v1"
	"autoshard/subaxis"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// serve starts a server, and returns its address.
func serve(t *testing.T, network, address string, o api.Options) string {
	t.Helper()
	l, err := net.Listen(network, address)
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan error, 1)
	go func() { done <- api.New(o).Serve(ctx, l) }()
	t.Cleanup(func() {
		cancel()
		if err := <-done; err != nil {
			t.Error(err)
		}
	})
	if network == "unix" {
		return "unix:" + address
	}
	return "http://" + l.Addr().String()
}

func connected(t *testing.T, address string, o client.Options) *client.Client {
	t.Helper()
	c, err := client.New(address, o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(c.Close)
	return c
}

func model(t *testing.T) client.Model {
	t.Helper()
	text, err := os.ReadFile(filepath.Join("..", "..", "examples", "mlp_train.mlir"))
	if err != nil {
		t.Fatal(err)
	}
	return client.Model{File: "mlp_train.mlir", Text: text}
}

// A plan of the server is that of the library, over every protocol, with all options.
func TestPlan(t *testing.T) {
	address := serve(t, "unix", filepath.Join(t.TempDir(), "s"), api.Options{Tokens: []api.Token{{Name: "a", Secret: "secret"}}})
	m := model(t)
	o := autoshard.PlanOptions{Mesh: []subaxis.Axis{{Name: "data", Size: 4}, {Name: "model", Size: 2}}, Memory: 1 << 20, Seed: 3,
		WholeAxes: true,
		Pins:      []autoshard.Pin{{Value: "arg0", Sharding: "P('data')"}}, Budgets: []autoshard.Budget{{Kind: "sent", Bytes: 1 << 30}},
		Forbidden: []autoshard.Forbid{{Value: "arg1", Axes: []string{"model"}}}, Taste: -1}
	read, err := autoshard.ReadModel(t.Context(), m.File, m.Text)
	if err != nil {
		t.Fatal(err)
	}
	want, err := autoshard.MakePlan(t.Context(), read, o)
	if err != nil {
		t.Fatal(err)
	}
	for _, protocol := range []string{"connect", "grpc", "grpc-web"} {
		c := connected(t, address, client.Options{Token: "secret", Protocol: protocol})
		stages := map[string]bool{}
		for _, progress := range []func(autoshard.Progress){nil, func(p autoshard.Progress) { stages[p.Stage] = true }} {
			o.Progress = progress
			got, err := c.Plan(t.Context(), m, o)
			if err != nil || got.Hashes != want.Hashes {
				t.Errorf("%s: %v, want %v, error %v", protocol, got, want.Hashes, err)
			}
		}
		if len(stages) == 0 {
			t.Errorf("%s: no progress", protocol)
		}
	}
	o.Progress, o.From = nil, want
	if got, err := connected(t, address, client.Options{Token: "secret"}).Plan(t.Context(), m, o); err != nil ||
		got.Options.From != want.Hashes.Plan {
		t.Errorf("from a plan: %v, %v", got, err)
	}
	if _, err := connected(t, address, client.Options{}).Plan(t.Context(), m, o); connect.CodeOf(err) != connect.CodeUnauthenticated {
		t.Errorf("without a token: %v", err)
	}
}

// Errors have the classes and the places that the library gives.
func TestErrors(t *testing.T) {
	c := connected(t, serve(t, "tcp", "127.0.0.1:0", api.Options{}), client.Options{})
	m := model(t)
	mesh := []subaxis.Axis{{Name: "x", Size: 2}}
	if _, err := c.Plan(t.Context(), m, autoshard.PlanOptions{Mesh: mesh, Memory: 1}); !errors.Is(err, autoshard.ErrInfeasible) ||
		len(autoshard.Diagnostics(err)) == 0 {
		t.Errorf("too little memory: %v", err)
	}
	_, err := c.Plan(t.Context(), client.Model{File: "wrong.mlir", Text: []byte("func.func @main() {\n  nonsense\n}\n")},
		autoshard.PlanOptions{Mesh: mesh})
	if list := autoshard.Diagnostics(err); !errors.Is(err, autoshard.ErrInvalid) || len(list) == 0 || list[0].Pos.Line != 2 ||
		list[0].Pos.File != "wrong.mlir" {
		t.Errorf("a wrong model: %v at %v", err, list)
	}
	ended, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := c.Plan(ended, m, autoshard.PlanOptions{Mesh: mesh}); !errors.Is(err, context.Canceled) {
		t.Errorf("after the end: %v", err)
	}
	if _, err := c.Service().GetJob(t.Context(), &autoshardv1.GetJobRequest{Id: "x"}); !errors.Is(client.Error(err),
		autoshard.ErrUnsupported) {
		t.Errorf("a server without jobs: %v", err)
	}
	for _, address := range []string{"", "127.0.0.1:8080", "ftp://x"} {
		if _, err := client.New(address, client.Options{}); !errors.Is(err, autoshard.ErrInvalid) {
			t.Errorf("%q: %v", address, err)
		}
	}
	if _, err := client.New("http://x", client.Options{Protocol: "smtp"}); !errors.Is(err, autoshard.ErrInvalid) {
		t.Errorf("a protocol: %v", err)
	}
}

// A client that a busy server refuses asks again, and gets its answer.
func TestBusyServers(t *testing.T) {
	c := connected(t, serve(t, "tcp", "127.0.0.1:0", api.Options{MaxConcurrent: 1, MaxWaiting: -1}), client.Options{})
	m, results := model(t), make(chan error)
	for range 4 {
		go func() {
			_, err := c.Plan(t.Context(), m, autoshard.PlanOptions{Mesh: []subaxis.Axis{{Name: "x", Size: 4}}, Steps: 1000})
			results <- err
		}()
	}
	for range 4 {
		if err := <-results; err != nil {
			t.Error(err)
		}
	}
}

func ExampleNew() {
	_, err := client.New("localhost", client.Options{})
	fmt.Println(err)
	// Output: address "localhost" must be http://HOST:PORT, https://HOST:PORT or unix:PATH
}
