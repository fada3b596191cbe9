package e2e_test

import (
	"context"
	"errors"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"go.temporal.io/api/serviceerror"

	"github.com/hotsplit/hotsplit/renewal"
	"github.com/hotsplit/hotsplit/renewal/temporalsaga"
)

func TestRenewalFromStartToArchive(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	lease := r.leases(1)[0]
	a := r.work()
	if started, err := a.Renewals().Start(t.Context(), lease, ""); err != nil || !started {
		t.Fatalf("started %v, %v", started, err)
	}
	r.signs(lease)
	r.once(lease)
	eventually(t, "the whole timeline of the closed renewal", func(ctx context.Context) bool {
		timeline, err := a.Renewals().Timeline(ctx, lease.WorkflowID())
		return err == nil && timeline.Saga.Archived && len(timeline.Events) >= 8
	})
}

func TestManyStartsAreOne(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	lease := r.leases(1)[0]
	a := r.work()
	var started atomic.Int64
	var all sync.WaitGroup
	for range 20 {
		all.Go(func() {
			ok, err := a.Renewals().Start(t.Context(), lease, "")
			if err != nil {
				t.Error(err)
			}
			if ok {
				started.Add(1)
			}
		})
	}
	all.Wait()
	if started.Load() != 1 {
		t.Fatalf("%d of 20 starts started a renewal, want 1", started.Load())
	}
	r.reaches(lease, renewal.Offered)
	accept := temporalsaga.Request{ID: "m1", To: renewal.Accepted, Text: "yes"}
	for range 20 {
		all.Go(func() {
			if saga, err := a.Renewals().Ask(t.Context(), lease.WorkflowID(), accept); err != nil || saga.State != renewal.Accepted {
				t.Errorf("repeated request: %+v, %v", saga, err)
			}
			if err := a.Renewals().Tell(t.Context(), lease.WorkflowID(), accept); err != nil {
				t.Error(err)
			}
		})
	}
	all.Wait()
	other := accept
	other.To = renewal.Declined
	if _, err := a.Renewals().Ask(t.Context(), lease.WorkflowID(), other); !errors.Is(err, temporalsaga.ErrOtherBody) {
		t.Errorf("the id again with another body: %v, want ErrOtherBody", err)
	}
	r.ask(lease, temporalsaga.Request{ID: "s1", To: renewal.Signed})
	r.once(lease)
	if ok, err := a.Renewals().Start(t.Context(), lease, ""); err != nil || ok {
		t.Errorf("start after the end: started %v, %v", ok, err)
	}
	_, err := a.Renewals().Ask(t.Context(), lease.WorkflowID(), temporalsaga.Request{ID: "late", To: renewal.Cancelled})
	if !errors.Is(err, temporalsaga.ErrNotRunning) && !errors.Is(err, temporalsaga.ErrRefused) { // it may be about to close
		t.Errorf("request after the end: %v, want ErrNotRunning", err)
	}
}

func TestPayloadTooLargeIsRefusedOnce(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	lease := r.leases(1)[0]
	a := r.work()
	if _, err := a.Renewals().Start(t.Context(), lease, ""); err != nil {
		t.Fatal(err)
	}
	r.reaches(lease, renewal.Offered)
	huge := temporalsaga.Request{ID: "m1", Text: strings.Repeat("x", 3<<20)}
	if _, err := a.Renewals().Ask(t.Context(), lease.WorkflowID(), huge); !errors.Is(err, temporalsaga.ErrInput) {
		t.Errorf("client took a request of 3 MiB: %v", err)
	}
	err := r.dial().SignalWorkflow(t.Context(), lease.WorkflowID(), "", "request", huge)
	var refused *serviceerror.InvalidArgument
	if !errors.As(err, &refused) {
		t.Errorf("server took a signal of 3 MiB: %v", err)
	}
	bad := lease
	bad.Unit = strings.Repeat("x", 3<<20)
	if _, err := a.Renewals().Start(t.Context(), bad, ""); !errors.Is(err, temporalsaga.ErrInput) {
		t.Errorf("client took a lease of 3 MiB: %v", err)
	}
	r.signs(lease)
	r.once(lease)
}
