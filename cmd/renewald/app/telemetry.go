package app

import (
	"context"
	"fmt"
	"log/slog"
	"net/http"
	"strconv"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/collectors"
	"github.com/prometheus/client_golang/prometheus/promhttp"
	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/codes"
	exporter "go.opentelemetry.io/otel/exporters/prometheus"
	"go.opentelemetry.io/otel/metric"
	sdkmetric "go.opentelemetry.io/otel/sdk/metric"
	sdktrace "go.opentelemetry.io/otel/sdk/trace"
	"go.opentelemetry.io/otel/trace"
)

const scope = "github.com/hotsplit/hotsplit/cmd/renewald"

// telemetry is the application's metrics and traces. Nothing in it is global, so
// several applications in one process keep theirs apart.
type telemetry struct {
	meters  *sdkmetric.MeterProvider
	traces  *sdktrace.TracerProvider
	tracer  trace.Tracer
	handler http.Handler

	requests metric.Float64Histogram
	sweeps   metric.Float64Histogram
	units    metric.Float64Counter
}

func newTelemetry(log *slog.Logger) (*telemetry, error) {
	registry := prometheus.NewRegistry()
	registry.MustRegister(collectors.NewGoCollector(), collectors.NewProcessCollector(collectors.ProcessCollectorOpts{}))
	reader, err := exporter.New(exporter.WithRegisterer(registry), exporter.WithoutScopeInfo(), exporter.WithoutTargetInfo())
	if err != nil {
		return nil, fmt.Errorf("export metrics: %w", err)
	}
	t := &telemetry{
		meters:  sdkmetric.NewMeterProvider(sdkmetric.WithReader(reader)),
		traces:  sdktrace.NewTracerProvider(sdktrace.WithSyncer(spanLog{log})),
		handler: promhttp.HandlerFor(registry, promhttp.HandlerOpts{}),
	}
	t.tracer = t.traces.Tracer(scope)
	return t, t.instruments()
}

func (t *telemetry) instruments() (err error) {
	meter := t.meter()
	if t.requests, err = meter.Float64Histogram("renewald.http.duration", metric.WithUnit("s"), metric.WithDescription("requests by route and status"),
		metric.WithExplicitBucketBoundaries(.001, .0025, .005, .01, .025, .05, .1, .25, .5, 1, 2.5, 5, 10)); err != nil {
		return err
	}
	if t.sweeps, err = meter.Float64Histogram("renewald.sweep.duration", metric.WithUnit("s"), metric.WithDescription("runs of sweeps by name and outcome")); err != nil {
		return err
	}
	t.units, err = meter.Float64Counter("renewald.index.units", metric.WithDescription("capacity units spent on the saga index by key and direction"))
	return err
}

func (t *telemetry) meter() metric.Meter { return t.meters.Meter(scope) }

// observe registers what is read when the metrics are collected.
func (t *telemetry) observe(b *board, m *meter, s *sweeps) error {
	meter := t.meter()
	age, err := meter.Float64ObservableGauge("renewald.board.age", metric.WithUnit("s"), metric.WithDescription("age of the list that pages show"))
	if err != nil {
		return err
	}
	loads, err := meter.Int64ObservableCounter("renewald.board.loads", metric.WithDescription("loads of the list"))
	if err != nil {
		return err
	}
	looks, err := meter.Int64ObservableCounter("renewald.board.looks", metric.WithDescription("looks at the list, each by a page"))
	if err != nil {
		return err
	}
	throttles, err := meter.Int64ObservableGauge("renewald.throttles", metric.WithDescription("throttled attempts in the last minute"))
	if err != nil {
		return err
	}
	sagas, err := meter.Int64ObservableGauge("renewald.sagas", metric.WithDescription("sagas on the list by state, of the last agent-metrics sweep"))
	if err != nil {
		return err
	}
	_, err = meter.RegisterCallback(func(_ context.Context, o metric.Observer) error {
		if at := b.loadedAt(); !at.IsZero() {
			o.ObserveFloat64(age, time.Since(at).Seconds())
		}
		o.ObserveInt64(loads, b.loads.Load())
		o.ObserveInt64(looks, b.hits.Load())
		_, throttled := m.use(time.Now())
		o.ObserveInt64(throttles, int64(throttled))
		_, _, metrics := s.shown()
		for state, n := range metrics.ByState {
			o.ObserveInt64(sagas, int64(n), metric.WithAttributes(attribute.String("state", string(state))))
		}
		return nil
	}, age, loads, looks, throttles, sagas)
	return err
}

func (t *telemetry) spent(key string, read, write float64) {
	ctx := context.Background()
	if read > 0 {
		t.units.Add(ctx, read, metric.WithAttributes(attribute.String("key", key), attribute.String("direction", "read")))
	}
	if write > 0 {
		t.units.Add(ctx, write, metric.WithAttributes(attribute.String("key", key), attribute.String("direction", "write")))
	}
}

func (t *telemetry) swept(name string, took time.Duration, err error) {
	result := "ok"
	if err != nil {
		result = "failed"
	}
	t.sweeps.Record(context.Background(), took.Seconds(), metric.WithAttributes(attribute.String("sweep", name), attribute.String("outcome", result)))
}

// watch gives each request a span and a place in the histogram.
func (t *telemetry) watch(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		began := time.Now()
		ctx, span := t.tracer.Start(r.Context(), r.Method+" "+r.URL.Path, trace.WithSpanKind(trace.SpanKindServer))
		defer span.End()
		r = r.WithContext(ctx)
		status := &statusWriter{ResponseWriter: w, status: http.StatusOK}
		next.ServeHTTP(status, r)
		route := routeOf(r)
		span.SetAttributes(attribute.String("http.route", route), attribute.Int("http.response.status_code", status.status))
		if status.status >= 500 {
			span.SetStatus(codes.Error, http.StatusText(status.status))
		}
		t.requests.Record(ctx, time.Since(began).Seconds(), metric.WithAttributes(
			attribute.String("route", route), attribute.String("status", strconv.Itoa(status.status))))
	})
}

// routeOf names the route in few words: labels that anybody can invent would
// grow without bound.
func routeOf(r *http.Request) string {
	if r.Pattern == "" {
		return "refused"
	}
	return r.Pattern
}

type statusWriter struct {
	http.ResponseWriter
	status int
}

func (w *statusWriter) WriteHeader(status int) {
	w.status = status
	w.ResponseWriter.WriteHeader(status)
}

func (w *statusWriter) Unwrap() http.ResponseWriter { return w.ResponseWriter }

func (t *telemetry) close(ctx context.Context) {
	_ = t.traces.Shutdown(ctx)
	_ = t.meters.Shutdown(ctx)
}

// spanLog writes spans that were slow or went wrong to the log; the others cost
// nothing to keep. A collector is attached by whoever runs one.
type spanLog struct{ log *slog.Logger }

const slowSpan = time.Second

func (s spanLog) ExportSpans(ctx context.Context, spans []sdktrace.ReadOnlySpan) error {
	for _, span := range spans {
		took := span.EndTime().Sub(span.StartTime())
		if took < slowSpan && span.Status().Code != codes.Error {
			continue
		}
		s.log.InfoContext(ctx, "slow or failed span", "span", span.Name(), "took", took.String(),
			"trace", span.SpanContext().TraceID().String(), "status", span.Status().Code.String())
	}
	return nil
}

func (spanLog) Shutdown(context.Context) error { return nil }
