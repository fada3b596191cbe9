package renewal

import (
	"cmp"
	"time"
)

// Action is what has to happen next, and by when. Due is zero where nothing is.
type Action struct {
	Text   string    `json:"text"`
	Due    time.Time `json:"due,omitzero"`
	Person bool      `json:"person"` // somebody in the office has to act
}

// How long each step may take before it is due.
const (
	prepareWithin = 24 * time.Hour
	answerWithin  = 48 * time.Hour
	signWithin    = 14 * 24 * time.Hour
	replyWithin   = 14 * 24 * time.Hour
)

// Next is the renewal's next action. It follows from state and dates, so it is
// never out of step with them.
func (s Saga) Next() Action {
	switch s.State {
	case Opened:
		return Action{Text: "Start the preparation", Due: s.StateSince.Add(prepareWithin)}
	case Preparing:
		return Action{Text: "Work out an offer", Due: s.StateSince.Add(prepareWithin)}
	case PrepareFailed:
		return Action{Text: "Fix and prepare again", Due: s.StateSince.Add(prepareWithin), Person: true}
	case Prepared:
		return Action{Text: "Send the offer", Due: s.StateSince.Add(prepareWithin), Person: true}
	case Offered:
		return Action{Text: "Wait for the tenant's answer", Due: s.offerEnds()}
	case Negotiating:
		return Action{Text: "Answer the tenant", Due: s.StateSince.Add(answerWithin), Person: true}
	case Accepted:
		return Action{Text: "Get the signature", Due: s.StateSince.Add(signWithin), Person: true}
	case Signed:
		return Action{Text: "Extend the lease", Due: s.StateSince.Add(prepareWithin)}
	case NoticeReceived:
		return Action{Text: "Plan the move-out", Due: s.LeaseEnd, Person: true}
	case Declined, Expired:
		return Action{Text: "Find a new tenant", Due: s.LeaseEnd, Person: true}
	case Cancelled, Completed:
		return Action{}
	default:
		return Action{Text: "Look at it: unknown state", Person: true}
	}
}

func (s Saga) offerEnds() time.Time {
	ends := s.Offer.Expires
	if ends.IsZero() {
		ends = s.StateSince.Add(replyWithin)
	}
	if !s.LeaseEnd.IsZero() && s.LeaseEnd.Before(ends) {
		return s.LeaseEnd
	}
	return ends
}

// CompareDue orders sagas as a property manager works: what is due first, then
// what has nothing due, and the ended ones last.
func CompareDue(a, b Saga) int {
	return cmp.Or(
		compareFlag(a.State.Ended() || a.Archived, b.State.Ended() || b.Archived),
		compareFlag(a.Next().Due.IsZero(), b.Next().Due.IsZero()),
		a.Next().Due.Compare(b.Next().Due),
		cmp.Compare(a.ID, b.ID),
	)
}

func compareFlag(a, b bool) int {
	switch {
	case a == b:
		return 0
	case b:
		return -1
	default:
		return 1
	}
}
