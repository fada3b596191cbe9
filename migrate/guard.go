package migrate

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/hotsplit/hotsplit/shard"
)

// ErrDrift says that rows carry a key that nobody reads any more. Heal them and
// stop who stamps it; a retry finds them again.
var ErrDrift = errors.New("migrate: rows on a key that was left")

// GuardOptions tunes a guard. The zero value looks and changes nothing.
type GuardOptions struct {
	Heal   bool          // move what is found, under the runner's rules
	Fence  Fence         // of such moves
	Full   bool          // scan the base table too: finds rows that are on a wrong shard
	Every  time.Duration // between looks of Watch; 0 means 1 min
	For    time.Duration // how long Watch runs; 0 means until its context ends
	Blame  []string      // attributes of a row that tell who wrote it, e.g. updatedBy
	Holder string        // shown while it heals
	// Throttles counts the index's key-range throttles in a span of wall-clock
	// time, from CloudWatch or another counter. nil leaves them out.
	Throttles func(ctx context.Context, from, to time.Time) (float64, error)
	Observe   func(GuardReport)
}

const guardEvery = time.Minute

// Straggler is a row on a key that was left.
type Straggler struct {
	Key      Item              `json:"-"`
	KeyText  string            `json:"key"`
	Owner    string            `json:"owner,omitempty"`
	IndexKey string            `json:"indexKey"`
	Want     string            `json:"want,omitempty"`
	Class    string            `json:"unshardable,omitempty"` // why its owner cannot be keyed
	Blame    map[string]string `json:"blame,omitempty"`
	row      *row
}

// Throttles compares the index's key-range throttles with the same span before
// the move.
type Throttles struct {
	Before  float64 `json:"before"`
	During  float64 `json:"during"`
	Seconds float64 `json:"seconds"`
}

// GuardReport is what a guard found.
type GuardReport struct {
	Phase      shard.Phase `json:"phase"`
	Generation int64       `json:"generation"`
	At         string      `json:"at"`
	Looks      int64       `json:"looks"`
	Failures   int64       `json:"failures"` // looks that could not find out
	Found      int64       `json:"found"`    // stragglers, over all looks
	Healed     int64       `json:"healed"`
	First      string      `json:"first,omitempty"` // when stragglers were first and last seen
	Last       string      `json:"last,omitempty"`
	Stragglers []Straggler `json:"stragglers,omitempty"` // of the last look that found some
	Behind     []Member    `json:"behind,omitempty"`     // members on an older generation: the first to suspect
	NotHealed  string      `json:"notHealed,omitempty"`  // why not
	Unknown    string      `json:"unknown,omitempty"`    // why the last look failed
	Throttles  *Throttles  `json:"throttles,omitempty"`
}

// Err is nil where nothing drifted, wraps ErrDrift where something did, and
// ErrUnverified where the last look could not find out.
func (g GuardReport) Err() error {
	switch {
	case g.Found > 0:
		return fmt.Errorf("%w: %d found, %d healed", ErrDrift, g.Found, g.Healed)
	case g.Unknown != "":
		return fmt.Errorf("%w: %s", ErrUnverified, g.Unknown)
	}
	return nil
}

// Guard keeps the old key from coming back. It may run for ever.
type Guard struct {
	client  Client
	spec    Spec
	opts    GuardOptions
	report  GuardReport
	known   map[string]bool // stragglers that are counted
	catalog *catalog
}

// NewGuard is a guard for the move that spec names. It sends no request.
func NewGuard(client Client, spec Spec, opts GuardOptions) (*Guard, error) {
	resolved, err := spec.Resolve()
	if err != nil {
		return nil, err
	}
	if opts.Every <= 0 {
		opts.Every = guardEvery
	}
	return &Guard{client: client, spec: resolved, opts: opts}, nil
}

// Once looks once. The error says why it could not; what was found is in the
// report.
func (g *Guard) Once(ctx context.Context) (GuardReport, error) {
	err := g.look(ctx)
	g.report.Looks++
	g.report.At = stamp()
	if g.report.Unknown = ""; err != nil {
		g.report.Failures++
		g.report.Unknown = err.Error()
	}
	if g.opts.Observe != nil {
		g.opts.Observe(g.report)
	}
	return g.report, err
}

// Watch looks over and over, until its span has passed or ctx ends, and sums up.
// A look that fails is made again at the next turn.
func (g *Guard) Watch(ctx context.Context) (GuardReport, error) {
	began := time.Now()
	for {
		if _, err := g.Once(ctx); err != nil && ctx.Err() != nil {
			return g.report, ctx.Err()
		}
		pause := g.opts.Every
		if g.opts.For > 0 {
			left := g.opts.For - time.Since(began)
			if left <= 0 {
				return g.report, g.countThrottles(ctx, began)
			}
			pause = min(pause, left)
		}
		if err := sleep(ctx, pause); err != nil {
			return g.report, err
		}
	}
}

// countThrottles compares the watched span with one as long before the move.
func (g *Guard) countThrottles(ctx context.Context, began time.Time) error {
	if g.opts.Throttles == nil {
		return nil
	}
	record, err := loadRecord(ctx, g.client, g.spec.shelf())
	if err != nil {
		return err
	}
	started, err := time.Parse(time.RFC3339Nano, record.StartedAt)
	if err != nil {
		return fmt.Errorf("%w: the record does not say when the move began", ErrUnverified)
	}
	span := time.Since(began)
	before, err := g.opts.Throttles(ctx, started.Add(-span), started)
	if err != nil {
		return fmt.Errorf("%w: throttles before the move: %w", ErrUnverified, err)
	}
	during, err := g.opts.Throttles(ctx, began, began.Add(span))
	if err != nil {
		return fmt.Errorf("%w: throttles while watching: %w", ErrUnverified, err)
	}
	g.report.Throttles = &Throttles{Before: before, During: during, Seconds: span.Seconds()}
	return nil
}

func (g *Guard) look(ctx context.Context) error {
	record, err := loadRecord(ctx, g.client, g.spec.shelf())
	if err != nil {
		return err
	}
	spec := record.spec(g.spec)
	g.report.Phase, g.report.Generation = record.Phase, record.Generation
	members, err := spec.shelf().members(ctx, g.client)
	if err != nil {
		return err
	}
	g.report.Behind = nil
	for _, m := range members {
		if m.Generation < record.Generation {
			g.report.Behind = append(g.report.Behind, m)
		}
	}
	if record.Phase != shard.Verified && record.Phase != shard.Complete {
		return nil // rows on the old key are where they belong
	}
	found, err := g.find(ctx, spec, record)
	if err != nil || len(found) == 0 {
		return err
	}
	g.report.Found += g.news(found)
	g.report.Last = stamp()
	if g.report.First == "" {
		g.report.First = g.report.Last
	}
	g.report.Stragglers = found[:min(len(found), findingsMax)]
	g.report.NotHealed = ""
	if g.opts.Heal {
		return g.heal(ctx, spec, found)
	}
	return nil
}

// knownMax bounds the stragglers that are remembered as counted.
const knownMax = 100_000

// news counts the stragglers that the looks before did not find.
func (g *Guard) news(found []Straggler) int64 {
	if g.known == nil || len(g.known) > knownMax || g.opts.Heal {
		g.known = map[string]bool{}
	}
	n := int64(0)
	for _, s := range found {
		if !g.known[s.KeyText] {
			n++
		}
		g.known[s.KeyText] = true
	}
	return n
}

// find lists the rows on keys that were left: those that the index shows, and
// with Full those of the base table.
func (g *Guard) find(ctx context.Context, spec Spec, record Record) ([]Straggler, error) {
	if g.catalog == nil {
		c, err := describe(ctx, g.client, spec)
		if err != nil {
			return nil, err
		}
		g.catalog = c
	}
	s := sieve{spec: spec, shelf: spec.shelf(), way: way{from: record.From, to: record.To}}
	var candidates []Item
	note := func(item Item) {
		if drifted(s, item) {
			candidates = append(candidates, only(spec.Key, item))
		}
	}
	if err := g.readLeft(ctx, s, note); err != nil {
		return nil, err
	}
	if g.opts.Full {
		if err := g.readBase(ctx, s, note); err != nil {
			return nil, err
		}
	}
	// An index entry is a candidate: the base row may have moved since.
	rows, err := batchGet(ctx, g.client, spec.Table, spec.Key, distinct(spec.Key, candidates), append(s.wants(), g.opts.Blame...))
	if err != nil {
		return nil, err
	}
	var found []Straggler
	for _, id := range slices.Sorted(maps.Keys(rows)) {
		if item := rows[id]; drifted(s, item) {
			row, class := s.read(item)
			found = append(found, g.straggler(row, string(class), item))
		}
	}
	return found, nil
}

// distinct drops keys that are listed already.
func distinct(names []string, keys []Item) []Item {
	seen := map[string]bool{}
	return slices.DeleteFunc(keys, func(key Item) bool {
		id := keyText(names, key)
		twice := seen[id]
		seen[id] = true
		return twice
	})
}

// drifted says whether a row carries a key that was left, or not its owner's.
func drifted(s sieve, item Item) bool {
	row, class := s.read(item)
	if row == nil || (class == "" && row.at == row.to) {
		return false
	}
	_, onTo := s.way.to.Parse(row.at)
	return class == "" || onTo != nil // nobody can say where the others belong
}

func (g *Guard) straggler(row *row, class string, item Item) Straggler {
	one := Straggler{
		Key: row.key, KeyText: spellKey(g.spec.Key, row.key), Owner: row.owner,
		IndexKey: row.at, Want: row.to, Class: class, row: row,
	}
	for _, attribute := range g.opts.Blame {
		if _, text := scalar(item[attribute]); text != "" {
			if one.Blame == nil {
				one.Blame = map[string]string{}
			}
			one.Blame[attribute] = text
		}
	}
	return one
}

// heal moves what was found. Rows on keys that nobody reads in phase complete are
// moved at once; rows on keys that are still read need the moving set, and so
// the phase verified.
func (g *Guard) heal(ctx context.Context, spec Spec, found []Straggler) error {
	runner, err := NewRunner(g.client, spec, Options{Holder: g.opts.Holder, Fence: g.opts.Fence, Alone: true, Watch: -1})
	if err != nil {
		return err
	}
	healed, err := runner.heal(ctx, found)
	g.report.Healed += int64(healed)
	err = errors.Join(err, runner.Release(ctx))
	if errors.Is(err, ErrLeaseHeld) || errors.Is(err, ErrRefused) {
		g.report.NotHealed = err.Error()
		return nil
	}
	return err
}

func (r *Runner) heal(ctx context.Context, found []Straggler) (int, error) {
	if err := r.ready(ctx); err != nil {
		return 0, err
	}
	var hidden, shown []*row
	for _, s := range found {
		if s.Class != "" {
			continue
		}
		if _, read := r.record.To.Parse(s.row.at); read == nil {
			shown = append(shown, s.row)
		} else {
			hidden = append(hidden, s.row)
		}
	}
	complete := r.record.Phase == shard.Complete
	if !complete {
		return r.healRows(ctx, append(hidden, shown...))
	}
	n, err := r.moveHidden(ctx, hidden)
	if err != nil || len(shown) == 0 {
		return n, err
	}
	if err := r.rollbackTo(ctx, shard.Verified); err != nil {
		return n, err
	}
	more, err := r.healRows(ctx, shown)
	if err != nil {
		return n + more, err
	}
	return n + more, r.Complete(ctx)
}

// moveHidden moves rows that no reader sees where they are. They appear with
// their new entry; there is nothing that could be missed in between.
func (r *Runner) moveHidden(ctx context.Context, rows []*row) (int, error) {
	before := r.progress.Moved
	m := r.mover()
	r.pace.set(r.record.Control)
	for len(rows) > 0 {
		n, wait := r.pace.allow(min(len(rows), r.opts.ChunkRows))
		if n == 0 {
			if err := r.rest(ctx, wait); err != nil {
				return int(r.progress.Moved - before), err
			}
			continue
		}
		result, err := m.move(ctx, rows[:n:n])
		r.count(result)
		r.pace.spent(len(result.done), result.oldUnits)
		rows = without(rows, result.done)
		if err != nil {
			if !passing(err) || r.silent() {
				return int(r.progress.Moved - before), err
			}
			if err := sleep(ctx, weatherPause); err != nil {
				return int(r.progress.Moved - before), err
			}
		}
	}
	n := int(r.progress.Moved - before)
	r.straggled(ctx, n)
	return n, r.beat(ctx)
}

// without lists the rows that are not done.
func without(rows, done []*row) []*row {
	gone := make(map[*row]bool, len(done))
	for _, r := range done {
		gone[r] = true
	}
	var left []*row
	for _, r := range rows {
		if !gone[r] {
			left = append(left, r)
		}
	}
	return left
}
