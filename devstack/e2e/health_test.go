package e2e_test

import (
	"context"
	"errors"
	"testing"
	"time"

	"go.temporal.io/sdk/interceptor"

	"github.com/hotsplit/hotsplit/cmd/renewald/automation"
	"github.com/hotsplit/hotsplit/renewal"
	"github.com/hotsplit/hotsplit/renewal/temporalsaga"
)

// eventually asks again until the answer is yes.
func eventually(t *testing.T, what string, ask func(context.Context) bool) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), reachMax)
	defer cancel()
	tick := time.NewTicker(reachStep)
	defer tick.Stop()
	for !ask(ctx) {
		select {
		case <-ctx.Done():
			t.Fatalf("waited %v for %s", reachMax, what)
		case <-tick.C:
		}
	}
}

// health compares until a fault of a lease is found.
func (r *rig) health(lease temporalsaga.Lease, fault temporalsaga.Fault) automation.Report {
	r.t.Helper()
	var found automation.Report
	eventually(r.t, "a finding: "+string(fault), func(ctx context.Context) bool {
		report, err := r.worker.Health(ctx, r.table.open())
		if err != nil {
			r.t.Fatal(err)
		}
		for _, f := range append(report.Repaired, report.Left...) {
			if f.WorkflowID == lease.WorkflowID() && f.Fault == fault {
				found = report
				return true
			}
		}
		return false
	})
	return found
}

func TestHealthRestartsWhatStopped(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	lease := r.leases(1)[0]
	a := r.work()
	if _, err := a.Renewals().Start(t.Context(), lease, ""); err != nil {
		t.Fatal(err)
	}
	r.reaches(lease, renewal.Offered)
	if err := r.dial().TerminateWorkflow(t.Context(), lease.WorkflowID(), "", "operator"); err != nil {
		t.Fatal(err)
	}
	r.health(lease, temporalsaga.ClosedWorkflow)
	r.signs(lease)
	r.once(lease)
}

func TestHealthAdoptsASagaWithoutWorkflow(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	lease := r.leases(1)[0]
	r.work()
	r.table.openSaga(lease)
	r.health(lease, temporalsaga.NoWorkflow)
	r.signs(lease)
	r.once(lease)
}

func TestHealthNudgesWhatIsBehind(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	lease := r.leases(1)[0]
	a := r.work()
	if _, err := a.Renewals().Start(t.Context(), lease, ""); err != nil {
		t.Fatal(err)
	}
	r.reaches(lease, renewal.Offered)
	r.table.moveBehindItsBack(lease, renewal.Cancelled)
	r.health(lease, temporalsaga.Behind)
	if saga := r.archived(lease); saga.State != renewal.Cancelled {
		t.Errorf("saga ends %s, want cancelled", saga.State)
	}
}

// refusing fails one activity for good.
type refusing struct {
	interceptor.WorkerInterceptorBase
	activity string
}

func (f *refusing) InterceptActivity(_ context.Context, next interceptor.ActivityInboundInterceptor) interceptor.ActivityInboundInterceptor {
	return &refusingActivity{ActivityInboundInterceptorBase: interceptor.ActivityInboundInterceptorBase{Next: next}, activity: f.activity}
}

type refusingActivity struct {
	interceptor.ActivityInboundInterceptorBase
	activity string
}

func (a *refusingActivity) ExecuteActivity(ctx context.Context, in *interceptor.ExecuteActivityInput) (any, error) {
	if name(ctx) == a.activity {
		return nil, errors.New("the post is on strike")
	}
	return a.Next.ExecuteActivity(ctx, in)
}

func TestHealthNamesWhatIsStuck(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	lease := r.leases(1)[0]
	r.terms.RetryMax = 50 * time.Millisecond
	options := r.options(&refusing{activity: "SendLetter"})
	options.Stuck = time.Second
	a := r.workWith(options)
	if _, err := a.Renewals().Start(t.Context(), lease, ""); err != nil {
		t.Fatal(err)
	}
	report := r.health(lease, temporalsaga.StuckTask)
	if len(report.Repaired) != 0 {
		t.Errorf("a stuck renewal was touched: %v", report.Repaired)
	}
}
