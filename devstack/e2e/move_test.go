package e2e_test

import (
	"bytes"
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/credentials"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"golang.org/x/sync/errgroup"

	"github.com/hotsplit/hotsplit/cmd/renewald/app"
	"github.com/hotsplit/hotsplit/cmd/renewald/automation"
	"github.com/hotsplit/hotsplit/cmd/renewald/load"
	"github.com/hotsplit/hotsplit/migrate"
	"github.com/hotsplit/hotsplit/renewal"
	"github.com/hotsplit/hotsplit/renewal/temporalsaga"
	"github.com/hotsplit/hotsplit/renewal/web"
)

// estate is the whole application on one key, with everything that it does.
type estate struct {
	*rig
	app     *app.App
	options app.Options
	spec    migrate.Spec
}

func newEstate(t *testing.T) *estate {
	t.Helper()
	queue := t.Name()
	terms := quick
	terms.ReplyWithin, terms.SignWithin, terms.ArchiveAfter, terms.Attempt = time.Hour, time.Hour, time.Hour, 10*time.Second
	e := &estate{options: app.Options{
		Table: tableName, Demo: true, DemoSagas: 8, Shards: -1, Move: "renewal-saga", Listen: "127.0.0.1:0", Access: web.Access{Open: true},
		Temporal: server.Address(), SweepScale: 0.03, Log: slog.New(slog.DiscardHandler),
		Automation: automation.Options{
			Renewals: temporalsaga.Options{TaskQueue: queue, Terms: terms, AnswerMax: 30 * time.Second},
			Schedule: temporalsaga.Schedule{Every: 24 * time.Hour},
		},
	}}
	var err error
	if e.app, err = app.New(t.Context(), e.options); err != nil {
		t.Fatal(err)
	}
	running, stop := context.WithCancel(context.WithoutCancel(t.Context()))
	done := make(chan error, 1)
	go func() { done <- e.app.Run(running) }()
	t.Cleanup(func() {
		stop()
		if err := <-done; err != nil {
			t.Error(err)
		}
	})
	client := migrate.RunnerClient(aws.Config{Region: "us-east-1", Credentials: credentials.NewStaticCredentialsProvider("hotsplit", "x", "")},
		func(o *dynamodb.Options) { o.BaseEndpoint = aws.String(e.app.Endpoint()) })
	e.rig = &rig{t: t, address: server.Address(), queue: queue, store: e.app.Store(), portfolio: e.app.Portfolio(), terms: terms,
		table: &table{t: t, client: client}}
	if e.spec, err = e.options.Spec().Resolve(); err != nil {
		t.Fatal(err)
	}
	return e
}

// post brings a message to an inbound route until the application has taken it:
// whoever sends one to it repeats what was answered with "come back".
func (e *estate) post(ctx context.Context, route string, body map[string]any) error {
	text, err := json.Marshal(body)
	if err != nil {
		return err
	}
	for tries := 0; ; tries++ {
		r, err := http.NewRequestWithContext(ctx, http.MethodPost, "http://"+e.app.Addr()+"/inbound/"+route, bytes.NewReader(text))
		if err != nil {
			return err
		}
		r.Header.Set("Content-Type", "application/json")
		response, err := http.DefaultClient.Do(r)
		if err != nil {
			return err
		}
		said, _ := io.ReadAll(response.Body)
		response.Body.Close()
		switch {
		case response.StatusCode == http.StatusOK:
			return nil
		case response.StatusCode != http.StatusServiceUnavailable || tries > 20:
			return fmt.Errorf("%s of %v: %s: %s", route, body["id"], response.Status, said)
		}
	}
}

// tenant answers an offer and signs, all over HTTP, and sees the renewal done.
func (e *estate) tenant(ctx context.Context, lease temporalsaga.Lease) error {
	for _, step := range []struct {
		from  renewal.State
		route string
		extra map[string]any
	}{
		{renewal.Offered, "message", map[string]any{"intent": "accept", "text": "yes"}},
		{renewal.Accepted, "signal", map[string]any{"signal": "signed"}},
		{renewal.Completed, "", nil},
	} {
		if err := e.stands(ctx, lease, step.from); err != nil {
			return err
		}
		if step.route == "" {
			return nil
		}
		step.extra["id"], step.extra["personId"], step.extra["leaseId"] = step.route+"-"+lease.ID, lease.PersonID, lease.ID
		for range 2 { // queues deliver twice
			if err := e.post(ctx, step.route, step.extra); err != nil {
				return err
			}
		}
	}
	return nil
}

func (e *estate) stands(ctx context.Context, lease temporalsaga.Lease, state renewal.State) error {
	tick := time.NewTicker(100 * time.Millisecond)
	defer tick.Stop()
	for {
		saga, err := e.store.Saga(ctx, lease.SagaID())
		if err == nil && saga.State.Rank() >= state.Rank() {
			return nil
		}
		select {
		case <-ctx.Done():
			return fmt.Errorf("renewal %s is %q (%v), want %s: %w", lease.SagaID(), saga.State, err, state, ctx.Err())
		case <-tick.C:
		}
	}
}

// tenants has some leases answered, a few at a time, until they are done.
func (e *estate) tenants(ctx context.Context, leases []temporalsaga.Lease) *errgroup.Group {
	var all errgroup.Group
	all.Go(func() error {
		g, ctx := errgroup.WithContext(ctx)
		g.SetLimit(tenantsAtOnce)
		for _, lease := range leases {
			g.Go(func() error { return e.tenant(ctx, lease) })
		}
		return g.Wait()
	})
	return &all
}

const (
	tenantsAtOnce = 12
	estateMax     = 9 * time.Minute
)

// runner moves with bounds short enough for a test and long enough for a busy
// machine.
func (e *estate) runner() *migrate.Runner {
	e.t.Helper()
	r, err := migrate.NewRunner(e.table.client, e.spec, migrate.Options{
		Alone: true, Watch: 3 * time.Second, BatchRows: 40,
		Bounds: migrate.Bounds{Poll: 250 * time.Millisecond, PollIdle: time.Second, Stale: 3 * time.Second, StaleIdle: 5 * time.Second, Settle: 500 * time.Millisecond},
	})
	if err != nil {
		e.t.Fatal(err)
	}
	return r
}

// keys counts the sagas under each index key, from the rows themselves.
func (e *estate) keys(ctx context.Context) map[string]int {
	e.t.Helper()
	count := map[string]int{}
	pages := dynamodb.NewScanPaginator(e.table.client, &dynamodb.ScanInput{
		TableName: aws.String(tableName), ConsistentRead: aws.Bool(true), FilterExpression: aws.String("attribute_exists(GSI4PK)"),
	})
	for pages.HasMorePages() {
		page, err := pages.NextPage(ctx)
		if err != nil {
			e.t.Fatal(err)
		}
		for _, row := range page.Items {
			count[text(row["GSI4PK"])]++
		}
	}
	return count
}

// done checks that a renewal was offered, accepted, signed and completed, each
// exactly once, and that its lease and letters agree.
func (e *estate) done(ctx context.Context, lease temporalsaga.Lease, letters map[string]map[string]int) {
	saga, err := e.store.Saga(ctx, lease.SagaID())
	if err != nil || saga.State != renewal.Completed {
		e.t.Errorf("renewal %s ends %q: %v", lease.SagaID(), saga.State, err)
		return
	}
	moves := map[renewal.State]int{}
	for _, event := range saga.Timeline {
		moves[event.To]++
	}
	for _, state := range []renewal.State{renewal.Offered, renewal.Accepted, renewal.Signed, renewal.Completed} {
		if moves[state] != 1 {
			e.t.Errorf("renewal %s was %s %d times", saga.ID, state, moves[state])
		}
	}
	if sent := letters[saga.ID]; sent["offer"] != 1 || sent["contract"] != 1 {
		e.t.Errorf("renewal %s sent %v, want one offer and one contract", saga.ID, sent)
	}
	after, err := e.portfolio.Lease(ctx, lease.ID)
	if err != nil || !after.Ends.Equal(lease.NextEnd()) {
		e.t.Errorf("lease %s ends %v (%v), want %v", lease.ID, after.Ends, err, lease.NextEnd())
	}
}

// renewals is small enough for every run of the tests; -renewals 200 is the estate
// of the walkthrough and takes minutes.
var renewals = flag.Int("renewals", 20, "how many renewals the move is made under")

// TestMoveUnderEverything runs renewals, 40 browsers, the sweeps and inbound
// traffic while hotsplit moves the index from one key to 16 and back.
func TestMoveUnderEverything(t *testing.T) {
	t.Parallel()
	count := *renewals
	e := newEstate(t)
	ctx, cancel := context.WithTimeout(t.Context(), estateMax)
	defer cancel()
	leases := e.leases(count)
	if walked := e.walk(e.dial(), e.queue+"-walk"); walked.Started < count {
		t.Fatalf("walk %+v, want %d renewals", walked, count)
	}
	traffic := e.traffic(ctx)

	before := e.tenants(ctx, leases[:count/5])
	runner := e.runner()
	must(t, before.Wait())
	began := time.Now()
	during := e.tenants(ctx, leases[count/5:3*count/5])
	if _, err := runner.Move(ctx); err != nil {
		t.Fatalf("move: %v", err)
	}
	t.Logf("moved to 16 keys in %v", time.Since(began).Round(time.Millisecond))
	must(t, during.Wait())
	if keys := e.keys(ctx); keys["RenewalSaga"] != 0 || len(keys) < 2 {
		t.Errorf("after the move the keys are %v", keys)
	}

	began = time.Now()
	after := e.tenants(ctx, leases[3*count/5:])
	if _, err := runner.Rollback(ctx); err != nil {
		t.Fatalf("way back: %v", err)
	}
	t.Logf("moved back in %v", time.Since(began).Round(time.Millisecond))
	must(t, after.Wait())
	if keys := e.keys(ctx); len(keys) != 1 || keys["RenewalSaga"] != count+e.options.DemoSagas {
		t.Errorf("after the way back the keys are %v, want %d sagas on the old one", keys, count+e.options.DemoSagas)
	}
	must(t, runner.Release(ctx))

	report := traffic()
	t.Logf("\n%s", report)
	if failed := report.Failed(); failed != 0 {
		t.Errorf("%d requests failed", failed)
	}
	for _, page := range []string{"list", "detail"} {
		for status, n := range report.Routes[page].Status {
			if status != http.StatusOK && status != http.StatusNotModified {
				t.Errorf("%d answers of %s were %d", n, page, status)
			}
		}
	}
	letters := e.table.allLetters()
	for _, lease := range leases {
		e.done(ctx, lease, letters)
	}
}

// traffic starts the browsers and the messages; the returned function ends them
// and says what they saw.
func (e *estate) traffic(ctx context.Context) (stop func() *load.Report) {
	ctx, cancel := context.WithCancel(ctx)
	done := make(chan *load.Report, 1)
	go func() {
		report, err := load.Run(ctx, load.Options{
			Base: "http://" + e.app.Addr(), Pages: 40, Inbound: 8, Moves: 2, For: estateMax, Seed: 1,
		})
		if report == nil {
			e.t.Error(err)
			report = &load.Report{Routes: map[string]*load.Route{"list": {}, "detail": {}}}
		}
		done <- report
	}()
	return func() *load.Report {
		cancel()
		return <-done
	}
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}
