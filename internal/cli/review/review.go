// Package review is the subcommand that shows propagations and plans in a browser:
//
//	autoshard review plan.json
package review

import (
	"context"
	"crypto/rand"
	"encoding/json"
	"log/slog"
	"net"
	"net/url"
	"os"
	"os/exec"
	"runtime"

	"github.com/spf13/cobra"

	"autoshard"
	"autoshard/api"
	"autoshard/internal/cli/cmdline"
	"autoshard/internal/config"
	"autoshard/internal/diag"
	"autoshard/internal/lists"
	"autoshard/web"
)

// flags are those that only this command has.
type flags struct {
	export string
	listen string
	stay   bool
	data   string
}

// Command returns the subcommand.
func Command(s *cmdline.Streams) *cobra.Command {
	var f flags
	cmd := &cobra.Command{
		Use:   "review PLAN|MODEL|DOCUMENT...",
		Short: "Show propagations and plans in a browser",
		Long: `Show in a browser how a model's shardings propagate, or what a plan does and costs: the program by layer, the propagation step by
step, time, memory and collectives of a plan, two of them side by side, which device holds what, and other plans that are made while one
looks. Of a plan the model that it names is shown, too, where it is still there; only then can it be planned again.

The server is private: its address holds a token, and it ends with the command. On a terminal the address is opened, too, by $BROWSER or
what the system has; --no-open leaves that out.

--export writes one file instead, which shows the same from disk, but for planning again. --format json writes what is shown of one file
as a document, which this command takes back.

--format model-explorer writes node data for Model Explorer (pip install ai-edge-model-explorer), which shows them over the graph of the
model's file: --data sharding, memory (bytes per device) or, of a plan, time (microseconds) or sent (bytes of all devices).`,
		Example: `  autoshard review plan.json
  autoshard review model.mlir --mesh data=4,model=2
  autoshard review before.json after.json --export report.html
  autoshard review plan.json --format model-explorer --data time -o time.json`,
		Args: cmdline.AtLeast("PLAN|MODEL|DOCUMENT"),
		RunE: cmdline.WithConfig(func(ctx context.Context, c *config.Config, args []string) error { return run(ctx, s, c, args, &f) }),
	}
	config.AddFlags(cmd.Flags(), "mesh", "rule", "dim", "platform", "hardware", "topology", "memory", "format", "output")
	config.AllowFormats(cmd.Flags(), config.Text, config.JSON, config.ModelExplorer)
	cmd.Flags().StringVar(&f.export, "export", "", "a `file` for the page with all that it shows, instead of a server")
	cmd.Flags().StringVar(&f.listen, "listen", "127.0.0.1:0", "address of the server; port 0 takes a free one")
	cmd.Flags().StringVar(&f.data, "data", string(autoshard.NodeSharding), "with --format model-explorer, what nodes show: sharding, memory, "+
		"time or sent")
	cmd.Flags().BoolVar(&f.stay, "no-open", false, "print the address, and open nothing")
	return cmd
}

func run(ctx context.Context, s *cmdline.Streams, c *config.Config, files []string, f *flags) error {
	if err := cmdline.CheckOutput(f.export); err != nil {
		return err
	}
	if cmdline.OutputFormat(c) == config.ModelExplorer {
		return nodeData(ctx, s, c, files, f)
	}
	var subjects []api.Subject
	for _, file := range files {
		found, err := subjectsOf(ctx, s, c, file)
		if err != nil {
			return err
		}
		subjects = append(subjects, found...)
	}
	switch {
	case cmdline.OutputFormat(c) == config.JSON:
		return s.Write(c.Output, append(subjects[0].Document, '\n'))
	case f.export != "":
		page, err := web.Report(lists.Map(subjects, func(x api.Subject) web.Part {
			return web.Part{Name: x.Name, Document: json.RawMessage(x.Document)}
		}))
		if err != nil {
			return err
		}
		return s.Write(f.export, page)
	}
	return serve(ctx, s, subjects, f)
}

// serve serves the page until the command is interrupted.
func serve(ctx context.Context, s *cmdline.Streams, subjects []api.Subject, f *flags) error {
	var lc net.ListenConfig
	l, err := lc.Listen(ctx, "tcp", f.listen)
	if err != nil {
		return diag.Invalid(diag.BadOption, diag.Position{File: "--listen"}, "cannot listen on %q: %v", f.listen, err)
	}
	token := api.Token{Name: "private", Secret: rand.Text()}
	address := (&url.URL{Scheme: "http", Host: l.Addr().String(), Path: "/", Fragment: "token=" + token.Secret}).String()
	if err := s.Write("", []byte(address+"\n")); err != nil {
		return err
	}
	if s.Terminal() && !f.stay {
		if err := openPage(ctx, address); err != nil {
			s.Note("open the address in a browser: nothing here does (%v)", err)
		}
	}
	server := api.New(api.Options{Tokens: []api.Token{token}, Subjects: subjects, Logger: slog.New(slog.DiscardHandler)})
	return server.Serve(ctx, l)
}

// openPage opens an address in the user's browser, and does not wait for it.
func openPage(ctx context.Context, address string) error {
	program, args := os.Getenv("BROWSER"), []string{address}
	switch {
	case program != "":
	case runtime.GOOS == "darwin":
		program = "open"
	case runtime.GOOS == "windows":
		program, args = "rundll32", []string{"url.dll,FileProtocolHandler", address}
	default:
		program = "xdg-open"
	}
	cmd := exec.CommandContext(ctx, program, args...)
	if err := cmd.Start(); err != nil {
		return err
	}
	go func() { _ = cmd.Wait() }() // so that no process is left behind
	return nil
}
