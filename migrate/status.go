package migrate

import (
	"context"
	"fmt"
	"math"
	"strings"
	"time"

	"github.com/hotsplit/hotsplit/shard"
)

// Status is where a move stands, for a person in one line and for a program as
// an object.
type Status struct {
	Name       string      `json:"name"`
	Phase      shard.Phase `json:"phase"`
	Generation int64       `json:"generation"`
	Agreed     bool        `json:"agreed"` // every member was seen to have the generation
	From       string      `json:"from"`
	To         string      `json:"to"`
	Moved      int64       `json:"moved"`
	Total      int64       `json:"total"`
	Moving     int         `json:"moving"` // rows on the way
	Rate       float64     `json:"rate"`
	Why        string      `json:"why"`
	OldUnits   float64     `json:"oldUnits"`
	NewUnits   float64     `json:"newUnits"`
	Members    []Member    `json:"members"`
	Behind     []string    `json:"behind,omitempty"` // members on an older generation
	Runner     string      `json:"runner,omitempty"`
	Waiting    string      `json:"waiting,omitempty"`
	ETA        string      `json:"eta,omitempty"`
	Pass       *Pass       `json:"pass,omitempty"`
	Archived   bool        `json:"archived,omitempty"`
	Next       []string    `json:"next"`
	Progress   Progress    `json:"progress"`
}

// Status reads where the move stands. Members that stopped reporting are listed
// until their items expire; only a runner knows which are silent.
func (l *Ledger) Status(ctx context.Context) (Status, error) {
	record, err := l.Load(ctx)
	if err != nil {
		return Status{}, err
	}
	members, err := l.Members(ctx)
	if err != nil {
		return Status{}, err
	}
	return statusOf(record, members), nil
}

func statusOf(r Record, members []Member) Status {
	p := r.Progress
	s := Status{
		Name: r.Name, Phase: r.Phase, Generation: r.Generation, Agreed: r.Confirms(),
		From: r.From.String(), To: r.To.String(),
		Moved: p.Moved + p.AlreadyDone, Total: max(p.Total, p.Moved+p.AlreadyDone), Moving: r.Moving.Rows,
		Rate: p.Rate, Why: p.Why, OldUnits: p.OldUnits, NewUnits: p.NewUnits,
		Members: members, Runner: r.Lease.Holder, Waiting: p.Waiting, Pass: r.Pass,
		Archived: r.Archived, Progress: p,
	}
	if r.Phase == shard.Verified || r.Phase == shard.Complete {
		s.Total = s.Moved // the estimate counted rows that keep their key, too
	}
	if r.Control.Paused {
		s.Why = "paused"
		if r.Control.PausedWhy != "" {
			s.Why += ": " + r.Control.PausedWhy
		}
		s.Rate = 0
	}
	for _, m := range members {
		if m.Generation < r.Generation {
			s.Behind = append(s.Behind, m.ID)
		}
	}
	for _, next := range r.Phase.Next() {
		s.Next = append(s.Next, string(next))
	}
	if left := s.Total - s.Moved; s.moves() && left > 0 && s.Rate > 0 {
		s.ETA = (time.Duration(math.Ceil(float64(left)/s.Rate)) * time.Second).String()
	}
	return s
}

func (s Status) moves() bool { return s.Phase == shard.Backfill || s.Phase == shard.Reverting }

// String is the one line of status.
func (s Status) String() string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s %s", s.Name, s.Phase)
	if s.Archived {
		b.WriteString(" (archived)")
	}
	fmt.Fprintf(&b, " | moved %d/%d", s.Moved, s.Total)
	if s.moves() && s.Why != "" {
		fmt.Fprintf(&b, " | %.0f rows/s: %s", s.Rate, s.Why)
	}
	fmt.Fprintf(&b, " | old key %.0f WCU/s, new keys %.0f WCU/s | members %d", s.OldUnits, s.NewUnits, len(s.Members))
	if len(s.Behind) > 0 {
		fmt.Fprintf(&b, " (behind: %s)", strings.Join(s.Behind, ", "))
	}
	if s.Waiting != "" {
		fmt.Fprintf(&b, " | waits for %s", s.Waiting)
	}
	if s.Runner == "" {
		b.WriteString(" | no runner")
	}
	if s.ETA != "" {
		fmt.Fprintf(&b, " | ETA %s", s.ETA)
	}
	return b.String()
}
