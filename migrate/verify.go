package migrate

import (
	"context"
	"errors"
	"hash/maphash"
	"sync"
	"time"

	"github.com/hotsplit/hotsplit/shard"
)

// VerifyOptions tunes a verification. The zero value checks every owner once.
type VerifyOptions struct {
	Sample   int           // owners to check; 0 means all
	Seed     uint64        // of the sample
	Segments int           // base scan segments read at once; 0 means 4
	Rounds   int           // looks at a row before it is a defect; 0 means 4
	Settle   time.Duration // between the first two looks, doubling; 0 means what the record says
	Observe  func(Finding) // told each finding as it is made

	// alive is called between requests; an error ends the verification.
	alive func(context.Context) error
}

const (
	verifySegments = 4
	verifyRounds   = 4
	// rowsAtOnce bounds the rows whose index entries are held in memory, at 24
	// bytes each. A larger index is verified in parts, each reading all of it.
	rowsAtOnce = 2_000_000
	// suspectsAtOnce bounds the rows that wait to be looked at again.
	suspectsAtOnce = 1000
)

func (o VerifyOptions) withDefaults(record Record) VerifyOptions {
	if o.Segments <= 0 {
		o.Segments = verifySegments
	}
	if o.Rounds <= 0 {
		o.Rounds = verifyRounds
	}
	if o.Settle <= 0 {
		o.Settle = record.Bounds.withDefaults().Settle
	}
	if o.alive == nil {
		o.alive = func(ctx context.Context) error { return ctx.Err() }
	}
	return o
}

// verification compares what the index shows with what the base table holds.
type verification struct {
	client  ReadAPI
	spec    Spec
	record  Record
	routing shard.Routing
	sieve   sieve
	catalog *catalog
	opts    VerifyOptions
	keys    []string // every key of both layouts
	started time.Time

	mu       sync.Mutex
	report   Report
	digest   digester
	owners   map[uint64]bool // whether something was found against one
	suspects []*suspect
}

// Verify compares every owner's rows on the index with a strongly consistent scan
// of the base table. Differences are looked at again until they vanish, keep
// changing, or stand still and are defects. What was found is in the report even
// where an error ends it; Report.Err tells the three answers apart.
func Verify(ctx context.Context, client ReadAPI, spec Spec, opts VerifyOptions) (Report, error) {
	v, err := newVerification(ctx, client, spec, opts)
	if err != nil {
		return Report{}, err
	}
	if opts.Sample > 0 {
		err = v.sample(ctx)
	} else {
		err = v.all(ctx)
	}
	return v.finish(err), err
}

func newVerification(ctx context.Context, client ReadAPI, spec Spec, opts VerifyOptions) (*verification, error) {
	spec, err := spec.Resolve()
	if err != nil {
		return nil, err
	}
	record, err := loadRecord(ctx, client, spec.shelf())
	routing := record.Routing()
	switch {
	case errors.Is(err, ErrNoRecord):
		record = Record{Phase: shard.Planned, From: spec.From, To: spec.To}
		routing = shard.Static(spec.From)
	case err != nil:
		return nil, err
	default:
		spec = record.spec(spec)
	}
	c, err := describe(ctx, client, spec)
	if err != nil {
		return nil, err
	}
	v := &verification{
		client: client, spec: spec, record: record, routing: routing, catalog: c,
		opts: opts.withDefaults(record), started: time.Now(),
		sieve:  sieve{spec: spec, shelf: spec.shelf(), way: way{from: record.From, to: record.To}},
		digest: digester{seed: maphash.MakeSeed(), keep: c.projected, key: spec.Key},
		owners: map[uint64]bool{},
		report: Report{
			Name: spec.Name, Phase: record.Phase, Generation: record.Generation,
			Sample: opts.Sample, Seed: opts.Seed, At: stamp(), excluded: map[string]bool{},
		},
	}
	for _, class := range record.Excluded {
		v.report.excluded[class] = true
	}
	seen := map[string]bool{}
	for _, key := range append(record.From.Keys(), record.To.Keys()...) {
		if !seen[key] {
			seen[key] = true
			v.keys = append(v.keys, key)
		}
	}
	return v, nil
}

func (v *verification) finish(err error) Report {
	r := &v.report
	r.Seconds = time.Since(v.started).Seconds()
	r.Owners.Checked = int64(len(v.owners))
	for _, against := range v.owners {
		if !against {
			r.Owners.Identical++
		}
	}
	r.Rows.OK = r.Rows.Checked - r.Rows.InFlight - r.Rows.Defects
	if err != nil {
		r.Unfinished = err.Error()
	}
	return *r
}

// all compares the whole index with the whole base table.
func (v *verification) all(ctx context.Context) error {
	parts := uint64(1 + v.catalog.rows()/rowsAtOnce)
	for part := range parts {
		mine := func(id uint64) bool { return id%parts == part }
		entries, err := v.walkIndex(ctx, mine)
		if err != nil {
			return err
		}
		if err := v.scanBase(ctx, mine, entries); err != nil {
			return err
		}
		if err := v.extras(ctx, entries); err != nil {
			return err
		}
		if err := v.recheck(ctx); err != nil {
			return err
		}
	}
	return nil
}

// VerifyContinuously verifies over and over until ctx ends, with a pause between,
// and hands each report to observe.
func VerifyContinuously(ctx context.Context, client ReadAPI, spec Spec, opts VerifyOptions, every time.Duration, observe func(Report, error)) error {
	for round := uint64(0); ; round++ {
		turn := opts
		turn.Seed += round
		report, err := Verify(ctx, client, spec, turn)
		if ctx.Err() != nil {
			return ctx.Err()
		}
		observe(report, err)
		if err := sleep(ctx, every); err != nil {
			return err
		}
	}
}
