package temporalsaga

import (
	"context"
	"errors"

	"github.com/hotsplit/hotsplit/renewal"
)

// Move makes one conditional write on the saga. When another hand was first, the
// workflow's own move gives way and reports what it found, while somebody who
// asked is told that the renewal stands elsewhere.
func (a *Activities) Move(ctx context.Context, m Move) (Moved, error) {
	saga, err := a.Store.Transition(ctx, m.SagaID, change(m))
	if err == nil {
		return Moved{Saga: SnapshotOf(saga), Applied: true}, nil
	}
	illegal := errors.Is(err, renewal.ErrIllegalMove)
	switch {
	case m.Asked && errors.Is(err, renewal.ErrInvalid):
		return Moved{}, refused(err)
	case m.Asked || !illegal && !errors.Is(err, renewal.ErrConflict):
		return Moved{}, answer(err)
	}
	saga, loadErr := a.Store.Saga(ctx, m.SagaID)
	if loadErr != nil {
		return Moved{}, answer(loadErr)
	}
	if illegal && saga.State == m.From {
		return Moved{}, answer(err)
	}
	return Moved{Saga: SnapshotOf(saga)}, nil
}

// Archive takes the saga off the list.
func (a *Activities) Archive(ctx context.Context, sagaID string) (Snapshot, error) {
	saga, err := a.Store.Archive(ctx, sagaID)
	return SnapshotOf(saga), answer(err)
}

// retryable: the store is busy or away, and will be back.
func retryable(err error) bool {
	return errors.Is(err, renewal.ErrUnavailable) || errors.Is(err, ErrUnavailable)
}

func newSaga(in OpenInput) renewal.Saga {
	return renewal.Saga{
		ID: in.SagaID, PersonID: in.Lease.PersonID, PersonName: in.Lease.PersonName, LeaseID: in.Lease.ID,
		PropertyID: in.Lease.PropertyID, Unit: in.Lease.Unit, LeaseEnd: in.Lease.Ends,
	}
}

func change(m Move) renewal.Change {
	c := renewal.Change{Op: m.Op, From: m.From, To: m.To, Version: m.Version, By: m.By, Kind: m.Kind, Text: m.Text}
	if m.RentCents != 0 || !m.OfferExpires.IsZero() {
		c.Offer = &renewal.Offer{RentCents: m.RentCents, Expires: m.OfferExpires}
	}
	return c
}

// SnapshotOf is what a workflow knows of a saga.
func SnapshotOf(s renewal.Saga) Snapshot {
	return Snapshot{
		ID: s.ID, State: s.State, Version: s.Version, Archived: s.Archived, RentCents: s.Offer.RentCents,
		OfferExpires: s.Offer.Expires, LeaseEnds: s.LeaseEnd, StateSince: s.StateSince, UpdatedAt: s.UpdatedAt,
	}
}
