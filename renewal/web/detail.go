package web

import (
	"cmp"
	"context"
	"errors"
	"net/http"
	"slices"
	"time"

	"github.com/hotsplit/hotsplit/renewal"
)

type detailPage struct {
	page
	Saga     renewal.Saga
	Next     renewal.Action
	Due      string
	Urgency  string
	Moves    []moveButton
	Events   []renewal.Event // the newest first
	Others   []rowView       // other renewals of the same person
	Stale    bool            // the row could not be read: this is the board's
	Note     string          // what the writer had typed when somebody else was first
	Conflict string          // what happened meanwhile; "" for nothing
	Failure  string          // why the writer's move was not made; "" for none
	NoteMax  int
}

type moveButton struct {
	To   renewal.State
	Main bool // the move that a renewal usually makes next
}

func (s *Server) detail(w http.ResponseWriter, r *http.Request) error {
	saga, fresh, err := s.find(r.Context(), r.PathValue("leaseId"))
	if err != nil {
		return err
	}
	return s.show(w, r, "detail", s.detailPage(r.Context(), saga, fresh), s.sagaJSON(saga), fresh.Age)
}

// find reads the renewal of a lease: its row, and while that cannot be read, the
// board's. A row without a pointer is found by the board too and then read.
func (s *Server) find(ctx context.Context, leaseID string) (renewal.Saga, freshness, error) {
	limited, cancel := context.WithTimeout(ctx, rowWaitMax)
	defer cancel()
	saga, err := s.Store.SagaByLease(limited, leaseID)
	if err == nil {
		return saga, freshness{}, nil
	}
	busy := errors.Is(err, renewal.ErrUnavailable)
	if !busy && !errors.Is(err, renewal.ErrNotFound) {
		return renewal.Saga{}, freshness{}, err
	}
	sagas, fresh, boardErr := s.board(ctx)
	if boardErr != nil {
		return renewal.Saga{}, freshness{}, err
	}
	at := slices.IndexFunc(sagas, func(s renewal.Saga) bool { return s.LeaseID == leaseID })
	switch {
	case at < 0:
		return renewal.Saga{}, freshness{}, err
	case busy:
		fresh.Stale = true
		return sagas[at], fresh, nil
	}
	saga, err = s.Store.Saga(limited, sagas[at].ID)
	return saga, freshness{}, err
}

// rowWaitMax bounds the wait for a row: the board's answer now is better than the
// row's after all the retries of a storm.
const rowWaitMax = 3 * time.Second

func (s *Server) detailPage(ctx context.Context, saga renewal.Saga, fresh freshness) detailPage {
	now := s.Now()
	next := saga.Next()
	text, urgency := due(next.Due, now)
	p := detailPage{
		page: s.page(titleOf(saga)).aged(fresh), Saga: saga, Next: next, Due: text, Urgency: urgency, Stale: fresh.Stale,
		Moves: buttonsOf(saga), Events: newestFirst(saga.Timeline), Others: s.others(ctx, saga, now), NoteMax: renewal.TextBytesMax,
	}
	return p
}

func titleOf(s renewal.Saga) string {
	name := s.PersonName
	if name == "" {
		name = s.PersonID
	}
	if s.Unit == "" {
		return name
	}
	return name + ", unit " + s.Unit
}

func buttonsOf(s renewal.Saga) []moveButton {
	var buttons []moveButton
	for i, to := range s.Moves() {
		buttons = append(buttons, moveButton{To: to, Main: i == 0})
	}
	// Giving up stands last, away from what is pressed every day.
	slices.SortStableFunc(buttons, func(a, b moveButton) int {
		return cmp.Compare(btoi(a.To == renewal.Cancelled), btoi(b.To == renewal.Cancelled))
	})
	return buttons
}

func btoi(b bool) int {
	if b {
		return 1
	}
	return 0
}

func newestFirst(events []renewal.Event) []renewal.Event {
	events = slices.Clone(events)
	slices.Reverse(events)
	return events
}

// others are the person's other renewals, from the board: they cost nothing.
func (s *Server) others(ctx context.Context, saga renewal.Saga, now time.Time) []rowView {
	sagas, _, err := s.board(ctx)
	if err != nil {
		return nil // a page without this part is still the renewal's page
	}
	var rows []rowView
	for _, other := range sagas {
		if other.PersonID == saga.PersonID && other.ID != saga.ID {
			rows = append(rows, s.row(other, now))
		}
	}
	return rows
}
