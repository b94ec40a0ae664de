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
	"strings"

	"github.com/spf13/cobra"

	"autoshard/api"
	"autoshard/api/jobs"
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
		Long: `Serve autoshard.v1.AutoshardService over Connect, gRPC and gRPC-Web on one port, without encryption, with health
checking and reflection. SIGTERM or an interrupt drains: requests in flight finish, those that wait are refused, then the
exit code is 0.

With --jobs plans are made in the background, too, and go on in the next process that has the file where this one ends before them.
With --token-file requests need one of the tokens in the file, as the header "Authorization: Bearer TOKEN".
--private serves the program that started it: the first line of standard input is the token, the first line of standard output the
address, a free port of this machine, and the server ends when standard input does.`,
		Example: `  autoshard serve --listen 127.0.0.1:8080
  autoshard serve --listen unix:/run/autoshard.sock --token-file tokens`,
		Args: cmdline.Args(),
		RunE: cmdline.WithConfig(func(ctx context.Context, c *config.Config, _ []string) error {
			if private {
				return runPrivate(ctx, s, &c.Serve)
			}
			return run(ctx, s, &c.Serve)
		}),
	}
	config.AddFlags(cmd.Flags(), "serve.listen", "serve.token-file", "serve.jobs", "serve.max-request", "serve.max-concurrent",
		"serve.max-waiting", "serve.max-time", "serve.drain-time")
	cmd.Flags().BoolVar(&private, "private", false, "serve the program that started this one, and end with it")
	return cmd
}

func run(ctx context.Context, s *cmdline.Streams, c *config.Serve) error {
	var tokens []string
	if c.TokenFile != "" {
		_, text, err := s.Read(ctx, c.TokenFile)
		if err != nil {
			return err
		}
		if tokens = strings.Fields(string(text)); len(tokens) == 0 {
			return diag.Invalid(diag.BadOption, diag.Position{File: c.TokenFile}, "the file has no token")
		}
	}
	network, address := "tcp", c.Listen
	if path, ok := strings.CutPrefix(c.Listen, "unix:"); ok {
		network, address = "unix", path
	}
	l, err := listen(ctx, network, address)
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
	l, err := listen(ctx, "tcp", "127.0.0.1:0")
	if err != nil {
		return err
	}
	if err := s.Write("", []byte("http://"+l.Addr().String()+"\n")); err != nil {
		return err
	}
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	token := strings.TrimSpace(in.Text())
	go func() {
		for in.Scan() { // until it ends
		}
		cancel()
	}()
	return serve(ctx, s, c, []string{token}, l)
}

func listen(ctx context.Context, network, address string) (net.Listener, error) {
	var lc net.ListenConfig
	l, err := lc.Listen(ctx, network, address)
	if err != nil {
		return nil, diag.Invalid(diag.BadOption, diag.Position{File: "--listen"}, "cannot listen on %q: %v", address, err)
	}
	return l, nil
}

// serve serves connections of l. Jobs go on in the next process where this one ends before them.
func serve(ctx context.Context, s *cmdline.Streams, c *config.Serve, tokens []string, l net.Listener) (err error) {
	var store *jobs.Store
	if c.Jobs != "" {
		if store, err = jobs.Open(c.Jobs); err != nil {
			return errors.Join(diag.Invalid(diag.BadOption, diag.Position{File: "--jobs"}, "%v", err), l.Close())
		}
		defer func() { err = errors.Join(err, store.Close()) }()
	}
	waiting := c.MaxWaiting
	if waiting == 0 {
		waiting = -1 // 0 stands for the default there
	}
	return api.New(api.Options{
		MaxRequest: c.MaxRequest, MaxConcurrent: c.MaxConcurrent, MaxWaiting: waiting, MaxTime: c.MaxTime, DrainTime: c.DrainTime,
		Tokens: tokens, Jobs: store, Logger: slog.New(slog.NewTextHandler(s.Err, nil)),
	}).Serve(ctx, l)
}
