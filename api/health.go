package api

import (
	"context"
	"fmt"
	"slices"
	"sync"

	"connectrpc.com/connect"

	"autoshard/api/gen/autoshard/v1/autoshardv1connect"
	healthv1 "google.golang.org/grpc/health/grpc_health_v1"
)

// health implements grpc.health.v1.Health. It serves until it drains.
type health struct {
	once     sync.Once
	draining chan struct{} // closed when the server drains
}

func newHealth() *health { return &health{draining: make(chan struct{})} }

func (h *health) drain() { h.once.Do(func() { close(h.draining) }) }

func (h *health) status() *healthv1.HealthCheckResponse {
	select {
	case <-h.draining:
		return &healthv1.HealthCheckResponse{Status: healthv1.HealthCheckResponse_NOT_SERVING}
	default:
		return &healthv1.HealthCheckResponse{Status: healthv1.HealthCheckResponse_SERVING}
	}
}

// healthy are the names that have a state: the server as a whole, and its services.
var healthy = []string{"", autoshardv1connect.AutoshardServiceName, autoshardv1connect.ReviewServiceName}

// Check answers for the server as a whole and for its services.
func (h *health) Check(_ context.Context, r *healthv1.HealthCheckRequest) (*healthv1.HealthCheckResponse, error) {
	if !slices.Contains(healthy, r.GetService()) {
		return nil, connect.NewError(connect.CodeNotFound, fmt.Errorf("unknown service %q", r.GetService()))
	}
	return h.status(), nil
}

// List answers for all at once.
func (h *health) List(context.Context, *healthv1.HealthListRequest) (*healthv1.HealthListResponse, error) {
	out := &healthv1.HealthListResponse{Statuses: map[string]*healthv1.HealthCheckResponse{}}
	for _, name := range healthy {
		out.Statuses[name] = h.status()
	}
	return out, nil
}

// Watch sends the state, and the change when the server drains, which ends the stream.
func (h *health) Watch(ctx context.Context, r *healthv1.HealthCheckRequest, out *connect.ServerStream[healthv1.HealthCheckResponse]) error {
	if !slices.Contains(healthy, r.GetService()) {
		if err := out.Send(&healthv1.HealthCheckResponse{Status: healthv1.HealthCheckResponse_SERVICE_UNKNOWN}); err != nil {
			return err
		}
	} else if err := out.Send(h.status()); err != nil {
		return err
	}
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-h.draining:
		return out.Send(h.status())
	}
}
