package api

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"math"
	"net"
	"net/http"
	"runtime/debug"
	"strconv"
	"time"

	"connectrpc.com/connect"
	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/trace"
	"google.golang.org/protobuf/proto"

	"autoshard/api/gen/autoshard/v1/autoshardv1connect"
	"autoshard/internal/diag"
)

// limiter admits requests, gives them their time, maps their errors and logs them.
type limiter struct {
	queue   *queue
	maxTime time.Duration
	logger  *slog.Logger
	metrics *metrics
}

// newLimiter returns the limiter of a server. Waiting requests are in memory, which bounds their bytes.
func newLimiter(o *Options) *limiter {
	const waitingBytes = 4 // times the largest request
	q := newQueue(o.MaxConcurrent, o.MaxWaiting, waitingBytes*o.MaxRequest)
	return &limiter{q, o.MaxTime, o.Logger, newMetrics(q)}
}

// call is a request that is to be worked on.
type call struct {
	procedure string
	peer      connect.Peer
	message   any
}

// callOf returns the request that a handler has.
func callOf(ctx context.Context, message any) call {
	c := call{message: message}
	if info, ok := connect.CallInfoForHandlerContext(ctx); ok {
		c.procedure, c.peer = info.Spec().Procedure, info.Peer()
	}
	return c
}

// light are procedures that take no time worth waiting for.
var light = map[string]bool{
	autoshardv1connect.AutoshardServiceStartJobProcedure:     true,
	autoshardv1connect.AutoshardServiceGetJobProcedure:       true,
	autoshardv1connect.AutoshardServiceCancelJobProcedure:    true,
	autoshardv1connect.AutoshardServiceListJobsProcedure:     true,
	autoshardv1connect.AutoshardServiceListHardwareProcedure: true,
	autoshardv1connect.ReviewServiceGetPlanRequestProcedure:  true,
	autoshardv1connect.ReviewServiceListSubjectsProcedure:    true,
}

// WrapUnary implements connect.Interceptor.
func (l *limiter) WrapUnary(next connect.UnaryFunc) connect.UnaryFunc {
	return func(ctx context.Context, r connect.AnyRequest) (response connect.AnyResponse, err error) {
		c := callOf(ctx, r.Any())
		if light[c.procedure] {
			start := time.Now()
			response, err = next(ctx, r)
			err = connectError(err)
			l.record(ctx, c, time.Since(start), 0, err)
			return response, err
		}
		err = l.work(ctx, c, func(ctx context.Context) (err error) {
			response, err = next(ctx, r)
			return err
		})
		return response, err
	}
}

// WrapStreamingClient implements connect.Interceptor.
func (l *limiter) WrapStreamingClient(next connect.StreamingClientFunc) connect.StreamingClientFunc {
	return next
}

// WrapStreamingHandler implements connect.Interceptor. It gives errors their codes and diagnostics, and records what no handler did:
// requests that cannot be read, and those that take no slot.
func (l *limiter) WrapStreamingHandler(next connect.StreamingHandlerFunc) connect.StreamingHandlerFunc {
	return func(ctx context.Context, conn connect.StreamingHandlerConn) error {
		start := time.Now()
		err := connectError(next(ctx, conn))
		if !visitOf(ctx).recorded {
			l.record(ctx, call{conn.Spec().Procedure, conn.Peer(), nil}, time.Since(start), 0, err)
		}
		return err
	}
}

// stream works on a request whose answer is a stream, within its handler.
func (l *limiter) stream(ctx context.Context, message proto.Message, do func(context.Context) error) error {
	return l.work(ctx, callOf(ctx, message), do)
}

// work waits until the request may be worked on, does so, and logs how that went. The error is one of Connect.
func (l *limiter) work(ctx context.Context, c call, do func(context.Context) error) error {
	start := time.Now()
	var waited time.Duration
	err := connectError(l.admit(ctx, c, do, &waited))
	l.record(ctx, c, time.Since(start), waited, err)
	return err
}

// record logs and counts a request.
func (l *limiter) record(ctx context.Context, c call, took, waited time.Duration, err error) {
	code := "ok"
	attrs := []any{"procedure", c.procedure, "protocol", c.peer.Protocol, "client", clientOf(ctx, c.peer), "time", took, "waited", waited}
	if err != nil {
		code = connect.CodeOf(err).String()
		attrs = append(attrs, "code", code)
	}
	visitOf(ctx).recorded = true
	l.metrics.count(c.procedure, code, took, waited)
	l.logger.Info("request", attrs...)
}

// A program of this many bytes makes a request long from the start; others turn long after some time of work.
const (
	longProgram = 256 << 10
	longWork    = 5 * time.Second
)

// admit waits for a slot, up to the time that a request may take, and works on the request for as long at most.
func (l *limiter) admit(ctx context.Context, c call, do func(context.Context) error, waited *time.Duration) error {
	w := &waiter{client: clientOf(ctx, c.peer)}
	if m, ok := c.message.(proto.Message); ok {
		if w.bytes = int64(proto.Size(m)); w.bytes >= longProgram {
			w.lane = long
		}
	}
	arrived := time.Now()
	got, err := l.wait(ctx, w)
	start := time.Now()
	*waited = start.Sub(arrived)
	switch {
	case err != nil:
		return err
	case got == full:
		return l.busy()
	case got == closing:
		return connect.NewError(connect.CodeUnavailable, errors.New("the server is shutting down"))
	}
	trace.SpanFromContext(ctx).AddEvent("admitted", trace.WithAttributes(attribute.Int64("bytes", w.bytes)))
	defer func() { l.queue.leave(w, time.Since(start)) }()
	defer time.AfterFunc(longWork, func() { l.queue.overstays(w) }).Stop()
	ctx, cancel := context.WithTimeout(ctx, l.maxTime)
	defer cancel()
	return do(ctx)
}

// background works on what nobody waits for: it takes its client's turns among the long requests for as long as it must, and has no time
// limit.
func (l *limiter) background(ctx context.Context, client string, message proto.Message, do func(context.Context) error) error {
	const again = time.Second
	for {
		w := &waiter{client: client, bytes: int64(proto.Size(message)), lane: long}
		got, err := l.queue.enter(ctx, w)
		switch {
		case err != nil:
			return err
		case got == admitted:
			start := time.Now()
			defer func() { l.queue.leave(w, time.Since(start)) }()
			return do(ctx)
		}
		select {
		case <-time.After(again):
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}

// wait enters the queue. Who waits for longer than work may take is refused as if nothing more could wait.
func (l *limiter) wait(ctx context.Context, w *waiter) (outcome, error) {
	waiting, cancel := context.WithTimeout(ctx, l.maxTime)
	defer cancel()
	got, err := l.queue.enter(waiting, w)
	if err != nil && ctx.Err() == nil {
		return full, nil
	}
	return got, err
}

// busy says when to come again.
func (l *limiter) busy() error {
	err := connectError(diag.TooLarge(diag.InputTooLarge, diag.Position{File: "request"},
		"%d requests are being worked on and as many wait as may; try again later", l.queue.slots))
	var e *connect.Error
	if errors.As(err, &e) {
		const least, most = time.Second, 2 * time.Minute
		after := min(max(l.queue.patience(), least), most)
		e.Meta().Set("Retry-After", strconv.Itoa(int(math.Ceil(after.Seconds()))))
	}
	return err
}

// host names who sent a request, whatever the connection.
func host(peer connect.Peer) string {
	name, _, err := net.SplitHostPort(peer.Addr)
	if err != nil {
		return peer.Addr
	}
	return name
}

// recovered turns a panic of a handler into an internal error and logs where it came from.
func (l *limiter) recovered(_ context.Context, spec connect.Spec, _ http.Header, p any) error {
	l.logger.Error("panic", "procedure", spec.Procedure, "value", fmt.Sprint(p), "stack", string(debug.Stack()))
	return diag.Internal(diag.Bug, diag.Position{}, "%s: %v", spec.Procedure, p)
}
