package web

import (
	"context"
	"errors"
	"net/http"
	"strconv"

	"github.com/hotsplit/hotsplit/renewal"
)

// Errors of requests. Each has a line in the table below.
var (
	errNoRoute       = errors.New("web: no such page")
	errCrossOrigin   = errors.New("web: another site made the browser send this")
	errUnknownWriter = errors.New("web: who writes is not known")
	errForbidden     = errors.New("web: the role is missing")
	errMediaType     = errors.New("web: the body has another media type")
	errTooLarge      = errors.New("web: the body is too large")
	errCursor        = errors.New("web: the cursor is not of this list")
	errBug           = errors.New("web: bug")
)

// fault is how an error is shown. Text is a fixed sentence: what is inside an
// error goes to the log.
type fault struct {
	is         error
	status     int
	code       string
	title      string
	text       string
	retryAfter int // seconds; 0 sends none
}

// faults is the one table from errors to answers. The first line that fits wins.
var faults = []fault{
	{renewal.ErrNotFound, 404, "not-found", "No renewal here", "This lease has no renewal, or it was archived and removed.", 0},
	{errNoRoute, 404, "not-found", "No such page", "The address leads nowhere.", 0},
	{renewal.ErrConflict, 409, "conflict", "Somebody was first", "The renewal has changed since you looked. Look again and decide anew.", 0},
	{renewal.ErrIllegalMove, 409, "illegal-move", "Not possible now", "The renewal's state does not allow this move.", 0},
	{errCursor, 400, "cursor", "This page of the list is gone", "The link belongs to another list. Start from the first page.", 0},
	{renewal.ErrInvalid, 400, "invalid", "Please correct the form", "Some fields cannot be used.", 0},
	{errMediaType, 415, "media-type", "Unexpected format", "Send application/json, or the page's own form.", 0},
	{errTooLarge, 413, "too-large", "Too long", "The request is larger than 64 KB.", 0},
	{errCrossOrigin, 403, "cross-origin", "Refused", "The request came from another site. Open the page here and try again.", 0},
	{errUnknownWriter, 401, "unauthenticated", "Who are you?", "Changes need a role. Sign in through your proxy, or give the token.", 0},
	{errForbidden, 403, "forbidden", "Not allowed", "Your role does not allow this change.", 0},
	{renewal.ErrUnavailable, 503, "busy", "One moment, please", "The database is busy. Nothing was lost; the page tries again by itself.", 2},
	{context.DeadlineExceeded, 503, "busy", "One moment, please", "The database did not answer in time. Nothing was lost; the page tries again by itself.", 2},
	{context.Canceled, 503, "busy", "One moment, please", "The request was given up.", 1},
}

var unknownFault = fault{
	errBug, 500, "internal", "Something is wrong here", "The error was logged. Please tell the people who run this.", 0,
}

func faultOf(err error) fault {
	for _, f := range faults {
		if errors.Is(err, f.is) {
			return f
		}
	}
	return unknownFault
}

// problem is an error in JSON.
type problem struct {
	Code    string               `json:"code"`
	Message string               `json:"message"`
	Fields  []renewal.FieldFault `json:"fields,omitempty"`
	Saga    *sagaJSON            `json:"saga,omitempty"` // as it stands, for a conflict
}

func (s *Server) fail(w http.ResponseWriter, r *http.Request, err error) {
	f := faultOf(err)
	s.note(r, f, err)
	if f.retryAfter > 0 {
		w.Header().Set("Retry-After", strconv.Itoa(f.retryAfter))
	}
	w.Header().Set("Cache-Control", "no-store")
	p := problem{Code: f.code, Message: f.text, Fields: fieldsOf(err)}
	if conflict, ok := errors.AsType[*renewal.ConflictError](err); ok {
		saga := s.sagaJSON(conflict.Saga)
		p.Saga = &saga
	}
	if wantsPage(r) {
		s.pages.write(w, f.status, "error", errorPage{page: s.page(f.title), Fault: f, Problem: p})
		return
	}
	writeJSON(w, f.status, map[string]problem{"error": p})
}

// note logs what somebody can do something about: our faults, and the database's.
func (s *Server) note(r *http.Request, f fault, err error) {
	switch {
	case f.status == 500:
		s.Log.ErrorContext(r.Context(), "request failed", "path", r.URL.Path, "error", err)
	case f.status == 503 && r.Context().Err() == nil:
		s.Log.WarnContext(r.Context(), "request answered busy", "path", r.URL.Path, "error", err)
	}
}

func fieldsOf(err error) []renewal.FieldFault {
	if invalid, ok := errors.AsType[*renewal.InvalidError](err); ok {
		return invalid.Faults
	}
	return nil
}

type errorPage struct {
	page
	Fault   fault
	Problem problem
}

// Status and RetryAfter are for the template.
func (p errorPage) Status() int     { return p.Fault.status }
func (p errorPage) RetryAfter() int { return p.Fault.retryAfter }

func invalid(field, why string) error {
	return &renewal.InvalidError{Faults: []renewal.FieldFault{{Field: field, Why: why}}}
}
