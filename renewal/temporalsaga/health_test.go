package temporalsaga_test

import (
	"slices"
	"testing"
	"time"

	"github.com/hotsplit/hotsplit/renewal"
	"github.com/hotsplit/hotsplit/renewal/temporalsaga"
)

func TestCompare(t *testing.T) {
	now := time.Date(2026, 12, 1, 12, 0, 0, 0, time.UTC)
	long := now.Add(-time.Hour)
	standing := func(id string, state renewal.State, updated time.Time, archived bool) temporalsaga.Standing {
		return temporalsaga.Standing{
			Saga:  temporalsaga.Snapshot{ID: id, State: state, UpdatedAt: updated, Archived: archived},
			Lease: temporalsaga.Lease{ID: id, Ends: date("2027-03-31")},
		}
	}
	flow := func(id string, running bool, state renewal.State, started time.Time) temporalsaga.Flow {
		return temporalsaga.Flow{WorkflowID: "renewal/" + id + "/2027-03-31", Running: running, State: state, StartedAt: started}
	}
	sagas := []temporalsaga.Standing{
		standing("alone", renewal.Offered, long, false),
		standing("archived", renewal.Completed, long, true),
		standing("behind", renewal.Accepted, long, false),
		standing("closed", renewal.Offered, long, false),
		standing("fresh", renewal.Opened, now, false),
		standing("healthy", renewal.Offered, long, false),
		standing("restarted", renewal.Offered, long, false),
	}
	flows := []temporalsaga.Flow{
		flow("behind", true, renewal.Offered, long),
		flow("closed", false, renewal.Offered, long),
		flow("healthy", true, renewal.Offered, long),
		flow("orphan", true, renewal.Offered, long),
		flow("newborn", true, "", now),
		flow("restarted", true, renewal.Offered, long),
		flow("restarted", false, renewal.Offered, now),
	}
	var got []string
	for _, f := range temporalsaga.Compare(sagas, flows, now, time.Minute) {
		got = append(got, f.WorkflowID+" "+string(f.Fault))
	}
	want := []string{
		"renewal/alone/2027-03-31 no workflow",
		"renewal/behind/2027-03-31 behind",
		"renewal/closed/2027-03-31 closed workflow",
		"renewal/orphan/2027-03-31 no saga",
	}
	if !slices.Equal(got, want) {
		t.Errorf("findings %q, want %q", got, want)
	}
}
