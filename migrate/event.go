package migrate

import (
	"context"
	"fmt"
	"time"

	"github.com/hotsplit/hotsplit/shard"
)

// EventKind says what happened.
type EventKind string

// The kinds of events. Those that an operator reads a month later are kept in
// the table; the others are for who watches.
const (
	EventStarted   EventKind = "started"
	EventPhase     EventKind = "phase"
	EventLease     EventKind = "lease"
	EventRefused   EventKind = "refused"
	EventVerified  EventKind = "verified"
	EventStraggler EventKind = "straggler"
	EventArchived  EventKind = "archived"

	EventWaiting   EventKind = "waiting"
	EventPublished EventKind = "published"
	EventMoved     EventKind = "moved"
	EventSettled   EventKind = "settled"
	EventThrottled EventKind = "throttled"
	EventPaused    EventKind = "paused"
)

// kept says whether events of this kind are written to the table.
func (k EventKind) kept() bool {
	switch k {
	case EventStarted, EventPhase, EventLease, EventRefused, EventVerified, EventStraggler, EventArchived:
		return true
	case EventWaiting, EventPublished, EventMoved, EventSettled, EventThrottled, EventPaused:
		return false
	}
	return false
}

// Event is one thing that happened to a move.
type Event struct {
	At         string      `json:"at"` // for people: the clock of who wrote it
	Kind       EventKind   `json:"kind"`
	Phase      shard.Phase `json:"phase"`
	Generation int64       `json:"generation"`
	Holder     string      `json:"holder,omitempty"`
	Text       string      `json:"text"`
	Rows       int         `json:"rows,omitempty"`
	Progress   *Progress   `json:"progress,omitempty"`
}

func (e Event) String() string { return fmt.Sprintf("%s %s: %s", e.At, e.Kind, e.Text) }

// eventTimeFormat has a fixed width, so that the items' names order as the
// events do.
const eventTimeFormat = "2006-01-02T15:04:05.000000000Z"

// eventsMax bounds how many events are read at once.
const eventsMax = 10_000

// Events reads the last limit events, oldest first; 0 means all.
func (l *Ledger) Events(ctx context.Context, limit int) ([]Event, error) {
	items, err := l.shelf.list(ctx, l.client, eventItem)
	if err != nil {
		return nil, err
	}
	if limit <= 0 || limit > eventsMax {
		limit = eventsMax
	}
	items = items[max(0, len(items)-limit):]
	events := make([]Event, 0, len(items))
	for _, item := range items {
		var e Event
		if err := decode(item, &e); err != nil {
			return nil, fmt.Errorf("read events of %s: %w", l.shelf.prefix, err)
		}
		events = append(events, e)
	}
	return events, nil
}

// tell hands an event to who watches, and keeps it where its kind is kept. An
// event that cannot be written does not stop a move.
func (r *Runner) tell(ctx context.Context, e Event) {
	now := time.Now().UTC()
	e.At = now.Format(eventTimeFormat)
	e.Phase, e.Generation, e.Holder = r.record.Phase, r.record.Generation, r.holder
	if e.Kind.kept() {
		r.events++
		name := fmt.Sprintf("%s%s#%d.%d", eventItem, e.At, r.token, r.events)
		_ = r.shelf.put(ctx, r.client, name, e, 0)
	}
	if r.opts.Observe != nil {
		progress := r.progress
		e.Progress = &progress
		r.opts.Observe(e)
	}
}
