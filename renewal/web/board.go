package web

import (
	"context"
	"slices"
	"sync"
	"time"

	"github.com/hotsplit/hotsplit/renewal"
)

// recentMax bounds how many own writes are remembered; a board overtakes each
// within seconds.
const recentMax = 1000

// recent holds what this process wrote until the board shows it, so that who
// moved a renewal sees it moved.
type recent struct {
	mu    sync.Mutex
	sagas map[string]renewal.Saga
}

func (r *recent) wrote(s renewal.Saga) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.sagas == nil || len(r.sagas) >= recentMax {
		r.sagas = map[string]renewal.Saga{}
	}
	if r.sagas[s.ID].Version <= s.Version {
		s.Timeline = nil
		r.sagas[s.ID] = s
	}
}

// over lays the own writes over a board, and forgets those that it shows.
func (r *recent) over(sagas []renewal.Saga) []renewal.Saga {
	r.mu.Lock()
	defer r.mu.Unlock()
	if len(r.sagas) == 0 {
		return sagas
	}
	sagas = slices.Clone(sagas)
	for i, s := range sagas {
		own, wrote := r.sagas[s.ID]
		switch {
		case !wrote:
		case own.Version <= s.Version:
			delete(r.sagas, s.ID)
		default:
			sagas[i] = own
		}
	}
	return slices.DeleteFunc(sagas, func(s renewal.Saga) bool { return s.Archived })
}

// order keeps the last board in the order of the list, as every poll needs it.
type order struct {
	mu       sync.Mutex
	loadedAt time.Time
	sagas    []renewal.Saga
}

func (o *order) of(b Board) []renewal.Saga {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.sagas == nil || !o.loadedAt.Equal(b.LoadedAt) {
		o.sagas = slices.SortedStableFunc(slices.Values(b.Sagas), renewal.CompareDue)
		o.loadedAt = b.LoadedAt
	}
	return o.sagas
}

// board is the list's sagas in order, and what there is to say about their age.
func (s *Server) board(ctx context.Context) ([]renewal.Saga, freshness, error) {
	b, err := s.Board(ctx)
	if err != nil {
		return nil, freshness{}, err
	}
	sagas := s.recent.over(s.order.of(b))
	if !slices.IsSortedFunc(sagas, renewal.CompareDue) {
		slices.SortStableFunc(sagas, renewal.CompareDue)
	}
	age := s.Now().Sub(b.LoadedAt)
	return sagas, freshness{Age: age, Stale: age > s.StaleAfter, LoadedAt: b.LoadedAt}, nil
}

// freshness is how old an answer is.
type freshness struct {
	Age      time.Duration
	Stale    bool
	LoadedAt time.Time
}
