package migrate_test

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"sync"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/hotsplit/hotsplit/emulator"
	"github.com/hotsplit/hotsplit/emulator/awsjson"
	"github.com/hotsplit/hotsplit/fanout"
	"github.com/hotsplit/hotsplit/migrate"
	"github.com/hotsplit/hotsplit/shard"
)

// rig is the table of known-faults.md behind the real wire.
type rig struct {
	t    testing.TB
	db   *emulator.DB
	spec migrate.Spec

	remote *dynamodb.Client // in place of db, where a test names an endpoint
}

func newRig(t testing.TB, o emulator.Options) *rig {
	t.Helper()
	r := &rig{t: t, db: emulator.New(o), spec: rigSpec(0, 12)}
	r.create()
	return r
}

func (r *rig) create() { r.createTable(types.Projection{ProjectionType: types.ProjectionTypeAll}) }

func rigSpec(from, to int) migrate.Spec {
	return must1(migrate.Spec{
		Name: "renewal-saga", Table: "rig", Key: []string{"PK", "SK"}, Owner: "personId",
		Index: "GSI4", PartitionKey: "GSI4PK", SortKey: "GSI4SK",
		From: shard.Layout{Base: "RenewalSaga", Count: from}, To: shard.Layout{Base: "RenewalSaga", Count: to},
	}.Resolve())
}

func (r *rig) createTable(p types.Projection) {
	r.t.Helper()
	s := types.ScalarAttributeTypeS
	_, err := r.client("setup").CreateTable(context.Background(), &dynamodb.CreateTableInput{
		TableName: new("rig"), BillingMode: types.BillingModePayPerRequest,
		AttributeDefinitions: append([]types.AttributeDefinition{
			{AttributeName: new("PK"), AttributeType: s}, {AttributeName: new("GSI4PK"), AttributeType: s}, {AttributeName: new("GSI4SK"), AttributeType: s},
		}, []types.AttributeDefinition{{AttributeName: new("SK"), AttributeType: s}}[:len(r.spec.Key)-1]...),
		KeySchema: []types.KeySchemaElement{
			{AttributeName: new("PK"), KeyType: types.KeyTypeHash}, {AttributeName: new("SK"), KeyType: types.KeyTypeRange},
		}[:len(r.spec.Key)],
		GlobalSecondaryIndexes: []types.GlobalSecondaryIndex{{
			IndexName: new("GSI4"), Projection: &p,
			KeySchema: []types.KeySchemaElement{
				{AttributeName: new("GSI4PK"), KeyType: types.KeyTypeHash}, {AttributeName: new("GSI4SK"), KeyType: types.KeyTypeRange},
			},
		}},
	})
	if err != nil {
		r.t.Fatal(err)
	}
}

type callerHeader struct {
	name string
	next http.RoundTripper
}

func (c callerHeader) RoundTrip(req *http.Request) (*http.Response, error) {
	req.Header.Set("X-Hotsplit-Caller", c.name)
	return c.next.RoundTrip(req)
}

// client is an SDK client whose requests the operation log shows under name.
func (r *rig) client(name string) *dynamodb.Client {
	if r.remote != nil {
		return r.remote
	}
	return dynamodb.New(dynamodb.Options{
		Region: "us-east-1", Credentials: aws.AnonymousCredentials{},
		HTTPClient: &http.Client{Transport: callerHeader{name, awsjson.Transport(r.db)}},
	})
}

func rowKey(id string) migrate.Item {
	return migrate.Item{
		"PK": &types.AttributeValueMemberS{Value: "RSAGA#" + id},
		"SK": &types.AttributeValueMemberS{Value: "META"},
	}
}

func rowOf(id, owner, key string) migrate.Item {
	item := rowKey(id)
	for name, value := range map[string]string{
		"personId": owner, "GSI4PK": key, "GSI4SK": owner + "#" + "2026-01-01T00:00:00.000Z-" + id, "status": "open",
	} {
		item[name] = &types.AttributeValueMemberS{Value: value}
	}
	return item
}

func owner(i int) string { return fmt.Sprintf("person-%d", i) }

// load puts n rows of n/2 owners on the old key.
func (r *rig) load(n int) {
	r.t.Helper()
	client := r.client("setup")
	for i := range n {
		o := owner(i / 2)
		r.put(client, rowOf(fmt.Sprint(i), o, r.spec.From.Key(o)))
	}
	time.Sleep(time.Second) // in the bubble: the index catches up
}

func (r *rig) put(client *dynamodb.Client, item migrate.Item) {
	r.t.Helper()
	if _, err := client.PutItem(context.Background(), &dynamodb.PutItemInput{TableName: new("rig"), Item: item}); err != nil {
		r.t.Fatal(err)
	}
}

func (r *rig) remove(id string) {
	r.t.Helper()
	_, err := r.client("user").DeleteItem(context.Background(), &dynamodb.DeleteItemInput{TableName: new("rig"), Key: rowKey(id)})
	if err != nil {
		r.t.Fatal(err)
	}
}

// base reads every row of the entity from the base table, by id.
func (r *rig) base() map[string]migrate.Item {
	r.t.Helper()
	rows := map[string]migrate.Item{}
	in := &dynamodb.ScanInput{TableName: new("rig"), ConsistentRead: new(true)}
	for {
		out, err := r.client("check").Scan(context.Background(), in)
		if err != nil {
			r.t.Fatal(err)
		}
		for _, item := range out.Items {
			if _, ours := item["GSI4PK"]; ours {
				rows[item["PK"].(*types.AttributeValueMemberS).Value] = item
			}
		}
		if out.LastEvaluatedKey == nil {
			return rows
		}
		in.ExclusiveStartKey = out.LastEvaluatedKey
	}
}

func text(item migrate.Item, name string) string {
	s, _ := item[name].(*types.AttributeValueMemberS)
	if s == nil {
		return ""
	}
	return s.Value
}

// wantOn fails unless every base row carries the key that layout spells.
func (r *rig) wantOn(l shard.Layout) {
	r.t.Helper()
	for pk, item := range r.base() {
		if got, want := text(item, "GSI4PK"), l.Key(text(item, "personId")); got != want {
			r.t.Errorf("row %s of %s carries %q, want %q", pk, text(item, "personId"), got, want)
		}
	}
}

func (r *rig) runner(name string, o migrate.Options) *migrate.Runner {
	r.t.Helper()
	o.Holder = name
	runner, err := migrate.NewRunner(r.client(name), r.spec, o)
	if err != nil {
		r.t.Fatal(err)
	}
	return runner
}

func (r *rig) watch(name string) *migrate.Watcher {
	r.t.Helper()
	w, err := migrate.Watch(r.t.Context(), r.client(name), r.spec, migrate.WatchOptions{Member: name, Role: "reader"})
	if err != nil {
		r.t.Fatal(err)
	}
	return w
}

func (r *rig) reader(name string, source fanout.Source) *fanout.Reader {
	return fanout.New(r.client(name), fanout.Table{Name: "rig", Key: []string{"PK", "SK"}}, source, fanout.Options{})
}

// crowd polls the whole list from several members and notes what is missing.
type crowd struct {
	wg     sync.WaitGroup
	stop   context.CancelFunc
	mu     sync.Mutex
	reads  int
	missed []string
	errs   []error
}

// poll has a member read all rows, and one owner, every d until halt. Every id of
// want must be there each time, once.
func (r *rig) poll(d time.Duration, want map[string]bool, sources ...fanout.Source) *crowd {
	ctx, stop := context.WithCancel(context.Background())
	c := &crowd{stop: stop}
	for n, source := range sources {
		reader := r.reader(fmt.Sprintf("reader-%d", n), source)
		c.wg.Go(func() {
			for ctx.Err() == nil {
				c.check(ctx, reader, want)
				select {
				case <-ctx.Done():
				case <-time.After(d):
				}
			}
		})
	}
	return c
}

func (c *crowd) check(ctx context.Context, reader *fanout.Reader, want map[string]bool) {
	seen := map[string]int{}
	for item, err := range reader.All(ctx, fanout.Query{}) {
		if err != nil {
			if ctx.Err() == nil && !errors.Is(err, migrate.ErrStale) {
				c.mu.Lock()
				c.errs = append(c.errs, err)
				c.mu.Unlock()
			}
			return
		}
		seen[text(item, "PK")]++
	}
	if ctx.Err() != nil {
		return
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.reads++
	for id := range want {
		if seen[id] != 1 {
			c.missed = append(c.missed, fmt.Sprintf("read %d shows %s %d times", c.reads, id, seen[id]))
		}
	}
}

func (c *crowd) halt(t testing.TB) {
	t.Helper()
	c.stop()
	c.wg.Wait()
	for _, m := range c.missed[:min(5, len(c.missed))] {
		t.Error(m)
	}
	if len(c.missed) > 0 {
		t.Errorf("%d rows missed or doubled in %d reads", len(c.missed), c.reads)
	}
	for _, err := range c.errs[:min(3, len(c.errs))] {
		t.Errorf("reader: %v", err)
	}
	if c.reads == 0 {
		t.Error("no read was made")
	}
}

func ids(n int) map[string]bool {
	want := map[string]bool{}
	for i := range n {
		want[fmt.Sprintf("RSAGA#%d", i)] = true
	}
	return want
}

func must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// restamp puts another index key on every row of an owner, as no rule allows.
func (r *rig) restamp(t testing.TB, owner, key string) {
	t.Helper()
	for _, item := range r.base() {
		if text(item, "personId") != owner {
			continue
		}
		_, err := r.client("rogue").UpdateItem(context.Background(), &dynamodb.UpdateItemInput{
			TableName: new("rig"), Key: migrate.Item{"PK": item["PK"], "SK": item["SK"]},
			UpdateExpression:          new("SET GSI4PK = :k"),
			ExpressionAttributeValues: migrate.Item{":k": &types.AttributeValueMemberS{Value: key}},
		})
		must(t, err)
	}
}

// plainKey makes the table anew with a partition key alone.
func (r *rig) plainKey(t testing.TB) {
	t.Helper()
	_, err := r.client("setup").DeleteTable(context.Background(), &dynamodb.DeleteTableInput{TableName: new("rig")})
	must(t, err)
	r.spec.Key = []string{"PK"}
	r.createTable(types.Projection{ProjectionType: types.ProjectionTypeAll})
}

// setRecord changes one field of the record behind everybody's back.
func (r *rig) setRecord(t testing.TB, field string, value types.AttributeValue) {
	t.Helper()
	_, err := r.client("rogue").UpdateItem(context.Background(), &dynamodb.UpdateItemInput{
		TableName: new("rig"), Key: recordKey(r.spec),
		UpdateExpression:          new("SET hotsplit.#f = :v"),
		ExpressionAttributeNames:  map[string]string{"#f": field},
		ExpressionAttributeValues: migrate.Item{":v": value},
	})
	must(t, err)
}

func recordKey(s migrate.Spec) migrate.Item {
	return migrate.Item{
		"PK": &types.AttributeValueMemberS{Value: s.Prefix}, "SK": &types.AttributeValueMemberS{Value: "RECORD"},
	}
}

// record is the body of the record.
func (r *rig) record(t testing.TB) migrate.Item {
	t.Helper()
	out, err := r.client("check").GetItem(context.Background(), &dynamodb.GetItemInput{
		TableName: new("rig"), Key: recordKey(r.spec), ConsistentRead: new(true),
	})
	must(t, err)
	return out.Item["hotsplit"].(*types.AttributeValueMemberM).Value
}
