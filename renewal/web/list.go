package web

import (
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/hotsplit/hotsplit/renewal"
)

const (
	pageItems    = 25
	pageItemsMax = 100
	searchMax    = 100 // bytes
	personsMax   = 50
)

// view chooses between renewals that go on and those that have ended.
type view string

const (
	viewActive view = "active"
	viewEnded  view = "ended"
	viewAll    view = "all"
)

// listQuery is what a reader asks of the list.
type listQuery struct {
	Search   string
	State    renewal.State
	Property string
	Persons  []string
	View     view
	Limit    int
	Cursor   string
}

// parseList reads the address. Every field at fault is named at once.
func parseList(values url.Values) (listQuery, error) {
	q := listQuery{
		Search: strings.TrimSpace(values.Get("q")), State: renewal.State(values.Get("state")), Property: values.Get("property"),
		Persons: values["person"], View: view(values.Get("view")), Limit: pageItems, Cursor: values.Get("cursor"),
	}
	if q.View == "" {
		q.View = viewActive
	}
	var faults []renewal.FieldFault
	fault := func(bad bool, field, why string) {
		if bad {
			faults = append(faults, renewal.FieldFault{Field: field, Why: why})
		}
	}
	fault(len(q.Search) > searchMax, "q", "is too long")
	fault(q.State != "" && !q.State.Known(), "state", "is not a state")
	fault(q.Property != "" && renewal.CheckID("property", q.Property) != nil, "property", "is not an id")
	fault(len(q.Persons) > personsMax, "person", "is given too often")
	for _, id := range q.Persons {
		fault(renewal.CheckID("person", id) != nil, "person", "is not an id")
	}
	fault(!slices.Contains([]view{viewActive, viewEnded, viewAll}, q.View), "view", "is not active, ended or all")
	if text := values.Get("limit"); text != "" {
		limit, err := strconv.Atoi(text)
		fault(err != nil || limit < 1 || limit > pageItemsMax, "limit", "is not a number from 1 to 100")
		q.Limit = limit
	}
	if len(faults) > 0 {
		return q, &renewal.InvalidError{Faults: faults}
	}
	return q, nil
}

func (q listQuery) fingerprint() string {
	return fingerprint(append([]string{strings.ToLower(q.Search), string(q.State), q.Property, string(q.View)}, q.Persons...)...)
}

// values spells the query as an address does, without its place in the list.
func (q listQuery) values() url.Values {
	v := url.Values{}
	for name, value := range map[string]string{"q": q.Search, "state": string(q.State), "property": q.Property} {
		if value != "" {
			v.Set(name, value)
		}
	}
	if q.View != viewActive {
		v.Set("view", string(q.View))
	}
	if q.Limit != pageItems {
		v.Set("limit", strconv.Itoa(q.Limit))
	}
	if len(q.Persons) > 0 {
		v["person"] = q.Persons
	}
	return v
}

func (q listQuery) address(cursor string) string {
	v := q.values()
	if cursor != "" {
		v.Set("cursor", cursor)
	}
	if len(v) == 0 {
		return listPath
	}
	return listPath + "?" + v.Encode()
}

func (q listQuery) fits(s renewal.Saga) bool {
	ended := s.State.Ended()
	switch {
	case q.State != "" && s.State != q.State, q.Property != "" && s.PropertyID != q.Property:
		return false
	case q.State == "" && (q.View == viewActive && ended || q.View == viewEnded && !ended):
		return false
	case len(q.Persons) > 0 && !slices.Contains(q.Persons, s.PersonID):
		return false
	default:
		return q.finds(s)
	}
}

// finds looks for every word in person, unit, property and lease.
func (q listQuery) finds(s renewal.Saga) bool {
	if q.Search == "" {
		return true
	}
	hay := strings.ToLower(strings.Join([]string{s.PersonName, s.PersonID, s.Unit, s.PropertyID, s.LeaseID}, " "))
	for word := range strings.FieldsSeq(strings.ToLower(q.Search)) {
		if !strings.Contains(hay, word) {
			return false
		}
	}
	return true
}

// rowView is a line of the list.
type rowView struct {
	Saga    renewal.Saga
	Next    renewal.Action
	Due     string
	Urgency string
	URL     string
}

func (s *Server) row(saga renewal.Saga, now time.Time) rowView {
	next := saga.Next()
	text, urgency := due(next.Due, now)
	return rowView{Saga: saga, Next: next, Due: text, Urgency: urgency, URL: detailURL(saga.LeaseID)}
}

func detailURL(leaseID string) string { return listPath + "/" + url.PathEscape(leaseID) }

type listPage struct {
	page
	Query      listQuery
	Rows       []rowView
	Total      int
	Metrics    renewal.Metrics
	States     []renewal.State
	Properties []string
	First      string // address of the first page, "" on it
	Next       string // address of the next page, "" on the last
	Stale      bool
}

type listJSON struct {
	Items []sagaJSON            `json:"items"`
	Total int                   `json:"total"`
	Next  string                `json:"nextCursor,omitempty"`
	Count map[renewal.State]int `json:"countByState"`
	Stale bool                  `json:"stale"`
}

func (s *Server) list(w http.ResponseWriter, r *http.Request) error {
	q, err := parseList(r.URL.Query())
	if err != nil {
		return err
	}
	sagas, fresh, err := s.board(r.Context())
	if err != nil {
		return err
	}
	rows, total, next, err := q.cut(sagas)
	if err != nil {
		return err
	}
	w.Header().Set("Last-Modified", fresh.LoadedAt.UTC().Format(http.TimeFormat))
	now := s.Now()
	metrics := renewal.Rules{}.AgentMetrics(sagas, now)
	p := listPage{
		page: s.page("All renewals").aged(fresh), Query: q, Total: total, Metrics: metrics, Stale: fresh.Stale,
		States: renewal.States(), Properties: propertiesOf(sagas, q.Property),
	}
	data := listJSON{Items: []sagaJSON{}, Total: total, Next: next, Count: metrics.ByState, Stale: fresh.Stale}
	for _, saga := range rows {
		p.Rows = append(p.Rows, s.row(saga, now))
		data.Items = append(data.Items, s.sagaJSON(saga))
	}
	if q.Cursor != "" {
		p.First = q.address("")
	}
	if next != "" {
		p.Next = q.address(next)
	}
	return s.show(w, r, "list", p, data, fresh.Age)
}

// cut is the page of the list that the query asks for.
func (q listQuery) cut(sagas []renewal.Saga) (rows []renewal.Saga, total int, next string, err error) {
	for _, saga := range sagas {
		if q.fits(saga) {
			rows = append(rows, saga)
		}
	}
	total = len(rows)
	if q.Cursor != "" {
		c, err := parseCursor(q.Cursor, q.fingerprint())
		if err != nil {
			return nil, 0, "", err
		}
		rows = c.after(rows)
	}
	if len(rows) > q.Limit {
		rows = rows[:q.Limit]
		next = cursorAfter(rows[len(rows)-1], q.fingerprint())
	}
	return rows, total, next, nil
}

func propertiesOf(sagas []renewal.Saga, asked string) []string {
	seen := map[string]bool{}
	var names []string
	for _, s := range sagas {
		if s.PropertyID != "" && !seen[s.PropertyID] {
			seen[s.PropertyID] = true
			names = append(names, s.PropertyID)
		}
	}
	if asked != "" && !seen[asked] {
		names = append(names, asked) // the choice stays visible when its last renewal is gone
	}
	slices.Sort(names)
	return names
}
