package heat

import (
	"context"
	"fmt"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/metric"
)

const keysExportedMax = 5 // of each resource, so that labels stay few

// Export registers the recorder's figures with a meter:
// hotsplit.consumed.units and hotsplit.throttled.attempts by resource, and
// hotsplit.key.peak for the heaviest keys, in shares of a partition's ceiling.
// They are read when the exporter collects, so requests pay nothing for them.
func (r *Recorder) Export(m metric.Meter) error {
	consumed, err := m.Float64ObservableCounter("hotsplit.consumed.units",
		metric.WithDescription("capacity units consumed by table or index and direction"))
	if err != nil {
		return fmt.Errorf("export heat: %w", err)
	}
	throttled, err := m.Int64ObservableCounter("hotsplit.throttled.attempts",
		metric.WithDescription("throttled attempts by table or index and reason"))
	if err != nil {
		return fmt.Errorf("export heat: %w", err)
	}
	peaks, err := m.Float64ObservableGauge("hotsplit.key.peak",
		metric.WithDescription("busiest second of a key, 1 is a partition's ceiling"))
	if err != nil {
		return fmt.Errorf("export heat: %w", err)
	}
	_, err = m.RegisterCallback(func(_ context.Context, o metric.Observer) error {
		r.mu.Lock()
		defer r.mu.Unlock()
		for _, s := range r.order {
			s.export(o, consumed, throttled, peaks)
		}
		return nil
	}, consumed, throttled, peaks)
	if err != nil {
		return fmt.Errorf("export heat: %w", err)
	}
	return nil
}

func (s *resourceStat) export(o metric.Observer, consumed metric.Float64Observable, throttled metric.Int64Observable, peaks metric.Float64Observable) {
	table, index := attribute.String("table", s.id.Table), attribute.String("index", s.id.Index)
	o.ObserveFloat64(consumed, s.read, metric.WithAttributes(table, index, attribute.String("direction", "read")))
	o.ObserveFloat64(consumed, s.write, metric.WithAttributes(table, index, attribute.String("direction", "write")))
	for reason, n := range s.reasons {
		o.ObserveInt64(throttled, int64(n), metric.WithAttributes(table, index, attribute.String("reason", reason)))
	}
	for _, c := range s.keys.heaviest(keysExportedMax) {
		k := c.value
		o.ObserveFloat64(peaks, load(k.peakRead.units, k.peakWrite.units),
			metric.WithAttributes(table, index, attribute.String("key", c.key)))
	}
}
