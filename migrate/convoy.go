package migrate

import (
	"context"
	"errors"
	"time"
)

// batch is a number of rows that are published, moved and settled together.
type batch struct {
	rows    []*row // still to move
	moved   []*row // moved, or found to need no move; to be seen settled
	version int64  // of the moving set that first held it
	at      time.Time
	ready   bool // every reader goes by a set that holds it

	settledAt time.Time // first look that showed it settled; zero while it was not
	lookAt    time.Time // next look, once all rows are moved
	looks     int
	clear     bool // settled for the margin
}

func (b *batch) all() int { return len(b.rows) + len(b.moved) }

// convoy takes rows from a source through publish, wait, move and settle. Several
// batches are on the way at once: while one waits for the readers, the one before
// moves and another settles. One goroutine does it all.
type convoy struct {
	r       *Runner
	way     way
	pass    *pass // nil: only what is inherited
	batches []*batch
	backlog []*row // read and not yet published
	trail   trail
	dirty   bool // the published set holds rows that have settled
	empty   bool // the published set is empty and nothing is on the way
	mover   mover
}

const (
	batchesMax   = 4    // on the way at once
	pageRowsMax  = 1000 // read at once
	pageRowsMin  = 100
	drainTimeMax = 20 * time.Second // for a batch in hand, once the caller wants to stop
	batchSeconds = 1.5              // of moving that one batch is for: the wait and the settling fit in four of them
)

func (r *Runner) newConvoy(p *pass) *convoy {
	c := &convoy{r: r, way: r.record.way(), pass: p, mover: r.mover()}
	r.pace.set(r.record.Control)
	if len(r.inherited) > 0 {
		c.inherit()
	}
	return c
}

// inherit treats the moving set that was found at take-over as just published.
func (c *convoy) inherit() {
	b := &batch{version: c.r.record.Moving.Version, at: time.Now(), lookAt: time.Now()}
	for i := range c.r.inherited {
		row := &c.r.inherited[i]
		if row.at == "" || row.at == row.to {
			b.moved = append(b.moved, row)
			continue
		}
		b.rows = append(b.rows, row)
	}
	c.r.inherited = nil
	c.batches = append(c.batches, b)
}

// run works until the source is empty and every batch has settled. When ctx
// ends, what is in hand is finished first. After any other failure the set that
// was published is out of hand, so the lease is to be taken anew.
func (c *convoy) run(ctx context.Context) error {
	err := c.travel(ctx)
	if err != nil && !c.empty {
		c.r.token = 0
	}
	return err
}

func (c *convoy) travel(ctx context.Context) error {
	for {
		wait, err := c.step(ctx)
		if errors.Is(err, errEmpty) {
			return nil
		}
		if err == nil {
			err = c.r.rest(ctx, wait)
		}
		switch {
		case err == nil:
		case ctx.Err() != nil:
			return errors.Join(ctx.Err(), c.finish(ctx))
		case !passing(err) || c.r.silent():
			return err
		default:
			// The end of ctx is seen by the next turn.
			_ = c.weather(ctx, err)
		}
	}
}

// silent says that the lease could not be kept alive for so long that somebody
// else may have taken over: what fails then is no passing storm.
func (r *Runner) silent() bool { return time.Since(r.beatAt) > 2*r.record.Bounds.Lease }

// errEmpty says that nothing is left to do.
var errEmpty = errors.New("migrate: convoy is empty")

// step does the most urgent thing there is and says how long nothing will be.
func (c *convoy) step(ctx context.Context) (time.Duration, error) {
	if err := c.r.beatWhenDue(ctx); err != nil {
		return 0, err
	}
	c.clearSettled()
	if did, err := c.save(ctx); did || err != nil {
		return 0, err
	}
	paused := c.r.record.Control.Paused
	if !paused {
		if did, err := c.load(ctx); did || err != nil {
			return 0, err
		}
		if did, err := c.publishNext(ctx); did || err != nil {
			return 0, err
		}
	}
	moveWait, err := c.move(ctx, paused)
	if err != nil || moveWait == 0 {
		return 0, err
	}
	settleWait, err := c.settle(ctx)
	if err != nil || settleWait == 0 {
		return 0, err
	}
	if len(c.batches) == 0 {
		return c.idle(ctx, paused)
	}
	return min(moveWait, settleWait), nil
}

// idle is reached with no batch on the way: the set is cleared, and there is
// either nothing left or a pause.
func (c *convoy) idle(ctx context.Context, paused bool) (time.Duration, error) {
	if c.dirty {
		return 0, c.publish(ctx)
	}
	if c.hasMore() && paused {
		return beatMax, nil
	}
	return 0, errEmpty
}

// move sends the next chunk of the first batch that may move. It returns 0 when
// it did something, else how long there is nothing to do.
func (c *convoy) move(ctx context.Context, paused bool) (time.Duration, error) {
	for _, b := range c.batches {
		if len(b.rows) == 0 {
			continue
		}
		if wait, err := c.readiness(ctx, b); wait > 0 || err != nil {
			return wait, err
		}
		if paused {
			return beatMax, nil
		}
		if err := c.tune(ctx); err != nil {
			return 0, err
		}
		n, wait := c.r.pace.allow(min(len(b.rows), c.r.opts.ChunkRows))
		if n == 0 {
			return wait, nil
		}
		return 0, c.moveChunk(ctx, b, n)
	}
	return beatMax, nil
}

// readiness says how long until every reader goes by a set that holds the batch.
func (c *convoy) readiness(ctx context.Context, b *batch) (time.Duration, error) {
	if b.ready {
		return 0, nil
	}
	if wait := time.Until(b.at.Add(c.r.bound())); wait > 0 {
		return wait, nil
	}
	behind, err := c.r.behind(ctx, c.r.record.Generation, b.version)
	if err != nil {
		return 0, err
	}
	if len(behind) > 0 {
		c.r.waitsFor(ctx, behind)
		return c.r.record.Bounds.Poll / 2, nil
	}
	c.r.progress.Waiting = ""
	b.ready = true
	return 0, nil
}

// tune reads what members spend and sets the pace by it.
func (c *convoy) tune(ctx context.Context) error {
	live, err := c.r.live(ctx, time.Second)
	if err != nil {
		return err
	}
	c.r.tune(live, c.way)
	return nil
}

func (c *convoy) moveChunk(ctx context.Context, b *batch, n int) error {
	result, err := c.mover.move(ctx, b.rows[:n:n])
	if errors.Is(err, errConflict) || (refused(err) && n > 1) {
		c.r.pace.conflicted(n)
	}
	if refused(err) && n > 1 {
		return nil // one row may be too large for company: fewer at a time
	}
	c.r.count(result)
	if len(result.done) > 0 {
		for _, row := range result.done {
			if row.page != nil {
				row.page.left--
			}
		}
		b.rows, b.moved = without(b.rows, result.done), append(b.moved, result.done...)
		b.settledAt, b.lookAt, b.looks, b.clear = time.Time{}, time.Now().Add(settleFirst), 0, false
		c.r.pace.spent(len(result.done), result.oldUnits)
		c.r.tell(ctx, Event{Kind: EventMoved, Rows: len(result.done), Text: c.r.pace.String()})
	}
	return err
}

// weather answers an error that passes with a slower pace and a short rest.
func (c *convoy) weather(ctx context.Context, err error) error {
	if throttled(err) {
		c.r.pace.throttled()
		c.r.progress.Throttles++
	}
	c.r.tell(ctx, Event{Kind: EventThrottled, Text: err.Error()})
	return sleep(ctx, weatherPause)
}

const weatherPause = 200 * time.Millisecond

// clearSettled drops the batches that the index showed settled for the margin.
func (c *convoy) clearSettled() {
	kept := c.batches[:0]
	for _, b := range c.batches {
		if len(b.rows) == 0 && b.clear {
			c.dirty = true
			continue
		}
		kept = append(kept, b)
	}
	c.batches = kept
}

func (c *convoy) save(ctx context.Context) (bool, error) {
	store := c.trail.advance()
	for _, checkpoint := range store {
		if err := c.r.saveCheckpoint(ctx, checkpoint); err != nil {
			return false, err
		}
	}
	return len(store) > 0, nil
}

// finish leaves nothing half done: rows that were published and not moved leave
// the set, rows that were moved settle first. The caller's context has ended.
func (c *convoy) finish(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), drainTimeMax)
	defer cancel()
	c.backlog, c.pass = nil, nil
	for _, b := range c.batches {
		b.rows = nil
	}
	for len(c.batches) > 0 {
		if err := c.r.beatWhenDue(ctx); err != nil {
			return err
		}
		c.dropUnmoved()
		c.clearSettled()
		wait, err := c.settle(ctx)
		if err != nil {
			return err
		}
		if len(c.batches) == 0 {
			break
		}
		if err := c.r.rest(ctx, wait); err != nil {
			return err
		}
	}
	if _, err := c.save(ctx); err != nil {
		return err
	}
	return c.publish(ctx)
}

func (c *convoy) dropUnmoved() {
	kept := c.batches[:0]
	for _, b := range c.batches {
		if b.all() > 0 {
			kept = append(kept, b)
		}
	}
	c.batches = kept
}
