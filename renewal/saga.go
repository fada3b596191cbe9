package renewal

import (
	"slices"
	"time"
)

// Saga is one renewal of one lease's term.
type Saga struct {
	ID         string `json:"id"`
	PersonID   string `json:"personId"`
	PersonName string `json:"personName,omitempty"`
	LeaseID    string `json:"leaseId"`
	PropertyID string `json:"propertyId,omitempty"`
	Unit       string `json:"unit,omitempty"`

	State      State     `json:"state"`
	StateSince time.Time `json:"stateSince"`
	OpenedAt   time.Time `json:"openedAt"`
	UpdatedAt  time.Time `json:"updatedAt"`
	Version    int64     `json:"version"` // 1 when opened; one more with each change
	LeaseEnd   time.Time `json:"leaseEnd"`
	Offer      Offer     `json:"offer,omitzero"`

	Attempts  int    `json:"attempts"` // preparations begun
	LastError string `json:"lastError,omitempty"`
	Archived  bool   `json:"archived,omitempty"`

	// Timeline is the last changes, the oldest first. Rows that come from an
	// index may lack it; Store.Saga has it.
	Timeline []Event `json:"timeline,omitempty"`
}

// Offer is what the tenant was, or will be, asked to agree to.
type Offer struct {
	RentCents int64     `json:"rentCents,omitempty"`
	Expires   time.Time `json:"expires,omitzero"`
}

// Event is one change of a saga. Op makes a repeated change recognisable.
type Event struct {
	Version int64     `json:"version"`
	At      time.Time `json:"at"`
	Op      string    `json:"op"`
	From    State     `json:"from,omitempty"`
	To      State     `json:"to,omitempty"` // "" is a note
	By      string    `json:"by,omitempty"`
	Kind    string    `json:"kind,omitempty"`
	Text    string    `json:"text,omitempty"`
	Body    string    `json:"body,omitempty"` // digest of the change, which tells a repetition from a reused id
}

// eventsMax bounds the timeline, and with it how long an operation id is
// remembered; eventTextBytesMax keeps a full one far below an item's limit.
const (
	eventsMax         = 40
	eventTextBytesMax = 280
)

// openOp is the operation that every saga begins with.
const openOp = "open"

// archiveOp is done once in a saga's life.
const archiveOp = "archive"

// SagaID is the id of the renewal of a lease's term, which is named by the day
// it ends. Whoever computes it gets the same, so a second opening finds the
// first.
func SagaID(leaseID string, leaseEnd time.Time) string {
	return leaseID + "." + leaseEnd.UTC().Format(time.DateOnly)
}

// Open says that the renewal is on the list: not archived.
func (s Saga) Open() bool { return !s.Archived }

// Moves lists the states that the saga may go to now.
func (s Saga) Moves() []State {
	if s.Archived {
		return nil
	}
	return s.State.Next()
}

// Opening is the saga as it is first written. Unset times are filled from now;
// an unset id follows from lease and term.
func (s Saga) Opening(now time.Time) (Saga, error) {
	now = now.UTC().Truncate(time.Millisecond)
	if s.ID == "" && s.LeaseID != "" && !s.LeaseEnd.IsZero() {
		s.ID = SagaID(s.LeaseID, s.LeaseEnd)
	}
	if s.State == "" {
		s.State = Opened
	}
	if s.OpenedAt.IsZero() {
		s.OpenedAt = now
	}
	s.OpenedAt = s.OpenedAt.UTC().Truncate(time.Millisecond)
	s.UpdatedAt, s.StateSince, s.Version, s.Archived = s.OpenedAt, s.OpenedAt, 1, false
	s.Timeline = []Event{{Version: 1, At: s.OpenedAt, Op: openOp, To: s.State}}
	return s, s.validate()
}

func (s Saga) validate() error {
	var c check
	c.id("id", s.ID)
	c.id("personId", s.PersonID)
	c.id("leaseId", s.LeaseID)
	c.optionalID("propertyId", s.PropertyID)
	c.text("personName", s.PersonName, NameBytesMax)
	c.text("unit", s.Unit, IDBytesMax)
	c.text("lastError", s.LastError, TextBytesMax)
	if s.State != Opened {
		c.add("state", "is not opened")
	}
	if s.LeaseEnd.IsZero() {
		c.add("leaseEnd", "is missing")
	}
	if y := s.LeaseEnd.Year(); !s.LeaseEnd.IsZero() && (y < 1970 || y > 9999) {
		c.add("leaseEnd", "is not between 1970 and 9999")
	}
	if s.Offer.RentCents < 0 {
		c.add("offer.rentCents", "is negative")
	}
	return c.err()
}

// event finds the change that an operation made.
func (s Saga) event(op string) (Event, bool) {
	at := slices.IndexFunc(s.Timeline, func(e Event) bool { return e.Op == op })
	if at < 0 {
		return Event{}, false
	}
	return s.Timeline[at], true
}

// Made says that the saga's timeline shows the operation.
func (s Saga) Made(op string) bool {
	_, made := s.event(op)
	return made
}
