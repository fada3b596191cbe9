package migrate

import (
	"context"
	"fmt"
	"time"

	"github.com/hotsplit/hotsplit/shard"
)

// Complete brings a verified move to complete.
func (r *Runner) Complete(ctx context.Context) error {
	if err := r.ready(ctx); err != nil {
		return err
	}
	if r.record.Phase == shard.Complete {
		return nil
	}
	if err := r.enterPhase(ctx, shard.Complete); err != nil {
		return err
	}
	return r.agree(ctx)
}

// gateComplete refuses complete without a fresh pass, with a row left, or with a
// straggler in the watch window. Every live member was seen to have the phase
// before this is asked.
func (r *Runner) gateComplete(ctx context.Context) error {
	if err := r.freshPass(ctx); err != nil {
		return err
	}
	if err := r.gateUnshardable(ctx, shard.Complete); err != nil {
		return err
	}
	if err := r.gateWatch(ctx); err != nil {
		return err
	}
	return r.gateEmpty(ctx, shard.Complete, r.record.way())
}

// freshPass verifies, unless the record holds a pass of every owner that was made
// in this phase and since which no row was moved.
func (r *Runner) freshPass(ctx context.Context) error {
	p := r.record.Pass
	if p != nil && p.Generation == r.record.Generation && p.Moved == r.progress.Moved && p.Defects == 0 && p.Sample <= r.opts.Sample {
		return nil
	}
	report, err := r.Verify(ctx, VerifyOptions{Sample: r.opts.Sample})
	if err != nil {
		return err
	}
	return report.Err()
}

// Verify verifies while the lease stays alive, and enters a pass in the record.
func (r *Runner) Verify(ctx context.Context, opts VerifyOptions) (Report, error) {
	if err := r.acquire(ctx); err != nil {
		return Report{}, err
	}
	moved := r.progress.Moved
	alive := make(chan struct{}, 1)
	opts.alive = func(ctx context.Context) error {
		select {
		case alive <- struct{}{}: // one request at a time keeps the lease alive
			defer func() { <-alive }()
			return r.beatWhenDue(ctx)
		default:
			return ctx.Err()
		}
	}
	report, err := Verify(ctx, r.client, r.spec, opts)
	r.report = &report
	if err != nil {
		return report, fmt.Errorf("%w: %w", ErrUnverified, err)
	}
	pass := &Pass{
		Generation: report.Generation, Moved: moved, Owners: report.Owners.Checked, Rows: report.Rows.Checked,
		Defects: report.Rows.Defects, Sample: opts.Sample, At: report.At,
	}
	if err := r.fenced(ctx, newEdit().put("pass", pass).put("progress", r.progress)); err != nil {
		return report, err
	}
	r.tell(ctx, Event{Kind: EventVerified, Text: report.String()})
	return report, nil
}

// watchEvery is how often the watch before complete looks at the old keys.
const watchEvery = 5 * time.Second

// gateWatch looks at the keys that are left for the watch window. A straggler is
// moved, and refuses complete: somebody still stamps the old key.
func (r *Runner) gateWatch(ctx context.Context) error {
	if r.opts.Watch < 0 {
		return nil
	}
	for end := time.Now().Add(r.opts.Watch); ; {
		n, err := r.healStragglers(ctx)
		if err != nil {
			return err
		}
		if n > 0 {
			return r.refuse(ctx, &GateError{
				Gate: "stragglers", From: r.record.Phase, To: shard.Complete,
				Why: fmt.Sprintf("%d rows were stamped with a key of %s since every member writes %s", n, r.record.From, r.record.To),
				Do:  "find the writer of an older release (hotsplit guard names it), stop it, then complete again; the rows are moved",
			})
		}
		left := time.Until(end)
		if left <= 0 {
			return nil
		}
		if err := r.rest(ctx, min(left, watchEvery)); err != nil {
			return err
		}
	}
}

// healStragglers moves the rows that the index shows under keys that are left and
// says how many there were.
func (r *Runner) healStragglers(ctx context.Context) (int, error) {
	var found []*row
	if err := r.eachLeft(ctx, r.record.way(), func(row *row) error { found = append(found, row); return nil }); err != nil {
		return 0, err
	}
	if len(found) == 0 {
		return 0, nil
	}
	return r.healRows(ctx, found)
}

// healRows moves rows by the moving set and says how many it moved.
func (r *Runner) healRows(ctx context.Context, rows []*row) (int, error) {
	before := r.progress.Moved
	c := r.newConvoy(nil)
	for _, row := range rows {
		row.page = nil
	}
	c.backlog = rows
	if err := c.run(ctx); err != nil {
		return int(r.progress.Moved - before), err
	}
	n := int(r.progress.Moved - before)
	r.straggled(ctx, n)
	return n, nil
}

// straggled counts and tells rows that were stamped with a key that was left.
func (r *Runner) straggled(ctx context.Context, n int) {
	if n == 0 {
		return
	}
	r.progress.Stragglers += int64(n)
	r.tell(ctx, Event{Kind: EventStraggler, Rows: n, Text: fmt.Sprintf("%d rows on keys of %s, moved", n, r.record.From)})
}
