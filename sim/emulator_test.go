package sim_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"net/http"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/aws/retry"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/hotsplit/hotsplit/emulator"
	"github.com/hotsplit/hotsplit/emulator/awsjson"
	"github.com/hotsplit/hotsplit/shard"
	"github.com/hotsplit/hotsplit/sim"
)

// slice is a piece of workload that both the model and the emulator play:
// pages that poll every owner on one key, beyond what the key can serve.
func slice(retries sim.Retry, sessions int) sim.Workload {
	return sim.Workload{
		Name: "slice", Seed: 7, Start: time.Date(2026, 6, 1, 0, 0, 0, 0, time.UTC), Days: 120.0 / (24 * 60 * 60),
		Rows:    sim.Rows{Count: 20, Bytes: 100_000, Base: "RenewalSaga"},
		Latency: sim.Latency{Median: 5 * time.Millisecond},
		Retry:   retries,
		Routes: []sim.Route{{
			Name: "list", Reads: "owners", Owners: 20, Parallel: 10,
			Poll: &sim.Range{Min: 3 * time.Second, Max: 5 * time.Second}, Sessions: sessions,
		}},
	}
}

// result is what a slice came to, in either world.
type result struct {
	requests, throttled, calls, failed int
	mean, p90                          time.Duration
}

// TestModelAgreesWithTheEmulator plays slices in both worlds: the emulator, the
// real SDK and its real back-off in virtual time against the model.
func TestModelAgreesWithTheEmulator(t *testing.T) {
	for _, c := range []struct {
		name     string
		retries  sim.Retry
		sessions int
		shards   int
	}{
		{"quiet", sim.Retry{Model: sim.RetrySDK}, 20, 0},
		{"at the ceiling, eight keys", sim.Retry{Model: sim.RetrySDK}, 60, 8},
		{"far above", sim.Retry{Model: sim.RetrySDK}, 80, 0},
		{"legacy retries", sim.Retry{Model: sim.RetryLegacy}, 60, 0},
	} {
		t.Run(c.name, func(t *testing.T) {
			w := slice(c.retries, c.sessions)
			model := modelled(t, w, sim.Design{Name: c.name, Shards: c.shards, Partitions: 1})
			var real result
			synctest.Test(t, func(t *testing.T) { real = emulate(t, w, c.shards) })
			t.Logf("model %+v", model)
			t.Logf("real  %+v", real)
			near(t, "requests", float64(model.requests), float64(real.requests), 0)
			near(t, "throttled", float64(model.throttled), float64(real.throttled), 30)
			near(t, "failed", float64(model.failed), float64(real.failed), 70)
			near(t, "mean", model.mean.Seconds(), real.mean.Seconds(), 0.05)
			near(t, "p90", model.p90.Seconds(), real.p90.Seconds(), 0.15)
		})
	}
}

// modelled is the mean of several seeds; one run of two minutes leaves much to
// chance.
func modelled(t *testing.T, w sim.Workload, d sim.Design) result {
	t.Helper()
	const seeds = 8
	var sum result
	for seed := range uint64(seeds) {
		w.Seed = seed
		o, err := sim.Run(w, d)
		if err != nil {
			t.Fatal(err)
		}
		list := o.Routes[0]
		sum.requests += o.Requests
		sum.throttled += o.Throttled
		sum.calls += list.Calls
		sum.failed += list.Failed
		sum.mean += list.Mean
		sum.p90 += list.P90
	}
	return result{sum.requests / seeds, sum.throttled / seeds, sum.calls / seeds, sum.failed / seeds, sum.mean / seeds, sum.p90 / seeds}
}

const agreement = 0.15

// near allows slack on top, for counts that chance makes of few.
func near(t *testing.T, what string, model, real, slack float64) {
	t.Helper()
	if diff := model - real; max(diff, -diff) > agreement*real+slack {
		t.Errorf("%s: model %v, emulator %v: more than %.0f %% apart", what, model, real, 100*agreement)
	}
}

func emulate(t *testing.T, w sim.Workload, shards int) result {
	db := emulator.New(emulator.Options{Seed: 7, LagMax: -1, Partitions: 1, LogEntries: 1})
	layout := shard.Layout{Index: "GSI4", PartitionKey: "GSI4PK", SortKey: "GSI4SK", Base: w.Rows.Base, Count: shards}
	fill(t, db, layout, w.Rows)
	transport := &counting{next: awsjson.Transport(db), delay: w.Latency.Median}
	client := dynamodb.New(dynamodb.Options{
		Region: "us-east-1", Credentials: aws.AnonymousCredentials{},
		HTTPClient: &http.Client{Transport: transport}, Retryer: retryer(w.Retry),
	})
	time.Sleep(time.Minute) // buckets fill again
	transport.reset()
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	end := time.Now().Add(time.Duration(w.Days * 24 * float64(time.Hour)))
	var mu sync.Mutex
	var took []time.Duration
	var r result
	var pages sync.WaitGroup
	for i := range w.Routes[0].Sessions {
		pages.Go(func() {
			chance := rand.New(rand.NewPCG(uint64(i), 1))
			poll := w.Routes[0].Poll
			time.Sleep(time.Duration(chance.Float64() * float64(poll.Max)))
			for time.Now().Before(end) {
				began := time.Now()
				err := fanOut(ctx, client, layout, w)
				mu.Lock()
				took = append(took, time.Since(began))
				if err != nil {
					r.failed++
				}
				mu.Unlock()
				time.Sleep(poll.Min + time.Duration(chance.Float64()*float64(poll.Max-poll.Min)))
			}
		})
	}
	pages.Wait()
	slices.Sort(took)
	var sum time.Duration
	for _, d := range took {
		sum += d
	}
	r.calls, r.mean, r.p90 = len(took), sum/time.Duration(len(took)), took[len(took)*9/10]
	r.requests, r.throttled = transport.requests, transport.throttled
	return r
}

// retryer is the SDK's own, or what it was before.
func retryer(r sim.Retry) aws.Retryer {
	if r.Model == sim.RetrySDK {
		return nil
	}
	return retry.NewStandard(func(o *retry.StandardOptions) {
		o.MaxAttempts = 3
		o.Backoff = retry.BackoffDelayerFunc(func(attempt int, _ error) (time.Duration, error) {
			return time.Duration(rand.Float64() * float64(time.Second<<attempt)), nil
		})
	})
}

// fanOut asks every owner as the page does, Parallel at a time. It answers at the
// first failure; requests that are on their way then run out.
func fanOut(ctx context.Context, client *dynamodb.Client, layout shard.Layout, w sim.Workload) error {
	var mu sync.Mutex
	var failure error
	next := 0
	take := func() (int, bool) {
		mu.Lock()
		defer mu.Unlock()
		next++
		return next - 1, next <= w.Rows.Count && failure == nil
	}
	first := make(chan error, w.Routes[0].Parallel+1)
	var workers sync.WaitGroup
	for range w.Routes[0].Parallel {
		workers.Go(func() {
			for {
				owner, more := take()
				if !more {
					return
				}
				if err := query(ctx, client, layout, sim.OwnerName(owner)); err != nil {
					mu.Lock()
					failure = err
					mu.Unlock()
					first <- err
				}
			}
		})
	}
	go func() { workers.Wait(); first <- nil }()
	return <-first
}

func query(ctx context.Context, client *dynamodb.Client, layout shard.Layout, owner string) error {
	_, err := client.Query(ctx, &dynamodb.QueryInput{
		TableName: aws.String("sagas"), IndexName: &layout.Index,
		KeyConditionExpression: aws.String("GSI4PK = :p AND begins_with(GSI4SK, :o)"),
		ProjectionExpression:   aws.String("PK"),
		ExpressionAttributeValues: map[string]types.AttributeValue{
			":p": &types.AttributeValueMemberS{Value: layout.Key(owner)},
			":o": &types.AttributeValueMemberS{Value: owner + "#"},
		},
	})
	return err
}

// fill makes the table and writes each owner's row at the size of an entry.
func fill(t *testing.T, db *emulator.DB, layout shard.Layout, rows sim.Rows) {
	t.Helper()
	client := dynamodb.New(dynamodb.Options{
		Region: "us-east-1", Credentials: aws.AnonymousCredentials{},
		HTTPClient: &http.Client{Transport: awsjson.Transport(db)},
	})
	s := func(v string) types.AttributeValue { return &types.AttributeValueMemberS{Value: v} }
	key := func(pk, sk string) []types.KeySchemaElement {
		return []types.KeySchemaElement{
			{AttributeName: aws.String(pk), KeyType: types.KeyTypeHash}, {AttributeName: aws.String(sk), KeyType: types.KeyTypeRange},
		}
	}
	var attributes []types.AttributeDefinition
	for _, name := range []string{"PK", "SK", layout.PartitionKey, layout.SortKey} {
		attributes = append(attributes, types.AttributeDefinition{AttributeName: aws.String(name), AttributeType: types.ScalarAttributeTypeS})
	}
	if _, err := client.CreateTable(t.Context(), &dynamodb.CreateTableInput{
		TableName: aws.String("sagas"), BillingMode: types.BillingModePayPerRequest,
		KeySchema: key("PK", "SK"), AttributeDefinitions: attributes,
		GlobalSecondaryIndexes: []types.GlobalSecondaryIndex{{
			IndexName: &layout.Index, KeySchema: key(layout.PartitionKey, layout.SortKey),
			Projection: &types.Projection{ProjectionType: types.ProjectionTypeAll},
		}},
	}); err != nil {
		t.Fatal(err)
	}
	for i := range rows.Count {
		owner := sim.OwnerName(i)
		item := map[string]types.AttributeValue{
			"PK": s("RSAGA#" + owner), "SK": s("META"),
			layout.PartitionKey: s(layout.Key(owner)), layout.SortKey: s(owner + "#2026-01-01T00:00:00.000Z"),
			"body": s(strings.Repeat("x", rows.Bytes-120)),
		}
		if _, err := client.PutItem(t.Context(), &dynamodb.PutItemInput{TableName: aws.String("sagas"), Item: item}); err != nil {
			t.Fatal(fmt.Errorf("put %s: %w", owner, err))
		}
	}
}

// counting delays each request, as a network does, and counts refusals where the
// service makes them.
type counting struct {
	next  http.RoundTripper
	delay time.Duration

	mu                  sync.Mutex
	requests, throttled int
}

func (c *counting) RoundTrip(r *http.Request) (*http.Response, error) {
	answer, err := c.next.RoundTrip(r)
	c.mu.Lock()
	c.requests++
	if err == nil && answer.StatusCode == http.StatusBadRequest {
		c.throttled++
	}
	c.mu.Unlock()
	time.Sleep(c.delay)
	return answer, err
}

func (c *counting) reset() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.requests, c.throttled = 0, 0
}
