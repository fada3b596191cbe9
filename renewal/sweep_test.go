package renewal_test

import (
	"slices"
	"testing"
	"time"

	"github.com/hotsplit/hotsplit/renewal"
)

func TestRetryBacksOffAndEnds(t *testing.T) {
	rules := renewal.Rules{AttemptsMax: 4, RetryMin: time.Minute, RetryMax: 3 * time.Minute}
	for attempts, wait := range map[int]time.Duration{1: time.Minute, 2: 2 * time.Minute, 3: 3 * time.Minute, 4: 0} {
		saga := renewal.Saga{ID: "s", State: renewal.PrepareFailed, Attempts: attempts, StateSince: nine, Version: 3}
		early := rules.RetryFailedPrepare([]renewal.Saga{saga}, nine.Add(wait-time.Second))
		due := rules.RetryFailedPrepare([]renewal.Saga{saga}, nine.Add(wait))
		if wait == 0 {
			if len(rules.RetryFailedPrepare([]renewal.Saga{saga}, nine.AddDate(1, 0, 0))) != 0 {
				t.Errorf("attempt after the last of %d", attempts)
			}
			continue
		}
		if len(early) != 0 || len(due) != 1 {
			t.Errorf("attempt %d: %d decisions early, %d when due; want 0 and 1", attempts, len(early), len(due))
		}
	}
}

func TestSweepDecisionIsOneOperation(t *testing.T) {
	saga := renewal.Saga{ID: "s", State: renewal.PrepareFailed, Attempts: 1, StateSince: nine, Version: 3}
	later := nine.Add(time.Hour)
	d := renewal.Rules{}.RetryFailedPrepare([]renewal.Saga{saga}, later)[0]
	again := renewal.Rules{}.RetryFailedPrepare([]renewal.Saga{saga}, later.Add(time.Hour))[0]
	if d.Change.Op != again.Change.Op {
		t.Errorf("operations %q and %q of one snapshot differ", d.Change.Op, again.Change.Op)
	}
	after, applied, err := saga.Apply(d.Change, later)
	if err != nil || !applied || after.Attempts != 2 {
		t.Errorf("applied %v, %v: %+v", applied, err, after)
	}
}

func TestStuckEndsWhatRanOut(t *testing.T) {
	day := 24 * time.Hour
	ranOut := renewal.Saga{ID: "a", State: renewal.Offered, StateSince: nine.Add(-day), Offer: renewal.Offer{Expires: nine.Add(-2 * time.Hour)}, LeaseEnd: nine.Add(90 * day)}
	fresh := renewal.Saga{ID: "b", State: renewal.Offered, StateSince: nine, Offer: renewal.Offer{Expires: nine.Add(-time.Minute)}, LeaseEnd: nine.Add(90 * day)}
	lease := renewal.Saga{ID: "c", State: renewal.PrepareFailed, StateSince: nine, LeaseEnd: nine.Add(-3 * day)}
	still := renewal.Saga{ID: "d", State: renewal.Preparing, StateSince: nine.Add(-2 * day), LeaseEnd: nine.Add(90 * day)}
	gone := renewal.Saga{ID: "e", State: renewal.Offered, Archived: true, LeaseEnd: nine.Add(-90 * day)}
	decisions, findings := renewal.Rules{}.StuckSaga([]renewal.Saga{ranOut, fresh, lease, still, gone}, nine)
	var moved []string
	for _, d := range decisions {
		moved = append(moved, d.SagaID)
	}
	if !slices.Equal(moved, []string{"a", "c"}) || len(findings) != 1 || findings[0].SagaID != "d" {
		t.Errorf("moves %v, finds %v; want a, c and d", moved, findings)
	}
}

func TestHealthNamesContradictions(t *testing.T) {
	healthy := renewal.Saga{ID: "a", PersonID: "p", LeaseID: "l", State: renewal.Opened, LeaseEnd: nine, OpenedAt: nine}
	foreign, failed, free := healthy, healthy, healthy
	foreign.State = "frozen"
	failed.State, failed.Attempts = renewal.PrepareFailed, 5
	free.State = renewal.Offered
	findings := renewal.Rules{}.WorkflowHealth([]renewal.Saga{healthy, foreign, failed, free}, nine)
	if len(findings) != 3 {
		t.Errorf("found %v, want three", findings)
	}
}

func TestMetricsCountASnapshot(t *testing.T) {
	sagas := []renewal.Saga{
		{ID: "a", State: renewal.Offered, Offer: renewal.Offer{Expires: nine.Add(-time.Hour)}, PropertyID: "elm", OpenedAt: nine.Add(-time.Hour)},
		{ID: "b", State: renewal.Completed, PropertyID: "elm"},
		{ID: "c", State: renewal.Cancelled, Archived: true},
	}
	m := renewal.Rules{}.AgentMetrics(sagas, nine)
	if m.Open != 2 || m.Overdue != 1 || m.Won != 1 || m.Property["elm"] != 1 || m.Median != time.Hour {
		t.Errorf("metrics %+v", m)
	}
}

func TestDueComesFirst(t *testing.T) {
	due := renewal.Saga{ID: "z", State: renewal.Negotiating, StateSince: nine.AddDate(0, 0, -9)}
	later := renewal.Saga{ID: "b", State: renewal.Offered, Offer: renewal.Offer{Expires: nine.AddDate(0, 0, 9)}, LeaseEnd: nine.AddDate(0, 2, 0)}
	ended := renewal.Saga{ID: "a", State: renewal.Completed}
	sagas := []renewal.Saga{ended, later, due}
	slices.SortFunc(sagas, renewal.CompareDue)
	if sagas[0].ID != "z" || sagas[1].ID != "b" || sagas[2].ID != "a" {
		t.Errorf("order %s %s %s", sagas[0].ID, sagas[1].ID, sagas[2].ID)
	}
	for _, state := range renewal.States() {
		if next := (renewal.Saga{State: state}).Next(); next.Text == "" && state != renewal.Cancelled && state != renewal.Completed {
			t.Errorf("%s has no next action", state)
		}
	}
}
