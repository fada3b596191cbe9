package app

import (
	"context"
	"errors"

	"github.com/hotsplit/hotsplit/cmd/renewald/automation"
	"github.com/hotsplit/hotsplit/renewal"
	"github.com/hotsplit/hotsplit/renewal/temporalsaga"
)

// move makes a change that a person, a message or a sweep asked for. Where a
// workflow runs for the renewal it makes the move, so that its timers and letters
// follow; a note, and a renewal without a workflow, is the store's.
func (a *App) move(ctx context.Context, store renewal.Store, s renewal.Saga, c renewal.Change) (renewal.Saga, error) {
	if a.automation == nil || c.To == "" || c.OrNote && !s.State.MayMove(c.To) || s.Made(c.Op) {
		return store.Transition(ctx, s.ID, c)
	}
	request := temporalsaga.Request{ID: c.Op, By: c.By, Kind: c.Kind, To: c.To, From: c.From, Text: c.Text}
	if c.Offer != nil {
		request.RentCents = c.Offer.RentCents
	}
	if c.Version != 0 && c.Version != s.Version {
		return store.Transition(ctx, s.ID, c) // which says what stands there now
	}
	_, err := a.automation.Renewals().Ask(ctx, automation.LeaseOf(s).WorkflowID(), request)
	switch {
	case err == nil:
		return store.Saga(ctx, s.ID)
	case errors.Is(err, temporalsaga.ErrNotRunning):
		return store.Transition(ctx, s.ID, c)
	default:
		return renewal.Saga{}, a.asked(ctx, store, s, err)
	}
}

// asked turns a workflow's answer into the store's words.
func (a *App) asked(ctx context.Context, store renewal.Store, s renewal.Saga, err error) error {
	switch {
	case errors.Is(err, temporalsaga.ErrRefused), errors.Is(err, temporalsaga.ErrOtherBody):
		now, readErr := store.Saga(ctx, s.ID)
		if readErr != nil {
			return readErr
		}
		return &renewal.ConflictError{Saga: now, Why: err.Error()}
	case errors.Is(err, temporalsaga.ErrInput):
		return errors.Join(renewal.ErrInvalid, err)
	default:
		return errors.Join(renewal.ErrUnavailable, err)
	}
}
