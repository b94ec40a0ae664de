// Command service measures a server under load, and writes a table.
//
//	go run ./benchmarks/service -o benchmarks/results/service.md
//
// The server is `autoshard serve` in a process of its own. Waves of requests to plan small models come at once, from as many clients, each
// with a token of its own; then the same while other clients, in this process, send slowly, go away, and send what is no request. No answer
// may be lost or differ, the 95th percentile of a wave may take at most three times its median, and what the server holds afterwards, more
// than before any request, may not grow. The processor time of the server says what of the time that a wave takes is its own work, and not
// that of the clients or of others on the machine; what hostile clients cost a server that has nothing else to do is measured, too. A soak
// repeats waves for some time. In the end servers with jobs are killed at random moments.
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

// options are what is measured.
type options struct {
	out           string
	wave, hostile int
	soak          time.Duration
	kills         int
}

func main() {
	var o options
	flag.StringVar(&o.out, "o", "", "file to write the table to; standard output alone if empty")
	flag.IntVar(&o.wave, "wave", 200, "requests at once")
	flag.IntVar(&o.hostile, "hostile", 500, "clients that are slow, go away, or send what is no request")
	flag.DurationVar(&o.soak, "soak", 0, "how long waves are repeated in the end")
	flag.IntVar(&o.kills, "kills", 100, "how often a server with jobs is killed")
	flag.Parse()
	site.Exit("service", run(context.Background(), &o))
}

func run(ctx context.Context, o *options) error {
	text, err := os.ReadFile("examples/mlp_train.mlir")
	if err != nil {
		return err
	}
	dir, err := os.MkdirTemp("", "service")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	b, err := newBuilt(dir, o.wave)
	if err != nil {
		return err
	}
	report := fmt.Sprintf("# The service under load\n\n%s, commit %s. `go run ./benchmarks/service -wave %d -hostile %d -soak %s -kills %d`; "+
		"what is measured stands there.\n\n", site.Machine(), site.Commit(), o.wave, o.hostile, o.soak, o.kills)
	waves, failed := b.waves(ctx, string(text), o)
	report += waves
	if o.kills > 0 {
		killed, err := b.killed(ctx, string(text), o.kills)
		report += killed
		failed = errors.Join(failed, err)
	}
	return errors.Join(failed, site.Publish(report, o.out))
}

// waves sends waves alone, beside hostile clients, and for the time of the soak.
func (b *built) waves(ctx context.Context, text string, o *options) (report string, failed error) {
	s, err := b.start()
	if err != nil {
		return "", err
	}
	defer func() { failed = errors.Join(failed, s.stop()) }()
	begun, err := s.state()
	if err != nil {
		return "", err
	}
	report = "| what | requests | lost or wrong | median | 95 % | longest | processor | held after | goroutines | open files |\n" +
		"|---|---|---|---|---|---|---|---|---|---|\n"
	wave := func(name string, n int, beside func() (stop func())) {
		before, err := s.state()
		stop := beside()
		w, waveErr := s.wave(ctx, text, n)
		stop()
		if err = errors.Join(err, waveErr); err == nil {
			err = errors.Join(s.measure(w, &begun, &before), w.verdict(name))
		}
		if failed = errors.Join(failed, err); w == nil || name == "" {
			return
		}
		fmt.Fprint(os.Stderr, w.row(name))
		if name != soaked {
			report += w.row(name)
		}
	}
	nobody := func() func() { return func() {} }
	wave("", min(o.wave, 10), nobody) // warm
	wave("at once", o.wave, nobody)
	price, err := s.price(ctx, o.hostile)
	if err != nil {
		return report, errors.Join(failed, err)
	}
	wave(fmt.Sprintf("at once, beside %d clients that are slow, go away, or send what is no request", o.hostile), o.wave, func() func() {
		return molest(ctx, s.address, o.hostile, new(crowd))
	})
	before := time.Now()
	for n := 0; time.Since(before) < o.soak && failed == nil; n++ {
		wave(soaked, o.wave, nobody)
		if time.Since(before) >= o.soak {
			wave(fmt.Sprintf("at once, after %d waves of the soak", n+1), o.wave, nobody)
		}
	}
	return report + price, failed
}

// soaked names the waves of the soak, which are not in the table.
const soaked = "soak"
