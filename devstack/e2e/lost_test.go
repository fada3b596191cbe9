package e2e_test

import (
	"context"
	"errors"
	"math/rand/v2"
	"sync"
	"sync/atomic"
	"testing"

	"go.temporal.io/sdk/interceptor"

	"github.com/hotsplit/hotsplit/renewal/temporalsaga"
)

// lossy loses a share of the answers of activities, after their work is done.
type lossy struct {
	interceptor.WorkerInterceptorBase
	share float64
	lost  atomic.Int64
}

func (l *lossy) InterceptActivity(_ context.Context, next interceptor.ActivityInboundInterceptor) interceptor.ActivityInboundInterceptor {
	return &lossyActivity{ActivityInboundInterceptorBase: interceptor.ActivityInboundInterceptorBase{Next: next}, lossy: l}
}

type lossyActivity struct {
	interceptor.ActivityInboundInterceptorBase
	lossy *lossy
}

func (a *lossyActivity) ExecuteActivity(ctx context.Context, in *interceptor.ExecuteActivityInput) (any, error) {
	result, err := a.Next.ExecuteActivity(ctx, in)
	if err == nil && rand.Float64() < a.lossy.share {
		a.lossy.lost.Add(1)
		return nil, errors.New("connection reset by peer")
	}
	return result, err
}

// TestLostAnswersCountOnce: with one activity answer in five lost after the
// write, each renewal is offered, signed and completed exactly once.
func TestLostAnswersCountOnce(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	leases := r.leases(12)
	l := &lossy{share: 0.2}
	a := r.work(l)
	var all sync.WaitGroup
	for _, lease := range leases {
		all.Go(func() {
			if _, err := a.Renewals().Start(t.Context(), lease, ""); err != nil {
				t.Error(err)
				return
			}
			for range 2 { // each answer twice: tenants click twice
				tell(t, a.Renewals(), lease)
			}
		})
	}
	all.Wait()
	for _, lease := range leases {
		r.once(lease)
	}
	t.Logf("%d answers lost in %d renewals", l.lost.Load(), len(leases))
	if l.lost.Load() == 0 {
		t.Error("no answer was lost: the test tests nothing")
	}
}

func tell(t *testing.T, renewals *temporalsaga.Client, lease temporalsaga.Lease) {
	for _, q := range answersOf(lease) {
		if err := renewals.Tell(t.Context(), lease.WorkflowID(), q); err != nil && !errors.Is(err, temporalsaga.ErrNotRunning) {
			t.Error(err)
		}
	}
}
