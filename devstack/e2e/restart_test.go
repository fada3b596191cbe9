package e2e_test

import (
	"net"
	"path/filepath"
	"strconv"
	"testing"
	"time"

	"github.com/hotsplit/hotsplit/devstack/temporalserver"
	"github.com/hotsplit/hotsplit/renewal"
)

// TestServerRestarted stops the Temporal server in the middle of renewals, with
// the worker left running, and starts it again on its file.
func TestServerRestarted(t *testing.T) {
	t.Parallel()
	file := filepath.Join(t.TempDir(), "temporal.db")
	first, err := temporalserver.Start(temporalserver.Options{File: file})
	if err != nil {
		t.Fatal(err)
	}
	r := newRig(t)
	r.address = first.Address()
	r.terms.ReplyWithin = time.Hour
	short := r.terms
	short.ReplyWithin = 10 * time.Second
	leases := r.leases(4)
	a := r.work()
	for i, lease := range leases {
		terms := r.terms
		if i == 0 {
			terms = short
		}
		if _, err := a.Renewals().StartWith(t.Context(), lease, terms); err != nil {
			t.Fatal(err)
		}
	}
	for _, lease := range leases[:3] {
		r.reaches(lease, renewal.Offered) // the fourth is wherever it is
	}
	if err := first.Stop(); err != nil {
		t.Fatal(err)
	}

	_, port, _ := net.SplitHostPort(first.Address())
	number, _ := strconv.Atoi(port)
	second, err := temporalserver.Start(temporalserver.Options{File: file, Port: number})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = second.Stop() })
	for _, lease := range leases[1:] {
		tell(t, a.Renewals(), lease)
	}
	for _, lease := range leases[1:] {
		r.once(lease)
	}
	if saga := r.archived(leases[0]); saga.State != renewal.Expired { // its timer outlived the server
		t.Errorf("renewal without an answer ends %s, want expired", saga.State)
	}
}
