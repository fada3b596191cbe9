package migrate

import (
	"context"
	"errors"
	"fmt"
	"time"
)

// ErrLeaseHeld is wrapped where another runner is alive. Retry when it is done.
var ErrLeaseHeld = errors.New("migrate: another runner is at work")

// ErrLeaseLost says that another runner took over. Do not retry; it goes on.
var ErrLeaseLost = errors.New("migrate: another runner took over")

// LeaseError names the runner that is at work. It wraps ErrLeaseHeld.
type LeaseError struct {
	Holder string
	Token  int64
}

func (e *LeaseError) Error() string {
	return fmt.Sprintf("%v: %s (token %d); wait for it, or stop it", ErrLeaseHeld, e.Holder, e.Token)
}

func (e *LeaseError) Unwrap() error { return ErrLeaseHeld }

// claimsMax bounds how often a lease is reached for while others do too.
const claimsMax = 8

// acquire takes the lease, from nobody or from a holder whose counter stood
// still for the lease's time on this process's clock.
func (r *Runner) acquire(ctx context.Context) error {
	if r.token > 0 {
		return r.beat(ctx)
	}
	for range claimsMax {
		record, err := r.load(ctx)
		if err != nil {
			return err
		}
		if record, err = r.outwait(ctx, record); err != nil {
			return err
		}
		won, err := r.claim(ctx, record)
		if err != nil {
			return err
		}
		if won {
			r.changedAt = time.Now() // whoever held it may have changed the record just now
			if err := r.takeOver(ctx, record); err != nil {
				r.token = 0 // the set that was found is not in hand: take over again
				return err
			}
			return nil
		}
	}
	return fmt.Errorf("take the lease of %s: %w", r.shelf.prefix, ErrLeaseHeld)
}

// outwait returns once the holder is known to be silent.
func (r *Runner) outwait(ctx context.Context, seen Record) (Record, error) {
	if seen.Lease.Holder == "" || seen.Lease.Holder == r.holder {
		return seen, nil
	}
	silence := seen.Bounds.Lease
	for start := time.Now(); time.Since(start) < silence; {
		if err := sleep(ctx, silence/8); err != nil {
			return seen, err
		}
		now, err := r.load(ctx)
		if err != nil {
			return seen, err
		}
		if now.Lease.Holder == "" {
			return now, nil
		}
		if now.Lease != seen.Lease {
			return now, &LeaseError{Holder: now.Lease.Holder, Token: now.Lease.Token}
		}
	}
	return seen, nil
}

// claim raises the token, if the lease is still as it was seen. A claim whose
// answer was lost is recognised by the holder's name, which no other runner has.
func (r *Runner) claim(ctx context.Context, seen Record) (bool, error) {
	token := seen.Lease.Token + 1
	e := newEdit().is("lease.token", seen.Lease.Token).is("lease.beat", seen.Lease.Beat).
		put("lease", Lease{Holder: r.holder, Token: token, Beat: seen.Lease.Beat + 1})
	item, err := sendEdit(ctx, r.client, r.shelf, recordItem, e)
	if errors.Is(err, errCondition) {
		now, err := r.load(ctx)
		if err != nil {
			return false, err
		}
		if now.Lease.Holder != r.holder || now.Lease.Token != token {
			return false, nil
		}
		r.keep(now, token)
		return true, nil
	}
	if err != nil {
		return false, err
	}
	now, err := decodeRecord(item)
	if err != nil {
		return false, err
	}
	r.keep(now, token)
	return true, nil
}

// keep takes over what the record says once the lease is ours.
func (r *Runner) keep(record Record, token int64) {
	r.record, r.token, r.beatAt = record, token, time.Now()
	r.progress = record.Progress
	r.spec = record.spec(r.spec)
}

// fenced applies an edit that counts only while the lease is ours, and raises
// the counter that others watch.
func (r *Runner) fenced(ctx context.Context, e *edit) error {
	e.is("lease.token", r.token).raise("lease.beat", 1)
	item, err := sendEdit(ctx, r.client, r.shelf, recordItem, e)
	if err != nil {
		return err
	}
	record, err := decodeRecord(item)
	if err != nil {
		return err
	}
	r.record, r.beatAt = record, time.Now()
	return nil
}

// beat shows that the runner is alive, writes its progress and reads what an
// operator changed.
func (r *Runner) beat(ctx context.Context) error {
	err := r.fenced(ctx, newEdit().put("progress", r.progress))
	if errors.Is(err, errCondition) {
		r.token = 0
		return fmt.Errorf("%w: %s", ErrLeaseLost, r.shelf.prefix)
	}
	return err
}

// beatEvery is a fraction of the lease, and short enough that pause and set take
// effect while somebody watches.
func (r *Runner) beatEvery() time.Duration { return min(r.record.Bounds.Lease/4, beatMax) }

const beatMax = 1500 * time.Millisecond

func (r *Runner) beatWhenDue(ctx context.Context) error {
	if time.Since(r.beatAt) < r.beatEvery() {
		return nil
	}
	return r.beat(ctx)
}

// rest waits for d while the lease stays alive.
func (r *Runner) rest(ctx context.Context, d time.Duration) error {
	for end := time.Now().Add(d); ; {
		if err := r.beatWhenDue(ctx); err != nil {
			return err
		}
		left := time.Until(end)
		if left <= 0 {
			return ctx.Err()
		}
		if err := sleep(ctx, min(left, max(r.beatEvery()-time.Since(r.beatAt), time.Millisecond))); err != nil {
			return err
		}
	}
}

// releaseTimeMax bounds how long giving up the lease may take after the caller's
// context has ended.
const releaseTimeMax = 5 * time.Second

// Release gives the lease up, so that the next runner need not wait for silence.
func (r *Runner) Release(ctx context.Context) error {
	if r.token == 0 {
		return nil
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), releaseTimeMax)
	defer cancel()
	err := r.fenced(ctx, newEdit().put("lease.holder", "").put("progress", r.progress))
	if errors.Is(err, errCondition) {
		err = nil // somebody else has it already
	}
	r.token = 0
	return err
}
