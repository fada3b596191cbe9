package migrate

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/hotsplit/hotsplit/shard"
)

// Step is one change of phase that a move would make.
type Step struct {
	From shard.Phase   `json:"from"`
	To   shard.Phase   `json:"to"`
	Does string        `json:"does"`
	Wait time.Duration `json:"-"`
	Text string        `json:"wait"`
}

// Plan is what a move would do, found out without a write.
type Plan struct {
	Phase   shard.Phase  `json:"phase"` // where it stands; "" where there is no record
	Steps   []Step       `json:"steps"`
	Facts   Facts        `json:"facts"`
	Members []Member     `json:"members"`
	Gates   []*GateError `json:"-"` // that would refuse as things are
	Refused []string     `json:"refused,omitempty"`
}

// Err wraps ErrRefused where a gate would refuse.
func (p Plan) Err() error {
	errs := make([]error, len(p.Gates))
	for i, g := range p.Gates {
		errs[i] = g
	}
	return errors.Join(errs...)
}

// DryRun says what Move would do and which gates would refuse it, with a client
// that can only read.
func DryRun(ctx context.Context, client ReadAPI, spec Spec, opts Options) (Plan, error) {
	var p Plan
	opts = opts.withDefaults()
	spec, err := spec.Resolve()
	if err := errors.Join(err, opts.validate()); err != nil {
		return p, err
	}
	record, err := loadRecord(ctx, client, spec.shelf())
	switch {
	case errors.Is(err, ErrNoRecord):
		record = Record{Phase: shard.Planned, Bounds: opts.Bounds, Open: true, From: spec.From, To: spec.To}
	case err != nil:
		return p, err
	default:
		p.Phase = record.Phase
		if record.Lease.Holder != "" {
			p.gate(&GateError{Gate: "lease", Why: fmt.Sprintf("runner %s holds the lease", record.Lease.Holder), Do: "wait for it, or stop it"})
		}
		if err := (look{record: record, found: true}).fits(spec); err != nil {
			p.gate(&GateError{Gate: "layout", Why: err.Error(), Do: "correct the spec"})
		}
	}
	if p.Members, err = spec.shelf().members(ctx, client); err != nil {
		return p, err
	}
	if p.Facts, err = Inspect(ctx, client, spec); err != nil {
		return p, err
	}
	p.weigh(record, opts)
	p.steps(record)
	return p, nil
}

// DryRun says what Move would do, by reads alone.
func (r *Runner) DryRun(ctx context.Context) (Plan, error) {
	return DryRun(ctx, r.client, r.spec, r.opts)
}

func (p *Plan) gate(g *GateError) {
	p.Gates = append(p.Gates, g)
	p.Refused = append(p.Refused, g.Error())
}

func (p *Plan) weigh(record Record, opts Options) {
	excluded := map[string]bool{}
	for _, class := range record.Excluded {
		excluded[class] = true
	}
	for _, fact := range p.Facts.Facts {
		if fact.Severity == SeverityFault && fact.Name != "unshardable" {
			p.gate(&GateError{Gate: fact.Name, Why: fact.Text, Do: fact.Do})
		}
	}
	for class, n := range p.Facts.Unshardable {
		if !excluded[class] {
			p.gate(&GateError{
				Gate: "unshardable", From: shard.Backfill, To: shard.Verified,
				Why: fmt.Sprintf("%d rows have an owner that cannot be keyed: %s", n, class),
				Do:  fmt.Sprintf("repair them, or leave them behind by name: exclude %q", class),
			})
		}
	}
	before := record.Phase == shard.Planned || record.Phase == shard.DualRead
	if before && !opts.Alone && opts.Confirm == nil {
		p.gate(&GateError{
			Gate: string(QuestionAlone), From: shard.DualRead, To: shard.WriteNew,
			Why: fmt.Sprintf("%d members report; does any other process read or write the rows?", len(p.Members)),
			Do:  "confirm it: this is what no tool can see",
		})
	}
}

func (p *Plan) steps(record Record) {
	bound := max(record.stale(), record.Bounds.Prior)
	for phase := record.Phase; ; {
		next, ok := nextForward(phase)
		if !ok {
			return
		}
		step := Step{From: phase, To: next, Wait: bound, Text: fmt.Sprintf("%v, and for every member", bound)}
		switch {
		case phase == shard.Backfill:
			step.Does = fmt.Sprintf("moves %d rows, %s to %s", p.Facts.ToMove, record.From, record.To)
			step.Text = fmt.Sprintf("%v, then about %v of moving", bound, p.Facts.Duration.Round(time.Second))
		case phase == shard.Verified:
			step.Does = "verifies every owner, then watches for stragglers"
		default:
			step.Does = "changes the routing"
		}
		p.Steps = append(p.Steps, step)
		phase = next
	}
}
