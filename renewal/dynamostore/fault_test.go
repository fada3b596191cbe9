package dynamostore_test

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"testing"
	"testing/synctest"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/hotsplit/hotsplit/emulator"
	"github.com/hotsplit/hotsplit/renewal"
	"github.com/hotsplit/hotsplit/renewal/dynamostore"
	"github.com/hotsplit/hotsplit/shard"
)

func newStoreOn(r *rig, routing shard.Routing) *dynamostore.Store {
	return dynamostore.New(clientOf(r.db), table, dynamostore.Static(routing), dynamostore.Options{Now: func() time.Time { return nine }})
}

// TestLostAnswersCountOnce is KF-17: every tenth answer of a write is lost after
// it was applied, and nobody sees a conflict.
func TestLostAnswersCountOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t, shard.Static(sharded), emulator.Options{})
		for _, operation := range []string{"PutItem", "UpdateItem"} {
			r.db.Inject(emulator.Fault{Kind: emulator.FaultDrop, Operation: operation, Probability: 0.1})
		}
		moves := []renewal.State{renewal.Preparing, renewal.PrepareFailed, renewal.Preparing, renewal.Prepared, renewal.Offered}
		for i := range 60 {
			saga := r.open(i)
			for n, to := range moves {
				saga = r.move(saga.ID, fmt.Sprint("op", n), to)
			}
			if saga.Version != int64(1+len(moves)) || saga.Attempts != 2 {
				t.Errorf("saga %d: version %d, attempts %d; want %d and 2", i, saga.Version, saga.Attempts, 1+len(moves))
			}
		}
	})
}

// TestIndexRowsAreCandidates is KF-09: while the index shows nothing new, a sweep
// that acts on the list does not touch renewals that have ended.
func TestIndexRowsAreCandidates(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t, shard.Static(sharded), emulator.Options{})
		for i := range 30 {
			saga := r.open(i)
			r.move(saga.ID, "p", renewal.Preparing)
		}
		time.Sleep(time.Second)
		if err := r.db.HoldIndex(table, sharded.Index); err != nil {
			t.Fatal(err)
		}
		candidates, err := r.store.OpenSagas(t.Context())
		if err != nil || len(candidates) != 30 {
			t.Fatalf("%d candidates, %v", len(candidates), err)
		}
		for _, c := range candidates {
			r.move(c.ID, "end", renewal.Cancelled)
		}
		stale, err := r.store.OpenSagas(t.Context())
		if err != nil || stale[0].State != renewal.Preparing {
			t.Fatalf("the index shows %v, %v; want the old state", stale[0].State, err)
		}
		for _, c := range stale {
			_, err := r.store.Transition(t.Context(), c.ID, renewal.Change{Op: "sweep", From: c.State, To: renewal.Prepared, Version: c.Version})
			if !errors.Is(err, renewal.ErrConflict) {
				t.Errorf("a renewal that has ended was moved: %v", err)
			}
		}
		if err := r.db.ReleaseIndex(table, sharded.Index); err != nil {
			t.Fatal(err)
		}
		time.Sleep(time.Second)
		if after, err := r.store.OpenSagas(t.Context()); err != nil || after[0].State != renewal.Cancelled {
			t.Errorf("after the release the list shows %v, %v", after[0].State, err)
		}
	})
}

// TestRacingHandsKeepCount: many hands on one saga; each change is made once.
func TestRacingHandsKeepCount(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t, shard.Static(sharded), emulator.Options{})
		saga := r.open(1)
		var g errgroup.Group
		for i := range 8 {
			g.Go(func() error {
				_, err := r.store.Transition(t.Context(), saga.ID, renewal.Change{Op: fmt.Sprint("note", i), Text: "hello"})
				return err
			})
		}
		if err := g.Wait(); err != nil {
			t.Fatal(err)
		}
		after, err := r.store.Saga(t.Context(), saga.ID)
		if err != nil || after.Version != 9 || len(after.Timeline) != 9 {
			t.Errorf("version %d with %d events, %v; want 9 of each", after.Version, len(after.Timeline), err)
		}
	})
}

// TestRandomCallsKeepTheKeys makes 10,000 random calls with one lost answer in
// ten and then holds every stored key and counter against what they must be.
func TestRandomCallsKeepTheKeys(t *testing.T) {
	seed := rand.Uint64()
	t.Logf("seed %d", seed)
	synctest.Test(t, func(t *testing.T) {
		chance := rand.New(rand.NewPCG(seed, 1))
		r := newRig(t, shard.Static(sharded), emulator.Options{})
		r.db.Inject(emulator.Fault{Kind: emulator.FaultDrop, Operation: "UpdateItem", Probability: 0.1})
		r.db.Inject(emulator.Fault{Kind: emulator.FaultDrop, Operation: "PutItem", Probability: 0.1})
		want := map[string]renewal.Saga{}
		for call := range 10_000 {
			r.randomCall(chance, call, want)
		}
		rows := r.rows()
		if len(rows) != len(want) {
			t.Errorf("%d rows, want %d", len(rows), len(want))
		}
		for _, row := range rows {
			expected := want[s(row, "id")]
			got, err := r.store.Saga(t.Context(), expected.ID)
			if err != nil || got.Version != expected.Version || got.Attempts != expected.Attempts || got.State != expected.State {
				t.Errorf("saga %s: %+v (%v), want %+v", expected.ID, got, err, expected)
			}
			sortKey, _ := sharded.SortKeyOf(expected.PersonID, expected.OpenedAt)
			if s(row, "GSI4PK") != sharded.Key(expected.PersonID) || s(row, "GSI4SK") != sortKey {
				t.Errorf("saga %s is stamped %s %s", expected.ID, s(row, "GSI4PK"), s(row, "GSI4SK"))
			}
		}
	})
}

func (r *rig) randomCall(chance *rand.Rand, call int, want map[string]renewal.Saga) {
	d := draft(chance.IntN(120))
	id := renewal.SagaID(d.LeaseID, d.LeaseEnd)
	known, exists := want[id]
	switch {
	case !exists || chance.IntN(10) == 0:
		saga, err := r.store.Open(r.t.Context(), d)
		if err != nil {
			r.t.Fatal(err)
		}
		if !exists {
			want[id] = saga
		}
	case chance.IntN(4) == 0:
		if _, err := r.store.SagasByPerson(r.t.Context(), d.PersonID); err != nil {
			r.t.Fatal(err)
		}
	default:
		states := renewal.States()
		c := renewal.Change{Op: fmt.Sprint("op", call), To: states[chance.IntN(len(states))], Text: "x"}
		after, _, expected := known.Apply(c, nine)
		saga, err := r.store.Transition(r.t.Context(), id, c)
		if (err == nil) != (expected == nil) || err == nil && saga.Version != after.Version {
			r.t.Fatalf("call %d: version %d, %v; want %d, %v", call, saga.Version, err, after.Version, expected)
		}
		want[id] = after
	}
}
