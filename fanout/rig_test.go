package fanout_test

import (
	"cmp"
	"context"
	"fmt"
	"math/rand/v2"
	"net/http"
	"slices"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/hotsplit/hotsplit/emulator"
	"github.com/hotsplit/hotsplit/emulator/awsjson"
	"github.com/hotsplit/hotsplit/fanout"
	"github.com/hotsplit/hotsplit/shard"
)

var sagas = fanout.Table{Name: "propflow", Key: []string{"PK", "SK"}}

// layout spells base over count keys of the rig's index.
func layout(base string, count int) shard.Layout {
	return shard.Layout{Index: "GSI4", PartitionKey: "GSI4PK", SortKey: "GSI4SK", Base: base, Count: count}
}

// newTable creates the rig's table: PK and SK, and index GSI4 that projects everything.
func newTable(tb testing.TB, client *dynamodb.Client, table fanout.Table) {
	tb.Helper()
	must(tb, createTable(tb.Context(), client, table.Name))
}

func createTable(ctx context.Context, client *dynamodb.Client, name string) error {
	text := types.ScalarAttributeTypeS
	attribute := func(name string) types.AttributeDefinition {
		return types.AttributeDefinition{AttributeName: &name, AttributeType: text}
	}
	key := func(hash, sort string) []types.KeySchemaElement {
		return []types.KeySchemaElement{
			{AttributeName: &hash, KeyType: types.KeyTypeHash}, {AttributeName: &sort, KeyType: types.KeyTypeRange},
		}
	}
	_, err := client.CreateTable(ctx, &dynamodb.CreateTableInput{
		TableName:            &name,
		BillingMode:          types.BillingModePayPerRequest,
		AttributeDefinitions: []types.AttributeDefinition{attribute("PK"), attribute("SK"), attribute("GSI4PK"), attribute("GSI4SK")},
		KeySchema:            key("PK", "SK"),
		GlobalSecondaryIndexes: []types.GlobalSecondaryIndex{{
			IndexName: aws.String("GSI4"), KeySchema: key("GSI4PK", "GSI4SK"),
			Projection: &types.Projection{ProjectionType: types.ProjectionTypeAll},
		}},
	})
	return err
}

func must(tb testing.TB, err error) {
	tb.Helper()
	if err != nil {
		tb.Fatal(err)
	}
}

// entry is one row of a test: where it stands in the global order, and where on
// the index.
type entry struct {
	id     string // its base key is PK=id, SK=META
	owner  string
	sort   string // GSI4SK
	key    string // GSI4PK
	status string
}

func (e entry) baseKey() fanout.Item {
	return fanout.Item{
		"PK": &types.AttributeValueMemberS{Value: e.id},
		"SK": &types.AttributeValueMemberS{Value: "META"},
	}
}

func (e entry) item(fill int) fanout.Item {
	item := e.baseKey()
	item["personId"] = &types.AttributeValueMemberS{Value: e.owner}
	item["GSI4PK"] = &types.AttributeValueMemberS{Value: e.key}
	item["GSI4SK"] = &types.AttributeValueMemberS{Value: e.sort}
	item["status"] = &types.AttributeValueMemberS{Value: e.status}
	if fill > 0 {
		item["note"] = &types.AttributeValueMemberB{Value: make([]byte, fill)}
	}
	return item
}

// load writes the entries, each with fill more bytes.
func load(tb fataler, client *dynamodb.Client, table string, entries []entry, fill int) {
	tb.Helper()
	for chunk := range slices.Chunk(entries, 25) {
		var writes []types.WriteRequest
		for _, e := range chunk {
			writes = append(writes, types.WriteRequest{PutRequest: &types.PutRequest{Item: e.item(fill)}})
		}
		out, err := client.BatchWriteItem(context.Background(), &dynamodb.BatchWriteItemInput{
			RequestItems: map[string][]types.WriteRequest{table: writes},
		})
		if err != nil || len(out.UnprocessedItems) > 0 {
			tb.Fatalf("load rows: %v, %d tables left", err, len(out.UnprocessedItems))
		}
	}
}

// sorted is the entries in the global order.
func sorted(entries []entry, descending bool) []entry {
	all := slices.Clone(entries)
	slices.SortFunc(all, func(a, b entry) int {
		if descending {
			a, b = b, a
		}
		return cmp.Or(cmp.Compare(a.sort, b.sort), cmp.Compare(a.id, b.id))
	})
	return all
}

func ids(entries []entry) []string {
	all := make([]string, len(entries))
	for i, e := range entries {
		all[i] = e.id
	}
	return all
}

func idsOf(items []fanout.Item) []string {
	all := make([]string, len(items))
	for i, item := range items {
		all[i] = item["PK"].(*types.AttributeValueMemberS).Value
	}
	return all
}

// opened spells the sort key of an owner's nth row.
func opened(owner string, n int) string { return fmt.Sprintf("%s#%06d", owner, n) }

// rig is an embedded DynamoDB with the sagas' table.
type rig struct {
	db     *emulator.DB
	client *dynamodb.Client
	table  fanout.Table
	delays *delays
}

type rigOptions struct {
	delay      time.Duration // each request takes a random part of it
	pageItems  int           // where the service cuts pages; 0 is at 1 MB
	lag        time.Duration // the longest of the index; 0 means none
	order      emulator.IndexOrder
	tableDelay time.Duration // how long tables and indexes are in the making
	limited    bool          // capacity limits as in production
}

func newRig(tb testing.TB, o rigOptions) *rig {
	tb.Helper()
	lag, least := cmp.Or(o.lag, -1), min(o.lag, time.Millisecond)
	db := emulator.New(emulator.Options{
		Seed: 1, PageItems: o.pageItems, LagMin: least, LagMax: lag, IndexOrder: o.order, TableDelay: o.tableDelay, Unlimited: !o.limited, Placement: emulator.PlacementIsolated,
	})
	slow := &delays{next: awsjson.Transport(db), rng: rand.New(rand.NewPCG(1, 2))}
	r := &rig{db: db, client: newClient(slow), table: sagas, delays: slow}
	newTable(tb, r.client, r.table)
	slow.most = o.delay
	return r
}

func newClient(transport http.RoundTripper) *dynamodb.Client {
	return dynamodb.New(dynamodb.Options{
		Region: "us-east-1", Credentials: aws.AnonymousCredentials{}, HTTPClient: &http.Client{Transport: transport},
	})
}

func (r *rig) reader(routing shard.Routing) *fanout.Reader {
	return fanout.New(r.client, r.table, fanout.Static(routing), fanout.Options{})
}

func (r *rig) load(t fataler, rows []entry, fill int) {
	t.Helper()
	load(t, r.client, r.table.Name, rows, fill)
}

func (r *rig) delete(t fataler, e entry) {
	t.Helper()
	_, err := r.client.DeleteItem(context.Background(), &dynamodb.DeleteItemInput{TableName: &r.table.Name, Key: e.baseKey()})
	if err != nil {
		t.Fatalf("delete %s: %v", e.id, err)
	}
}

func testContext(t fataler) context.Context {
	if t, ok := t.(interface{ Context() context.Context }); ok {
		return t.Context()
	}
	return context.Background()
}

// exampleClient is an embedded DynamoDB with five sagas.
func exampleClient(l shard.Layout) *dynamodb.Client {
	client, err := loadExamples(l)
	if err != nil {
		panic(err) // an example has nobody to tell
	}
	return client
}

func loadExamples(l shard.Layout) (*dynamodb.Client, error) {
	client := newClient(awsjson.Transport(emulator.New(emulator.Options{LagMax: -1})))
	if err := createTable(context.Background(), client, sagas.Name); err != nil {
		return nil, err
	}
	for i, e := range []entry{
		{owner: "ann", sort: "ann#2026-02-01T00:00:00.000Z", status: "open"},
		{owner: "bob", sort: "bob#2026-01-15T00:00:00.000Z", status: "open"},
		{owner: "dan", sort: "dan#2026-02-20T00:00:00.000Z", status: "open"},
		{owner: "ann", sort: "ann#2026-03-02T00:00:00.000Z", status: "archived"},
		{owner: "eve", sort: "eve#2026-01-02T00:00:00.000Z", status: "archived"},
	} {
		e.id, e.key = fmt.Sprintf("RSAGA#%d", i+1), l.Key(e.owner)
		if _, err := client.PutItem(context.Background(), &dynamodb.PutItemInput{TableName: &sagas.Name, Item: e.item(0)}); err != nil {
			return nil, err
		}
	}
	return client, nil
}
