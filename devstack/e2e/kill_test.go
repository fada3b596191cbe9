package e2e_test

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"log/slog"
	"os"
	"os/exec"
	"testing"
	"time"

	"go.temporal.io/sdk/activity"
	"go.temporal.io/sdk/interceptor"

	"github.com/hotsplit/hotsplit/cmd/renewald/automation"
	"github.com/hotsplit/hotsplit/cmd/renewald/portfolio"
	"github.com/hotsplit/hotsplit/renewal/temporalsaga"
)

// workerEnvironment makes the test binary a worker process, so that a worker can
// be killed as an operating system kills: without a word to anybody.
const workerEnvironment = "HOTSPLIT_E2E_WORKER"

// hang says at which point of which activity a worker process stops moving.
type hang struct {
	Address, Queue, Endpoint string
	Activity                 string
	After                    bool // after the activity's write, before its answer
	Terms                    temporalsaga.Terms
}

const reachedLine = "reached"

// workerMain is the worker process: it works until it is killed.
func workerMain() int {
	var h hang
	if err := json.Unmarshal([]byte(os.Getenv(workerEnvironment)), &h); err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 2
	}
	remote := tableAt(h.Endpoint)
	a, err := automation.Start(context.Background(), automation.Options{
		Address: h.Address, Store: remote.store(), Portfolio: portfolio.New(remote.client, tableName),
		Interceptors: []interceptor.WorkerInterceptor{&hanging{hang: h}},
		Renewals:     temporalsaga.Options{TaskQueue: h.Queue, Terms: h.Terms},
		Schedule:     temporalsaga.Schedule{Every: 24 * time.Hour},
		Log:          slog.New(slog.DiscardHandler),
	})
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	defer a.Close()
	select {}
}

type hanging struct {
	interceptor.WorkerInterceptorBase
	hang hang
}

func (h *hanging) InterceptActivity(_ context.Context, next interceptor.ActivityInboundInterceptor) interceptor.ActivityInboundInterceptor {
	return &hangingActivity{ActivityInboundInterceptorBase: interceptor.ActivityInboundInterceptorBase{Next: next}, hang: h.hang}
}

type hangingActivity struct {
	interceptor.ActivityInboundInterceptorBase
	hang hang
}

func (a *hangingActivity) ExecuteActivity(ctx context.Context, in *interceptor.ExecuteActivityInput) (any, error) {
	if name(ctx) != a.hang.Activity {
		return a.Next.ExecuteActivity(ctx, in)
	}
	if a.hang.After {
		_, _ = a.Next.ExecuteActivity(ctx, in)
	}
	fmt.Println(reachedLine)
	select {}
}

// name is the activity that a context belongs to.
func name(ctx context.Context) string { return activity.GetInfo(ctx).ActivityType.Name }

// killIn runs a worker process until it is in the middle of an activity, and
// kills it there. stopped is closed when it is dead.
func (r *rig) killIn(activity string, after bool) (stopped <-chan struct{}) {
	r.t.Helper()
	description, err := json.Marshal(hang{
		Address: r.address, Queue: r.queue, Endpoint: r.table.endpoint(), Activity: activity, After: after, Terms: r.terms,
	})
	if err != nil {
		r.t.Fatal(err)
	}
	process := exec.CommandContext(r.t.Context(), os.Args[0])
	process.Env = append(os.Environ(), workerEnvironment+"="+string(description))
	process.Stderr = os.Stderr
	out, err := process.StdoutPipe()
	if err != nil {
		r.t.Fatal(err)
	}
	if err := process.Start(); err != nil {
		r.t.Fatal(err)
	}
	dead := make(chan struct{})
	go func() {
		defer close(dead)
		for lines := bufio.NewScanner(out); lines.Scan(); {
			if lines.Text() == reachedLine {
				break
			}
		}
		_ = process.Process.Kill()
		_ = process.Wait()
	}()
	return dead
}

// TestWorkerKilledInEachActivity kills the only worker in the middle of each
// activity, after its write and before its answer, and has another one go on.
func TestWorkerKilledInEachActivity(t *testing.T) {
	for _, activity := range []string{"OpenSaga", "MoveSaga", "QuoteRent", "SendLetter", "ExtendLease", "ArchiveSaga"} {
		for _, after := range []bool{false, true} {
			if !after && activity != "MoveSaga" && activity != "ExtendLease" {
				continue // before the write there is nothing that could be done twice; two stand for all
			}
			t.Run(fmt.Sprintf("%s/after=%v", activity, after), func(t *testing.T) {
				t.Parallel()
				r := newRig(t)
				lease := r.leases(1)[0]
				starter := temporalsaga.NewClient(r.dial(), "default", temporalsaga.Options{TaskQueue: r.queue, Terms: r.terms})
				dead := r.killIn(activity, after)
				if _, err := starter.Start(t.Context(), lease, ""); err != nil {
					t.Fatal(err)
				}
				// Signals wait in the workflow until it can use them, so that the
				// dying worker meets the late activities too.
				for _, q := range answersOf(lease) {
					if err := starter.Tell(t.Context(), lease.WorkflowID(), q); err != nil {
						t.Fatal(err)
					}
				}
				<-dead
				r.work()
				r.once(lease)
			})
		}
	}
}
