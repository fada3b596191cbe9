package app

import (
	"context"
	"errors"

	"github.com/hotsplit/hotsplit/fanout"
	"github.com/hotsplit/hotsplit/migrate"
)

// What /readyz tells apart. A throttled table is not among them: pages have an
// answer then.
var (
	errStarting    = errors.New("starting: the first list is being loaded")
	errIndexAway   = errors.New("index unavailable: it is missing, or being built")
	errRecordStale = errors.New("record stale: the move's record is out of reach")
	errStopping    = errors.New("stopping")
)

func (a *App) ready(context.Context) error {
	trouble := a.board.trouble()
	switch {
	case a.stopping.Load():
		return errStopping
	case errors.Is(trouble, fanout.ErrIndexUnavailable):
		return errIndexAway
	case errors.Is(trouble, migrate.ErrStale):
		return errRecordStale
	case a.board.loadedAt().IsZero():
		return errStarting
	default:
		return nil
	}
}
