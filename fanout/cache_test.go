package fanout_test

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/hotsplit/hotsplit/fanout"
)

// slowSource counts its loads and takes a while for each.
type slowSource struct {
	loads   atomic.Int64
	going   atomic.Int64
	most    atomic.Int64
	latency time.Duration
	err     error
}

func (s *slowSource) load(ctx context.Context, key string) (string, error) {
	s.most.Store(max(s.most.Load(), s.going.Add(1)))
	defer s.going.Add(-1)
	n := s.loads.Add(1)
	select {
	case <-time.After(s.latency):
	case <-ctx.Done():
		return "", ctx.Err()
	}
	if s.err != nil {
		return "", s.err
	}
	return fmt.Sprintf("%s %d", key, n), nil
}

func TestKF21PollersShareOneLoad(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		source := &slowSource{latency: 300 * time.Millisecond}
		cache := fanout.NewCache(source.load, fanout.CacheOptions[string]{Fresh: 2 * time.Second})
		defer cache.Close()
		var pollers sync.WaitGroup
		var longest atomic.Int64
		for range 200 {
			pollers.Go(func() {
				for range 20 {
					start := time.Now()
					if _, err := cache.Get(t.Context(), "list"); err != nil {
						t.Error(err)
					}
					longest.Store(max(longest.Load(), int64(time.Since(start))))
					time.Sleep(3 * time.Second)
				}
			})
		}
		pollers.Wait()
		if got := source.most.Load(); got != 1 {
			t.Errorf("%d loads at a time, want 1", got)
		}
		// A minute of polling every 3 s with answers fresh for 2 s: a load for each round at most.
		if got := source.loads.Load(); got > 20 {
			t.Errorf("%d loads in 20 rounds", got)
		}
		if got := time.Duration(longest.Load()); got > source.latency {
			t.Errorf("a poller waited %v, one load takes %v", got, source.latency)
		}
	})
}

func TestKF21CancelledLeaderDoesNotFailFollowers(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		source := &slowSource{latency: 300 * time.Millisecond}
		cache := fanout.NewCache(source.load, fanout.CacheOptions[string]{})
		defer cache.Close()
		leading, cancel := context.WithCancel(t.Context())
		var callers sync.WaitGroup
		callers.Go(func() {
			if _, err := cache.Get(leading, "list"); !errors.Is(err, context.Canceled) {
				t.Errorf("cancelled caller got %v", err)
			}
		})
		synctest.Wait()
		for range 50 {
			callers.Go(func() {
				if got, err := cache.Get(t.Context(), "list"); err != nil || got.Value != "list 1" {
					t.Errorf("follower got %q, %v", got.Value, err)
				}
			})
		}
		time.Sleep(100 * time.Millisecond)
		cancel()
		callers.Wait()
	})
}

func TestCacheServesStaleWhileItLoads(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		source := &slowSource{latency: time.Second}
		cache := fanout.NewCache(source.load, fanout.CacheOptions[string]{Fresh: 2 * time.Second, Stale: 10 * time.Second})
		defer cache.Close()
		get := func(want string, wait time.Duration) {
			t.Helper()
			start := time.Now()
			got, err := cache.Get(t.Context(), "k")
			if err != nil || got.Value != want || time.Since(start) != wait {
				t.Fatalf("got %q, %v after %v; want %q after %v", got.Value, err, time.Since(start), want, wait)
			}
		}
		get("k 1", time.Second)
		get("k 1", 0)
		time.Sleep(3 * time.Second)
		get("k 1", 0) // stale: load 2 begins
		time.Sleep(1100 * time.Millisecond)
		get("k 2", 0)
		time.Sleep(time.Minute)
		get("k 3", time.Second) // too old to serve
	})
}

func TestCacheDoesNotHammerAFailingSource(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		source := &slowSource{latency: time.Millisecond}
		cache := fanout.NewCache(source.load, fanout.CacheOptions[string]{Fresh: time.Second, Stale: 10 * time.Second})
		defer cache.Close()
		_, err := cache.Get(t.Context(), "k")
		must(t, err)
		source.err = errors.New("throttled")
		for range 600 {
			time.Sleep(10 * time.Millisecond)
			if got, err := cache.Get(t.Context(), "k"); err != nil || got.Value != "k 1" {
				t.Fatalf("got %q, %v while stale", got.Value, err)
			}
		}
		if got := source.loads.Load(); got > 8 {
			t.Fatalf("%d loads in 6 s of failure, want about one a second", got)
		}
		time.Sleep(time.Minute)
		if _, err := cache.Get(t.Context(), "k"); !errors.Is(err, source.err) {
			t.Fatalf("got %v once too old", err)
		}
	})
}

func TestCacheTagsFollowTheContent(t *testing.T) {
	content := "a"
	load := func(context.Context, int) (string, error) { return content, nil }
	cache := fanout.NewCache(load, fanout.CacheOptions[string]{EntriesMax: 4})
	defer cache.Close()
	tag := func() fanout.Cached[string] {
		cache.Forget(1)
		got, err := cache.Get(t.Context(), 1)
		must(t, err)
		return got
	}
	first, again := tag(), tag()
	if first.ETag != again.ETag || !again.Matches(`"x", W/`+first.ETag) {
		t.Fatalf("tags %s and %s of one content", first.ETag, again.ETag)
	}
	content = "b"
	if second := tag(); second.ETag == first.ETag || second.Matches(first.ETag) {
		t.Fatalf("tag %s of two contents", second.ETag)
	}
}

func TestCacheForgetsWhatWasReadBeforeAWrite(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		source := &slowSource{latency: time.Second}
		cache := fanout.NewCache(source.load, fanout.CacheOptions[string]{})
		defer cache.Close()
		var early sync.WaitGroup
		early.Go(func() { _, _ = cache.Get(t.Context(), "k") })
		time.Sleep(500 * time.Millisecond)
		cache.Forget("k")
		got, err := cache.Get(t.Context(), "k")
		must(t, err)
		early.Wait()
		if got.Value != "k 2" {
			t.Fatalf("got %q, which was read before the write", got.Value)
		}
		if got, _ := cache.Get(t.Context(), "k"); got.Value != "k 2" {
			t.Fatalf("kept %q", got.Value)
		}
	})
}

func TestCacheIsBounded(t *testing.T) {
	source := &slowSource{}
	cache := fanout.NewCache(source.load, fanout.CacheOptions[string]{EntriesMax: 10, Fresh: time.Hour})
	defer cache.Close()
	for round := range 2 {
		for i := range 1000 {
			_, err := cache.Get(t.Context(), fmt.Sprint(i))
			must(t, err)
		}
		if got := source.loads.Load(); round == 1 && got < 1900 {
			t.Fatalf("%d loads of 2,000: more than 10 entries were kept", got)
		}
	}
}

func TestClosedCacheRefuses(t *testing.T) {
	cache := fanout.NewCache((&slowSource{}).load, fanout.CacheOptions[string]{})
	cache.Close()
	cache.Close()
	if _, err := cache.Get(t.Context(), "k"); !errors.Is(err, fanout.ErrCacheClosed) {
		t.Fatal(err)
	}
}
