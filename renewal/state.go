package renewal

import "slices"

// State is where a renewal stands. The text is what the table, the JSON and the
// workflow's history hold: never change one.
type State string

// The states, in the order in which a renewal usually meets them.
const (
	Opened         State = "opened"
	Preparing      State = "preparing"
	PrepareFailed  State = "prepare-failed"
	Prepared       State = "prepared"
	Offered        State = "offered"
	Negotiating    State = "negotiating"
	Accepted       State = "accepted"
	Signed         State = "signed"
	NoticeReceived State = "notice-received"
	Declined       State = "declined"
	Expired        State = "expired"
	Cancelled      State = "cancelled"
	Completed      State = "completed"
)

// order is every state once; States hands out copies.
var order = []State{
	Opened, Preparing, PrepareFailed, Prepared, Offered, Negotiating, Accepted, Signed,
	NoticeReceived, Declined, Expired, Cancelled, Completed,
}

// legal lists every move a renewal may make; whatever is absent is refused. The
// diagram in doc.go shows the same, and a test compares them.
var legal = map[State][]State{
	Opened:         {Preparing, Cancelled, NoticeReceived},
	Preparing:      {Prepared, PrepareFailed, Cancelled, NoticeReceived},
	PrepareFailed:  {Preparing, Cancelled, NoticeReceived, Expired},
	Prepared:       {Offered, Preparing, Cancelled, NoticeReceived, Expired},
	Offered:        {Negotiating, Accepted, Declined, Expired, Cancelled, NoticeReceived},
	Negotiating:    {Prepared, Offered, Accepted, Declined, Expired, Cancelled, NoticeReceived},
	Accepted:       {Signed, Negotiating, Declined, Expired, Cancelled, NoticeReceived},
	Signed:         {Completed, Cancelled},
	NoticeReceived: nil,
	Declined:       nil,
	Expired:        nil,
	Cancelled:      nil,
	Completed:      nil,
}

// States lists every state, in the order in which a renewal usually meets them.
func States() []State { return slices.Clone(order) }

// Known says that this release knows s. A row may hold a state of a newer one.
func (s State) Known() bool {
	_, known := legal[s]
	return known
}

// Ended says that nothing moves a renewal from s any more.
func (s State) Ended() bool { return s.Known() && len(legal[s]) == 0 }

// Next lists the states that a renewal in s may go to.
func (s State) Next() []State { return slices.Clone(legal[s]) }

// MayMove says whether a renewal in s may go to to.
func (s State) MayMove(to State) bool { return slices.Contains(legal[s], to) }

// Rank is the place of s in the usual order; an unknown state comes last.
func (s State) Rank() int {
	if at := slices.Index(order, s); at >= 0 {
		return at
	}
	return len(order)
}
