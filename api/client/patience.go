package client

import (
	"context"
	"errors"
	"strconv"
	"time"

	"connectrpc.com/connect"
)

// patience asks again when a busy server says that it may, until the context ends.
type patience struct{}

// WrapUnary implements connect.Interceptor.
func (patience) WrapUnary(next connect.UnaryFunc) connect.UnaryFunc {
	return func(ctx context.Context, r connect.AnyRequest) (connect.AnyResponse, error) {
		for {
			response, err := next(ctx, r)
			after, busy := retryAfter(err)
			if deadline, ok := ctx.Deadline(); !busy || ok && time.Now().Add(after).After(deadline) {
				return response, err
			}
			select {
			case <-time.After(after):
			case <-ctx.Done():
				return nil, ctx.Err()
			}
		}
	}
}

// retryAfter returns when a server that is busy may be asked again.
func retryAfter(err error) (time.Duration, bool) {
	var e *connect.Error
	if !errors.As(err, &e) || e.Code() != connect.CodeResourceExhausted {
		return 0, false
	}
	seconds, err := strconv.Atoi(e.Meta().Get("Retry-After"))
	return time.Duration(seconds) * time.Second, err == nil && seconds > 0
}

// WrapStreamingClient implements connect.Interceptor. Streams are not asked for again.
func (patience) WrapStreamingClient(next connect.StreamingClientFunc) connect.StreamingClientFunc {
	return next
}

// WrapStreamingHandler implements connect.Interceptor.
func (patience) WrapStreamingHandler(next connect.StreamingHandlerFunc) connect.StreamingHandlerFunc {
	return next
}

// authorization sends a token with each request; an empty one is not sent.
type authorization string

// WrapUnary implements connect.Interceptor.
func (a authorization) WrapUnary(next connect.UnaryFunc) connect.UnaryFunc {
	return func(ctx context.Context, r connect.AnyRequest) (connect.AnyResponse, error) {
		if a != "" {
			r.Header().Set("Authorization", "Bearer "+string(a))
		}
		return next(ctx, r)
	}
}

// WrapStreamingClient implements connect.Interceptor.
func (a authorization) WrapStreamingClient(next connect.StreamingClientFunc) connect.StreamingClientFunc {
	return func(ctx context.Context, spec connect.Spec) connect.StreamingClientConn {
		conn := next(ctx, spec)
		if a != "" {
			conn.RequestHeader().Set("Authorization", "Bearer "+string(a))
		}
		return conn
	}
}

// WrapStreamingHandler implements connect.Interceptor.
func (a authorization) WrapStreamingHandler(next connect.StreamingHandlerFunc) connect.StreamingHandlerFunc {
	return next
}
