// Package serve is the subcommand that serves the API:
//
//	autoshard serve --listen 127.0.0.1:8080
package serve

import (
	"context"
	"log/slog"
	"net"

	"github.com/spf13/cobra"

	"autoshard/api"
	"autoshard/internal/cli/cmdline"
	"autoshard/internal/config"
	"autoshard/internal/diag"
)

// Command returns the subcommand.
func Command(s *cmdline.Streams) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "serve",
		Short: "Serve autoshard.v1.AutoshardService over Connect, gRPC and gRPC-Web",
		Long: `Serve autoshard.v1.AutoshardService over Connect, gRPC and gRPC-Web on one port, without encryption, with health
checking and reflection. SIGTERM or an interrupt drains: requests in flight finish, those that wait are refused, then the
exit code
is 0.`,
		Example: `  autoshard serve --listen 127.0.0.1:8080`,
		Args:    cmdline.Args(),
		RunE: cmdline.WithConfig(func(ctx context.Context, c *config.Config, _ []string) error {
			return run(ctx, s, &c.Serve)
		}),
	}
	config.AddFlags(cmd.Flags(), "serve.listen", "serve.max-request", "serve.max-concurrent", "serve.max-waiting", "serve.max-time",
		"serve.drain-time")
	return cmd
}

func run(ctx context.Context, s *cmdline.Streams, c *config.Serve) error {
	var lc net.ListenConfig
	l, err := lc.Listen(ctx, "tcp", c.Listen)
	if err != nil {
		return diag.Invalid(diag.BadOption, diag.Position{File: "--listen"}, "cannot listen on %q: %v", c.Listen, err)
	}
	waiting := c.MaxWaiting
	if waiting == 0 {
		waiting = -1 // 0 stands for the default there
	}
	server := api.New(api.Options{
		MaxRequest: c.MaxRequest, MaxConcurrent: c.MaxConcurrent, MaxWaiting: waiting, MaxTime: c.MaxTime, DrainTime: c.DrainTime,
		Logger: slog.New(slog.NewTextHandler(s.Err, nil)),
	})
	return server.Serve(ctx, l)
}
