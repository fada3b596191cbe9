package migrate

import (
	"cmp"
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"os"
	"sync"
	"time"

	"github.com/hotsplit/hotsplit/fanout"
	"github.com/hotsplit/hotsplit/shard"
)

// ErrStale says that the record could not be read within the staleness bound, so
// nobody knows how to read or what to stamp. Retry.
var ErrStale = errors.New("migrate: the record is out of reach")

// ErrMismatch is wrapped by every error about a process whose layout is not the
// record's. Do not retry; correct the process's configuration.
var ErrMismatch = errors.New("migrate: layout is not the record's")

// ErrUnknownPhase says that a newer release put the move into a phase that this
// one cannot write in. It still reads. Do not retry; upgrade the process.
var ErrUnknownPhase = errors.New("migrate: phase of a newer release")

// MismatchError says what the record holds and what the process was told. It
// wraps ErrMismatch.
type MismatchError struct {
	Prefix string
	Field  string
	Record string
	Spec   string
}

func (e *MismatchError) Error() string {
	return fmt.Sprintf("%v: %s of the record at %s is %s, this process was told %s", ErrMismatch, e.Field, e.Prefix, e.Record, e.Spec)
}

func (e *MismatchError) Unwrap() error { return ErrMismatch }

// WatchOptions describes a member. The zero value is what we use in production.
type WatchOptions struct {
	Member  string // its id; "" makes one of host, process and chance
	Role    string // e.g. reader, writer, sweep; shown to the operator
	Version string // of the program; shown to the operator
}

// Watcher is a member: it follows the record and says by which routing to read
// and write. It is a fanout.Source, safe for concurrent use. Close it.
type Watcher struct {
	client Client
	spec   Spec
	shelf  shelf
	id     string
	member Member // as last reported; touched by Watch and follow alone
	meter  meter

	turn chan struct{} // held by the one refresh at a time
	stop context.CancelFunc
	done chan struct{}

	mu   sync.Mutex
	last look
	// confirmed says until which moment a mark is known to have been current, and
	// how long that counts.
	confirmed map[int64]look
}

var _ fanout.Source = (*Watcher)(nil)

// confirmedMax is how many marks are remembered: a long read may have begun
// under one of several earlier moving sets and still be within the bound.
const confirmedMax = 8

// Watch joins the move that spec names. It reads the record once, refuses with a
// *MismatchError where the spec's layout is not the record's, and then follows it
// until Close. No record yet means that nothing moves.
func Watch(ctx context.Context, client Client, spec Spec, opts WatchOptions) (*Watcher, error) {
	spec, err := spec.Resolve()
	if err != nil {
		return nil, err
	}
	id := cmp.Or(opts.Member, newID())
	w := &Watcher{
		client: client, spec: spec, shelf: spec.shelf(), id: id,
		member: Member{Format: Format, ID: id, Role: opts.Role, Version: opts.Version},
		turn:   make(chan struct{}, 1), done: make(chan struct{}),
		confirmed: map[int64]look{},
	}
	first, err := w.refresh(ctx, time.Now())
	if err != nil {
		return nil, fmt.Errorf("watch %s: %w", spec.Prefix, err)
	}
	if err := first.fits(spec); err != nil {
		return nil, fmt.Errorf("watch %s: %w", spec.Prefix, err)
	}
	if err := w.report(ctx, first); err != nil {
		return nil, fmt.Errorf("watch %s: %w", spec.Prefix, err)
	}
	run, stop := context.WithCancel(context.Background())
	w.stop = stop
	go func() {
		defer close(w.done)
		w.follow(run)
	}()
	return w, nil
}

// newID is unlike any other process's.
func newID() string {
	host, err := os.Hostname()
	if err != nil {
		host = "host"
	}
	return fmt.Sprintf("%s-%d-%s", host, os.Getpid(), rand.Text()[:8])
}

// fits refuses a spec whose layout the record does not know. A spec may be that
// of the move before or of the one after: the record decides either way.
func (l look) fits(s Spec) error {
	if !l.found {
		return nil
	}
	r := l.record
	mismatch := func(field, record, spec string) error {
		return &MismatchError{Prefix: s.Prefix, Field: field, Record: record, Spec: spec}
	}
	if !r.From.InPlace(s.From) {
		return mismatch("index", keysOf(r.From), keysOf(s.From))
	}
	if r.Owner != s.Owner {
		return mismatch("owner", r.Owner, s.Owner)
	}
	to := spelled(s.To)
	if to != spelled(r.To) && to != spelled(r.From) && spelled(s.From) != spelled(r.To) {
		return mismatch("layout", fmt.Sprintf("%s to %s (%s)", r.From, r.To, r.Phase), fmt.Sprintf("%s to %s", s.From, s.To))
	}
	return nil
}

func keysOf(l shard.Layout) string {
	return fmt.Sprintf("%s (%s, %s)", l.Index, l.PartitionKey, l.SortKey)
}

// View is how to read now. The error wraps ErrStale.
func (w *Watcher) View(ctx context.Context) (fanout.View, error) {
	l, err := w.current(ctx)
	if err != nil {
		return fanout.View{}, err
	}
	return fanout.View{Routing: l.routing(w.spec), Moving: l.moving, Version: l.mark}, nil
}

// Holds says whether view was right until now. The error wraps ErrStale.
func (w *Watcher) Holds(ctx context.Context, view fanout.View) (bool, error) {
	if w.confirms(view.Version) {
		return true, nil
	}
	l, err := w.refresh(ctx, time.Now())
	if err != nil {
		return false, err
	}
	return l.mark == view.Version, nil
}

// Routing is the routing that was last seen, for display.
func (w *Watcher) Routing() shard.Routing {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.last.routing(w.spec)
}

// ID is the member's id.
func (w *Watcher) ID() string { return w.id }

// Close leaves the move: it stops following the record and withdraws the report.
// It may be called more than once.
func (w *Watcher) Close() error {
	w.stop()
	<-w.done
	return nil
}

// confirms says that the record was seen with this mark within the bound.
func (w *Watcher) confirms(mark int64) bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	l, known := w.confirmed[mark]
	return known && l.fresh()
}

// current is a look within the bound.
func (w *Watcher) current(ctx context.Context) (look, error) {
	w.mu.Lock()
	l := w.last
	w.mu.Unlock()
	if l.mark > 0 && l.fresh() {
		return l, nil
	}
	return w.refresh(ctx, time.Now())
}

// refresh is a look that began no earlier than since. Callers who wait for the
// same refresh share it.
func (w *Watcher) refresh(ctx context.Context, since time.Time) (look, error) {
	select {
	case w.turn <- struct{}{}:
		defer func() { <-w.turn }()
	case <-ctx.Done():
		return look{}, fmt.Errorf("%w: %w", ErrStale, ctx.Err())
	}
	w.mu.Lock()
	last := w.last
	w.mu.Unlock()
	if last.mark > 0 && !last.at.Before(since) && last.fresh() {
		return last, nil
	}
	// An answer that takes longer than the bound would be of no use.
	limited, cancel := context.WithTimeout(ctx, last.stale())
	defer cancel()
	next, err := takeLook(limited, w.client, w.shelf, last)
	if err != nil {
		if errors.Is(err, ErrFormat) || errors.Is(err, ErrMismatch) {
			return look{}, err
		}
		return look{}, fmt.Errorf("%w: %w", ErrStale, err)
	}
	w.keep(next)
	return next, nil
}

func (w *Watcher) keep(next look) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.last = next
	w.confirmed[next.mark] = look{record: next.record, found: next.found, at: next.at}
	delete(w.confirmed, next.mark-confirmedMax)
}

// follow polls the record and reports until ctx ends, then withdraws.
func (w *Watcher) follow(ctx context.Context) {
	reported := time.Now()
	for {
		w.mu.Lock()
		l := w.last
		w.mu.Unlock()
		if err := sleep(ctx, min(l.poll(), l.beat())); err != nil {
			break
		}
		next, err := w.refresh(ctx, time.Now())
		if err != nil {
			continue // whoever needs it looks again and hears why
		}
		if w.news(next) || time.Since(reported) >= next.beat() {
			if w.report(ctx, next) == nil {
				reported = time.Now()
			}
		}
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), leaveTimeMax)
	defer cancel()
	// A report that stays behind goes silent and is not waited for.
	_ = w.shelf.remove(ctx, w.client, memberItem+w.id)
}

// leaveTimeMax bounds how long Close waits for the report's removal.
const leaveTimeMax = 2 * time.Second

func (l look) beat() time.Duration {
	if !l.found {
		return Bounds{}.withDefaults().beat()
	}
	return l.record.Bounds.beat()
}

// news says whether there is something that the runner waits for.
func (w *Watcher) news(l look) bool {
	w.meter.turn(l)
	return w.member.Generation != l.record.Generation || w.member.Moving != l.record.Moving.Version ||
		(l.record.Open && w.meter.changed())
}

// memberKept is how long a report outlives its member, for an operator who looks.
const memberKept = 24 * time.Hour

// report writes the member's item. Only Watch and follow call it, one after the
// other.
func (w *Watcher) report(ctx context.Context, l look) error {
	m := w.member
	m.Generation, m.Moving = l.record.Generation, l.record.Moving.Version
	m.Beat++
	m.Units = w.meter.report()
	m.Seen = stamp()
	if err := w.shelf.put(ctx, w.client, memberItem+m.ID, m, time.Now().Add(memberKept).Unix()); err != nil {
		return err
	}
	w.member = m
	return nil
}
