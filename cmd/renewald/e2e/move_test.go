package e2e_test

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"os"
	"sync/atomic"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/credentials"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
	"golang.org/x/sync/errgroup"

	"github.com/hotsplit/hotsplit/cmd/renewald/app"
	"github.com/hotsplit/hotsplit/cmd/renewald/load"
	"github.com/hotsplit/hotsplit/migrate"
	"github.com/hotsplit/hotsplit/renewal"
	"github.com/hotsplit/hotsplit/renewal/dynamostore"
	"github.com/hotsplit/hotsplit/shard"
)

// overHTTP is a client that reaches the demo's table as hotsplit does.
func (r *rig) overHTTP() *dynamodb.Client {
	endpoint := r.app.Endpoint()
	return dynamodb.New(dynamodb.Options{
		Region: "us-east-1", BaseEndpoint: &endpoint, Credentials: credentials.NewStaticCredentialsProvider("operator", "x", ""),
	})
}

const moveName = "renewal-saga"

// TestMoveUnderTraffic is the ADR's case: browsers poll, messages come in,
// renewals are moved and opened on the one old key, and meanwhile the table goes
// to 16 keys. Nobody sees an error and no renewal is ever missing.
func TestMoveUnderTraffic(t *testing.T) {
	t.Parallel() // it waits more than it works
	const sagas = 120
	r := newRig(t, app.Options{Move: moveName, DemoSagas: sagas})
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	var g errgroup.Group
	var report *load.Report
	g.Go(func() (err error) {
		report, err = load.Run(ctx, load.Options{Base: r.url, Pages: 40, Inbound: 5, Moves: 3, For: 5 * time.Minute, Seed: 7})
		return ignoreEnd(ctx, err)
	})
	var opened atomic.Int64
	g.Go(func() error { return r.keepOpening(ctx, &opened) })
	g.Go(func() error { return r.keepCounting(ctx, sagas) })

	runner, err := migrate.NewRunner(r.overHTTP(), app.Options{Move: moveName, Table: "propflow", Shards: 16}.Spec(), migrate.Options{
		Alone: true, Watch: -1,
		Bounds: migrate.Bounds{Poll: 200 * time.Millisecond, PollIdle: 500 * time.Millisecond, Stale: 2 * time.Second, StaleIdle: 2 * time.Second, Settle: 500 * time.Millisecond},
	})
	if err != nil {
		t.Fatal(err)
	}
	summary, err := runner.Move(t.Context())
	if err != nil {
		t.Errorf("move: %v", err)
	}
	cancel()
	if err := g.Wait(); err != nil {
		t.Error(err)
	}
	t.Logf("%+v; %d opened meanwhile\n%s", summary, opened.Load(), report)
	if report.Failed() > 0 {
		t.Errorf("%d answers that nobody should see", report.Failed())
	}
	r.keysAre(app.Options{Shards: 16}.Layout(), sagas+int(opened.Load()))
	r.lateStampIsHealed()
}

func ignoreEnd(ctx context.Context, err error) error {
	if ctx.Err() != nil {
		return nil
	}
	return err
}

// keepOpening opens renewals while rows move.
func (r *rig) keepOpening(ctx context.Context, opened *atomic.Int64) error {
	for ctx.Err() == nil {
		n := opened.Load()
		_, err := r.app.Store().Open(context.WithoutCancel(ctx), renewal.Saga{
			PersonID: fmt.Sprintf("new-%d", n), LeaseID: fmt.Sprintf("NEW-%d", n), LeaseEnd: time.Now().AddDate(0, 3, 0),
		})
		switch {
		case err == nil:
			opened.Add(1)
		case !errors.Is(err, renewal.ErrUnavailable): // a record out of reach is worth a retry, by design
			return fmt.Errorf("open %d: %w", n, err)
		}
		wait(ctx, 200*time.Millisecond)
	}
	return nil
}

// keepCounting lists over and over; a list that lacks a renewal is wrong.
func (r *rig) keepCounting(ctx context.Context, atLeast int) error {
	for ctx.Err() == nil {
		sagas, err := r.app.Store().OpenSagas(context.WithoutCancel(ctx))
		if errors.Is(err, renewal.ErrUnavailable) {
			continue // refused is not wrong
		}
		if err != nil {
			return fmt.Errorf("list while rows move: %w", err)
		}
		seen := map[string]bool{}
		for _, s := range sagas {
			if seen[s.ID] {
				return fmt.Errorf("%s is listed twice", s.ID)
			}
			seen[s.ID] = true
		}
		if len(sagas) < atLeast {
			return fmt.Errorf("a list of %d renewals, want %d at least", len(sagas), atLeast)
		}
		wait(ctx, 100*time.Millisecond)
	}
	return nil
}

func wait(ctx context.Context, d time.Duration) {
	select {
	case <-ctx.Done():
	case <-time.After(d):
	}
}

// keysAre holds every stored key against what owner and layout say.
func (r *rig) keysAre(layout shard.Layout, want int) {
	r.t.Helper()
	rows := 0
	table := "propflow"
	pages := dynamodb.NewScanPaginator(r.overHTTP(), &dynamodb.ScanInput{TableName: &table, ConsistentRead: new(true)})
	for pages.HasMorePages() {
		page, err := pages.NextPage(r.t.Context())
		if err != nil {
			r.t.Fatal(err)
		}
		for _, item := range page.Items {
			if text(item["entityType"]) != "RenewalSaga" {
				continue
			}
			rows++
			if key := text(item["GSI4PK"]); key != layout.Key(text(item["personId"])) {
				r.t.Errorf("%s is stamped %s", text(item["PK"]), key)
			}
		}
	}
	if rows < want || rows > want+1 { // one more: an opening that was written and not acknowledged when the run ended
		r.t.Errorf("%d rows, want %d", rows, want)
	}
}

func text(v types.AttributeValue) string {
	if s, ok := v.(*types.AttributeValueMemberS); ok {
		return s.Value
	}
	return ""
}

// lateStampIsHealed is KF-20: an instance of the old release, which knows the
// old key alone, comes back after the move and opens a renewal.
func (r *rig) lateStampIsHealed() {
	r.t.Helper()
	old := dynamostore.New(r.overHTTP(), "propflow", dynamostore.Static(shard.Static(app.Legacy())), dynamostore.Options{})
	late, err := old.Open(r.t.Context(), renewal.Saga{PersonID: "late", LeaseID: "LATE", LeaseEnd: time.Now().AddDate(0, 3, 0)})
	if err != nil {
		r.t.Fatal(err)
	}
	r.eventually("the late stamp is healed", func() bool {
		if _, err := r.app.Sweep(r.t.Context(), "drift-guard"); err != nil {
			r.t.Fatal(err)
		}
		found, err := r.app.Store().SagasByPerson(r.t.Context(), late.PersonID)
		return err == nil && len(found) == 1
	})
}

// TestManyBrowsersAreOneLoad is KF-21 and the price of an idle list: 1, 40 and
// 100 browsers cost the table the same.
func TestManyBrowsersAreOneLoad(t *testing.T) {
	t.Parallel()
	r := newRig(t, app.Options{DemoSagas: 60, Fresh: time.Second})
	counts := []int{1, 40, 100}
	if os.Getenv("HOTSPLIT_FULL") != "" {
		counts = append(counts, 400)
	}
	const span = 5 * time.Second
	var units []float64
	for _, browsers := range counts {
		since := r.logEnd()
		report := r.poll(browsers, span)
		if report.Failed()+report.Busy() > 0 {
			t.Errorf("%d browsers: %s", browsers, report)
		}
		read := 0.0
		for _, e := range r.db.LogSince(since) {
			for _, u := range e.Units {
				if u.Index != "" {
					read += u.Read
				}
			}
		}
		t.Logf("%d browsers: %.1f read units in %v, list p99 %v", browsers, read, span, report.Routes["list"].Percentile(99))
		units = append(units, read)
	}
	for i, u := range units {
		if u > units[0]*1.6+8 { // one load more or less at the edges
			t.Errorf("%d browsers cost %.1f units, one costs %.1f", counts[i], u, units[0])
		}
	}
}

// poll has browsers look at the list alone.
func (r *rig) poll(browsers int, span time.Duration) *load.Report {
	r.t.Helper()
	report, err := load.Run(r.t.Context(), load.Options{
		Base: r.url, Pages: browsers, Poll: time.Second, For: span, ListOnly: true,
		Client: &http.Client{Timeout: 30 * time.Second, Transport: &http.Transport{MaxIdleConnsPerHost: browsers}},
	})
	if err != nil {
		r.t.Fatal(err)
	}
	return report
}
