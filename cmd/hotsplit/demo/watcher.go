package demo

import (
	"context"
	"sync"
	"time"

	"github.com/hotsplit/hotsplit/migrate"
	"github.com/hotsplit/hotsplit/shard"
)

// watcher tells those who watch what happens, about four times a second.
type watcher struct {
	show *show

	mu    sync.Mutex
	stage string
	phase shard.Phase
	moved int
	note  string

	requests int64
	asked    time.Time
}

const watchEvery = 250 * time.Millisecond

func newWatcher(s *show) *watcher { return &watcher{show: s, phase: shard.Planned} }

// timed lets the traffic run for a number of seconds.
func (w *watcher) timed(ctx context.Context, stage string, seconds int) error {
	w.enter(stage)
	start := time.Now()
	tick := time.NewTicker(watchEvery)
	defer tick.Stop()
	for {
		elapsed := time.Since(start)
		p := w.now()
		p.Seconds, p.Of = int(elapsed/time.Second), seconds
		w.show.options.Observe(p)
		if elapsed >= time.Duration(seconds)*time.Second {
			return nil
		}
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-tick.C:
		}
	}
}

// until watches the move.
func (w *watcher) until(ctx context.Context, done <-chan struct{}) {
	w.enter("during")
	tick := time.NewTicker(watchEvery)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-done:
			return
		case <-tick.C:
			w.show.options.Observe(w.now())
		}
	}
}

func (w *watcher) enter(stage string) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.stage, w.requests, w.asked = stage, 0, time.Now()
}

func (w *watcher) now() Progress {
	w.mu.Lock()
	defer w.mu.Unlock()
	m := w.show.stage.meter.Load()
	requests, elapsed := m.requests.Load(), time.Since(w.asked).Seconds()
	p := Progress{Stage: w.stage, Throttled: m.throttled.Load(), All: len(w.show.model.loaded), Done: w.moved}
	if elapsed > 0 {
		p.Rate = float64(requests-w.requests) / elapsed
	}
	w.requests, w.asked = requests, time.Now()
	if w.stage == "during" {
		p.Detail = string(w.phase)
		if w.note != "" {
			p.Detail += ": " + w.note
		}
	}
	p.Hottest, p.Units = w.show.hottestNow()
	return p
}

// event takes what the runner reports.
func (w *watcher) event(e migrate.Event) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if e.Phase != w.phase {
		w.phase = e.Phase
		w.show.marks = append(w.show.marks, mark{time.Now(), string(e.Phase)})
	}
	w.note = e.Text
	if e.Progress != nil {
		w.moved = max(w.moved, int(e.Progress.Moved))
	}
}
