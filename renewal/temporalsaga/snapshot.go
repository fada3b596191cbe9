package temporalsaga

import (
	"time"

	"github.com/hotsplit/hotsplit/renewal"
)

// Snapshot is what a workflow knows of its saga. It stands in recorded
// histories, so it is a format of its own: a field that renewal.Saga renames
// does not break the replay of an old history.
type Snapshot struct {
	ID           string        `json:"id"`
	State        renewal.State `json:"state"`
	Version      int64         `json:"version"`
	Archived     bool          `json:"archived,omitempty"`
	RentCents    int64         `json:"rentCents,omitempty"`
	OfferExpires time.Time     `json:"offerExpires,omitzero"`
	LeaseEnds    time.Time     `json:"leaseEnds,omitzero"`
	StateSince   time.Time     `json:"stateSince,omitzero"` // also the mark of what is done once in a state
	UpdatedAt    time.Time     `json:"updatedAt,omitzero"`
}
