package e2e_test

import (
	"context"
	"testing"
	"time"

	enums "go.temporal.io/api/enums/v1"
	"go.temporal.io/api/workflowservice/v1"
	"go.temporal.io/sdk/client"

	"github.com/hotsplit/hotsplit/renewal"
	"github.com/hotsplit/hotsplit/renewal/temporalsaga"
)

// walk runs the walker once and waits for what it did.
func (r *rig) walk(c client.Client, id string) temporalsaga.Walked {
	r.t.Helper()
	in := temporalsaga.CohortInput{Horizon: 300 * 24 * time.Hour, PageItems: 3, Pause: time.Millisecond, Terms: r.terms}
	run, err := c.ExecuteWorkflow(r.t.Context(), client.StartWorkflowOptions{ID: id, TaskQueue: r.queue}, temporalsaga.CohortType, in.Filled())
	if err != nil {
		r.t.Fatal(err)
	}
	var walked temporalsaga.Walked
	if err := run.Get(r.t.Context(), &walked); err != nil {
		r.t.Fatal(err)
	}
	return walked
}

func TestWalkerStartsEachLeaseOnce(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	leases := r.leases(8)
	r.work(&lossy{share: 0.2})
	c := r.dial()
	first := r.walk(c, r.queue+"-walk-1")
	if first.Seen != 8 || first.Started+first.Known != 8 {
		t.Errorf("first walk %+v, want 8 seen and started", first)
	}
	if second := r.walk(c, r.queue+"-walk-2"); second.Seen != 8 || second.Started != 0 || second.Known != 8 {
		t.Errorf("second walk %+v, want all known", second)
	}
	for _, lease := range leases {
		r.reaches(lease, renewal.Offered)
	}
}

func TestScheduleWalks(t *testing.T) {
	r := newRig(t)
	lease := r.leases(1)[0]
	options := r.options()
	options.Schedule = temporalsaga.Schedule{Every: 24 * time.Hour, Cohort: temporalsaga.CohortInput{Horizon: 300 * 24 * time.Hour, Terms: r.terms}}
	r.workWith(options)
	r.workWith(options) // a second replica finds the schedule and agrees with it
	if err := r.worker.Renewals().WalkNow(t.Context()); err != nil {
		t.Fatal(err)
	}
	r.reaches(lease, renewal.Offered)
	c := r.dial()
	description, err := c.ScheduleClient().GetHandle(t.Context(), temporalsaga.ScheduleID).Describe(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if got := description.Schedule.Policy.Overlap; got != enums.SCHEDULE_OVERLAP_POLICY_SKIP {
		t.Errorf("overlap policy %v, want skip", got)
	}
	eventually(t, "the renewal in a list by search attributes", func(ctx context.Context) bool {
		list, err := c.ListWorkflow(ctx, &workflowservice.ListWorkflowExecutionsRequest{
			Query: "RenewalLease = '" + lease.ID + "' AND RenewalState = 'offered' AND RenewalProperty = 'elm-street'",
		})
		return err == nil && len(list.GetExecutions()) == 1
	})
}
