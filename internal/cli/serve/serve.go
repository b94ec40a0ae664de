// Package serve is the subcommand that serves the API:
//
//	autoshard serve --listen 127.0.0.1:8080
package serve

import (
	"bufio"
	"context"
	"errors"
	"log/slog"
	"net"
	"net/http"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"autoshard/api"
	"autoshard/api/jobs"
	"autoshard/api/plancache"
	"autoshard/internal/cli/cmdline"
	"autoshard/internal/config"
	"autoshard/internal/diag"
)

// Command returns the subcommand.
func Command(s *cmdline.Streams) *cobra.Command {
	var private bool
	cmd := &cobra.Command{
		Use:   "serve",
		Short: "Serve autoshard.v1.AutoshardService over Connect, gRPC and gRPC-Web",
		Long: `Serve autoshard.v1.AutoshardService over Connect, gRPC and gRPC-Web on one port, with health checking and reflection.
SIGTERM or an interrupt drains: requests in flight finish, those that wait are refused, then the exit code is 0.

With --jobs plans are made in the background, too, and go on in the next process that has the file where this one ends before them.
With --cache plans are kept, and requests that are sent again are answered from the file.
Spans of requests go where the standard variables of OpenTelemetry say, such as
OTEL_EXPORTER_OTLP_ENDPOINT=http://127.0.0.1:4318.
With --token-file requests need one of the tokens in the file, as the header "Authorization: Bearer SECRET".
With --tls-cert and --tls-key connections are encrypted. --debug-listen serves metrics and profiles, for operators alone.
--private serves the program that started it: the first line of standard input is the token, the first line of standard output the
address, a free port of this machine, and the server ends when standard input does.`,
		Example: `  autoshard serve --listen 127.0.0.1:8080
  autoshard serve --listen unix:/run/autoshard/api.sock --jobs /var/lib/autoshard/jobs.db
  autoshard serve --listen :443 --tls-cert cert.pem --tls-key key.pem --token-file tokens --debug-listen 127.0.0.1:6060`,
		Args: cmdline.Args(),
		RunE: cmdline.WithConfig(func(ctx context.Context, c *config.Config, _ []string) error {
			if private {
				return runPrivate(ctx, s, &c.Serve)
			}
			return run(ctx, s, &c.Serve)
		}),
	}
	config.AddFlags(cmd.Flags(), "serve.listen", "serve.token-file", "serve.tls-cert", "serve.tls-key", "serve.debug-listen", "serve.jobs",
		"serve.cache", "serve.cache-size", "serve.cache-age", "serve.max-request", "serve.max-memory",
		"serve.max-concurrent", "serve.max-waiting", "serve.max-jobs", "serve.max-time", "serve.drain-time")
	cmd.Flags().BoolVar(&private, "private", false, "serve the program that started this one, and end with it")
	return cmd
}

func run(ctx context.Context, s *cmdline.Streams, c *config.Serve) error {
	tokens, err := readTokens(ctx, s, c.TokenFile)
	if err != nil {
		return err
	}
	network, address := "tcp", c.Listen
	if path, ok := strings.CutPrefix(c.Listen, "unix:"); ok {
		network, address = "unix", path
	}
	l, err := listen(ctx, "--listen", network, address)
	if err != nil {
		return err
	}
	return serve(ctx, s, c, tokens, l)
}

// runPrivate serves the process at the other end of standard input.
func runPrivate(ctx context.Context, s *cmdline.Streams, c *config.Serve) error {
	in := bufio.NewScanner(s.In)
	if !in.Scan() || strings.TrimSpace(in.Text()) == "" {
		return diag.Invalid(diag.BadOption, diag.Position{File: "--private"}, "the first line of standard input must be a token")
	}
	l, err := listen(ctx, "--listen", "tcp", "127.0.0.1:0")
	if err != nil {
		return err
	}
	if err := s.Write("", []byte("http://"+l.Addr().String()+"\n")); err != nil {
		return errors.Join(err, l.Close())
	}
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	token := api.Token{Name: "private", Secret: strings.TrimSpace(in.Text())}
	go func() {
		for in.Scan() { // until it ends
		}
		cancel()
	}()
	return serve(ctx, s, c, []api.Token{token}, l)
}

func listen(ctx context.Context, option, network, address string) (net.Listener, error) {
	var lc net.ListenConfig
	l, err := lc.Listen(ctx, network, address)
	if err != nil {
		return nil, diag.Invalid(diag.BadOption, diag.Position{File: option}, "cannot listen on %q: %v", address, err)
	}
	return l, nil
}

// serve serves connections of l. Jobs go on in the next process where this one ends before them.
func serve(ctx context.Context, s *cmdline.Streams, c *config.Serve, tokens []api.Token, l net.Listener) (err error) {
	defer func() {
		if err != nil {
			_ = l.Close() // it is closed already unless the server did not begin
		}
	}()
	waiting := c.MaxWaiting
	if waiting == 0 {
		waiting = -1 // 0 stands for the default there
	}
	o := api.Options{MaxRequest: c.MaxRequest, MaxMemory: c.MaxMemory, MaxConcurrent: c.MaxConcurrent, MaxWaiting: waiting,
		MaxJobs: c.MaxJobs, MaxTime: c.MaxTime, DrainTime: c.DrainTime, Tokens: tokens, Logger: slog.New(slog.NewTextHandler(s.Err, nil))}
	if o.TLS, err = certificate(c); err != nil {
		return err
	}
	if c.Jobs != "" {
		if o.Jobs, err = jobs.Open(c.Jobs); err != nil {
			return diag.Invalid(diag.BadOption, diag.Position{File: "--jobs"}, "%v", err)
		}
		defer func() { err = errors.Join(err, o.Jobs.Close()) }()
	}
	if c.Cache != "" {
		if o.Cache, err = plancache.Open(c.Cache, plancache.Options{Bytes: c.CacheSize, Age: c.CacheAge}); err != nil {
			return diag.Invalid(diag.BadOption, diag.Position{File: "--cache"}, "%v", err)
		}
		defer func() { err = errors.Join(err, o.Cache.Close()) }()
	}
	traces, flush, err := tracing(ctx)
	if err != nil {
		return err
	}
	defer flush(o.Logger)
	o.Traces = traces
	server := api.New(o)
	if c.DebugListen != "" {
		debug, err := listen(ctx, "--debug-listen", "tcp", c.DebugListen)
		if err != nil {
			return err
		}
		operators := &http.Server{Handler: server.Debug(), ReadHeaderTimeout: headerTimeout}
		defer operators.Close()
		go func() { _ = operators.Serve(debug) }() // it ends when it is closed
		o.Logger.Info("metrics and profiles", "address", debug.Addr().String())
	}
	return server.Serve(ctx, l)
}

// headerTimeout bounds the time that an operator's request takes to say what it wants.
const headerTimeout = 10 * time.Second
