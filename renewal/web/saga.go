package web

import (
	"github.com/hotsplit/hotsplit/renewal"
)

// sagaJSON is a saga as programs read it, with what follows from its state.
type sagaJSON struct {
	renewal.Saga
	Next  renewal.Action  `json:"next"`
	Moves []renewal.State `json:"moves"`
	URL   string          `json:"url"`
}

func (s *Server) sagaJSON(saga renewal.Saga) sagaJSON {
	moves := saga.Moves()
	if moves == nil {
		moves = []renewal.State{}
	}
	return sagaJSON{Saga: saga, Next: saga.Next(), Moves: moves, URL: detailURL(saga.LeaseID)}
}
