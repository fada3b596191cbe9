package migrate

import (
	"maps"
	"math"
	"sync"
	"time"
)

// meter adds up what a process spends on each key of the move and turns it into
// units a second.
type meter struct {
	mu       sync.Mutex
	since    time.Time
	spent    map[string]Units // since then
	rates    map[string]Units // of the span before
	reported map[string]Units
}

// meterKeysMax bounds the keys that a process may report, and so its item.
const meterKeysMax = 2048

func (m *meter) count(key string, read, write float64) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.spent == nil {
		m.spent = map[string]Units{}
	}
	u, known := m.spent[key]
	if !known && len(m.spent) >= meterKeysMax {
		return
	}
	u.Read += read
	u.Write += write
	m.spent[key] = u
}

// turn closes the span that is measured and begins the next. Keys of neither
// layout are dropped.
func (m *meter) turn(l look) {
	m.mu.Lock()
	defer m.mu.Unlock()
	now := time.Now()
	elapsed := now.Sub(m.since).Seconds()
	if m.since.IsZero() || elapsed <= 0 {
		m.since = now
		return
	}
	m.rates = map[string]Units{}
	for key, u := range m.spent {
		_, notFrom := l.record.From.Parse(key)
		_, notTo := l.record.To.Parse(key)
		if notFrom == nil || notTo == nil {
			m.rates[key] = Units{Read: round1(u.Read / elapsed), Write: round1(u.Write / elapsed)}
		}
	}
	m.since, m.spent = now, nil
}

func round1(x float64) float64 { return math.Round(x*10) / 10 }

// changed says whether the write load differs from what was reported by enough
// to matter to the runner's pace.
func (m *meter) changed() bool {
	m.mu.Lock()
	defer m.mu.Unlock()
	return math.Abs(writeSum(m.rates)-writeSum(m.reported)) > max(5, writeSum(m.reported)/20)
}

func writeSum(rates map[string]Units) float64 {
	sum := 0.0
	for _, u := range rates {
		sum += u.Write
	}
	return sum
}

func (m *meter) report() map[string]Units {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.reported = maps.Clone(m.rates)
	return m.reported
}

// Count tells the watcher what the process spent on an index key, in capacity
// units. The runner keeps its own writes below what members leave of the key.
func (w *Watcher) Count(key string, readUnits, writeUnits float64) {
	w.meter.count(key, readUnits, writeUnits)
}
