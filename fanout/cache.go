package fanout

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"strings"
	"sync"
	"time"

	"github.com/maypok86/otter/v2"
)

// CacheOptions tunes a Cache. The zero value is what we use in production.
type CacheOptions[V any] struct {
	Fresh       time.Duration           // an answer is served without a look at the source for about this long; 0 means 2s
	Stale       time.Duration           // after that it is served while it is loaded anew, for this long; 0 means 30s
	LoadTimeout time.Duration           // of one load, whoever waits for it; 0 means 10s
	EntriesMax  int                     // 0 means 1000
	ETag        func(V) (string, error) // nil takes the hash of the value's JSON
}

func (o CacheOptions[V]) withDefaults() CacheOptions[V] {
	orDefault(&o.Fresh, 2*time.Second)
	orDefault(&o.Stale, 30*time.Second)
	orDefault(&o.LoadTimeout, 10*time.Second)
	orDefault(&o.EntriesMax, 1000)
	if o.ETag == nil {
		o.ETag = func(v V) (string, error) { return etagOf(v) }
	}
	return o
}

func orDefault[T int | time.Duration](v *T, byDefault T) {
	if *v <= 0 {
		*v = byDefault
	}
}

// ErrCacheClosed: the cache was closed. Do not retry.
var ErrCacheClosed = errors.New("fanout: cache is closed")

// Cached is an answer and when it was loaded.
type Cached[V any] struct {
	Value    V
	ETag     string // quoted, as HTTP wants it; equal contents have equal tags
	LoadedAt time.Time

	reloadAt, deadAt time.Time
}

// Matches says that the client already has this content, by its If-None-Match.
func (c Cached[V]) Matches(ifNoneMatch string) bool {
	for tag := range strings.SplitSeq(ifNoneMatch, ",") {
		tag = strings.TrimPrefix(strings.TrimSpace(tag), "W/")
		if tag == "*" || tag == c.ETag {
			return true
		}
	}
	return false
}

// Cache keeps the answers of expensive reads for pollers: one load at a time for
// each key, however many ask, and the old answer while the new one is on its way.
// A load belongs to no caller, so one that gives up fails nobody else. Fresh times
// vary by a tenth, so that keys loaded together do not expire together. Keys that
// nobody asks for cost nothing.
type Cache[K comparable, V any] struct {
	load    func(context.Context, K) (V, error)
	options CacheOptions[V]
	entries *otter.Cache[K, Cached[V]]

	ctx    context.Context // of the loads; ends with Close
	cancel context.CancelFunc
	mu     sync.Mutex
	loads  map[K]*loading[V]
	closed bool
	going  sync.WaitGroup
}

// loading is a load on its way; done is closed when entry and err are set.
type loading[V any] struct {
	done  chan struct{}
	entry Cached[V]
	err   error
}

// NewCache is a cache before load. Close it when done.
func NewCache[K comparable, V any](load func(context.Context, K) (V, error), options CacheOptions[V]) *Cache[K, V] {
	c := &Cache[K, V]{load: load, options: options.withDefaults(), loads: make(map[K]*loading[V])}
	c.entries = otter.Must(&otter.Options[K, Cached[V]]{MaximumSize: c.options.EntriesMax})
	c.ctx, c.cancel = context.WithCancel(context.Background())
	return c
}

// Get is the answer for key: the kept one while it is fresh, or stale and being
// loaded anew, and else the one that it waits for.
func (c *Cache[K, V]) Get(ctx context.Context, key K) (Cached[V], error) {
	entry, kept := c.entries.GetIfPresent(key)
	now := time.Now()
	if kept && now.Before(entry.reloadAt) {
		return entry, nil
	}
	l, err := c.join(key)
	if err != nil {
		return Cached[V]{}, err
	}
	if kept && now.Before(entry.deadAt) {
		return entry, nil
	}
	select {
	case <-l.done:
		return l.entry, l.err
	case <-ctx.Done():
		return Cached[V]{}, context.Cause(ctx)
	}
}

// Forget drops the answer for key, for instance after a write. What a load that
// is on its way brings goes to those who wait for it and is not kept.
func (c *Cache[K, V]) Forget(key K) {
	c.mu.Lock()
	defer c.mu.Unlock()
	delete(c.loads, key)
	c.entries.Invalidate(key)
}

// Close ends the loads on their way and waits for them.
func (c *Cache[K, V]) Close() {
	c.mu.Lock()
	c.closed = true
	c.mu.Unlock()
	c.cancel()
	c.going.Wait()
	c.entries.StopAllGoroutines()
}

// join finds the load of key that is on its way, or starts one.
func (c *Cache[K, V]) join(key K) (*loading[V], error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.closed {
		return nil, ErrCacheClosed
	}
	if l := c.loads[key]; l != nil {
		return l, nil
	}
	l := &loading[V]{done: make(chan struct{})}
	if entry, kept := c.entries.GetIfPresent(key); kept && time.Now().Before(entry.reloadAt) {
		l.entry = entry // loaded between the caller's look and now
		close(l.done)
		return l, nil
	}
	c.loads[key] = l
	c.going.Go(func() { c.run(key, l) })
	return l, nil
}

func (c *Cache[K, V]) run(key K, l *loading[V]) {
	ctx, cancel := context.WithTimeout(c.ctx, c.options.LoadTimeout)
	defer cancel()
	l.entry, l.err = c.fetch(ctx, key)
	c.mu.Lock()
	defer c.mu.Unlock()
	defer close(l.done)
	if c.loads[key] != l {
		return // forgotten meanwhile: what it read may be from before
	}
	delete(c.loads, key)
	if l.err != nil {
		c.postpone(key)
		return
	}
	c.entries.Set(key, l.entry)
}

func (c *Cache[K, V]) fetch(ctx context.Context, key K) (Cached[V], error) {
	value, err := c.load(ctx, key)
	if err != nil {
		return Cached[V]{}, err
	}
	tag, err := c.options.ETag(value)
	if err != nil {
		return Cached[V]{}, fmt.Errorf("tag content of %v: %w", key, err)
	}
	now := time.Now()
	reload := now.Add(jittered(c.options.Fresh))
	return Cached[V]{Value: value, ETag: tag, LoadedAt: now, reloadAt: reload, deadAt: reload.Add(c.options.Stale)}, nil
}

// postpone keeps a source that fails from being asked by every poller: the stale
// answer counts as fresh for a while, but lives no longer.
func (c *Cache[K, V]) postpone(key K) {
	if entry, kept := c.entries.GetIfPresent(key); kept {
		entry.reloadAt = time.Now().Add(jittered(c.options.Fresh))
		if entry.reloadAt.After(entry.deadAt) {
			entry.reloadAt = entry.deadAt
		}
		c.entries.Set(key, entry)
	}
}

// jittered is d, give or take a tenth.
func jittered(d time.Duration) time.Duration {
	return d - d/10 + rand.N(d/5+1)
}

func etagOf(v any) (string, error) {
	text, err := json.Marshal(v)
	if err != nil {
		return "", err
	}
	sum := sha256.Sum256(text)
	return `"` + hex.EncodeToString(sum[:12]) + `"`, nil
}
