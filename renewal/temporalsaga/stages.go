package temporalsaga

import (
	"fmt"
	"time"

	"go.temporal.io/sdk/workflow"

	"github.com/hotsplit/hotsplit/renewal"
)

// advance makes the workflow's own move to a state. Its operation id follows
// from the version that it starts from, so a retry is the same operation and
// the next move is another.
func (r *run) advance(ctx workflow.Context, to renewal.State) error {
	return r.advanceWith(ctx, Move{To: to})
}

func (r *run) advanceWith(ctx workflow.Context, m Move) error {
	m.Op = fmt.Sprintf("wf.%s.v%d", m.To, r.saga.Version)
	m.From, m.Version, m.By, m.Kind = r.saga.State, r.saga.Version, "workflow", "workflow"
	moved, err := r.move(ctx, m)
	if err != nil {
		return err
	}
	if moved.Applied {
		r.note(ctx, string(m.To), m.Text)
		return r.know(ctx, moved.Saga)
	}
	return r.meet(ctx, moved.Saga)
}

func (r *run) move(ctx workflow.Context, m Move) (Moved, error) {
	m.SagaID = r.saga.ID
	var moved Moved
	if err := workflow.ExecuteActivity(r.patient(ctx), activityMove, m).Get(ctx, &moved); err != nil {
		return Moved{}, fmt.Errorf("move saga %s to %s: %w", m.SagaID, m.To, err)
	}
	return moved, nil
}

// reload reads the saga again because somebody said that it changed.
func (r *run) reload(ctx workflow.Context) error {
	var saga Snapshot
	if err := workflow.ExecuteActivity(r.patient(ctx), activityLoad, r.saga.ID).Get(ctx, &saga); err != nil {
		return fmt.Errorf("load saga %s: %w", r.saga.ID, err)
	}
	return r.meet(ctx, saga)
}

// meet takes over a saga that another hand may have moved.
func (r *run) meet(ctx workflow.Context, saga Snapshot) error {
	if saga.State != r.saga.State {
		r.note(ctx, "moved by another hand", string(saga.State))
	}
	return r.know(ctx, saga)
}

// prepare works an offer out. A quote that cannot be had is the saga's news,
// not the workflow's failure: a person or the sweep has it tried again.
func (r *run) prepare(ctx workflow.Context) error {
	r.waiting = "a quote"
	var quote Quoted
	err := workflow.ExecuteActivity(r.patient(ctx), activityQuote,
		QuoteInput{Lease: r.input.Lease, AttemptsMax: r.input.Terms.QuoteAttempts}).Get(ctx, &quote)
	if err != nil {
		return fmt.Errorf("quote for lease %s: %w", r.input.Lease.ID, err)
	}
	if quote.Failure != "" {
		return r.advanceWith(ctx, Move{To: renewal.PrepareFailed, Text: quote.Failure})
	}
	return r.advanceWith(ctx, Move{To: renewal.Prepared, RentCents: quote.RentCents})
}

// offer sends the offer and says so in the saga.
func (r *run) offer(ctx workflow.Context) error {
	expires := workflow.Now(ctx).Add(r.input.Terms.ReplyWithin).Truncate(time.Second)
	if err := r.send(ctx, "offer"); err != nil {
		return err
	}
	return r.advanceWith(ctx, Move{To: renewal.Offered, OfferExpires: expires})
}

// send hands a letter over, once for each kind and stay in a state: however often
// the workflow comes by, the letter keeps its id until the saga moves.
func (r *run) send(ctx workflow.Context, kind string) error {
	letter := Letter{
		ID: fmt.Sprintf("%s.%s.%d", r.saga.ID, kind, r.saga.StateSince.UnixMilli()), SagaID: r.saga.ID, Kind: kind,
		PersonID: r.input.Lease.PersonID, RentCents: r.saga.RentCents, Expires: r.saga.OfferExpires,
	}
	if err := workflow.ExecuteActivity(r.patient(ctx), activitySend, letter).Get(ctx, nil); err != nil {
		return fmt.Errorf("send letter %s: %w", letter.ID, err)
	}
	r.note(ctx, "sent", kind)
	return nil
}

// awaitCure waits until somebody has the preparation tried again. A lease that
// ends meanwhile leaves nothing to renew.
func (r *run) awaitCure(ctx workflow.Context) error {
	r.waiting = "another attempt to prepare"
	return r.await(ctx, r.lapse(r.leaseEnds()))
}

// changeReminder is the change since which an offer is reminded of. Renewals that
// wait for a reply since before it wait on without.
const changeReminder = "remind-of-offer"

// awaitReply waits for the tenant, reminds once, and lets the offer expire.
func (r *run) awaitReply(ctx workflow.Context) error {
	r.waiting = "a reply"
	reminds := workflow.GetVersion(ctx, changeReminder, workflow.DefaultVersion, 1) >= 1
	if at := r.offerEnds().Add(-r.input.Terms.RemindBefore); reminds && !r.reminded() && at.After(r.saga.StateSince) {
		return r.await(ctx, alarm{at: at, ring: r.remind})
	}
	return r.await(ctx, r.lapse(r.offerEnds()))
}

func (r *run) reminded() bool { return r.Reminded == r.saga.StateSince.UnixMilli() }

func (r *run) remind(ctx workflow.Context) error {
	if err := r.send(ctx, "reminder"); err != nil {
		return err
	}
	r.Reminded = r.saga.StateSince.UnixMilli()
	return nil
}

// awaitSignature waits for the signature on an accepted offer.
func (r *run) awaitSignature(ctx workflow.Context) error {
	r.waiting = "a signature"
	if err := r.send(ctx, "contract"); err != nil {
		return err
	}
	return r.await(ctx, r.lapse(r.saga.StateSince.Add(r.input.Terms.SignWithin)))
}

// complete moves the lease's end by one term and closes the renewal.
func (r *run) complete(ctx workflow.Context) error {
	r.waiting = "the lease"
	extend := Extension{
		ID: r.saga.ID + ".extend", LeaseID: r.input.Lease.ID, From: r.input.Lease.Ends,
		To: r.input.Lease.NextEnd(), RentCents: r.saga.RentCents,
	}
	var extended Extended
	if err := workflow.ExecuteActivity(r.patient(ctx), activityExtend, extend).Get(ctx, &extended); err != nil {
		return fmt.Errorf("extend lease %s: %w", extend.LeaseID, err)
	}
	r.note(ctx, "lease", extended.String())
	return r.advance(ctx, renewal.Completed)
}

// archive takes a closed renewal off the list after a while.
func (r *run) archive(ctx workflow.Context) error {
	r.waiting = "the archive"
	return r.await(ctx, alarm{at: r.saga.StateSince.Add(r.input.Terms.ArchiveAfter), ring: func(ctx workflow.Context) error {
		var saga Snapshot
		if err := workflow.ExecuteActivity(r.patient(ctx), activityArchive, r.saga.ID).Get(ctx, &saga); err != nil {
			return fmt.Errorf("archive saga %s: %w", r.saga.ID, err)
		}
		r.note(ctx, "archived", "")
		return r.know(ctx, saga)
	}})
}

// alarm is what happens when nobody came in time.
type alarm struct {
	at   time.Time
	ring func(workflow.Context) error
}

// lapse is the alarm that ends a renewal nobody answered.
func (r *run) lapse(at time.Time) alarm {
	return alarm{at: at, ring: func(ctx workflow.Context) error { return r.advance(ctx, renewal.Expired) }}
}

// await serves requests until the saga stands elsewhere, the run is full, or
// the alarm has rung.
func (r *run) await(ctx workflow.Context, next alarm) error {
	state := r.saga.State
	for r.saga.State == state && !r.full(ctx) {
		left := next.at.Sub(workflow.Now(ctx))
		if left <= 0 && !r.called(ctx) {
			return next.ring(ctx)
		}
		called, err := workflow.AwaitWithTimeout(ctx, left, func() bool { return r.called(ctx) })
		if err != nil {
			return err
		}
		if !called {
			return next.ring(ctx)
		}
		if err := r.serve(ctx); err != nil {
			return err
		}
	}
	return nil
}

func (r *run) leaseEnds() time.Time { return r.input.Lease.Ends.AddDate(0, 0, 1) }

// offerEnds is when the offer lapses: as the saga says, but never after the lease.
func (r *run) offerEnds() time.Time {
	ends := r.saga.OfferExpires
	if ends.IsZero() {
		ends = r.saga.StateSince.Add(r.input.Terms.ReplyWithin)
	}
	if lease := r.leaseEnds(); lease.Before(ends) {
		return lease
	}
	return ends
}
