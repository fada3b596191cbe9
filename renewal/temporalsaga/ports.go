package temporalsaga

import (
	"context"
	"time"
)

// Leases is the portfolio that the walker walks.
type Leases interface {
	// Ending returns leases whose present term ends between two days, in an
	// order of its own: after is "" or the Next of the page before.
	Ending(ctx context.Context, from, before time.Time, after string, limit int) (LeasePage, error)
	// Extend moves a lease's end. The same id again changes nothing and
	// answers as the first time.
	Extend(ctx context.Context, e Extension) (Extended, error)
	// Quote is the rent to ask for the next term.
	Quote(ctx context.Context, lease Lease) (rentCents int64, err error)
}

// LeasePage is a part of the portfolio. Next is "" after the last page; a page
// may be empty and have a next one.
type LeasePage struct {
	Leases []Lease `json:"leases"`
	Next   string  `json:"next,omitempty"`
}

// Letters delivers letters to tenants, each id once.
type Letters interface {
	Send(ctx context.Context, letter Letter) error
}
