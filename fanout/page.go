package fanout

import (
	"context"
	"errors"
	"fmt"
)

// Bounds of one page.
const (
	limitDefault = 25
	limitMax     = 1000
	roundsMax    = 12 // of requests, each to every shard that is behind
)

// PageRequest asks for one page. The zero request is the first 25 rows of all.
type PageRequest struct {
	Query
	Owner  string // where set, the page is of this owner's rows
	Limit  int    // rows; 0 means 25, at most 1000
	Cursor string // Page.Next of the page before; "" is page one
}

// Page is a page of rows in the global order.
type Page struct {
	Items  []Item
	Next   string        // the cursor that continues; "" at the end
	Failed []*ShardError // shards that are missing in a partial page
}

// Partial says that the page lacks the rows of at least one shard. Next comes
// back to them.
func (p Page) Partial() bool { return len(p.Failed) > 0 }

// Page reads exactly Limit rows, or what is left. It asks each shard for about
// its share and again only where the page may need more of it. Any limit may
// follow any other. A page has fewer rows than its limit, and a cursor, where a
// filter hides so many that a bounded number of requests does not find enough.
//
// A cursor continues across every phase of a move. See ErrCursor and
// ErrCursorExpired for the ones that do not.
func (r *Reader) Page(ctx context.Context, req PageRequest) (Page, error) {
	if req.Limit == 0 {
		req.Limit = limitDefault
	}
	if req.Limit < 0 || req.Limit > limitMax {
		return Page{}, fmt.Errorf("%w: limit %d, want 1 to %d", ErrQuery, req.Limit, limitMax)
	}
	var s scope = everything{}
	if req.Owner != "" {
		s = oneOwner(req.Owner)
	}
	if err := req.validate(r.table, s); err != nil {
		return Page{}, err
	}
	m, err := r.openMark(req, s)
	if err != nil {
		return Page{}, err
	}
	for range redoneMax {
		p, err := r.page(ctx, req, s, m)
		if !errors.Is(err, errChanged) {
			return p, err
		}
	}
	return Page{}, fmt.Errorf("page of table %s: %w", r.table.Name, ErrUnsettled)
}

// openMark reads the request's cursor, or makes the mark of page one.
func (r *Reader) openMark(req PageRequest, s scope) (mark, error) {
	query, err := req.fingerprint(r.table, s)
	if err != nil {
		return mark{}, err
	}
	if req.Cursor == "" {
		return mark{query: query}, nil
	}
	m, err := decodeMark(req.Cursor)
	if err != nil {
		return mark{}, err
	}
	if m.query != query {
		return mark{}, fmt.Errorf("%w: minted by another query", ErrCursor)
	}
	return m, nil
}

// page reads one page under one view.
func (r *Reader) page(ctx context.Context, req PageRequest, s scope, m mark) (Page, error) {
	c, err := r.begin(ctx, req.Query)
	if err != nil {
		return Page{}, err
	}
	sheet, err := c.openSheet(s, req.Limit, m, req.Cursor != "")
	if err != nil {
		return Page{}, err
	}
	if err := sheet.fill(ctx); err != nil {
		return Page{}, err
	}
	if err := c.holds(ctx); err != nil {
		return Page{}, err
	}
	return sheet.page(m)
}

// settled says that no row changes its key under the view, so that a shard that
// was read to its end stays read to its end.
func (v View) settled() bool {
	return !v.Routing.Moving && !v.InOrder && len(v.Moving) == 0
}

// layoutMark is the fingerprint of the layouts that states are valid under; it is
// zero where there are none.
func (v View) layoutMark() [8]byte {
	if !v.settled() {
		return [8]byte{}
	}
	return digest(v.Routing.Read)
}

// baseMark is the fingerprint of what the entity is called on the index.
func (v View) baseMark() [8]byte { return digest(v.Routing.Write.Base) }

// admit checks a mark against the view that is to continue it.
func (v View) admit(m mark) error {
	sameGeneration := m.generation == v.Routing.Generation
	if m.base != v.baseMark() {
		if sameGeneration {
			return fmt.Errorf("%w: minted for another entity", ErrCursor)
		}
		return ErrCursorExpired
	}
	if m.partial && !v.honours(m) {
		return ErrCursorExpired
	}
	return nil
}

// honours says that the mark's states still tell the truth.
func (v View) honours(m mark) bool {
	return v.settled() && m.generation == v.Routing.Generation && m.layout == v.layoutMark()
}
