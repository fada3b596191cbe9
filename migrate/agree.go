package migrate

import (
	"context"
	"fmt"
	"time"
)

// census is the last list of members, kept for as long as it is worth.
type census struct {
	members []Member
	at      time.Time
}

// live lists the members that are alive, from a look at the table that is no
// older than age.
func (r *Runner) live(ctx context.Context, age time.Duration) ([]Member, error) {
	if r.census.at.IsZero() || time.Since(r.census.at) > age {
		members, err := r.shelf.members(ctx, r.client)
		if err != nil {
			return nil, err
		}
		r.census = census{members: members, at: time.Now()}
	}
	return r.roll.live(r.census.members, r.record.Bounds.Member), nil
}

// bound is how long after a change nobody can still act by what was before. The
// clocks of two hosts may run at slightly different rates; a hundredth covers it.
func (r *Runner) bound() time.Duration {
	b := max(r.record.stale(), r.record.Bounds.Prior)
	return b + b/100
}

// agree waits until every live member reported the record's generation and the
// bound has passed. A phase counts only then.
func (r *Runner) agree(ctx context.Context) error {
	if r.agreed == r.record.Generation {
		return nil
	}
	if r.record.Confirms() {
		r.agreed = r.record.Generation
		return nil
	}
	if err := r.await(ctx, time.Until(r.changedAt.Add(r.bound())), r.record.Generation, 0); err != nil {
		return err
	}
	if err := r.askWait(ctx); err != nil {
		return err
	}
	r.agreed = r.record.Generation
	// Written again with the next phase; written now so that whoever takes over
	// need not wait anew.
	return r.fenced(ctx, newEdit().put("confirmed", r.agreed).
		put("bounds.priorStaleMillis", r.record.stale().Milliseconds()).put("progress", r.progress))
}

// await rests for d, then waits for the reports of the members that are alive.
func (r *Runner) await(ctx context.Context, d time.Duration, generation, moving int64) error {
	r.progress.Waiting = fmt.Sprintf("the staleness bound of %v", r.bound())
	defer func() { r.progress.Waiting = "" }()
	if err := r.rest(ctx, d); err != nil {
		return err
	}
	for {
		behind, err := r.behind(ctx, generation, moving)
		if err != nil {
			return err
		}
		if len(behind) == 0 {
			return nil
		}
		r.waitsFor(ctx, behind)
		if err := r.rest(ctx, r.record.Bounds.Poll/2); err != nil {
			return err
		}
	}
}

// behind names the live members that have not reported what they should go by.
func (r *Runner) behind(ctx context.Context, generation, moving int64) ([]string, error) {
	live, err := r.live(ctx, r.record.Bounds.Poll/4)
	if err != nil {
		return nil, err
	}
	var names []string
	for _, m := range live {
		if !m.has(generation, moving) {
			names = append(names, fmt.Sprintf("%s (generation %d, moving set %d)", m.ID, m.Generation, m.Moving))
		}
	}
	return names, nil
}

// askWait has the operator confirm a wait that no member's report can end.
func (r *Runner) askWait(ctx context.Context) error {
	if r.opts.Alone {
		return nil
	}
	live, err := r.live(ctx, r.record.Bounds.Poll)
	if err != nil || len(live) > 0 {
		return err
	}
	return r.ask(ctx, Question{
		Kind: QuestionWait, Phase: r.record.Phase,
		Text: fmt.Sprintf("no member reports; do all processes that read or write the rows go by phase %s?", r.record.Phase),
	})
}

// askAlone has the operator say that the member list is complete.
func (r *Runner) askAlone(ctx context.Context) error {
	if r.opts.Alone {
		return nil
	}
	live, err := r.live(ctx, r.record.Bounds.Poll)
	if err != nil {
		return err
	}
	return r.ask(ctx, Question{
		Kind: QuestionAlone, Phase: r.record.Phase, Members: live,
		Text: fmt.Sprintf("%d members read both layouts; does any other process read or write the rows?", len(live)),
	})
}

func (r *Runner) ask(ctx context.Context, q Question) error {
	if r.opts.Confirm == nil {
		return r.refuse(ctx, &GateError{
			Gate: string(q.Kind), From: r.record.Phase, Why: q.Text,
			Do: "confirm it: this is what no tool can see",
		})
	}
	if err := r.opts.Confirm(ctx, q); err != nil {
		return r.refuse(ctx, &GateError{Gate: string(q.Kind), From: r.record.Phase, Why: fmt.Sprintf("%s %v", q.Text, err)})
	}
	return nil
}
