package migrate

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/hotsplit/hotsplit/shard"
)

// Summary is what a move did.
type Summary struct {
	Phase    shard.Phase
	Progress Progress
	Report   *Report // of the last verification, nil where none was done
}

// forward is the way to complete.
var forward = []shard.Phase{
	shard.Planned, shard.DualRead, shard.WriteNew, shard.Backfill, shard.Verified, shard.Complete,
}

// nextForward is the phase after p on the way to complete.
func nextForward(p shard.Phase) (shard.Phase, bool) {
	if p == shard.Reverting {
		return shard.DualRead, true // what was turned round is first brought home
	}
	for i, q := range forward[:len(forward)-1] {
		if q == p {
			return forward[i+1], true
		}
	}
	return p, false
}

// Move starts the move, or goes on where it stands, and brings it to complete.
// When ctx ends, what is in hand is finished and the lease given up.
func (r *Runner) Move(ctx context.Context) (Summary, error) {
	err := r.Start(ctx)
	if err == nil {
		err = r.AdvanceTo(ctx, shard.Complete)
	}
	return r.summary(), errors.Join(err, r.Release(ctx))
}

func (r *Runner) summary() Summary {
	return Summary{Phase: r.record.Phase, Progress: r.progress, Report: r.report}
}

// AdvanceTo goes forward until the move is in phase to and every member has it.
func (r *Runner) AdvanceTo(ctx context.Context, to shard.Phase) error {
	if err := r.acquire(ctx); err != nil {
		return err
	}
	for r.record.Phase != to {
		if _, err := r.Advance(ctx); err != nil {
			return err
		}
	}
	return r.agree(ctx)
}

// Advance does the work of the present phase and takes the next one forward.
func (r *Runner) Advance(ctx context.Context) (shard.Phase, error) {
	if err := r.ready(ctx); err != nil {
		return r.record.Phase, err
	}
	if r.record.Archived {
		return r.record.Phase, r.refuse(ctx, &GateError{
			Gate: "archived", From: r.record.Phase, Why: "the move is archived", Do: "start it anew, or start the next one",
		})
	}
	next, ok := nextForward(r.record.Phase)
	if !ok {
		return r.record.Phase, r.refuse(ctx, &GateError{
			Gate: "phase", From: r.record.Phase, Why: fmt.Sprintf("no phase follows %s", r.record.Phase),
			Do: "archive the move, or roll it back",
		})
	}
	return next, r.enterPhase(ctx, next)
}

// ready holds the lease, knows the index, and sees the present phase agreed.
func (r *Runner) ready(ctx context.Context) error {
	if err := r.acquire(ctx); err != nil {
		return err
	}
	if err := r.look(ctx); err != nil {
		return err
	}
	if !r.record.Phase.Known() {
		return fmt.Errorf("%w: %q", ErrUnknownPhase, r.record.Phase)
	}
	if err := r.agree(ctx); err != nil {
		return err
	}
	return r.settleInherited(ctx)
}

// settleInherited finishes a moving set that was found at take-over: no phase
// changes while rows are on the way.
func (r *Runner) settleInherited(ctx context.Context) error {
	if r.record.Moving.Rows == 0 {
		return nil
	}
	return r.newConvoy(nil).run(ctx)
}

// enterPhase does what must be done and true before phase to, then changes it.
func (r *Runner) enterPhase(ctx context.Context, to shard.Phase) error {
	if err := r.prepare(ctx, to); err != nil {
		return err
	}
	return r.changePhase(ctx, to)
}

// prepare does the work and checks the gates that stand before phase to.
func (r *Runner) prepare(ctx context.Context, to shard.Phase) error {
	from := r.record.Phase
	switch {
	case !from.MayMove(to):
		return r.refuse(ctx, &GateError{
			Gate: "phase", From: from, To: to, Why: fmt.Sprintf("a move in phase %s may go to %v", from, from.Next()),
		})
	case from == shard.DualRead && to == shard.WriteNew:
		return r.askAlone(ctx)
	case from == shard.Backfill && to == shard.Verified:
		return r.moveAll(ctx)
	case from == shard.Reverting && to == shard.DualRead:
		return r.moveAll(ctx)
	case from == shard.DualRead && to == shard.Planned:
		return r.gateNone(ctx, to, way{from: r.record.To, to: r.record.From})
	case from == shard.Verified && to == shard.Complete:
		return r.gateComplete(ctx)
	}
	return nil
}

func (r *Runner) changePhase(ctx context.Context, to shard.Phase) error {
	from := r.record.Phase
	if to == shard.Reverting || (from == shard.WriteNew && to == shard.Backfill) {
		// Another journey begins: what was counted on the one before is in its events.
		r.progress = Progress{Stragglers: r.progress.Stragglers, Throttles: r.progress.Throttles}
	}
	err := r.changed(ctx, newEdit().put("phase", to).put("confirmed", r.agreed).
		put("progress", r.progress).put("changedAt", stamp()))
	if err != nil {
		return err
	}
	r.tell(ctx, Event{Kind: EventPhase, Text: fmt.Sprintf("%s -> %s", from, to)})
	return nil
}

// passesMax bounds the passes of one call: each sees fewer rows, unless
// somebody keeps stamping the key that is left.
const passesMax = 20

// moveAll moves every row that has to go and then proves that none is left, in
// the base table and on the index.
func (r *Runner) moveAll(ctx context.Context) error {
	r.progress.Total = max(r.progress.Total, r.catalog.rows())
	from, err := r.loadCheckpoints(ctx)
	if err != nil {
		return err
	}
	number, source := 1, r.opts.Source
	if len(from) > 0 {
		number, source = from[0].Pass, from[0].Source
	}
	for last := number + passesMax; number < last; number++ {
		segments, err := r.segments(source, from)
		if err != nil {
			return err
		}
		p := r.newPass(source, number, segments, from)
		moved := r.progress.Moved + r.progress.AlreadyDone
		if err := r.newConvoy(p).run(ctx); err != nil {
			return err
		}
		if source == SourceScan {
			if done, err := r.scanned(ctx, p, r.progress.Moved+r.progress.AlreadyDone-moved); done || err != nil {
				return err
			}
		}
		from, source = nil, SourceScan
	}
	return r.refuse(ctx, &GateError{
		Gate: "left", From: r.record.Phase, Why: fmt.Sprintf("after %d passes rows still carry keys that are left", passesMax),
		Do: "find who stamps them (hotsplit guard), then go on",
	})
}

// scanned says whether a scan of the base table ends the backfill.
func (r *Runner) scanned(ctx context.Context, p *pass, moved int64) (bool, error) {
	r.progress.Unshardable = nil
	for class, n := range p.refused {
		if r.progress.Unshardable == nil {
			r.progress.Unshardable = map[string]int64{}
		}
		r.progress.Unshardable[string(class)] = n
	}
	switch {
	case p.total == 0:
		next, _ := nextForward(r.record.Phase)
		if err := r.gateUnshardable(ctx, next); err != nil {
			return false, err
		}
		return true, r.gateEmpty(ctx, next, r.record.way())
	case moved == 0 && p.total > 0 && r.progress.Failed > 0:
		return false, r.refuse(ctx, &GateError{
			Gate: "failed", From: r.record.Phase, Why: fmt.Sprintf("%d rows cannot be moved", p.total),
			Do: "see the events for the service's reasons",
		})
	}
	return false, nil
}

// rowsASegment is how many rows make a further segment of a scan worth while.
const rowsASegment = 100_000

// segments is how many a pass has: as many as its checkpoints say, which the
// operator's number must not contradict.
func (r *Runner) segments(source Source, from []Checkpoint) (int, error) {
	if source == SourceDrain {
		return len(r.record.way().from.Keys()), nil
	}
	if len(from) > 0 {
		n := from[0].Segments
		if r.opts.Segments > 0 && r.opts.Segments != n {
			return 0, fmt.Errorf("%w: it has %d segments, %d were asked for", ErrCheckpoint, n, r.opts.Segments)
		}
		return n, nil
	}
	if r.opts.Segments > 0 {
		return r.opts.Segments, nil
	}
	return int(min(1+r.catalog.rows()/rowsASegment, 16)), nil
}

// gateUnshardable refuses while rows whose owner cannot be keyed are left behind
// without the operator's word.
func (r *Runner) gateUnshardable(ctx context.Context, to shard.Phase) error {
	excluded := map[string]bool{}
	for _, class := range r.record.Excluded {
		excluded[class] = true
	}
	for class, n := range r.progress.Unshardable {
		if !excluded[class] {
			return r.refuse(ctx, &GateError{
				Gate: "unshardable", From: r.record.Phase, To: to,
				Why: fmt.Sprintf("%d rows have an owner that cannot be keyed: %s", n, class),
				Do:  fmt.Sprintf("repair them, or leave them behind by name: exclude %q", class),
			})
		}
	}
	return nil
}

// gateNone refuses while a row carries a key that w leaves, in the base table or
// on the index. It moves none: the present phase has no moving set.
func (r *Runner) gateNone(ctx context.Context, to shard.Phase, w way) error {
	p := r.newPass(SourceScan, 0, 1, nil)
	p.sieve.way = w
	for p.more() {
		if err := r.beatWhenDue(ctx); err != nil {
			return err
		}
		if _, _, err := p.next(ctx, pageRowsMax); err != nil {
			return err
		}
	}
	if p.total > 0 {
		return r.refuse(ctx, &GateError{
			Gate: "left", From: r.record.Phase, To: to,
			Why: fmt.Sprintf("%d rows of %s carry keys of %s", p.total, r.spec.Table, w.from),
			Do:  "go forward to write-new and roll back: that moves them",
		})
	}
	return r.gateEmpty(ctx, to, w)
}

// gateEmpty refuses while the index shows a row under a key that w leaves. It
// must show none for the margin.
func (r *Runner) gateEmpty(ctx context.Context, to shard.Phase, w way) error {
	var seen time.Time
	for look := 1; ; look++ {
		left, err := r.leftOnIndex(ctx, w)
		if err != nil {
			return err
		}
		switch {
		case left > 0 && look > emptyLooksMax:
			return r.refuse(ctx, &GateError{
				Gate: "left", From: r.record.Phase, To: to,
				Why: fmt.Sprintf("the index %s shows %d rows under keys of %s", w.from.Index, left, w.from),
				Do:  "go on: the rows are moved in the present phase; see who stamps them with hotsplit guard",
			})
		case left > 0:
			seen = time.Time{}
		case seen.IsZero():
			seen = time.Now()
		case time.Since(seen) >= r.record.Bounds.Settle:
			return nil
		}
		pause := r.record.Bounds.Settle
		if left > 0 {
			pause = min(settleEvery<<min(look, 8), settleEveryMax)
		}
		if err := r.rest(ctx, pause); err != nil {
			return err
		}
	}
}

// emptyLooksMax bounds how long the index may take to show what the base table
// has: about a minute.
const emptyLooksMax = 60

// leftOnIndex counts the rows that the index shows under keys that w leaves.
func (r *Runner) leftOnIndex(ctx context.Context, w way) (int, error) {
	left := 0
	err := r.eachLeft(ctx, w, func(*row) error { left++; return nil })
	return left, err
}

// eachLeft visits the rows that the index shows under keys that w leaves.
func (r *Runner) eachLeft(ctx context.Context, w way, visit func(*row) error) error {
	p := r.newPass(SourceDrain, 0, len(w.from.Keys()), nil)
	p.sieve.way, p.asShown = w, true
	for p.more() {
		if err := r.beatWhenDue(ctx); err != nil {
			return err
		}
		rows, _, err := p.next(ctx, pageRowsMax)
		if err != nil {
			return err
		}
		for _, row := range rows {
			if err := visit(row); err != nil {
				return err
			}
		}
	}
	return nil
}
