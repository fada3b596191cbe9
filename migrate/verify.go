package migrate

import (
	"context"
	"errors"
	"fmt"
	"hash/maphash"
	"sync"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"golang.org/x/sync/errgroup"

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
	// rowsAtOnce bounds the rows whose index entries are held in memory, at some
	// 40 bytes each. A larger index is verified in parts, each reading all of it.
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

// entry is what is remembered of an index entry.
type entry struct {
	content uint64
	key     uint32 // number of the index key
	twice   bool   // seen under another key too
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

const walkInFlight = 8

// walkIndex reads every key of both layouts.
func (v *verification) walkIndex(ctx context.Context, mine func(uint64) bool) (map[uint64]entry, error) {
	entries := make(map[uint64]entry, min(v.catalog.rows(), rowsAtOnce))
	err := v.walk(ctx, nil, func(n int, item Item) {
		if _, told := item[v.spec.Entity.Attribute]; told && v.sieve.others(item) {
			return
		}
		id := v.digest.id(item)
		if !mine(id) {
			return
		}
		if known, twice := entries[id]; twice {
			known.twice = true
			entries[id] = known
			return
		}
		entries[id] = entry{content: v.digest.content(item), key: uint32(n)}
	})
	return entries, err
}

// walk visits the entries of the index keys whose number wanted names; nil visits
// all. Visits do not overlap.
func (v *verification) walk(ctx context.Context, wanted map[uint32]bool, visit func(key int, item Item)) error {
	g, ctx := errgroup.WithContext(ctx)
	g.SetLimit(walkInFlight)
	for n, key := range v.keys {
		if wanted != nil && !wanted[uint32(n)] {
			continue
		}
		g.Go(func() error {
			return v.queryKey(ctx, key, nil, func(item Item) {
				v.mu.Lock()
				defer v.mu.Unlock()
				visit(n, item)
			})
		})
	}
	return g.Wait()
}

// queryKey reads one index key to its end; narrow adds a condition.
func (v *verification) queryKey(ctx context.Context, key string, narrow func(*dynamodb.QueryInput), visit func(Item)) error {
	layout := v.record.From
	in := &dynamodb.QueryInput{
		TableName: &v.spec.Table, IndexName: &layout.Index,
		KeyConditionExpression:    new("#key = :key"),
		ExpressionAttributeNames:  map[string]string{"#key": layout.PartitionKey},
		ExpressionAttributeValues: Item{":key": str(key)},
	}
	if narrow != nil {
		narrow(in)
	}
	for {
		if err := v.opts.alive(ctx); err != nil {
			return err
		}
		out, err := v.client.Query(ctx, in)
		if err != nil {
			return fmt.Errorf("query %s on %s: %w", key, layout.Index, err)
		}
		for _, item := range out.Items {
			visit(item)
		}
		if len(out.LastEvaluatedKey) == 0 {
			return nil
		}
		in.ExclusiveStartKey = out.LastEvaluatedKey
	}
}

// scanBase reads the base table strongly and holds each row against its entry.
// Entries that were matched are taken out; what stays has no row.
func (v *verification) scanBase(ctx context.Context, mine func(uint64) bool, entries map[uint64]entry) error {
	return v.scan(ctx, func(item Item) {
		id := v.digest.id(item)
		if !mine(id) {
			return
		}
		e, there := entries[id]
		delete(entries, id)
		v.hold(item, e, there)
	})
}

// scan visits every row of the base table that carries an index key. Visits do
// not overlap; between pages, suspects are looked at again.
func (v *verification) scan(ctx context.Context, visit func(Item)) error {
	segments := v.opts.Segments
	if v.catalog.rows() < pageRowsMax {
		segments = 1
	}
	projected := v.projected()
	g, gctx := errgroup.WithContext(ctx)
	for segment := range segments {
		g.Go(func() error {
			in := scanInput(v.spec, v.sieve, projected)
			if segments > 1 {
				in.Segment, in.TotalSegments = new(int32(segment)), new(int32(segments))
			}
			for {
				if err := v.opts.alive(gctx); err != nil {
					return err
				}
				out, err := v.client.Scan(gctx, in)
				if err != nil {
					return fmt.Errorf("scan segment %d of %s: %w", segment, v.spec.Table, err)
				}
				v.mu.Lock()
				for _, item := range out.Items {
					visit(item)
				}
				v.mu.Unlock()
				if err := v.recheckMany(gctx); err != nil {
					return err
				}
				if len(out.LastEvaluatedKey) == 0 {
					return nil
				}
				in.ExclusiveStartKey = out.LastEvaluatedKey
			}
		})
	}
	return g.Wait()
}

// projected lists the attributes to compare, where the index does not carry all.
func (v *verification) projected() []string {
	p := v.catalog.index.Projection
	if p == nil || p.ProjectionType == "ALL" || p.ProjectionType == "" {
		return nil
	}
	return append(v.sieve.wants(), p.NonKeyAttributes...)
}

// hold compares one base row with its entry. The lock is held.
func (v *verification) hold(item Item, e entry, there bool) {
	r, class := v.sieve.read(item)
	if r == nil {
		if v.sieve.foreign(item) {
			v.report.Rows.Checked++
			v.suspects = append(v.suspects, &suspect{key: only(v.spec.Key, item)})
		}
		return
	}
	if r.sort == nil && v.record.From.SortKey != "" {
		return // without a sort key the index never holds it
	}
	v.report.Rows.Checked++
	_, onTo := v.record.To.Parse(r.at)
	switch {
	case onTo == nil:
		v.report.Rows.OnTo++
	default:
		v.report.Rows.OnFrom++
	}
	if class != "" && !(v.onlyUnsharded() && r.at == v.routing.Write.Base) {
		v.unshardable(r, item, string(class))
		return
	}
	owner, _ := textOf(item[v.spec.Owner])
	if _, known := v.owners[v.digest.text(owner)]; !known {
		v.owners[v.digest.text(owner)] = false
	}
	if there && !e.twice && v.keys[e.key] == r.at && v.allowed(r.at, owner) && e.content == v.digest.content(item) {
		return
	}
	s := &suspect{key: r.key, owner: owner}
	if there {
		s.keys = []string{v.keys[e.key]}
	}
	v.suspects = append(v.suspects, s)
}

// onlyUnsharded says that the phase knows one unsharded layout, where an owner
// decides nothing.
func (v *verification) onlyUnsharded() bool {
	return len(v.routing.Read) == 1 && v.routing.Write.Count == 0
}

// allowed says whether a row may carry key in the record's phase.
func (v *verification) allowed(key, owner string) bool {
	switch v.record.Phase {
	case shard.Planned, shard.DualRead:
		return key == v.record.From.Key(owner)
	case shard.Verified, shard.Complete:
		return key == v.record.To.Key(owner)
	case shard.WriteNew, shard.Backfill, shard.Reverting:
	}
	return key == v.record.From.Key(owner) || key == v.record.To.Key(owner)
}

// unshardable is a defect unless the operator leaves its class behind. The lock
// is held.
func (v *verification) unshardable(r *row, item Item, class string) {
	if v.report.Classes == nil {
		v.report.Classes = map[string]int64{}
	}
	v.report.Classes[class]++
	if v.report.excluded[class] {
		return
	}
	v.found(Finding{
		Verdict: VerdictDefect, Kind: KindUnshardable, Key: r.key, IndexKey: r.at, Detail: class, row: item,
	})
}

// found reports a finding. The lock is held.
func (v *verification) found(f Finding) {
	f.KeyText = spellKey(v.spec.Key, f.Key)
	if f.Verdict == VerdictDefect && f.Owner != "" {
		v.owners[v.digest.text(f.Owner)] = true
	}
	v.report.add(f)
	if v.opts.Observe != nil {
		v.opts.Observe(f)
	}
}

// spellKey writes a base key for people.
func spellKey(names []string, key Item) string {
	text := ""
	for i, name := range names {
		if i > 0 {
			text += " / "
		}
		_, value := scalar(key[name])
		text += value
	}
	return text
}

// extras looks again at the entries that no base row answered for.
func (v *verification) extras(ctx context.Context, entries map[uint64]entry) error {
	if len(entries) == 0 {
		return nil
	}
	wanted := map[uint32]bool{}
	for _, e := range entries {
		wanted[e.key] = true
	}
	return v.walk(ctx, wanted, func(n int, item Item) {
		id := v.digest.id(item)
		if _, left := entries[id]; !left {
			return
		}
		delete(entries, id)
		if v.sieve.shelf.holds(item) {
			return
		}
		v.suspects = append(v.suspects, &suspect{key: only(v.spec.Key, item), keys: []string{v.keys[n]}, sort: item[v.record.From.SortKey]})
	})
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
