package e2e_test

import (
	"context"
	"flag"
	"fmt"
	"log/slog"
	"os"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"go.temporal.io/sdk/client"
	"go.temporal.io/sdk/interceptor"
	sdklog "go.temporal.io/sdk/log"

	"github.com/hotsplit/hotsplit/cmd/renewald/automation"
	"github.com/hotsplit/hotsplit/cmd/renewald/portfolio"
	"github.com/hotsplit/hotsplit/devstack/temporalserver"
	"github.com/hotsplit/hotsplit/renewal"
	"github.com/hotsplit/hotsplit/renewal/temporalsaga"
)

// server is one Temporal server for all tests of this package; each test has a
// task queue and a table of its own.
var server *temporalserver.Server

// testsAtOnce is more than there are processors: these tests wait for time-outs
// and timers of a dead worker or a stopped server, and compute little.
const testsAtOnce = "6"

func TestMain(m *testing.M) {
	if os.Getenv(workerEnvironment) != "" {
		os.Exit(workerMain())
	}
	flag.Parse()
	if err := flag.Set("test.parallel", testsAtOnce); err != nil {
		panic(err)
	}
	var err error
	if server, err = temporalserver.Start(temporalserver.Options{}); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	code := m.Run()
	_ = server.Stop()
	os.Exit(code)
}

// quick are terms under which a renewal that is answered at once takes seconds.
var quick = temporalsaga.Terms{
	ReplyWithin: time.Minute, RemindBefore: time.Second, SignWithin: time.Minute, ArchiveAfter: time.Second,
	Attempt: 2 * time.Second, RetryMin: 50 * time.Millisecond, RetryMax: time.Second, QuoteAttempts: 3,
}

// rig is a table, a portfolio and a queue on the shared Temporal server.
type rig struct {
	t         *testing.T
	address   string
	queue     string
	table     *table
	store     renewal.Store
	portfolio *portfolio.Portfolio
	terms     temporalsaga.Terms
	worker    *automation.Automation
}

// versionOnceEach is the version of a saga that was opened, moved six times and
// archived, each once.
const versionOnceEach = 8

var rigs atomic.Int64

func newRig(t *testing.T) *rig {
	t.Helper()
	r := &rig{
		t: t, address: server.Address(), terms: quick,
		queue: fmt.Sprintf("%s-%d", strings.ReplaceAll(t.Name(), "/", "-"), rigs.Add(1)), table: newTable(t),
	}
	r.store, r.portfolio = r.table.store(), portfolio.New(r.table.client, tableName)
	return r
}

func (r *rig) options(interceptors ...interceptor.WorkerInterceptor) automation.Options {
	return automation.Options{
		Address: r.address, Store: r.store, Portfolio: r.portfolio, Interceptors: interceptors,
		Renewals: temporalsaga.Options{TaskQueue: r.queue, Terms: r.terms, AnswerMax: time.Minute},
		Schedule: temporalsaga.Schedule{Every: 24 * time.Hour},
		Settled:  time.Nanosecond, Log: slog.New(slog.DiscardHandler),
	}
}

// work starts a worker that stops with the test.
func (r *rig) work(interceptors ...interceptor.WorkerInterceptor) *automation.Automation {
	r.t.Helper()
	return r.workWith(r.options(interceptors...))
}

func (r *rig) workWith(options automation.Options) *automation.Automation {
	r.t.Helper()
	a, err := automation.Start(r.t.Context(), options)
	if err != nil {
		r.t.Fatal(err)
	}
	r.t.Cleanup(a.Close)
	r.worker = a
	return a
}

// dial is a bare client, for what only a rude caller would do.
func (r *rig) dial() client.Client {
	r.t.Helper()
	c, err := client.Dial(client.Options{HostPort: r.address, Logger: sdklog.NewStructuredLogger(slog.New(slog.DiscardHandler))})
	if err != nil {
		r.t.Fatal(err)
	}
	r.t.Cleanup(c.Close)
	return c
}

// leases puts that many leases into the portfolio; they end half a year from now.
func (r *rig) leases(count int) []temporalsaga.Lease {
	r.t.Helper()
	ends := time.Now().UTC().AddDate(0, 6, 0).Truncate(24 * time.Hour)
	leases := make([]temporalsaga.Lease, count)
	for i := range leases {
		leases[i] = temporalsaga.Lease{
			ID: fmt.Sprintf("%s.%03d", r.queue, i), PersonID: fmt.Sprintf("person-%03d", i), PropertyID: "elm-street",
			Unit: fmt.Sprint(i), Ends: ends, RentCents: 100_000, TermMonths: 12,
		}
	}
	if _, err := r.portfolio.Import(r.t.Context(), leases); err != nil {
		r.t.Fatal(err)
	}
	return leases
}

// reaches waits until the saga stands in a state or beyond it.
func (r *rig) reaches(lease temporalsaga.Lease, state renewal.State) renewal.Saga {
	r.t.Helper()
	return r.until(lease, func(s renewal.Saga) bool { return s.State.Rank() >= state.Rank() }, string(state))
}

func (r *rig) archived(lease temporalsaga.Lease) renewal.Saga {
	r.t.Helper()
	return r.until(lease, func(s renewal.Saga) bool { return s.Archived }, "archived")
}

const (
	reachMax  = 3 * time.Minute // of a machine that does much else
	reachStep = 50 * time.Millisecond
)

func (r *rig) until(lease temporalsaga.Lease, done func(renewal.Saga) bool, what string) renewal.Saga {
	r.t.Helper()
	ctx, cancel := context.WithTimeout(r.t.Context(), reachMax)
	defer cancel()
	tick := time.NewTicker(reachStep)
	defer tick.Stop()
	for {
		saga, err := r.store.Saga(ctx, lease.SagaID())
		if err == nil && done(saga) {
			return saga
		}
		select {
		case <-ctx.Done():
			r.t.Fatalf("saga %s is %q (%v), want %s", lease.SagaID(), saga.State, err, what)
		case <-tick.C:
		}
	}
}

// ask makes a request of a renewal and repeats it as a client would.
func (r *rig) ask(lease temporalsaga.Lease, q temporalsaga.Request) temporalsaga.Snapshot {
	r.t.Helper()
	saga, err := r.worker.Renewals().Ask(r.t.Context(), lease.WorkflowID(), q)
	if err != nil {
		r.t.Fatal(err)
	}
	return saga
}

// answersOf is what a willing tenant sends.
func answersOf(lease temporalsaga.Lease) []temporalsaga.Request {
	return []temporalsaga.Request{
		{ID: "accept-" + lease.ID, Kind: "message", To: renewal.Accepted, Text: "yes"},
		{ID: "sign-" + lease.ID, Kind: "signature", To: renewal.Signed},
	}
}

// signs takes a lease's renewal from the offer to the signature.
func (r *rig) signs(lease temporalsaga.Lease) {
	r.t.Helper()
	r.reaches(lease, renewal.Offered)
	for _, q := range answersOf(lease) {
		r.ask(lease, q)
	}
}

// once checks that a finished renewal did everything exactly once.
func (r *rig) once(lease temporalsaga.Lease) {
	r.t.Helper()
	saga := r.archived(lease)
	if saga.State != renewal.Completed {
		r.t.Errorf("saga %s ends %s, want completed", saga.ID, saga.State)
	}
	after, err := r.portfolio.Lease(r.t.Context(), lease.ID)
	if err != nil || !after.Ends.Equal(lease.NextEnd()) {
		r.t.Errorf("lease %s ends %v (%v), want %v", lease.ID, after.Ends, err, lease.NextEnd())
	}
	if letters := r.table.letters(saga.ID); letters["offer"] != 1 || letters["contract"] != 1 {
		r.t.Errorf("saga %s sent letters %v, want one of each", saga.ID, letters)
	}
	if saga.Version != versionOnceEach {
		r.t.Errorf("saga %s has version %d, want %d: each move once", saga.ID, saga.Version, versionOnceEach)
	}
}
