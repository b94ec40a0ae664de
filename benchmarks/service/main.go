// Command service measures a server under load, and writes a table.
//
//	go run ./benchmarks/service -o benchmarks/results/service.md
//
// Waves of requests to plan small models come at once, from as many clients, each with a token of its own; then the same while other
// clients send slowly, go away, and send what is no request. No answer may be lost or differ, the 95th percentile of a wave may take at
// most three times its median, and what the process holds afterwards may not grow. A soak repeats waves for some time.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"time"

	"autoshard/benchmarks/site"
)

func main() {
	out := flag.String("o", "", "file to write the table to; standard output alone if empty")
	wave := flag.Int("wave", 200, "requests at once")
	hostile := flag.Int("hostile", 500, "clients that are slow, go away, or send what is no request")
	soak := flag.Duration("soak", 0, "how long waves are repeated in the end")
	flag.Parse()
	site.Exit("service", run(context.Background(), *out, *wave, *hostile, *soak))
}

func run(ctx context.Context, out string, wave, hostile int, soak time.Duration) error {
	text, err := os.ReadFile("examples/mlp_train.mlir")
	if err != nil {
		return err
	}
	s, err := newServer(ctx, wave)
	if err != nil {
		return err
	}
	defer s.stop()
	report := fmt.Sprintf("# The service under load\n\n%s, commit %s. `go run ./benchmarks/service -wave %d -hostile %d -soak %s`; what is "+
		"measured stands there.\n\n| what | requests | lost or wrong | median | 95 %% | longest | held after | goroutines |\n"+
		"|---|---|---|---|---|---|---|---|\n", site.Machine(), site.Commit(), wave, hostile, soak)
	if _, err := s.wave(ctx, string(text), min(wave, 10)); err != nil { // warm
		return err
	}
	var failed error
	row := func(name string, w *result) {
		line := w.row(name)
		fmt.Fprint(os.Stderr, line)
		report += line
		failed = errors.Join(failed, w.verdict(name))
	}
	w, err := s.wave(ctx, string(text), wave)
	if err != nil {
		return err
	}
	row("at once", w)
	crowd := s.molest(ctx, hostile)
	if w, err = s.wave(ctx, string(text), wave); err != nil {
		return err
	}
	crowd()
	w.measure()
	row(fmt.Sprintf("at once, beside %d clients that are slow, go away, or send what is no request", hostile), w)
	for end := time.Now().Add(soak); time.Now().Before(end); {
		if w, err = s.wave(ctx, string(text), wave); err != nil {
			return err
		}
		failed = errors.Join(failed, w.verdict("soak"))
	}
	if soak > 0 {
		row("the last wave of the soak", w)
	}
	return errors.Join(failed, site.Publish(report, out))
}
