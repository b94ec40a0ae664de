package api

import (
	"cmp"
	"context"
	"crypto/tls"
	"errors"
	"log/slog"
	"net"
	"net/http"
	"time"

	"connectrpc.com/connect"
	"connectrpc.com/grpcreflect"
	"connectrpc.com/otelconnect"
	"go.opentelemetry.io/otel/propagation"
	"go.opentelemetry.io/otel/trace"

	"autoshard"
	"autoshard/api/codec"
	"autoshard/api/gen/autoshard/v1/autoshardv1connect"
	healthv1connect "autoshard/api/gen/grpc/health/v1/grpc_health_v1connect"
	"autoshard/api/jobs"
	"autoshard/api/plancache"
)

// Options are the limits of a server. Zero values stand for the defaults.
type Options struct {
	MaxRequest    int64                // bytes of a request, unpacked; default 64 MiB
	MaxConcurrent int                  // requests that are worked on at a time; default 2
	MaxWaiting    int                  // requests that wait for their turn; default 64, negative: none
	MaxMemory     int64                // bytes of values that a run of a program may hold; default 4 GiB
	MaxTime       time.Duration        // of work on a request, and of waiting for it; default 5 minutes
	DrainTime     time.Duration        // that requests have to finish in the end; default 30 s
	Tokens        []Token              // requests need one of them, as `Authorization: Bearer SECRET`; none: anybody may ask
	TLS           *tls.Config          // with certificates; nil: connections are not encrypted
	Jobs          *jobs.Store          // where jobs are kept; nil: the server has none
	MaxJobs       int                  // that have not ended; default 1,000
	Cache         *plancache.Cache     // of plans; nil: the server has none
	Traces        trace.TracerProvider // where spans of requests go; nil: nowhere
	Subjects      []Subject            // that the page shows from the start
	Logger        *slog.Logger         // default: none
}

func (o Options) withDefaults() Options {
	o.MaxRequest = cmp.Or(o.MaxRequest, 64<<20)
	o.MaxConcurrent = cmp.Or(o.MaxConcurrent, 2)
	o.MaxWaiting = cmp.Or(o.MaxWaiting, 64)
	o.MaxMemory = cmp.Or(o.MaxMemory, 4<<30)
	o.MaxTime = cmp.Or(o.MaxTime, 5*time.Minute)
	o.DrainTime = cmp.Or(o.DrainTime, 30*time.Second)
	o.Logger = cmp.Or(o.Logger, slog.New(slog.DiscardHandler))
	return o
}

// Server serves the API.
type Server struct {
	options Options
	service *service
	health  *health
	limiter *limiter
}

// New returns a server over the façade.
func New(o Options) *Server {
	o = o.withDefaults()
	l := newLimiter(&o)
	s := &Server{o, &service{limiter: l, cache: o.Cache, maxMemory: o.MaxMemory, makePlan: autoshard.MakePlan, propagate: autoshard.Propagate},
		newHealth(), l}
	if o.Jobs != nil {
		s.service.jobs = jobs.NewRunner(o.Jobs, s.service.background, jobs.Options{Workers: o.MaxConcurrent, Pending: o.MaxJobs,
			Failure: recordFailure, Logger: o.Logger})
	}
	return s
}

// Handler returns the HTTP handler: the services, health and reflection, and the page at /.
func (s *Server) Handler() http.Handler {
	l := s.limiter
	shared := connect.WithHandlerOptions(
		connect.WithReadMaxBytes(int(s.options.MaxRequest)),
		connect.WithCodec(codec.Binary{}),
		connect.WithCodec(codec.JSON("json")),
		connect.WithCodec(codec.JSON("json; charset=utf-8")),
	)
	mux := http.NewServeMux()
	path, handler := autoshardv1connect.NewAutoshardServiceHandler(s.service, shared,
		connect.WithInterceptors(s.interceptors()...),
		connect.WithRecover(l.recovered))
	mux.Handle(path, handler)
	mux.Handle(autoshardv1connect.AutoshardServiceWatchJobProcedure, unlimited(handler)) // jobs may take days
	mux.Handle(autoshardv1connect.NewReviewServiceHandler(newReviewer(s.options.Subjects), shared,
		connect.WithInterceptors(s.interceptors()...), connect.WithRecover(l.recovered)))
	path, handler = healthv1connect.NewHealthHandler(s.health, shared, connect.WithRecover(l.recovered))
	mux.Handle(path, unlimited(handler))
	reflector := grpcreflect.NewStaticReflector(autoshardv1connect.AutoshardServiceName, autoshardv1connect.ReviewServiceName,
		healthv1connect.HealthName)
	mux.Handle(grpcreflect.NewHandlerV1(reflector))
	mux.Handle(grpcreflect.NewHandlerV1Alpha(reflector))
	return withPage(l.visited(authorized(s.options.Tokens, mux)))
}

// interceptors are around all methods, the outermost first.
func (s *Server) interceptors() []connect.Interceptor {
	list := []connect.Interceptor{s.limiter, validation()}
	if s.options.Traces == nil {
		return list
	}
	spans, err := otelconnect.NewInterceptor(otelconnect.WithTracerProvider(s.options.Traces), otelconnect.WithoutMetrics(),
		otelconnect.WithPropagator(propagation.TraceContext{}), otelconnect.WithTrustRemote())
	if err != nil { // only for instruments of metrics, of which there are none
		s.options.Logger.Error("no spans", "error", err)
		return list
	}
	return append([]connect.Interceptor{spans}, list...)
}

// unlimited lets streams last longer than the server's write timeout.
func unlimited(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if err := http.NewResponseController(w).SetWriteDeadline(time.Time{}); err != nil && !errors.Is(err, http.ErrNotSupported) {
			http.Error(w, err.Error(), http.StatusInternalServerError)
			return
		}
		next.ServeHTTP(w, r)
	})
}

// Timeouts of connections.
const (
	headerTimeout = 10 * time.Second
	readTimeout   = time.Minute
	idleTimeout   = 2 * time.Minute
	writeMargin   = time.Minute
)

// Serve serves connections of l until ctx ends. Then health turns to NOT_SERVING, no new connections are accepted, and
// requests in flight have the drain time to finish; those that do not are canceled, and those that wait are refused. The error is nil
// after a drain.
func (s *Server) Serve(ctx context.Context, l net.Listener) error {
	var protocols http.Protocols
	protocols.SetHTTP1(true)
	protocols.SetHTTP2(true)
	protocols.SetUnencryptedHTTP2(true)
	requests, cancel := context.WithCancel(context.WithoutCancel(ctx))
	defer cancel()
	server := &http.Server{
		Handler:           s.Handler(),
		Protocols:         &protocols,
		ReadHeaderTimeout: headerTimeout,
		ReadTimeout:       readTimeout,
		WriteTimeout:      readTimeout + 2*s.options.MaxTime + writeMargin,
		IdleTimeout:       idleTimeout,
		BaseContext:       func(net.Listener) context.Context { return requests },
		TLSConfig:         s.options.TLS,
		ErrorLog:          slog.NewLogLogger(s.options.Logger.Handler(), slog.LevelWarn),
	}
	defer s.work(ctx)()
	failed := make(chan error, 1)
	go func() {
		if s.options.TLS != nil {
			failed <- server.ServeTLS(l, "", "")
			return
		}
		failed <- server.Serve(l)
	}()
	s.options.Logger.Info("listening", "address", l.Addr().String())
	select {
	case err := <-failed:
		return err
	case <-ctx.Done():
	}
	return s.drain(server, cancel)
}

// work lets jobs be worked on until the context ends, or what it returns is called, which waits until they are put away.
func (s *Server) work(ctx context.Context) (stop func()) {
	runner := s.service.jobs
	if runner == nil {
		return func() {}
	}
	ctx, cancel := context.WithCancel(ctx)
	ended := make(chan error, 1)
	go func() { ended <- runner.Run(ctx) }()
	return func() {
		cancel()
		if err := <-ended; err != nil {
			s.options.Logger.Error("jobs", "error", err)
		}
	}
}

// drain shuts the server down. Requests that outlast the drain time are canceled and may still answer that.
func (s *Server) drain(server *http.Server, cancelRequests context.CancelFunc) error {
	s.options.Logger.Info("draining", "time", s.options.DrainTime)
	s.health.drain()
	s.limiter.queue.close()
	for _, patience := range []time.Duration{s.options.DrainTime, writeGrace} {
		ctx, cancel := context.WithTimeout(context.Background(), patience)
		err := server.Shutdown(ctx)
		cancel()
		if !errors.Is(err, context.DeadlineExceeded) {
			s.options.Logger.Info("stopped")
			return err
		}
		cancelRequests()
	}
	s.options.Logger.Warn("stopped with requests in flight")
	return server.Close()
}

// writeGrace is the time that canceled requests have to end.
const writeGrace = 5 * time.Second
