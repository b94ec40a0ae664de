package api

import (
	"net/http"
	"net/http/pprof"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/collectors"
	"github.com/prometheus/client_golang/prometheus/promhttp"
)

// metrics are what Prometheus reads.
type metrics struct {
	registry *prometheus.Registry
	work     *prometheus.HistogramVec // by procedure and code
	waits    prometheus.Histogram
	cache    *prometheus.CounterVec // by outcome
}

// newMetrics returns the metrics of a server, with those of its queue and process.
func newMetrics(q *queue) *metrics {
	seconds := []float64{.01, .03, .1, .3, 1, 3, 10, 30, 100, 300}
	m := &metrics{
		registry: prometheus.NewRegistry(),
		work: prometheus.NewHistogramVec(prometheus.HistogramOpts{Name: "autoshard_request_seconds", Buckets: seconds,
			Help: "Time of requests, waiting and work, by procedure and code."}, []string{"procedure", "code"}),
		waits: prometheus.NewHistogram(prometheus.HistogramOpts{Name: "autoshard_wait_seconds", Buckets: seconds,
			Help: "Time that requests waited for their turn."}),
		cache: prometheus.NewCounterVec(prometheus.CounterOpts{Name: "autoshard_cache_total",
			Help: "Requests for plans that asked the cache, by outcome: hit, miss or error."}, []string{"outcome"}),
	}
	gauge := func(name, help string, value func() int) prometheus.Collector {
		return prometheus.NewGaugeFunc(prometheus.GaugeOpts{Name: name, Help: help}, func() float64 { return float64(value()) })
	}
	m.registry.MustRegister(m.work, m.waits, m.cache, collectors.NewGoCollector(),
		collectors.NewProcessCollector(collectors.ProcessCollectorOpts{}),
		gauge("autoshard_waiting", "Requests that wait for their turn.", func() int { _, waiting := q.load(); return waiting }),
		gauge("autoshard_working", "Requests and jobs that are worked on.", func() int { working, _ := q.load(); return working }))
	return m
}

// count counts a request.
func (m *metrics) count(procedure, code string, took, waited time.Duration) {
	m.work.WithLabelValues(procedure, code).Observe(took.Seconds())
	m.waits.Observe(waited.Seconds())
}

// Debug returns the handler of what only operators should see: /metrics for Prometheus, and profiles below /debug/pprof/.
func (s *Server) Debug() http.Handler {
	mux := http.NewServeMux()
	mux.Handle("/metrics", promhttp.HandlerFor(s.limiter.metrics.registry, promhttp.HandlerOpts{}))
	mux.HandleFunc("/debug/pprof/", pprof.Index)
	mux.HandleFunc("/debug/pprof/profile", pprof.Profile)
	mux.HandleFunc("/debug/pprof/symbol", pprof.Symbol)
	mux.HandleFunc("/debug/pprof/trace", pprof.Trace)
	return mux
}
