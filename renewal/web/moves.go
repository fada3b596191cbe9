package web

import (
	"cmp"
	"errors"
	"fmt"
	"math"
	"net/http"
	"strconv"
	"strings"

	"github.com/hotsplit/hotsplit/renewal"
)

// moveRequest is a move as a program or the page's form asks for it.
type moveRequest struct {
	Op        string        `json:"op"`
	SagaID    string        `json:"sagaId"`
	From      renewal.State `json:"from"`
	To        renewal.State `json:"to"`
	Version   int64         `json:"version"`
	Text      string        `json:"text"`
	RentCents int64         `json:"rentCents"`
}

func (m moveRequest) change(by string) (renewal.Change, error) {
	if m.Version <= 0 {
		return renewal.Change{}, invalid("version", "is missing")
	}
	c := renewal.Change{Op: m.Op, From: m.From, To: m.To, Version: m.Version, By: by, Kind: "decision", Text: strings.TrimSpace(m.Text)}
	if m.RentCents != 0 {
		c.Offer = &renewal.Offer{RentCents: m.RentCents}
	}
	if c.Op == "" {
		return renewal.Change{}, invalid("op", "is missing")
	}
	return c, nil
}

// move is a button that somebody pressed. A form that finds the renewal changed
// shows it as it is now, with what was typed kept.
func (s *Server) move(w http.ResponseWriter, r *http.Request) error {
	m, err := readMove(r)
	if err != nil {
		return err
	}
	c, err := m.change(writer(r))
	if err != nil {
		return err
	}
	saga, _, err := s.find(r.Context(), r.PathValue("leaseId"))
	if err != nil {
		return err
	}
	if m.SagaID != "" && m.SagaID != saga.ID {
		err = &renewal.ConflictError{Saga: saga, Why: "the lease has a newer renewal"}
	} else {
		var after renewal.Saga
		if after, err = s.Move(r.Context(), saga, c); err == nil {
			s.recent.wrote(after)
			return s.moved(w, r, after)
		}
	}
	if !wantsPage(r) {
		return err
	}
	return s.notMoved(w, r, err, m.Text)
}

func (s *Server) moved(w http.ResponseWriter, r *http.Request, after renewal.Saga) error {
	w.Header().Set("Cache-Control", "no-store")
	if wantsPage(r) {
		http.Redirect(w, r, detailURL(after.LeaseID), http.StatusSeeOther)
		return nil
	}
	writeJSON(w, http.StatusOK, s.sagaJSON(after))
	return nil
}

// notMoved shows the renewal as it stands, why the move was not made, and what
// the writer had typed.
func (s *Server) notMoved(w http.ResponseWriter, r *http.Request, cause error, note string) error {
	f := faultOf(cause)
	if f.status != http.StatusConflict && f.status != http.StatusServiceUnavailable && f.status != http.StatusBadRequest {
		return cause
	}
	saga, fresh, err := s.find(r.Context(), r.PathValue("leaseId"))
	if err != nil {
		return cause
	}
	p := s.detailPage(r.Context(), saga, fresh)
	p.Note = note
	switch f.status {
	case http.StatusConflict:
		p.Conflict = lastNews(saga)
	default:
		p.Failure = f.text + " " + words(fieldsOf(cause))
	}
	s.note(r, f, cause)
	w.Header().Set("Cache-Control", "no-store")
	if f.retryAfter > 0 {
		w.Header().Set("Retry-After", strconv.Itoa(f.retryAfter))
	}
	s.pages.write(w, f.status, "detail", p)
	return nil
}

func lastNews(s renewal.Saga) string {
	if len(s.Timeline) == 0 {
		return "It is " + strings.ToLower(label(s.State)) + " now."
	}
	e := s.Timeline[len(s.Timeline)-1]
	by := e.By
	if by == "" {
		by = "Somebody"
	}
	if e.To == "" {
		return fmt.Sprintf("%s added a note.", by)
	}
	return fmt.Sprintf("%s moved it to “%s”.", by, label(e.To))
}

func words(faults []renewal.FieldFault) string {
	var all []string
	for _, f := range faults {
		all = append(all, f.Field+" "+f.Why)
	}
	return strings.Join(all, ", ")
}

func readMove(r *http.Request) (moveRequest, error) {
	kind, _, _ := strings.Cut(r.Header.Get("Content-Type"), ";")
	switch strings.TrimSpace(kind) {
	case "application/json":
		var m moveRequest
		err := readJSON(r, &m)
		return m, err
	case "application/x-www-form-urlencoded":
		return readMoveForm(r)
	default:
		return moveRequest{}, errMediaType
	}
}

func readMoveForm(r *http.Request) (moveRequest, error) {
	if err := r.ParseForm(); err != nil {
		if _, ok := errors.AsType[*http.MaxBytesError](err); ok {
			return moveRequest{}, errTooLarge
		}
		return moveRequest{}, invalid("form", "cannot be read")
	}
	form := r.PostForm
	m := moveRequest{
		Op: form.Get("op"), SagaID: form.Get("saga"), From: renewal.State(form.Get("from")), To: renewal.State(form.Get("to")), Text: form.Get("text"),
	}
	var err error
	if m.Version, err = strconv.ParseInt(form.Get("version"), 10, 64); err != nil {
		return m, invalid("version", "is not a number")
	}
	if m.Op == "" {
		// Pressing twice, or again after no answer came, is the same operation.
		m.Op = fmt.Sprintf("pm.v%d.%s", m.Version, cmp.Or(string(m.To), "note"))
	}
	m.RentCents, err = parseRent(form.Get("rent"))
	return m, err
}

// parseRent reads an amount as people type it: 1,234.50 or $1234.
func parseRent(text string) (int64, error) {
	text = strings.NewReplacer(",", "", "$", "", " ", "").Replace(text)
	if text == "" {
		return 0, nil
	}
	amount, err := strconv.ParseFloat(text, 64)
	if err != nil || math.IsNaN(amount) || amount < 0 || amount > rentMax {
		return 0, invalid("rent", "is not an amount like 1234.50")
	}
	return int64(math.Round(amount * 100)), nil
}

const rentMax = 1_000_000 // a month
