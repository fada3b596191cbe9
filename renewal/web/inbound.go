package web

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"

	"github.com/hotsplit/hotsplit/renewal"
)

// inboundRequest is what the four inbound routes take; schema.json describes it.
// Intent belongs to messages and Signal to signals.
type inboundRequest struct {
	ID       string         `json:"id"`
	PersonID string         `json:"personId"`
	LeaseID  string         `json:"leaseId,omitempty"`
	By       string         `json:"by,omitempty"`
	Text     string         `json:"text,omitempty"`
	Intent   renewal.Intent `json:"intent,omitempty"`
	Signal   renewal.Signal `json:"signal,omitempty"`
}

// sagasOfPersonMax bounds the rows that one message makes us look at.
const sagasOfPersonMax = 20

func (s *Server) message(w http.ResponseWriter, r *http.Request) error {
	return s.inbound(w, r, "message", func(sagas []renewal.Saga, in renewal.Inbound, q inboundRequest) []renewal.Decision {
		return one(renewal.DecideMessage(sagas, in, q.Intent))
	})
}

func (s *Server) notice(w http.ResponseWriter, r *http.Request) error {
	return s.inbound(w, r, "notice", func(sagas []renewal.Saga, in renewal.Inbound, _ inboundRequest) []renewal.Decision {
		return renewal.DecideNotice(sagas, in)
	})
}

func (s *Server) signal(w http.ResponseWriter, r *http.Request) error {
	return s.inbound(w, r, "signal", func(sagas []renewal.Saga, in renewal.Inbound, q inboundRequest) []renewal.Decision {
		return one(renewal.DecideSignal(sagas, in, q.Signal))
	})
}

func (s *Server) voice(w http.ResponseWriter, r *http.Request) error {
	return s.inbound(w, r, "voice", func(sagas []renewal.Saga, in renewal.Inbound, _ inboundRequest) []renewal.Decision {
		return one(renewal.DecideVoice(sagas, in))
	})
}

func one(d renewal.Decision, ok bool) []renewal.Decision {
	if !ok {
		return nil
	}
	return []renewal.Decision{d}
}

// inbound looks the person's sagas up, decides on the rows themselves and moves.
// A message that was delivered before finds its own writes and gets the same
// answer.
func (s *Server) inbound(w http.ResponseWriter, r *http.Request, kind string, decide func([]renewal.Saga, renewal.Inbound, inboundRequest) []renewal.Decision) error {
	var q inboundRequest
	if err := readJSON(r, &q); err != nil {
		return err
	}
	in := renewal.Inbound{ID: q.ID, PersonID: q.PersonID, LeaseID: q.LeaseID, By: cmp.Or(q.By, writer(r)), Text: q.Text}
	if err := q.validate(in, kind); err != nil {
		return err
	}
	sagas, err := s.sagasOf(r.Context(), in.PersonID)
	if err != nil {
		return err
	}
	answer := inboundAnswer{ID: in.ID, Sagas: []sagaJSON{}}
	for _, d := range decide(sagas, in, q) {
		at := slices.IndexFunc(sagas, func(s renewal.Saga) bool { return s.ID == d.SagaID })
		after, err := s.Move(r.Context(), sagas[at], d.Change)
		if err != nil {
			return err
		}
		s.recent.wrote(after)
		answer.Sagas = append(answer.Sagas, s.sagaJSON(after))
	}
	if len(answer.Sagas) == 0 {
		return fmt.Errorf("person %s: %w", in.PersonID, renewal.ErrNotFound)
	}
	answer.Say = greeting(answer.Sagas[0].Saga)
	writeJSON(w, http.StatusOK, answer)
	return nil
}

type inboundAnswer struct {
	ID    string     `json:"id"`
	Say   string     `json:"say"` // what a voice may say about the renewal
	Sagas []sagaJSON `json:"sagas"`
}

func (q inboundRequest) validate(in renewal.Inbound, kind string) error {
	err := in.Validate()
	faults := fieldsOf(err)
	fault := func(bad bool, field, why string) {
		if bad {
			faults = append(faults, renewal.FieldFault{Field: field, Why: why})
		}
	}
	fault(!q.Intent.Known(), "intent", "is not accept, decline, counter or question")
	fault(q.Intent != "" && kind != "message", "intent", "belongs to messages")
	fault(kind == "signal" && q.Signal.To() == "", "signal", "is not signed, prepared, prepare-failed or completed")
	fault(q.Signal != "" && kind != "signal", "signal", "belongs to signals")
	if len(faults) > 0 {
		return &renewal.InvalidError{Faults: faults}
	}
	return err
}

// sagasOf reads the person's rows. The index says which there are, and each row
// says what it is: what is decided has side effects.
func (s *Server) sagasOf(ctx context.Context, personID string) ([]renewal.Saga, error) {
	candidates, err := s.Store.SagasByPerson(ctx, personID)
	if err != nil {
		return nil, err
	}
	candidates = slices.DeleteFunc(candidates, func(s renewal.Saga) bool { return s.Archived })
	slices.SortFunc(candidates, func(a, b renewal.Saga) int { return b.OpenedAt.Compare(a.OpenedAt) })
	var sagas []renewal.Saga
	for _, c := range candidates[:min(len(candidates), sagasOfPersonMax)] {
		saga, err := s.Store.Saga(ctx, c.ID)
		switch {
		case errors.Is(err, renewal.ErrNotFound):
		case err != nil:
			return nil, err
		default:
			sagas = append(sagas, saga)
		}
	}
	return sagas, nil
}

// greeting is a sentence that a voice may say.
func greeting(s renewal.Saga) string {
	name := cmp.Or(s.PersonName, "there")
	first, _, _ := strings.Cut(name, " ")
	switch s.State {
	case renewal.Offered, renewal.Negotiating:
		return fmt.Sprintf("Hello %s, your renewal offer is %s a month and stands until %s.", first, money(s.Offer.RentCents), day(s.Next().Due))
	case renewal.Accepted:
		return fmt.Sprintf("Hello %s, thank you for accepting; the contract is waiting for your signature.", first)
	case renewal.Signed, renewal.Completed:
		return fmt.Sprintf("Hello %s, your lease is renewed.", first)
	case renewal.NoticeReceived:
		return fmt.Sprintf("Hello %s, we have your notice; your lease ends on %s.", first, day(s.LeaseEnd))
	default:
		return fmt.Sprintf("Hello %s, we are preparing your renewal; your lease ends on %s.", first, day(s.LeaseEnd))
	}
}
