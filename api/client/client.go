// Package client asks a server of autoshard from Go, in the types of the library: plans, progress, errors with their classes and
// diagnostics.
//
//	c, err := client.New("http://127.0.0.1:8080", client.Options{Token: secret})
//	plan, err := c.Plan(ctx, client.Model{File: "train.mlir", Text: text}, autoshard.PlanOptions{Mesh: axes})
//	if errors.Is(err, autoshard.ErrInfeasible) { … }
//
// What a server refuses because it is busy is asked again when it says so, until the context ends. [Client.Service] is the generated
// client, with all methods and all options.
package client

import (
	"context"
	"fmt"
	"net"
	"net/http"
	"strings"

	"connectrpc.com/connect"

	"autoshard"
	autoshardv1 "autoshard/api/gen/autoshard/v1"
	"autoshard/api/gen/autoshard/v1/autoshardv1connect"
	"autoshard/internal/diag"
)

// Options of a Client. Zero values stand for the defaults.
type Options struct {
	Token    string       // that the server wants, as `Authorization: Bearer TOKEN`; none if empty
	Protocol string       // connect, grpc or grpc-web; default connect
	HTTP     *http.Client // default: one over HTTP/2, also where connections are not encrypted
}

// Client asks a server. It may be used by several goroutines.
type Client struct {
	service autoshardv1connect.AutoshardServiceClient
	http    *http.Client
}

// New returns a client of the server at an address: http://HOST:PORT, https://HOST:PORT or unix:PATH. Nothing is sent yet. The error is of
// class [autoshard.ErrInvalid].
func New(address string, o Options) (*Client, error) {
	url, http := address, o.HTTP
	if path, ok := strings.CutPrefix(address, "unix:"); ok {
		url = "http://unix"
		if http == nil {
			http = newHTTP(path)
		}
	}
	if http == nil {
		http = newHTTP("")
	}
	if !strings.HasPrefix(url, "http://") && !strings.HasPrefix(url, "https://") {
		return nil, diag.Invalid(diag.BadOption, diag.Position{}, "address %q must be http://HOST:PORT, https://HOST:PORT or unix:PATH", address)
	}
	options := []connect.ClientOption{connect.WithInterceptors(patience{}, authorization(o.Token))}
	switch o.Protocol {
	case "", connect.ProtocolConnect:
	case connect.ProtocolGRPC:
		options = append(options, connect.WithGRPC())
	case "grpc-web", connect.ProtocolGRPCWeb:
		options = append(options, connect.WithGRPCWeb())
	default:
		return nil, diag.Invalid(diag.BadOption, diag.Position{}, "protocol %q must be connect, grpc or grpc-web", o.Protocol)
	}
	return &Client{autoshardv1connect.NewAutoshardServiceClient(http, url, options...), http}, nil
}

// newHTTP returns a client over HTTP/2, of a unix socket if there is a path.
func newHTTP(path string) *http.Client {
	var p http.Protocols
	p.SetHTTP2(true)
	p.SetUnencryptedHTTP2(true)
	transport := &http.Transport{Protocols: &p, Proxy: http.ProxyFromEnvironment}
	if path != "" {
		transport.Proxy = nil
		transport.DialContext = func(ctx context.Context, _, _ string) (net.Conn, error) {
			var d net.Dialer
			return d.DialContext(ctx, "unix", path)
		}
	}
	return &http.Client{Transport: transport}
}

// Service returns the generated client, which has all methods. Its errors are those of Connect; [Error] gives them their classes.
func (c *Client) Service() autoshardv1connect.AutoshardServiceClient { return c.service }

// Close closes connections that nobody uses.
func (c *Client) Close() { c.http.CloseIdleConnections() }

// Model is a program as a file has it: StableHLO text, model.json, MLIR bytecode, a portable artifact or what jax.export serialized.
type Model struct {
	File     string // names it in errors
	Text     []byte
	Sizes    []string // of symbolic and dynamic dimensions, such as b=64
	Platform string   // of a program that is exported for several
	Rules    []string // sharding rules of custom operations
}

// Plan asks for a plan, and passes on how far it is where the options have Progress. The hardware is a built-in profile, of which the
// server has its own; Now counts for nothing. Errors have the classes and diagnostics of [autoshard.MakePlan], or are the context's.
func (c *Client) Plan(ctx context.Context, m Model, o autoshard.PlanOptions) (*autoshard.Plan, error) {
	request, err := planRequest(m, o)
	if err != nil {
		return nil, err
	}
	response, err := c.plan(ctx, request, o.Progress)
	if err != nil {
		return nil, Error(err)
	}
	return readPlan(ctx, response.GetPlan())
}

// plan asks by Plan, or by StreamPlan where somebody wants to know how far it is.
func (c *Client) plan(ctx context.Context, r *autoshardv1.PlanRequest, progress func(autoshard.Progress)) (*autoshardv1.PlanResponse,
	error) {
	if progress == nil {
		return c.service.Plan(ctx, r)
	}
	stream, err := c.service.StreamPlan(ctx, &autoshardv1.StreamPlanRequest{Plan: r})
	if err != nil {
		return nil, err
	}
	defer func() { _ = stream.Close() }() // what came is what counts
	for stream.Receive() {
		if result := stream.Msg().GetResult(); result != nil {
			return result, nil
		}
		p := stream.Msg().GetProgress()
		progress(autoshard.Progress{Stage: p.GetStage(), Seconds: p.GetSeconds(), Bound: p.GetBound(), Strategies: int(p.GetStrategies())})
	}
	if err := stream.Err(); err != nil {
		return nil, err
	}
	return nil, connect.NewError(connect.CodeUnavailable, fmt.Errorf("the stream ended without a result"))
}
