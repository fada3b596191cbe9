package demo

import (
	"context"
	"fmt"
	"math/rand/v2"
	"slices"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
	"golang.org/x/sync/errgroup"

	"github.com/hotsplit/hotsplit/fanout"
	"github.com/hotsplit/hotsplit/migrate"
)

// bounds are the waits of the move, pressed like the traffic: the index of the
// stage lags some tens of milliseconds.
var bounds = migrate.Bounds{
	Poll: 200 * time.Millisecond, PollIdle: 500 * time.Millisecond,
	Stale: 800 * time.Millisecond, StaleIdle: 1500 * time.Millisecond,
	Settle: 250 * time.Millisecond, Lease: 5 * time.Second, Member: 10 * time.Second,
}

// stragglerWindow is how long no row may appear on the old key before the move
// completes.
const stragglerWindow = time.Second

// Run shows a move and measures it. The result is complete where the error is
// nil; whether the move is proved is for Result.Faults to say.
func Run(ctx context.Context, o Options) (*Result, error) {
	o = o.withDefaults()
	spec, err := o.spec()
	if err != nil {
		return nil, err
	}
	if err := o.check(spec); err != nil {
		return nil, err
	}
	s := &show{options: o, spec: spec, stage: newStage(o, spec), started: time.Now(),
		random: rand.New(rand.NewPCG(uint64(o.Seed), 85))}
	if err := s.prepare(ctx); err != nil {
		return nil, err
	}
	return s.play(ctx)
}

// show is one demonstration under way.
type show struct {
	options Options
	spec    migrate.Spec
	stage   *stage
	started time.Time
	random  *rand.Rand

	rows   []item
	loaded map[rowKey]string // fingerprints
	model  *model
	app    *application
	spans  struct{ before, moving, after, end time.Time }
	meters struct{ before, during, after *meter }
	marks  []mark
	watch  *watcher
}

// prepare makes the table and loads the rows on the old key.
func (s *show) prepare(ctx context.Context) error {
	o := s.options
	s.rows = o.Input
	if s.rows == nil {
		made, err := synthetic(o.Rows, o.Persons, s.spec.From, s.random)
		if err != nil {
			return err
		}
		s.rows = made
	}
	if err := s.stage.createTable(ctx, s.rows[0]); err != nil {
		return err
	}
	progress := func(done int) { o.Observe(Progress{Stage: "load", Done: done, All: len(s.rows)}) }
	if err := s.stage.load(ctx, s.rows, progress); err != nil {
		return err
	}
	return s.fillModel()
}

func (s *show) fillModel() error {
	s.model = newModel(s.spec.Key, s.stage.lagMax+schedulingSlack)
	s.loaded = make(map[rowKey]string, len(s.rows))
	for _, row := range s.rows {
		print, err := fingerprint(row, s.ignored()...)
		if err != nil {
			return err
		}
		s.loaded[s.model.keyOf(row)] = print
		if owner := textOf(row, s.spec.Owner); s.moves(row) {
			archived := false
			if s.options.Input == nil {
				archived = boolOf(row, "archived")
			}
			s.model.load(row, owner, archived)
		}
	}
	return nil
}

// schedulingSlack is how much later than its moment a change may be seen on a
// busy machine: the model must not blame the reader for it.
const schedulingSlack = 20 * time.Millisecond

// ignored are the attributes that may differ in the end: the one that moves,
// and those that the traffic writes on rows that it made itself.
func (s *show) ignored() []string {
	if s.options.Input != nil {
		return []string{s.spec.From.PartitionKey}
	}
	return []string{s.spec.From.PartitionKey, "status", "version"}
}

// moves says that the row is one that the spec is about and that has an index key.
func (s *show) moves(row item) bool {
	if e := s.spec.Entity; e.Attribute != "" && textOf(row, e.Attribute) != e.Value {
		return false
	}
	return textOf(row, s.spec.From.PartitionKey) == s.spec.From.Key(textOf(row, s.spec.Owner))
}

// play runs the traffic before, during and after the move.
func (s *show) play(ctx context.Context) (*Result, error) {
	if len(s.model.loaded) == 0 {
		return nil, fmt.Errorf("%w: no row carries the key %q that the spec moves away from", ErrInput, s.spec.From.Base)
	}
	watcher, err := migrate.Watch(ctx, s.stage.plain("application-watcher"), s.spec, migrate.WatchOptions{Member: "application", Role: "reader and writer", Version: "demo"})
	if err != nil {
		return nil, fmt.Errorf("watch the move: %w", err)
	}
	defer watcher.Close()
	s.app = s.newApplication(watcher)

	traffic, stop := context.WithCancel(ctx)
	defer stop()
	var g errgroup.Group
	g.Go(func() error { defer stop(); return s.app.run(traffic) })
	err = s.acts(traffic)
	stop()
	if trafficErr := g.Wait(); trafficErr != nil {
		return nil, trafficErr
	}
	if ctx.Err() != nil {
		return nil, ctx.Err()
	}
	if err != nil {
		return nil, err
	}
	return s.conclude(ctx)
}

func (s *show) newApplication(w *migrate.Watcher) *application {
	client := s.stage.metered("application")
	var source fanout.Source = w
	if s.options.NaiveDualRead {
		source = naive{w}
	}
	return &application{
		reader:  fanout.New(client, fanout.Table{Name: s.spec.Table, Key: s.spec.Key}, source, fanout.Options{}),
		watcher: w, client: client, spec: s.spec, model: s.model, meter: &s.stage.meter,
		owners: s.model.owners(), own: s.options.Input != nil, opens: s.textKeys(),
		random: s.random, sagas: &sagas{random: s.random, layout: s.spec.From, opened: s.started},
	}
}

// textKeys says that every key attribute of table and index is a string.
func (s *show) textKeys() bool {
	for _, name := range slices.Concat(s.spec.Key, indexKey(s.spec.To.PartitionKey, s.spec.To.SortKey)) {
		if scalarType(s.rows[0][name]) != types.ScalarAttributeTypeS {
			return false
		}
	}
	return true
}

// naive is a dual read as it is usually built: both layouts are asked, and
// nobody knows which rows are on their way.
type naive struct{ *migrate.Watcher }

func (n naive) View(ctx context.Context) (fanout.View, error) {
	v, err := n.Watcher.View(ctx)
	v.Moving, v.Routing.Moving, v.InOrder = nil, false, true
	return v, err
}

func (naive) Holds(context.Context, fanout.View) (bool, error) { return true, nil }

// acts is the three parts: the hot key, the move, the shards.
func (s *show) acts(ctx context.Context) error {
	s.watch = newWatcher(s)
	s.meters.before = s.newAct("one hot key")
	s.spans.before = time.Now()
	if err := s.watch.timed(ctx, "before", s.options.Seconds); err != nil {
		return err
	}
	s.meters.during = s.newAct("the move begins")
	s.spans.moving = time.Now()
	if err := s.move(ctx); err != nil {
		return fmt.Errorf("move: %w", err)
	}
	s.meters.after = s.newAct("shard keys alone")
	s.spans.after = time.Now()
	err := s.watch.timed(ctx, "after", s.options.Seconds)
	s.spans.end = time.Now()
	return err
}

func (s *show) newAct(name string) *meter {
	m := newMeter()
	s.stage.meter.Store(m)
	s.marks = append(s.marks, mark{time.Now(), name})
	return m
}

// budget moves a large table in about the time of a small one, and never takes
// more than most of the old key.
func budget(rows int) float64 {
	const unitsPerRow, seconds = 2, 8
	return min(max(float64(rows*unitsPerRow)/seconds, 100), 700)
}

func (s *show) move(ctx context.Context) error {
	runner, err := migrate.NewRunner(s.stage.plain("runner"), s.spec, migrate.Options{
		Holder: "demo", Bounds: bounds, Budget: budget(len(s.model.loaded)), Watch: stragglerWindow,
		Alone: true, Observe: s.watch.event,
	})
	if err != nil {
		return err
	}
	g, ctx := errgroup.WithContext(ctx)
	done := make(chan struct{})
	g.Go(func() error { s.watch.until(ctx, done); return nil })
	g.Go(func() error {
		defer close(done)
		_, err := runner.Move(ctx)
		return err
	})
	return g.Wait()
}
