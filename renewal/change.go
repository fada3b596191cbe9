package renewal

import (
	"encoding/hex"
	"hash/fnv"
	"slices"
	"strconv"
	"strings"
	"time"
)

// Change is one change of a saga: a move, or a note when To is "".
type Change struct {
	Op      string // the same for every repetition of this change, and for no other
	From    State  // the state that the caller saw; "" means any
	To      State  // "" leaves the state and adds the text to the timeline
	Version int64  // the version that the caller saw; 0 means any
	By      string // who, for the timeline
	Kind    string // what it was: "decision", "message", "notice", "signal", "voice", "sweep"
	Text    string
	Offer   *Offer // fields that are set replace the saga's
	OrNote  bool   // where the move is not legal, keep the text as a note
}

func (c Change) validate() error {
	var k check
	k.id("op", c.Op)
	k.text("by", c.By, IDBytesMax)
	k.text("kind", c.Kind, IDBytesMax)
	k.text("text", c.Text, TextBytesMax)
	if c.To != "" && !c.To.Known() {
		k.add("to", "is not a state")
	}
	if c.From != "" && !c.From.Known() {
		k.add("from", "is not a state")
	}
	if c.Version < 0 {
		k.add("version", "is negative")
	}
	if (c.To == "" || c.OrNote) && c.Text == "" {
		k.add("text", "is missing: a note needs one")
	}
	if c.Offer != nil && c.Offer.RentCents < 0 {
		k.add("rentCents", "is negative")
	}
	if c.Op == openOp || c.Op == archiveOp {
		k.add("op", "is reserved")
	}
	return k.err()
}

// body is a digest of what is asked for. What the caller saw is no part of it: a
// repetition may have looked again.
func (c Change) body() string {
	digest := fnv.New64a()
	rent := int64(0)
	if c.Offer != nil {
		rent = c.Offer.RentCents
	}
	for _, part := range []string{string(c.To), c.Kind, c.Text, strconv.FormatInt(rent, 10)} {
		digest.Write([]byte(strconv.Itoa(len(part)) + ":" + part))
	}
	return hex.EncodeToString(digest.Sum(nil))
}

// Apply is the saga after a change. Applied is false when the saga shows that
// this very change was made before, for instance by an attempt whose answer was
// lost; the saga is then returned as it is. The error wraps ErrInvalid,
// ErrConflict or ErrIllegalMove.
func (s Saga) Apply(c Change, now time.Time) (after Saga, applied bool, err error) {
	if err := c.validate(); err != nil {
		return s, false, err
	}
	if done, repeated := s.event(c.Op); repeated {
		if done.Body != c.body() {
			return s, false, &ConflictError{Saga: s, Why: "operation " + strconv.Quote(c.Op) + " was something else"}
		}
		return s, false, nil
	}
	to := c.To
	if c.OrNote && !s.State.MayMove(to) {
		to = ""
	}
	if err := s.allows(c, to); err != nil {
		return s, false, err
	}
	return s.changed(c, to, now.UTC().Truncate(time.Millisecond)), true, nil
}

func (s Saga) allows(c Change, to State) error {
	switch {
	case c.Version != 0 && c.Version != s.Version:
		return &ConflictError{Saga: s, Why: "it has version " + strconv.FormatInt(s.Version, 10) + ", not " + strconv.FormatInt(c.Version, 10)}
	case c.From != "" && c.From != s.State:
		return &ConflictError{Saga: s, Why: "it is " + string(s.State) + ", not " + string(c.From)}
	case s.Archived:
		return &MoveError{From: s.State, To: c.To, Archived: true}
	case to != "" && !s.State.MayMove(to):
		return &MoveError{From: s.State, To: to}
	default:
		return nil
	}
}

func (s Saga) changed(c Change, to State, now time.Time) Saga {
	e := Event{
		At: now, Op: c.Op, To: to, By: c.By, Kind: c.Kind, Text: shorten(c.Text, eventTextBytesMax), Body: c.body(),
	}
	if to != "" {
		e.From = s.State
		s.State, s.StateSince = to, now
		s.prepared(to, c.Text)
	}
	if c.Offer != nil {
		s.offer(*c.Offer)
	}
	return s.with(e)
}

// prepared keeps what a move says about the preparation.
func (s *Saga) prepared(to State, text string) {
	switch to {
	case Preparing:
		s.Attempts++
	case PrepareFailed:
		s.LastError = text
	case Prepared:
		s.LastError = ""
	default:
	}
}

func (s *Saga) offer(o Offer) {
	if o.RentCents != 0 {
		s.Offer.RentCents = o.RentCents
	}
	if !o.Expires.IsZero() {
		s.Offer.Expires = o.Expires.UTC().Truncate(time.Millisecond)
	}
}

// with adds an event. The saga that it is called on keeps its own timeline.
func (s Saga) with(e Event) Saga {
	s.Version++
	s.UpdatedAt = e.At
	e.Version = s.Version
	s.Timeline = append(slices.Clone(s.Timeline), e)
	if over := len(s.Timeline) - eventsMax; over > 0 {
		s.Timeline = s.Timeline[over:]
	}
	return s
}

// Archive is the saga off the list. Archiving twice is archiving once. A renewal
// that has not ended stays on the list; the error is then a *MoveError.
func (s Saga) Archive(now time.Time) (after Saga, applied bool, err error) {
	if s.Archived {
		return s, false, nil
	}
	if !s.State.Ended() {
		return s, false, &MoveError{From: s.State, To: "archived"}
	}
	s.Archived = true
	return s.with(Event{At: now.UTC().Truncate(time.Millisecond), Op: archiveOp, Kind: archiveOp, Text: "archived"}), true, nil
}

// shorten bounds a text in bytes without splitting a character.
func shorten(text string, bytesMax int) string {
	if len(text) <= bytesMax {
		return text
	}
	return strings.ToValidUTF8(text[:bytesMax], "") + "…"
}
