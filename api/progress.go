package api

import (
	"context"
	"time"

	"go.opentelemetry.io/otel/trace"

	"autoshard"
	autoshardv1 "autoshard/api/gen/autoshard/v1"
)

// reporter sends reports of long work to a client without holding it up: of reports that come while one is being sent, the last counts.
type reporter struct {
	started time.Time
	latest  chan *autoshardv1.Progress // of one: the report that is sent next
	done    chan error                 // the first error of sending
}

// newReporter returns a reporter. It has to be closed.
func newReporter(send func(*autoshardv1.Progress) error) *reporter {
	r := &reporter{time.Now(), make(chan *autoshardv1.Progress, 1), make(chan error, 1)}
	go func() {
		var failed error
		for p := range r.latest {
			if failed == nil {
				failed = send(p)
			}
		}
		r.done <- failed
	}()
	return r
}

// staged adds the stages of work to the span of a request, and passes reports on; next may be nil.
func staged(ctx context.Context, next func(autoshard.Progress)) func(autoshard.Progress) {
	span, last := trace.SpanFromContext(ctx), ""
	if !span.IsRecording() {
		return next
	}
	return func(p autoshard.Progress) {
		if p.Stage != last {
			last = p.Stage
			span.AddEvent(p.Stage)
		}
		if next != nil {
			next(p)
		}
	}
}

// report takes a report. It must not be called by two goroutines at once.
func (r *reporter) report(p autoshard.Progress) {
	message := &autoshardv1.Progress{Stage: p.Stage, Seconds: p.Seconds, Bound: p.Bound, Strategies: int64(p.Strategies),
		ElapsedSeconds: time.Since(r.started).Seconds()}
	select {
	case <-r.latest:
	default:
	}
	r.latest <- message
}

// close waits until everything is sent and returns the first error of that.
func (r *reporter) close() error {
	close(r.latest)
	return <-r.done
}
