package migrate

import (
	"cmp"
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"time"

	"github.com/hotsplit/hotsplit/shard"
)

// Runner is the one process that changes phases and moves rows. It works in the
// goroutine that calls it and must not be called from two at once.
type Runner struct {
	client Client
	spec   Spec
	shelf  shelf
	opts   Options
	holder string

	record    Record // as the last fenced edit returned it
	token     int64  // of our lease; 0 while we hold none
	beatAt    time.Time
	changedAt time.Time // when the last change that members must see was answered
	agreed    int64     // generation that every member was seen to have
	progress  Progress
	pace      pace
	roll      roll
	census    census
	catalog   *catalog
	events    int
	report    *Report
	inherited []row // of the moving set that was found at take-over
}

// NewRunner is a runner for the move that spec names. It sends no request.
func NewRunner(client Client, spec Spec, opts Options) (*Runner, error) {
	resolved, err := spec.Resolve()
	opts = opts.withDefaults()
	if err := errors.Join(err, opts.validate()); err != nil {
		return nil, err
	}
	return &Runner{
		client: client, spec: resolved, shelf: resolved.shelf(), opts: opts,
		holder: cmp.Or(opts.Holder, newID()) + "/" + rand.Text()[:8],
	}, nil
}

func (r *Runner) load(ctx context.Context) (Record, error) {
	return loadRecord(ctx, r.client, r.shelf)
}

// Record is the record as the runner last saw it.
func (r *Runner) Record() Record { return r.record }

// Start takes the lease and, where there is no record, creates it in phase
// planned. A record of the same layouts is resumed; an archived one whose move
// ended where this one begins is continued.
func (r *Runner) Start(ctx context.Context) error {
	if err := r.look(ctx); err != nil {
		return err
	}
	record, err := r.load(ctx)
	switch {
	case errors.Is(err, ErrNoRecord):
		if err := r.create(ctx); err != nil {
			return err
		}
	case err != nil:
		return err
	default:
		return r.resume(ctx, record)
	}
	return r.acquire(ctx)
}

// look reads what the service says about table and index, once.
func (r *Runner) look(ctx context.Context) (err error) {
	if r.catalog == nil {
		r.catalog, err = describe(ctx, r.client, r.spec)
	}
	return err
}

func (r *Runner) create(ctx context.Context) error {
	record := Record{
		Format: Format, Name: r.spec.Name, Function: shard.Function,
		Phase: shard.Planned, Generation: 1, Open: true,
		From: r.spec.From, To: r.spec.To, Owner: r.spec.Owner, Entity: r.spec.Entity, Key: r.spec.Key,
		Bounds:    r.opts.Bounds,
		Control:   Control{Budget: r.opts.Budget, Rate: r.opts.Rate},
		StartedAt: stamp(), ChangedAt: stamp(),
	}
	// A member that has seen no record yet goes by the default bound.
	record.Bounds.Prior = Bounds{}.withDefaults().Stale
	e := newEdit().absent()
	b, err := encode(record)
	if err != nil {
		return fmt.Errorf("create %s of %s: %w", recordItem, r.shelf.prefix, err)
	}
	_, err = sendEdit(ctx, r.client, r.shelf, recordItem, e.top(body, b))
	if err != nil && !errors.Is(err, errCondition) {
		return err
	}
	return nil // somebody else, or an answer that was lost, created it: resume decides
}

// resume goes on with a record that is there.
func (r *Runner) resume(ctx context.Context, record Record) error {
	if spelled(record.From) == spelled(r.spec.From) && spelled(record.To) == spelled(r.spec.To) {
		if record.Archived {
			return r.reopen(ctx, record)
		}
		return r.acquire(ctx)
	}
	ends := record.To
	if record.Phase == shard.Planned {
		ends = record.From
	}
	if !record.Archived || spelled(ends) != spelled(r.spec.From) {
		return fmt.Errorf("start %s: %w", r.spec.Name, &MismatchError{
			Prefix: r.shelf.prefix, Field: "layout",
			Record: fmt.Sprintf("%s to %s (%s, archived %t)", record.From, record.To, record.Phase, record.Archived),
			Spec:   fmt.Sprintf("%s to %s", r.spec.From, r.spec.To),
		})
	}
	return r.reopen(ctx, record)
}

// reopen begins the next move on an archived record. Its phase planned means to
// members what the end of the move before meant.
func (r *Runner) reopen(ctx context.Context, record Record) error {
	spec := r.spec
	if record.Phase == shard.Complete && spelled(record.From) == spelled(spec.From) {
		return r.acquire(ctx) // the same move, complete and archived: nothing to begin
	}
	if err := r.acquire(ctx); err != nil {
		return err
	}
	r.spec = spec
	bounds := r.record.Bounds
	bounds.Prior = max(r.record.stale(), bounds.Prior)
	err := r.changed(ctx, newEdit().
		put("name", spec.Name).put("from", spec.From).put("to", spec.To).put("phase", shard.Planned).
		put("open", true).put("archived", false).put("bounds", bounds).
		put("progress", Progress{}).put("pass", nil).put("startedAt", stamp()).put("changedAt", stamp()))
	if err != nil {
		return err
	}
	r.progress = Progress{}
	r.tell(ctx, Event{Kind: EventStarted, Text: fmt.Sprintf("%s to %s", spec.From, spec.To)})
	return nil
}

// changed applies an edit that members must see: it raises the generation.
func (r *Runner) changed(ctx context.Context, e *edit) error {
	generation := r.record.Generation
	err := r.fenced(ctx, e.is("generation", generation).put("generation", generation+1))
	if errors.Is(err, errCondition) {
		now, err := r.load(ctx)
		if err != nil {
			return err
		}
		if now.Lease.Token != r.token || now.Generation != generation+1 {
			r.token = 0
			return fmt.Errorf("%w: %s", ErrLeaseLost, r.shelf.prefix)
		}
		r.record = now // our own change, whose answer was lost
	} else if err != nil {
		return err
	}
	r.changedAt = time.Now()
	return nil
}

// Archive closes a move that is complete or was rolled back to planned. The way
// back ends here; the next move may begin on the same record.
func (r *Runner) Archive(ctx context.Context) error {
	if err := r.acquire(ctx); err != nil {
		return err
	}
	if r.record.Archived {
		return nil
	}
	if r.record.Phase != shard.Complete && r.record.Phase != shard.Planned {
		return r.refuse(ctx, &GateError{
			Gate: "phase", From: r.record.Phase,
			Why: fmt.Sprintf("the move is in phase %s", r.record.Phase),
			Do:  "complete it or roll it back, then archive",
		})
	}
	if err := r.agree(ctx); err != nil {
		return err
	}
	err := r.changed(ctx, newEdit().put("open", false).put("archived", true).
		put("bounds.priorStaleMillis", r.record.stale().Milliseconds()).put("changedAt", stamp()))
	if err != nil {
		return err
	}
	r.tell(ctx, Event{Kind: EventArchived, Text: fmt.Sprintf("in phase %s", r.record.Phase)})
	return nil
}

// refuse records and returns a gate's refusal.
func (r *Runner) refuse(ctx context.Context, gate *GateError) error {
	if gate.Since == "" && r.record.ChangedAt != "" {
		gate.Since = fmt.Sprintf("%s began %s", r.record.Phase, r.record.ChangedAt)
	}
	r.tell(ctx, Event{Kind: EventRefused, Text: gate.Error()})
	return gate
}
