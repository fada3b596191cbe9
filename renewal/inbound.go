package renewal

import (
	"cmp"
	"slices"
	"strings"
)

// Inbound is something that came in from outside about a person's renewal. ID is
// the message's own id, the same for every delivery.
type Inbound struct {
	ID       string
	PersonID string
	LeaseID  string // "" lets the person's renewals decide
	By       string // who brought it: the conversation manager, the voice service
	Text     string
}

// inboundIDBytesMax leaves room in an operation id for the kind of message.
const inboundIDBytesMax = 100

// Validate reports every field at fault at once.
func (in Inbound) Validate() error {
	var c check
	c.id("id", in.ID)
	if len(in.ID) > inboundIDBytesMax {
		c.add("id", "is too long")
	}
	c.id("personId", in.PersonID)
	c.optionalID("leaseId", in.LeaseID)
	c.text("by", in.By, IDBytesMax)
	c.text("text", in.Text, TextBytesMax)
	return c.err()
}

// Intent is what a message wants, as the conversation manager understood it.
type Intent string

// The intents. "" is a message without one: it is noted.
const (
	Accept  Intent = "accept"
	Decline Intent = "decline"
	Counter Intent = "counter" // another rent or term, please
	Ask     Intent = "question"
)

// Known says that i is an intent, or none.
func (i Intent) Known() bool {
	return i == "" || i == Accept || i == Decline || i == Counter || i == Ask
}

// Signal is news from a step outside: the signature service, the quote service.
type Signal string

// The signals, and the state that each leads to.
const (
	SignalSigned        Signal = "signed"
	SignalPrepared      Signal = "prepared"
	SignalPrepareFailed Signal = "prepare-failed"
	SignalCompleted     Signal = "completed"
)

// To is the state that a signal asks for; "" for an unknown one.
func (s Signal) To() State {
	switch s {
	case SignalSigned:
		return Signed
	case SignalPrepared:
		return Prepared
	case SignalPrepareFailed:
		return PrepareFailed
	case SignalCompleted:
		return Completed
	default:
		return ""
	}
}

// DecideMessage is what a tenant's message does: the move it asks for where the
// table allows it, and else a note. The sagas are the person's, with their
// timelines: a message that comes again is answered by the renewal that heard it
// first. ok is false where the person has no renewal to speak of.
func DecideMessage(sagas []Saga, in Inbound, intent Intent) (d Decision, ok bool) {
	s, ok := about(sagas, in, "message")
	if !ok {
		return Decision{}, false
	}
	to := State("")
	switch intent {
	case Accept:
		to = Accepted
	case Decline:
		to = Declined
	case Counter, Ask:
		to = Negotiating
	default:
	}
	return answer(s, in, "message", cmp.Or(string(intent), "message"), to), true
}

// DecideNotice is what a notice to vacate does to every renewal that it ends.
func DecideNotice(sagas []Saga, in Inbound) []Decision {
	var decisions []Decision
	for _, s := range sagas {
		if s.Open() && (!s.State.Ended() || s.Made(in.op("notice"))) && (in.LeaseID == "" || s.LeaseID == in.LeaseID) {
			decisions = append(decisions, answer(s, in, "notice", "notice to vacate", NoticeReceived))
		}
	}
	return decisions
}

// DecideSignal is what a signal does.
func DecideSignal(sagas []Saga, in Inbound, signal Signal) (d Decision, ok bool) {
	s, ok := about(sagas, in, "signal")
	if !ok {
		return Decision{}, false
	}
	return answer(s, in, "signal", string(signal), signal.To()), true
}

// DecideVoice notes a call.
func DecideVoice(sagas []Saga, in Inbound) (d Decision, ok bool) {
	s, ok := about(sagas, in, "voice")
	if !ok {
		return Decision{}, false
	}
	return answer(s, in, "voice", "call", ""), true
}

// about picks the renewal that a message is about: the one that heard it before,
// then one that has not ended before one that has, and then the newest.
func about(sagas []Saga, in Inbound, kind string) (Saga, bool) {
	candidates := slices.DeleteFunc(slices.Clone(sagas), func(s Saga) bool {
		return s.Archived || in.LeaseID != "" && s.LeaseID != in.LeaseID
	})
	if len(candidates) == 0 {
		return Saga{}, false
	}
	op := in.op(kind)
	return slices.MinFunc(candidates, func(a, b Saga) int {
		return cmp.Or(
			compareFlag(!a.Made(op), !b.Made(op)), compareFlag(a.State.Ended(), b.State.Ended()),
			b.OpenedAt.Compare(a.OpenedAt), cmp.Compare(a.ID, b.ID),
		)
	}), true
}

func (in Inbound) op(kind string) string { return kind + "." + in.ID }

// answer asks for a move where the table allows it, and for a note of what was
// said where not: nothing that a tenant said is lost.
func answer(s Saga, in Inbound, kind, said string, to State) Decision {
	return Decision{SagaID: s.ID, Why: said, Change: Change{
		Op: in.op(kind), To: to, OrNote: true, By: in.By, Kind: kind, Text: cmp.Or(strings.TrimSpace(in.Text), said),
	}}
}
