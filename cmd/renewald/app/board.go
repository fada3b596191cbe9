package app

import (
	"context"
	"sync/atomic"
	"time"

	"github.com/hotsplit/hotsplit/fanout"
	"github.com/hotsplit/hotsplit/renewal"
	"github.com/hotsplit/hotsplit/renewal/web"
)

// board is the snapshot of open sagas that all browsers and all sweeps share.
// While somebody looks it is loaded at a steady pace, whoever and however many
// they are; while nobody does it costs nothing.
type board struct {
	cache  *fanout.Cache[struct{}, []renewal.Saga]
	sweep  *fanout.Cache[struct{}, web.Board]
	asked  atomic.Int64 // when somebody last looked, Unix nanoseconds
	hits   atomic.Int64
	loads  atomic.Int64
	loaded atomic.Int64 // when the last good load ended, Unix nanoseconds
	rows   atomic.Int64
	fault  atomic.Pointer[error] // of the last load; nil pointer or nil error when it worked
}

const (
	watchedFor     = 12 * time.Second       // after the last look; browsers look every 4 s
	keepEvery      = 200 * time.Millisecond // how often a watched board's age is looked at
	boardKept      = 24 * time.Hour         // the last good answer is better than none
	sweepSharedFor = time.Minute
)

func newBoard(store renewal.Store, fresh time.Duration) *board {
	b := &board{}
	b.cache = fanout.NewCache(func(ctx context.Context, _ struct{}) ([]renewal.Saga, error) {
		b.loads.Add(1)
		sagas, err := store.OpenSagas(ctx)
		b.fault.Store(&err)
		if err == nil {
			b.loaded.Store(time.Now().UnixNano())
			b.rows.Store(int64(len(sagas)))
		}
		return sagas, err
	}, fanout.CacheOptions[[]renewal.Saga]{
		Fresh: fresh, Stale: boardKept, LoadTimeout: 20 * time.Second,
		ETag: func([]renewal.Saga) (string, error) { return "", nil }, // each page has its own
	})
	b.sweep = fanout.NewCache(func(ctx context.Context, _ struct{}) (web.Board, error) {
		return b.recent(ctx, store)
	}, fanout.CacheOptions[web.Board]{
		Fresh: sweepSharedFor, Stale: time.Nanosecond, LoadTimeout: time.Minute,
		ETag: func(web.Board) (string, error) { return "", nil },
	})
	return b
}

// look is the board for a page.
func (b *board) look(ctx context.Context) (web.Board, error) {
	b.asked.Store(time.Now().UnixNano())
	b.hits.Add(1)
	return b.now(ctx)
}

func (b *board) now(ctx context.Context) (web.Board, error) {
	kept, err := b.cache.Get(ctx, struct{}{})
	if err != nil {
		return web.Board{}, err
	}
	return web.Board{Sagas: kept.Value, LoadedAt: kept.LoadedAt, Err: b.trouble()}, nil
}

// trouble is why the last load failed; nil when it did not.
func (b *board) trouble() error {
	if err := b.fault.Load(); err != nil {
		return *err
	}
	return nil
}

// snapshot is the one of this minute that the sweeps share.
func (b *board) snapshot(ctx context.Context) (web.Board, error) {
	kept, err := b.sweep.Get(ctx, struct{}{})
	return kept.Value, err
}

// recent takes the pages' board where it is young enough, and else reads.
func (b *board) recent(ctx context.Context, store renewal.Store) (web.Board, error) {
	if time.Now().UnixNano()-b.asked.Load() < int64(watchedFor) {
		if have, err := b.now(ctx); err == nil && time.Since(have.LoadedAt) < sweepSharedFor {
			return have, nil
		}
	}
	sagas, err := store.OpenSagas(ctx)
	return web.Board{Sagas: sagas, LoadedAt: time.Now()}, err
}

// keep loads a watched board whenever it is no longer fresh, until ctx ends.
func (b *board) keep(ctx context.Context) {
	tick := time.NewTicker(keepEvery)
	defer tick.Stop()
	for {
		if time.Now().UnixNano()-b.asked.Load() < int64(watchedFor) {
			_, _ = b.now(ctx) // what went wrong is in fault
		}
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
		}
	}
}

func (b *board) close() {
	b.sweep.Close()
	b.cache.Close()
}

// loadedAt is when the board that is kept was loaded; zero without one.
func (b *board) loadedAt() time.Time {
	at := b.loaded.Load()
	if at == 0 {
		return time.Time{}
	}
	return time.Unix(0, at)
}
