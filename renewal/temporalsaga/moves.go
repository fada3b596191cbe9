package temporalsaga

import (
	"fmt"
	"time"

	"github.com/hotsplit/hotsplit/renewal"
)

// OpenInput opens a lease's saga, or finds the one with this id.
type OpenInput struct {
	SagaID string `json:"sagaId"`
	Lease  Lease  `json:"lease"`
}

// Move is one conditional write on a saga.
type Move struct {
	SagaID       string        `json:"sagaId"`
	Op           string        `json:"op"` // the same for every retry of this move, and for no other
	From         renewal.State `json:"from,omitempty"`
	To           renewal.State `json:"to,omitempty"`      // "" only notes the text
	Version      int64         `json:"version,omitempty"` // 0 means any
	By           string        `json:"by,omitempty"`
	Kind         string        `json:"kind,omitempty"`
	Text         string        `json:"text,omitempty"`
	RentCents    int64         `json:"rentCents,omitempty"`
	OfferExpires time.Time     `json:"offerExpires,omitzero"`
	Asked        bool          `json:"asked,omitempty"` // somebody asked: an illegal move is an answer, not a detour
}

// Moved is the saga after a move. Applied is false when another hand had moved
// the saga first; the saga is then what that hand left.
type Moved struct {
	Saga    Snapshot `json:"saga"`
	Applied bool     `json:"applied"`
}

// QuoteInput asks for the rent of the next term.
type QuoteInput struct {
	Lease       Lease `json:"lease"`
	AttemptsMax int   `json:"attemptsMax"`
}

// Quoted is a rent, or why there is none.
type Quoted struct {
	RentCents int64  `json:"rentCents,omitempty"`
	Failure   string `json:"failure,omitempty"`
}

// Letter is what a renewal sends to the tenant. Its id is the same for every
// retry; who delivers it must deliver an id once.
type Letter struct {
	ID        string    `json:"id"`
	SagaID    string    `json:"sagaId"`
	Kind      string    `json:"kind"` // "offer", "reminder", "contract"
	PersonID  string    `json:"personId"`
	RentCents int64     `json:"rentCents,omitempty"`
	Expires   time.Time `json:"expires,omitzero"`
}

// Extension moves a lease's end from one day to another, once for its id.
type Extension struct {
	ID        string    `json:"id"`
	LeaseID   string    `json:"leaseId"`
	From      time.Time `json:"from"`
	To        time.Time `json:"to"`
	RentCents int64     `json:"rentCents,omitempty"`
}

// Extended is where a lease's end stands after an extension.
type Extended struct {
	Ends    time.Time `json:"ends,omitzero"`     // zero when there is no such lease
	Foreign bool      `json:"foreign,omitempty"` // another hand had moved the end
}

func (e Extended) String() string {
	switch {
	case e.Ends.IsZero():
		return "not in the portfolio"
	case e.Foreign:
		return fmt.Sprintf("was moved to %s by another hand", e.Ends.Format(time.DateOnly))
	default:
		return "ends " + e.Ends.Format(time.DateOnly)
	}
}
