package api

import (
	"context"
	"fmt"
	"log/slog"
	"net/http"
	"runtime/debug"
	"time"

	"connectrpc.com/connect"

	"autoshard/internal/diag"
)

// limiter admits requests, gives them their time, maps their errors and logs them.
type limiter struct {
	slots   chan struct{}
	maxTime time.Duration
	logger  *slog.Logger
}

// intercept is a unary interceptor. More requests than slots are refused at once: a queue would only hide the load.
func (l *limiter) intercept(next connect.UnaryFunc) connect.UnaryFunc {
	return func(ctx context.Context, r connect.AnyRequest) (connect.AnyResponse, error) {
		start := time.Now()
		response, err := l.admit(ctx, r, next)
		err = connectError(err)
		attrs := []any{"procedure", r.Spec().Procedure, "protocol", r.Peer().Protocol, "time", time.Since(start)}
		if err != nil {
			attrs = append(attrs, "code", connect.CodeOf(err).String())
		}
		l.logger.Info("request", attrs...)
		return response, err
	}
}

func (l *limiter) admit(ctx context.Context, r connect.AnyRequest, next connect.UnaryFunc) (connect.AnyResponse, error) {
	select {
	case l.slots <- struct{}{}:
		defer func() { <-l.slots }()
	default:
		return nil, diag.TooLarge(diag.InputTooLarge, diag.Position{File: "request"}, "%d requests are being worked on, the limit; try again later", cap(l.slots))
	}
	ctx, cancel := context.WithTimeout(ctx, l.maxTime)
	defer cancel()
	return next(ctx, r)
}

// recovered turns a panic of a handler into an internal error and logs where it came from.
func (l *limiter) recovered(_ context.Context, spec connect.Spec, _ http.Header, p any) error {
	l.logger.Error("panic", "procedure", spec.Procedure, "value", fmt.Sprint(p), "stack", string(debug.Stack()))
	return diag.Internal(diag.Bug, diag.Position{}, "%s: %v", spec.Procedure, p)
}
