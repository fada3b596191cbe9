package temporalsaga

import (
	"time"

	"go.temporal.io/sdk/workflow"
)

// eventsMax is how many events a renewal keeps; the oldest go first.
const eventsMax = 200

// Event is one thing that happened to a renewal.
type Event struct {
	At   time.Time `json:"at"`
	What string    `json:"what"`
	Text string    `json:"text,omitempty"`
}

// Timeline is what a workflow says about itself.
type Timeline struct {
	Saga    Snapshot `json:"saga"`
	Waiting string   `json:"waiting,omitempty"` // what the renewal waits for
	Events  []Event  `json:"events"`
	Runs    int      `json:"runs,omitempty"` // how often it continued as new
}

func (r *run) timeline() (Timeline, error) {
	return Timeline{Saga: r.saga, Waiting: r.waiting, Events: r.Events, Runs: r.Runs}, nil
}

// eventTextBytesMax bounds what a message adds to the state carried over: 200
// events stay far below the server's limit on one payload.
const eventTextBytesMax = 500

func (r *run) note(ctx workflow.Context, what, text string) {
	r.Events = append(r.Events, Event{At: workflow.Now(ctx), What: what, Text: cut(text, eventTextBytesMax)})
	if len(r.Events) > eventsMax {
		r.Events = r.Events[len(r.Events)-eventsMax:]
	}
}
