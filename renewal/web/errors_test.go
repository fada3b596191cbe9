package web

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/hotsplit/hotsplit/renewal"
)

// TestEveryErrorHasItsAnswer walks the errors that handlers return through the
// one table.
func TestEveryErrorHasItsAnswer(t *testing.T) {
	for err, want := range map[error]int{
		renewal.ErrNotFound: 404, renewal.ErrConflict: 409, renewal.ErrIllegalMove: 409, renewal.ErrInvalid: 400,
		renewal.ErrUnavailable: 503, errNoRoute: 404, errCursor: 400, errMediaType: 415, errTooLarge: 413,
		errCrossOrigin: 403, errUnknownWriter: 401, errForbidden: 403, context.DeadlineExceeded: 503, context.Canceled: 503,
		errBug: 500, errors.New("of somebody else"): 500,
	} {
		f := faultOf(fmt.Errorf("handle request: %w", err))
		if f.status != want {
			t.Errorf("%v is answered %d, want %d", err, f.status, want)
		}
		if (f.status == 503) != (f.retryAfter > 0) {
			t.Errorf("%v: status %d with Retry-After %d", err, f.status, f.retryAfter)
		}
	}
	for _, typed := range []error{&renewal.MoveError{}, &renewal.ConflictError{}, &renewal.InvalidError{}} {
		if faultOf(typed).status >= 500 {
			t.Errorf("%T is answered %d", typed, faultOf(typed).status)
		}
	}
}

// TestUnknownErrorSaysNothing: what is inside goes to the log alone, and a bug
// is one failed request.
func TestUnknownErrorSaysNothing(t *testing.T) {
	boards := map[string]func(context.Context) (Board, error){
		"error": func(context.Context) (Board, error) { return Board{}, errors.New("password=hunter2") },
		"panic": func(context.Context) (Board, error) { panic("password=hunter2") },
	}
	for name, board := range boards {
		for _, accept := range []string{"text/html", "application/json"} {
			s, err := New(Options{Store: nowhere{}, Board: board})
			if err != nil {
				t.Fatal(err)
			}
			r := httptest.NewRequestWithContext(t.Context(), http.MethodGet, listPath, nil)
			r.Header.Set("Accept", accept)
			w := httptest.NewRecorder()
			s.ServeHTTP(w, r)
			if w.Code != 500 || strings.Contains(w.Body.String(), "hunter2") {
				t.Errorf("%s as %s: %d %s", name, accept, w.Code, w.Body)
			}
		}
	}
}

// nowhere is a store that is never asked.
type nowhere struct{ renewal.Store }

func TestOwnMoveShowsBeforeTheIndexDoes(t *testing.T) {
	var r recent
	old := []renewal.Saga{{ID: "a", Version: 3, State: renewal.Offered}, {ID: "b", Version: 1}}
	r.wrote(renewal.Saga{ID: "a", Version: 4, State: renewal.Accepted})
	if got := r.over(old); got[0].State != renewal.Accepted || got[1].ID != "b" {
		t.Errorf("the list shows %+v", got)
	}
	newer := []renewal.Saga{{ID: "a", Version: 5, State: renewal.Signed}}
	if got := r.over(newer); got[0].State != renewal.Signed || len(r.sagas) != 0 {
		t.Errorf("a newer row shows %+v, still remembered %v", got, r.sagas)
	}
}

func TestCursorStandsWhereItsRowStood(t *testing.T) {
	at := time.Date(2026, 12, 1, 0, 0, 0, 0, time.UTC)
	row := func(id string, days int) renewal.Saga {
		return renewal.Saga{ID: id, State: renewal.Negotiating, StateSince: at.AddDate(0, 0, days)}
	}
	sagas := []renewal.Saga{row("a", 1), row("b", 2), row("c", 2), row("d", 3)}
	c, err := parseCursor(cursorAfter(sagas[1], "q"), "q")
	if err != nil {
		t.Fatal(err)
	}
	gone := []renewal.Saga{sagas[0], row("bb", 2), sagas[2], sagas[3]} // b went and bb came
	if got := c.after(gone); len(got) != 3 || got[0].ID != "bb" {
		t.Errorf("after b come %+v", got)
	}
	if _, err := parseCursor(cursorAfter(sagas[1], "q"), "other"); !errors.Is(err, errCursor) {
		t.Errorf("a cursor of another list: %v", err)
	}
}

func TestMoneyAndDays(t *testing.T) {
	for cents, want := range map[int64]string{0: "–", 99: "$0.99", 123450: "$1,234.50", 100000000: "$1,000,000"} {
		if got := money(cents); got != want {
			t.Errorf("%d cents read %q, want %q", cents, got, want)
		}
	}
	now := time.Date(2026, 12, 1, 23, 0, 0, 0, time.UTC)
	for days, want := range map[int]string{-3: "3 days overdue", -1: "1 day overdue", 0: "today", 1: "tomorrow", 9: "in 9 days"} {
		if got, _ := due(now.AddDate(0, 0, days), now); got != want {
			t.Errorf("%d days read %q, want %q", days, got, want)
		}
	}
	for text, want := range map[string]int64{"": 0, "1,234.50": 123450, "$900": 90000} {
		if got, err := parseRent(text); err != nil || got != want {
			t.Errorf("%q is %d, %v; want %d", text, got, err, want)
		}
	}
	for _, text := range []string{"-1", "many", "NaN", "1e99"} {
		if _, err := parseRent(text); !errors.Is(err, renewal.ErrInvalid) {
			t.Errorf("%q is a rent: %v", text, err)
		}
	}
}
