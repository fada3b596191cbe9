package temporalsaga_test

import (
	"errors"
	"testing"
	"time"

	"github.com/hotsplit/hotsplit/renewal/temporalsaga"
)

func date(text string) time.Time {
	d, err := time.Parse(time.DateOnly, text)
	if err != nil {
		panic(err)
	}
	return d
}

func TestNextEnd(t *testing.T) {
	for _, c := range []struct {
		ends   string
		months int
		want   string
	}{
		{"2027-03-31", 12, "2028-03-31"},
		{"2027-01-31", 1, "2027-02-28"},
		{"2027-02-28", 12, "2028-02-29"},
		{"2028-02-29", 12, "2029-02-28"},
		{"2027-06-30", 1, "2027-07-31"},
		{"2027-06-15", 18, "2028-12-15"},
		{"2027-01-30", 1, "2027-02-28"},
	} {
		lease := temporalsaga.Lease{Ends: date(c.ends), TermMonths: c.months}
		if got := lease.NextEnd().Format(time.DateOnly); got != c.want {
			t.Errorf("%s + %d months = %s, want %s", c.ends, c.months, got, c.want)
		}
	}
}

func TestLeaseValidate(t *testing.T) {
	err := temporalsaga.Lease{ID: "a#b", PersonID: "", Unit: "4\x00"}.Validate()
	var input *temporalsaga.InputError
	if !errors.As(err, &input) || !errors.Is(err, temporalsaga.ErrInput) || len(input.Faults) != 5 {
		t.Fatalf("got %v, want all five faults at once", err)
	}
}

func TestIDsFollowFromLeaseAndTerm(t *testing.T) {
	lease := temporalsaga.Lease{ID: "lease-7", Ends: date("2027-03-31")}
	if got, want := lease.WorkflowID(), "renewal/lease-7/2027-03-31"; got != want {
		t.Errorf("workflow id %q, want %q", got, want)
	}
	if got, want := lease.SagaID(), "lease-7.2027-03-31"; got != want {
		t.Errorf("saga id %q, want %q", got, want)
	}
}
