package renewal_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/hotsplit/hotsplit/renewal"
)

var nine = time.Date(2026, 12, 1, 9, 0, 0, 0, time.UTC)

func opened(t testing.TB) renewal.Saga {
	t.Helper()
	s, err := renewal.Saga{PersonID: "p1", LeaseID: "l1", LeaseEnd: nine.AddDate(0, 3, 0)}.Opening(nine)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func TestOpeningNamesLeaseAndTerm(t *testing.T) {
	s := opened(t)
	if s.ID != "l1.2027-03-01" || s.State != renewal.Opened || s.Version != 1 || !s.OpenedAt.Equal(nine) {
		t.Errorf("opened %+v", s)
	}
}

func TestOpeningRefusesBadFields(t *testing.T) {
	_, err := renewal.Saga{PersonID: "p#1", LeaseID: strings.Repeat("l", 200), Unit: "\x00", Offer: renewal.Offer{RentCents: -1}}.Opening(nine)
	var invalid *renewal.InvalidError
	if !errors.As(err, &invalid) || !errors.Is(err, renewal.ErrInvalid) {
		t.Fatalf("got %v, want an InvalidError", err)
	}
	named := map[string]bool{}
	for _, f := range invalid.Faults {
		named[f.Field] = true
	}
	for _, field := range []string{"id", "personId", "leaseId", "unit", "leaseEnd", "offer.rentCents"} {
		if !named[field] {
			t.Errorf("%s is not named in %v", field, err)
		}
	}
}

func TestChangeTwiceIsMadeOnce(t *testing.T) {
	c := renewal.Change{Op: "m1", To: renewal.Preparing}
	once, _, err := opened(t).Apply(c, nine)
	if err != nil {
		t.Fatal(err)
	}
	twice, applied, err := once.Apply(c, nine.Add(time.Hour))
	if err != nil || applied || twice.Version != once.Version || twice.Attempts != 1 {
		t.Errorf("second time: %+v, applied %v, %v", twice, applied, err)
	}
	_, _, err = once.Apply(renewal.Change{Op: "m1", To: renewal.Cancelled}, nine)
	if !errors.Is(err, renewal.ErrConflict) {
		t.Errorf("the id for another change: %v, want a conflict", err)
	}
}

func TestChangeOnSomethingElseConflicts(t *testing.T) {
	for _, c := range []renewal.Change{
		{Op: "a", To: renewal.Preparing, Version: 9},
		{Op: "a", To: renewal.Preparing, From: renewal.Offered},
	} {
		_, _, err := opened(t).Apply(c, nine)
		var conflict *renewal.ConflictError
		if !errors.As(err, &conflict) || conflict.Saga.ID != opened(t).ID {
			t.Errorf("%+v: %v, want a conflict with the saga", c, err)
		}
	}
}

func TestArchivedMovesNoMore(t *testing.T) {
	s := opened(t)
	if _, _, err := s.Archive(nine); !errors.Is(err, renewal.ErrIllegalMove) {
		t.Errorf("archiving an open renewal: %v", err)
	}
	s, _, _ = s.Apply(renewal.Change{Op: "c", To: renewal.Cancelled}, nine)
	s, applied, err := s.Archive(nine)
	if err != nil || !applied || !s.Archived {
		t.Fatalf("archive: %+v, %v", s, err)
	}
	if again, applied, err := s.Archive(nine); err != nil || applied || again.Version != s.Version {
		t.Errorf("archive again: %+v, %v, %v", again, applied, err)
	}
	if _, _, err := s.Apply(renewal.Change{Op: "n", Text: "hello"}, nine); !errors.Is(err, renewal.ErrIllegalMove) {
		t.Errorf("note on an archived saga: %v", err)
	}
}

// TestVersionCountsChanges makes random changes, repeats some, and counts.
func TestVersionCountsChanges(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		s, err := renewal.Saga{PersonID: "p", LeaseID: "l", LeaseEnd: nine}.Opening(nine)
		if err != nil {
			t.Fatal(err)
		}
		version, attempts := int64(1), 0
		for i := range rapid.IntRange(1, 80).Draw(t, "changes") {
			c := renewal.Change{Op: fmt.Sprint("op", i), To: rapid.SampledFrom(renewal.States()).Draw(t, "to"), Text: "x"}
			for range rapid.IntRange(1, 3).Draw(t, "times") {
				after, applied, _ := s.Apply(c, nine.Add(time.Duration(i)*time.Minute))
				s = after
				if applied {
					version++
				}
				if applied && c.To == renewal.Preparing {
					attempts++
				}
			}
		}
		if s.Version != version || s.Attempts != attempts {
			t.Fatalf("version %d, attempts %d; want %d, %d", s.Version, s.Attempts, version, attempts)
		}
		if len(s.Timeline) > 40 || s.Timeline[len(s.Timeline)-1].Version != version {
			t.Fatalf("timeline of %d events ends at %+v", len(s.Timeline), s.Timeline[len(s.Timeline)-1])
		}
	})
}
