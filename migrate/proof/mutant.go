package proof

import (
	"context"
	"net/http"

	"github.com/hotsplit/hotsplit/fanout"
	"github.com/hotsplit/hotsplit/migrate"
)

// Mutant is a fault planted into a world, to see that the world would find it.
// "" plants none.
type Mutant string

// source is what a member's reader goes by.
func (m Mutant) source(w *migrate.Watcher) fanout.Source {
	switch m {
	case mutantNoMoving:
		return blindToMoving{w}
	case mutantNoRecheck:
		return neverLooksAgain{w}
	case mutantStaleView:
		return &keepsFirstView{Watcher: w}
	case mutantReadsOld:
		return readsOneLayout{w, 0}
	case mutantReadsNew:
		return readsOneLayout{w, -1}
	default:
		return w
	}
}

type blindToMoving struct{ *migrate.Watcher }

func (b blindToMoving) View(ctx context.Context) (fanout.View, error) {
	v, err := b.Watcher.View(ctx)
	v.Moving = nil
	return v, err
}

type neverLooksAgain struct{ *migrate.Watcher }

func (neverLooksAgain) Holds(context.Context, fanout.View) (bool, error) { return true, nil }

type keepsFirstView struct {
	*migrate.Watcher
	view *fanout.View
}

func (k *keepsFirstView) View(ctx context.Context) (fanout.View, error) {
	if k.view != nil {
		return *k.view, nil
	}
	v, err := k.Watcher.View(ctx)
	if err == nil {
		k.view = &v
	}
	return v, err
}

func (*keepsFirstView) Holds(context.Context, fanout.View) (bool, error) { return true, nil }

type readsOneLayout struct {
	*migrate.Watcher
	at int
}

func (r readsOneLayout) View(ctx context.Context) (fanout.View, error) {
	v, err := r.Watcher.View(ctx)
	if err == nil {
		at := r.at
		if at < 0 {
			at = len(v.Routing.Read) - 1
		}
		v.Routing.Read = v.Routing.Read[at : at+1]
	}
	return v, err
}

// transport is what a process's requests pass through.
func (m Mutant) transport(process string, next http.RoundTripper) http.RoundTripper {
	change, ok := wireMutants[m]
	if !ok || !change.strikes(process) {
		return next
	}
	return &wireMutant{next: next, change: change}
}
