package temporalsaga_test

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"testing"

	"go.temporal.io/sdk/interceptor"
	"go.temporal.io/sdk/worker"

	"github.com/hotsplit/hotsplit/renewal"
	"github.com/hotsplit/hotsplit/renewal/temporalsaga"
)

// lossy loses the answers of activities after they have done their work.
type lossy struct {
	interceptor.WorkerInterceptorBase
	interceptor.ActivityInboundInterceptorBase
	chance *rand.Rand
	share  float64
	lost   int
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
	if err == nil && a.lossy.chance.Float64() < a.lossy.share {
		a.lossy.lost++
		return nil, errors.New("connection reset by peer")
	}
	return result, err
}

// TestLostAnswersCountOnce runs whole renewals in which one activity answer in
// five is lost after the write.
func TestLostAnswersCountOnce(t *testing.T) {
	seed := rand.Uint64()
	t.Logf("seed %d", seed)
	lost := 0
	for i := range 60 {
		t.Run(fmt.Sprint(i), func(t *testing.T) {
			o := newOffice(t)
			l := &lossy{chance: rand.New(rand.NewPCG(seed, uint64(i))), share: 0.2}
			o.SetWorkerOptions(worker.Options{Interceptors: []interceptor.WorkerInterceptor{l}})
			o.asks(1*day, temporalsaga.Request{ID: "m1", To: renewal.Accepted})
			o.asks(2*day, temporalsaga.Request{ID: "m1", To: renewal.Accepted})
			o.asks(3*day, temporalsaga.Request{ID: "s1", To: renewal.Signed})
			o.run(temporalsaga.Terms{})
			o.ends(renewal.Completed)
			lost += l.lost
			if len(o.desk.letters) != 2 || len(o.desk.extends) != 1 || !o.desk.ends[o.lease.ID].Equal(o.lease.NextEnd()) {
				t.Errorf("letters %v, extensions %v, lease ends %v", o.desk.kinds(), o.desk.extends, o.desk.ends)
			}
			const each = 8 // opened, six moves, archived
			if version := o.saga().Version; version != each {
				t.Errorf("saga has version %d, want %d: each move once", version, each)
			}
		})
	}
	if lost == 0 {
		t.Error("no answer was lost: the test tests nothing")
	}
}
