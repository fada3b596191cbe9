package heat

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"iter"
	"sync"
	"time"
)

// ErrTrace is wrapped by every error about the text of a trace. Do not retry;
// the error names the line.
var ErrTrace = errors.New("heat: bad trace")

// TraceVersion is the version of the trace format that this package writes. A
// trace of another version is refused, not guessed at.
const TraceVersion = 1

const (
	traceFormat       = "hotsplit-trace"
	traceLineBytesMax = 64 << 10
)

// traceHeader is the first line of a trace.
type traceHeader struct {
	Format  string `json:"format"`
	Version int    `json:"version"`
	Keys    string `json:"keys,omitempty"` // "plain" or "hashed"
}

// traceLine is an event as docs/trace-format.md describes it.
type traceLine struct {
	Time      time.Time `json:"t"`
	Operation string    `json:"op"`
	Table     string    `json:"table"`
	Index     string    `json:"index,omitempty"`
	Key       string    `json:"key,omitempty"`
	Sort      string    `json:"sort,omitempty"`
	Item      bool      `json:"item,omitempty"`
	Owner     string    `json:"owner,omitempty"`
	Caller    string    `json:"caller,omitempty"`
	Read      float64   `json:"r,omitempty"`
	Write     float64   `json:"w,omitempty"`
	Also      bool      `json:"also,omitempty"`
	Throttled int       `json:"throttled,omitempty"`
	Reason    string    `json:"reason,omitempty"`
	Failed    bool      `json:"failed,omitempty"`
	Millis    float64   `json:"ms,omitempty"`
}

func lineOf(e Event) traceLine {
	return traceLine{
		Time: e.Time.UTC(), Operation: e.Operation, Table: e.Table, Index: e.Index, Key: e.Key, Sort: e.Sort,
		Item: e.Item, Owner: e.Owner, Caller: e.Caller, Read: e.Read, Write: e.Write, Also: !e.Primary,
		Throttled: e.Throttled, Reason: e.Reason, Failed: e.Failed,
		Millis: float64(e.Latency.Microseconds()) / 1000,
	}
}

func (l traceLine) event() Event {
	return Event{
		Time: l.Time, Operation: l.Operation, Table: l.Table, Index: l.Index, Key: l.Key, Sort: l.Sort,
		Item: l.Item, Owner: l.Owner, Caller: l.Caller, Read: l.Read, Write: l.Write, Primary: !l.Also,
		Throttled: l.Throttled, Reason: l.Reason, Failed: l.Failed,
		Latency: time.Duration(l.Millis * float64(time.Millisecond)),
	}
}

func (l traceLine) check() error {
	switch {
	case l.Time.IsZero():
		return errors.New(`"t" is missing`)
	case l.Table == "":
		return errors.New(`"table" is missing`)
	case l.Read < 0 || l.Write < 0 || l.Throttled < 0:
		return errors.New("units and counts are not negative")
	}
	return nil
}

// TraceWriter writes events as JSON lines. It is safe for use by several
// goroutines, and remembers the first error: tracing never fails a request.
type TraceWriter struct {
	mu  sync.Mutex
	out *bufio.Writer
	enc *json.Encoder
	err error
}

// NewTraceWriter writes the header at once. hashed says that the events' keys are.
func NewTraceWriter(w io.Writer, hashed bool) *TraceWriter {
	out := bufio.NewWriterSize(w, 64<<10)
	t := &TraceWriter{out: out, enc: json.NewEncoder(out)}
	t.enc.SetEscapeHTML(false)
	keys := "plain"
	if hashed {
		keys = "hashed"
	}
	t.err = t.enc.Encode(traceHeader{Format: traceFormat, Version: TraceVersion, Keys: keys})
	return t
}

// Write appends one event.
func (t *TraceWriter) Write(e Event) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.err == nil {
		t.err = t.enc.Encode(lineOf(e))
	}
}

// Flush writes what is buffered and gives the first error of all writes.
func (t *TraceWriter) Flush() error {
	t.mu.Lock()
	defer t.mu.Unlock()
	if err := t.out.Flush(); t.err == nil {
		t.err = err
	}
	if t.err != nil {
		return fmt.Errorf("write trace: %w", t.err)
	}
	return nil
}

// ReadTrace reads a trace event by event. It stops at the first bad line with an
// error that names it; a last line that was cut off in the middle, as a killed
// process leaves it, ends the trace without one.
func ReadTrace(r io.Reader) iter.Seq2[Event, error] {
	return func(yield func(Event, error) bool) {
		lines := bufio.NewReaderSize(r, traceLineBytesMax)
		for number := 1; ; number++ {
			text, err := lines.ReadSlice('\n')
			whole := err == nil
			if err != nil && !errors.Is(err, io.EOF) {
				yield(Event{}, fmt.Errorf("%w: line %d: %w", ErrTrace, number, err))
				return
			}
			if text = bytes.TrimSpace(text); len(text) > 0 {
				e, err := readLine(text, number)
				if err != nil && !whole && number > 1 && !json.Valid(text) {
					return
				}
				if err != nil {
					yield(Event{}, fmt.Errorf("%w: line %d: %w", ErrTrace, number, err))
					return
				}
				if number > 1 && !yield(e, nil) {
					return
				}
			}
			if !whole {
				return
			}
		}
	}
}

func readLine(text []byte, number int) (Event, error) {
	if number == 1 {
		var h traceHeader
		if err := json.Unmarshal(text, &h); err != nil || h.Format != traceFormat {
			return Event{}, fmt.Errorf(`want a first line {"format":%q,"version":%d}`, traceFormat, TraceVersion)
		}
		if h.Version != TraceVersion {
			return Event{}, fmt.Errorf("version %d, this program reads version %d", h.Version, TraceVersion)
		}
		return Event{}, nil
	}
	var l traceLine
	if err := json.Unmarshal(text, &l); err != nil {
		return Event{}, err
	}
	return l.event(), l.check()
}
