package web

import (
	"context"
	"errors"
	"log/slog"
	"net/http"
	"time"

	"github.com/hotsplit/hotsplit/renewal"
)

// Board is a snapshot of the sagas that are not archived.
type Board struct {
	Sagas    []renewal.Saga
	LoadedAt time.Time
	Err      error // why it could not be refreshed since; nil when it could
}

// Options wires the pages. Store and Board are required.
type Options struct {
	Store renewal.Store
	// Board is the shared snapshot. It fails only where there never was one.
	Board func(context.Context) (Board, error)
	// Move makes a change that a person or a message asked for; nil lets the
	// store make it. Where workflows run, they make it.
	Move func(context.Context, renewal.Saga, renewal.Change) (renewal.Saga, error)

	Access  Access
	Ops     func(context.Context) Ops   // what the operator sees; nil shows nothing
	Ready   func(context.Context) error // nil is always ready
	Metrics http.Handler                // at /metrics; nil has none

	Automation string           // who moves renewals besides people, for the page; "" is nobody
	Poll       time.Duration    // between two looks of a browser; 0 means 4 s
	StaleAfter time.Duration    // age from which on a board is called old; 0 means 15 s
	Now        func() time.Time // nil means time.Now
	Log        *slog.Logger     // nil means the default
}

func (o Options) withDefaults() Options {
	if o.Poll == 0 {
		o.Poll = 4 * time.Second
	}
	if o.StaleAfter == 0 {
		o.StaleAfter = 15 * time.Second
	}
	if o.Now == nil {
		o.Now = time.Now
	}
	if o.Log == nil {
		o.Log = slog.Default()
	}
	if o.Ready == nil {
		o.Ready = func(context.Context) error { return nil }
	}
	if o.Ops == nil {
		o.Ops = func(context.Context) Ops { return Ops{} }
	}
	if o.Move == nil {
		o.Move = func(ctx context.Context, s renewal.Saga, c renewal.Change) (renewal.Saga, error) {
			return o.Store.Transition(ctx, s.ID, c)
		}
	}
	return o
}

func (o Options) validate() error {
	if o.Store == nil || o.Board == nil {
		return errors.New("web: Store and Board are required")
	}
	return nil
}
