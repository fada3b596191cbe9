package dynamostore_test

import (
	"errors"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/hotsplit/hotsplit/emulator"
	"github.com/hotsplit/hotsplit/renewal"
	"github.com/hotsplit/hotsplit/shard"
)

func TestSagaComesBackAsItWasWritten(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t, shard.Static(sharded), emulator.Options{})
		want := r.open(1)
		want = r.move(want.ID, "a", renewal.Preparing)
		rent := renewal.Offer{RentCents: 123_400, Expires: nine.AddDate(0, 0, 14)}
		want, err := r.store.Transition(t.Context(), want.ID, renewal.Change{Op: "b", To: renewal.Prepared, Offer: &rent, By: "pm", Text: "new rent"})
		if err != nil {
			t.Fatal(err)
		}
		for name, read := range map[string]func() (renewal.Saga, error){
			"by id":    func() (renewal.Saga, error) { return r.store.Saga(t.Context(), want.ID) },
			"by lease": func() (renewal.Saga, error) { return r.store.SagaByLease(t.Context(), want.LeaseID) },
		} {
			if got, err := read(); err != nil || !cmp.Equal(want, got) {
				t.Errorf("%s: %v\n%s", name, err, cmp.Diff(want, got))
			}
		}
		time.Sleep(time.Second)
		listed, err := r.store.SagasByPerson(t.Context(), want.PersonID)
		want.Timeline = nil
		if err != nil || len(listed) != 1 || !cmp.Equal(want, listed[0]) {
			t.Errorf("listed: %v %s", err, cmp.Diff([]renewal.Saga{want}, listed))
		}
	})
}

func TestListsHoldWhatTheyName(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t, shard.Static(sharded), emulator.Options{})
		for i := range 40 {
			r.open(i)
		}
		gone := draft(7)
		id := renewal.SagaID(gone.LeaseID, gone.LeaseEnd)
		r.move(id, "c", renewal.Cancelled)
		if _, err := r.store.Archive(t.Context(), id); err != nil {
			t.Fatal(err)
		}
		time.Sleep(time.Second)
		all, err := r.store.AllSagas(t.Context())
		if err != nil || len(all) != 40 {
			t.Errorf("all: %d, %v", len(all), err)
		}
		open, err := r.store.OpenSagas(t.Context())
		if err != nil || len(open) != 39 || slices.ContainsFunc(open, func(s renewal.Saga) bool { return s.ID == id }) {
			t.Errorf("open: %d, %v", len(open), err)
		}
		some, err := r.store.SagasByPersons(t.Context(), []string{"person-001", "person-002", "nobody"})
		if err != nil || len(some) != 2 {
			t.Errorf("by persons: %d, %v", len(some), err)
		}
	})
}

func TestOpenTwiceIsOpenOnce(t *testing.T) {
	r := newRig(t, shard.Static(sharded), emulator.Options{})
	first := r.open(1)
	moved := r.move(first.ID, "a", renewal.Preparing)
	again, err := r.store.Open(t.Context(), draft(1))
	if err != nil || !cmp.Equal(moved, again) {
		t.Errorf("second opening: %v %s", err, cmp.Diff(moved, again))
	}
	foreign := draft(1)
	foreign.PersonID = "somebody-else"
	if _, err := r.store.Open(t.Context(), foreign); !errors.Is(err, renewal.ErrConflict) {
		t.Errorf("opening another person's saga: %v, want a conflict", err)
	}
}

func TestErrorsSayWhatToDo(t *testing.T) {
	r := newRig(t, shard.Static(sharded), emulator.Options{})
	saga := r.open(1)
	ctx := t.Context()
	_, missing := r.store.Saga(ctx, "nobody.2027-01-01")
	_, lease := r.store.SagaByLease(ctx, "nobody")
	_, absent := r.store.Transition(ctx, "nobody.2027-01-01", renewal.Change{Op: "a", To: renewal.Preparing})
	_, illegal := r.store.Transition(ctx, saga.ID, renewal.Change{Op: "a", To: renewal.Signed})
	_, stale := r.store.Transition(ctx, saga.ID, renewal.Change{Op: "a", To: renewal.Preparing, Version: 9})
	_, bad := r.store.SagasByPerson(ctx, "a#b")
	for _, c := range []struct{ got, want error }{
		{missing, renewal.ErrNotFound}, {lease, renewal.ErrNotFound}, {absent, renewal.ErrNotFound},
		{illegal, renewal.ErrIllegalMove}, {stale, renewal.ErrConflict}, {bad, renewal.ErrInvalid},
	} {
		if !errors.Is(c.got, c.want) {
			t.Errorf("got %v, want %v", c.got, c.want)
		}
	}
}

// TestThrottleIsAMatterOfTime also counts what the pages rely on: a throttled
// index refuses lists, and the detail route does not read it.
func TestThrottleIsAMatterOfTime(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t, shard.Static(legacy), emulator.Options{})
		saga := r.open(1)
		r.db.Inject(emulator.Fault{Kind: emulator.FaultThrottle, Index: legacy.Index, Operation: "Query"})
		if _, err := r.store.OpenSagas(t.Context()); !errors.Is(err, renewal.ErrUnavailable) {
			t.Errorf("list on a throttled index: %v, want ErrUnavailable", err)
		}
		if _, err := r.store.SagaByLease(t.Context(), saga.LeaseID); err != nil {
			t.Errorf("detail while the index throttles: %v", err)
		}
	})
}

// TestTransitionLeavesTheKey: KF-20's second half; only creation stamps.
func TestTransitionLeavesTheKey(t *testing.T) {
	r := newRig(t, shard.Static(legacy), emulator.Options{})
	saga := r.open(1)
	other := newStoreOn(r, shard.Static(sharded))
	if _, err := other.Transition(t.Context(), saga.ID, renewal.Change{Op: "a", To: renewal.Preparing}); err != nil {
		t.Fatal(err)
	}
	if key := s(r.rows()[0], "GSI4PK"); key != "RenewalSaga" {
		t.Errorf("a transition moved the key to %q", key)
	}
}
