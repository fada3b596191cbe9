package temporalsaga

import (
	"context"
	"errors"
	"fmt"

	"go.temporal.io/sdk/activity"
	"go.temporal.io/sdk/temporal"

	"github.com/hotsplit/hotsplit/renewal"
)

// Names of the activities. They stand in recorded histories: never rename one.
const (
	activityOpen    = "OpenSaga"
	activityLoad    = "LoadSaga"
	activityMove    = "MoveSaga"
	activityArchive = "ArchiveSaga"
	activityQuote   = "QuoteRent"
	activitySend    = "SendLetter"
	activityExtend  = "ExtendLease"
	activityFind    = "FindLeases"
	activityStart   = "StartRenewals"
)

// Activities do what a renewal wants done, each at least once and with the
// effect of once. They alone know the store and thereby its layout.
type Activities struct {
	Store   renewal.Store
	Leases  Leases
	Letters Letters
	Client  *Client // starts the renewals that the walker finds
}

// Open opens the lease's saga, or finds the one that is there.
func (a *Activities) Open(ctx context.Context, in OpenInput) (Snapshot, error) {
	if err := in.Lease.Validate(); err != nil {
		return Snapshot{}, answer(err)
	}
	saga, err := a.Store.Saga(ctx, in.SagaID) // most runs find it: a retry, a later run, an adopted saga
	if errors.Is(err, renewal.ErrNotFound) {
		saga, err = a.Store.Open(ctx, newSaga(in))
	}
	return SnapshotOf(saga), answer(err)
}

// Load reads the saga.
func (a *Activities) Load(ctx context.Context, sagaID string) (Snapshot, error) {
	saga, err := a.Store.Saga(ctx, sagaID)
	return SnapshotOf(saga), answer(err)
}

// Quote works out the rent of the next term. A throttled store is waited for; any
// other trouble is tried a few times and then reported as a result, so that it
// is written into the saga and a person sees it.
func (a *Activities) Quote(ctx context.Context, in QuoteInput) (Quoted, error) {
	rent, err := a.Leases.Quote(ctx, in.Lease)
	switch {
	case err == nil:
		return Quoted{RentCents: rent}, nil
	case errors.Is(err, ErrInput), errors.Is(err, renewal.ErrNotFound):
		return Quoted{Failure: cut(err.Error(), eventTextBytesMax)}, nil
	case retryable(err), int(activity.GetInfo(ctx).Attempt) < in.AttemptsMax:
		return Quoted{}, answer(err)
	default:
		return Quoted{Failure: cut(err.Error(), eventTextBytesMax)}, nil
	}
}

// Send hands a letter over. The heartbeat tells a watcher how far it is; a retry
// does not believe it and hands the same letter over again.
func (a *Activities) Send(ctx context.Context, letter Letter) error {
	activity.RecordHeartbeat(ctx, letter.ID)
	return answer(a.Letters.Send(ctx, letter))
}

// Extend moves the lease's end.
func (a *Activities) Extend(ctx context.Context, e Extension) (Extended, error) {
	extended, err := a.Leases.Extend(ctx, e)
	return extended, answer(err)
}

// Find reads a page of leases for the walker.
func (a *Activities) Find(ctx context.Context, in FindInput) (LeasePage, error) {
	page, err := a.Leases.Ending(ctx, in.From, in.Before, in.After, in.Items)
	return page, answer(err)
}

// Start starts the renewals of a page of leases. The heartbeat says how many are
// done, and a retry begins there; were it lost, the starts before would be
// duplicates that change nothing.
func (a *Activities) Start(ctx context.Context, in StartInput) (Walked, error) {
	var walked Walked
	if activity.HasHeartbeatDetails(ctx) {
		_ = activity.GetHeartbeatDetails(ctx, &walked)
	}
	for _, lease := range in.Leases[min(walked.Seen, len(in.Leases)):] {
		started, err := a.Client.StartWith(ctx, lease, in.Terms)
		switch {
		case errors.Is(err, ErrInput):
			walked = walked.add(Walked{Refused: []string{cut(lease.ID, idShownMax)}})
		case err != nil:
			return Walked{}, answer(err)
		case started:
			walked.Started++
		default:
			walked.Known++
		}
		walked.Seen++
		activity.RecordHeartbeat(ctx, walked)
	}
	return walked, nil
}

// refused is the answer to somebody who asked for what cannot be.
func refused(err error) error {
	return temporal.NewNonRetryableApplicationError(err.Error(), typeRefused, nil)
}

// answer sorts an error into the types that the policy knows. What nobody can
// correct by waiting ends the activity; all else is tried again.
func answer(err error) error {
	switch {
	case err == nil:
		return nil
	case errors.Is(err, renewal.ErrIllegalMove), errors.Is(err, renewal.ErrConflict):
		return refused(err)
	case errors.Is(err, ErrInput), errors.Is(err, renewal.ErrNotFound), errors.Is(err, renewal.ErrInvalid):
		return temporal.NewNonRetryableApplicationError(err.Error(), typeInput, nil)
	default:
		return temporal.NewApplicationErrorWithOptions(err.Error(), typeUnavailable,
			temporal.ApplicationErrorOptions{Category: temporal.ApplicationErrorCategoryBenign, Cause: fmt.Errorf("%T", err)})
	}
}
