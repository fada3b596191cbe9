package demo

import (
	"bytes"
	"io"
	"net/http"
	"sync"
	"sync/atomic"
	"time"

	"github.com/HdrHistogram/hdrhistogram-go"
)

// Span is what the application met in one part of the demonstration.
type Span struct {
	Requests  int64   `json:"requests"`  // attempts on the wire
	Throttled int64   `json:"throttled"` // attempts that were refused for throughput
	Errors    int64   `json:"errors"`    // calls that failed after the SDK's retries
	P50       float64 `json:"p50_ms"`    // of the application's calls: pages, look-ups, writes, sweeps
	P99       float64 `json:"p99_ms"`
}

// meter counts one span.
type meter struct {
	requests, throttled, errors atomic.Int64

	mu      sync.Mutex
	latency *hdrhistogram.Histogram // microseconds
}

const latencyMax = 5 * time.Minute

func newMeter() *meter {
	return &meter{latency: hdrhistogram.New(1, latencyMax.Microseconds(), 3)}
}

// waited counts a call of the application.
func (m *meter) waited(d time.Duration) {
	m.mu.Lock()
	defer m.mu.Unlock()
	// Values out of range cannot be recorded, and there are none: calls end with
	// the demonstration.
	_ = m.latency.RecordValue(max(1, d.Microseconds()))
}

func (m *meter) span() Span {
	m.mu.Lock()
	defer m.mu.Unlock()
	ms := func(q float64) float64 { return float64(m.latency.ValueAtQuantile(q)) / 1000 }
	return Span{
		Requests: m.requests.Load(), Throttled: m.throttled.Load(), Errors: m.errors.Load(),
		P50: ms(50), P99: ms(99),
	}
}

// wire counts requests where they leave the application's client.
type wire struct {
	next  http.RoundTripper
	meter *atomic.Pointer[meter]
}

func (w wire) RoundTrip(r *http.Request) (*http.Response, error) {
	m := w.meter.Load()
	m.requests.Add(1)
	resp, err := w.next.RoundTrip(r)
	if err != nil || resp.StatusCode != http.StatusBadRequest {
		return resp, err
	}
	body, err := io.ReadAll(resp.Body)
	resp.Body.Close()
	if err != nil {
		return nil, err
	}
	resp.Body = io.NopCloser(bytes.NewReader(body))
	if refusedForThroughput(body) {
		m.throttled.Add(1)
	}
	return resp, nil
}

// refusedForThroughput reads the error's type, and for a cancelled transaction
// the reasons. Source: physics.md 4.2 and 4.4.
func refusedForThroughput(body []byte) bool {
	for _, code := range []string{
		"#ThrottlingException", "#ProvisionedThroughputExceededException", "#RequestLimitExceeded",
		`"ThrottlingError"`, `"ProvisionedThroughputExceeded"`,
	} {
		if bytes.Contains(body, []byte(code)) {
			return true
		}
	}
	return false
}
