package web

import (
	"encoding/base64"
	"encoding/json"
	"fmt"
	"hash/fnv"
	"slices"
	"time"

	"github.com/hotsplit/hotsplit/renewal"
)

// cursor is the place in the list after which a page begins. It holds the order
// of its last row rather than a number, so rows that come and go before it
// neither repeat nor hide others.
type cursor struct {
	Format int       `json:"f"`
	Query  string    `json:"q"` // fingerprint of the list that it belongs to
	Ended  bool      `json:"e,omitempty"`
	Due    time.Time `json:"d,omitzero"`
	ID     string    `json:"i"`
}

const cursorFormat = 1

func cursorAfter(last renewal.Saga, fingerprint string) string {
	c := cursor{Format: cursorFormat, Query: fingerprint, Ended: last.State.Ended(), Due: last.Next().Due, ID: last.ID}
	text, err := json.Marshal(c)
	if err != nil {
		panic(err) // plain fields
	}
	return base64.RawURLEncoding.EncodeToString(text)
}

func parseCursor(text, fingerprint string) (cursor, error) {
	raw, err := base64.RawURLEncoding.DecodeString(text)
	if err != nil {
		return cursor{}, fmt.Errorf("%w: %w", errCursor, err)
	}
	var c cursor
	if err := json.Unmarshal(raw, &c); err != nil {
		return cursor{}, fmt.Errorf("%w: %w", errCursor, err)
	}
	if c.Format != cursorFormat || c.Query != fingerprint {
		return cursor{}, fmt.Errorf("%w: format %d of %q", errCursor, c.Format, c.Query)
	}
	return c, nil
}

// after is the part of an ordered list behind the cursor.
func (c cursor) after(sagas []renewal.Saga) []renewal.Saga {
	at := slices.IndexFunc(sagas, func(s renewal.Saga) bool { return c.before(s) })
	if at < 0 {
		return nil
	}
	return sagas[at:]
}

// before compares as renewal.CompareDue does, without the row itself.
func (c cursor) before(s renewal.Saga) bool {
	due := s.Next().Due
	switch {
	case c.Ended != s.State.Ended():
		return s.State.Ended()
	case c.Due.IsZero() != due.IsZero():
		return due.IsZero()
	case !c.Due.Equal(due):
		return c.Due.Before(due)
	default:
		return c.ID < s.ID
	}
}

func fingerprint(parts ...string) string {
	digest := fnv.New64a()
	for _, part := range parts {
		fmt.Fprintf(digest, "%d:%s", len(part), part)
	}
	return fmt.Sprintf("%x", digest.Sum64())
}
