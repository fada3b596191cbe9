package fanout_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log"
	"net/http"
	"net/http/httptest"
	"net/url"
	"time"

	"github.com/aws/aws-sdk-go-v2/feature/dynamodb/expression"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/hotsplit/hotsplit/fanout"
	"github.com/hotsplit/hotsplit/shard"
)

// Saga is a row as an application sees it.
type Saga struct {
	ID       string `dynamodbav:"PK"`
	PersonID string `dynamodbav:"personId"`
	Opened   string `dynamodbav:"GSI4SK"`
	Status   string `dynamodbav:"status"`
}

// sagasOnShards stands for your table: client is a *dynamodb.Client.
func sagasOnShards() (client *dynamodb.Client, layout shard.Layout) {
	layout = shard.Layout{Index: "GSI4", PartitionKey: "GSI4PK", SortKey: "GSI4SK", Base: "RenewalSaga", Count: 16}
	return exampleClient(layout), layout
}

func Example() {
	client, layout := sagasOnShards()
	table := fanout.Table{Name: "propflow", Key: []string{"PK", "SK"}}
	sagas := fanout.New(client, table, fanout.Static(shard.Static(layout)), fanout.Options{})

	for saga, err := range fanout.Decode[Saga](sagas.Owner(context.Background(), "ann", fanout.Query{})) {
		if err != nil {
			log.Fatal(err)
		}
		fmt.Println(saga.ID, saga.Status)
	}
	// Output:
	// RSAGA#1 open
	// RSAGA#4 archived
}

func ExampleReader_Owner() {
	reader := exampleReader()
	march := fanout.Between("ann#2026-03-01", "ann#2026-03-31~")
	newestFirst := fanout.Query{SortKey: march, Descending: true}
	items, err := fanout.Collect(fanout.Decode[Saga](reader.Owner(context.Background(), "ann", newestFirst)))
	fmt.Println(items, err)
	// Output: [{RSAGA#4 ann ann#2026-03-02T00:00:00.000Z archived}] <nil>
}

func ExampleReader_Owners() {
	reader := exampleReader()
	var report fanout.Report
	people := []string{"ann", "bob", "eve"}
	for saga, err := range fanout.Decode[Saga](reader.Owners(context.Background(), people, fanout.Query{Report: &report})) {
		if err != nil {
			log.Fatal(err)
		}
		fmt.Println(saga.PersonID, saga.ID)
	}
	fmt.Println(report.Total().Requests <= len(people))
	// Output:
	// ann RSAGA#1
	// ann RSAGA#4
	// bob RSAGA#2
	// eve RSAGA#5
	// true
}

func ExampleReader_All() {
	reader := exampleReader()
	open, err := expression.NewBuilder().WithFilter(expression.Name("status").Equal(expression.Value("open"))).Build()
	if err != nil {
		log.Fatal(err)
	}
	for saga, err := range fanout.Decode[Saga](reader.All(context.Background(), fanout.Query{Filter: fanout.FilterFrom(open)})) {
		if err != nil {
			log.Fatal(err)
		}
		fmt.Println(saga.Opened)
	}
	// Output:
	// ann#2026-02-01T00:00:00.000Z
	// bob#2026-01-15T00:00:00.000Z
	// dan#2026-02-20T00:00:00.000Z
}

// Partial answers are right as far as they go, and say what they lack.
func ExampleReader_All_partial() {
	reader := exampleReader()
	items, err := fanout.Collect(reader.All(context.Background(), fanout.Query{Partial: true}))
	if gap, ok := errors.AsType[*fanout.PartialError](err); ok {
		for _, shard := range gap.Failed {
			fmt.Println("missing:", shard.Key)
		}
	}
	fmt.Println(len(items), err)
	// Output: 5 <nil>
}

func ExampleReader_Count() {
	reader := exampleReader()
	n, err := reader.Count(context.Background(), fanout.Query{})
	fmt.Println(n, err)
	// Output: 5 <nil>
}

// A paged HTTP endpoint: GET /sagas?limit=2&cursor=…
func ExampleReader_Page() {
	reader := exampleReader()
	list := func(w http.ResponseWriter, r *http.Request) {
		page, err := reader.Page(r.Context(), fanout.PageRequest{Limit: 2, Cursor: r.FormValue("cursor")})
		switch {
		case errors.Is(err, fanout.ErrCursor):
			http.Error(w, "bad cursor", http.StatusBadRequest)
			return
		case errors.Is(err, fanout.ErrCursorExpired):
			http.Error(w, "start again at page one", http.StatusGone)
			return
		case err != nil:
			http.Error(w, "try again", http.StatusServiceUnavailable)
			return
		}
		var sagas []string
		for _, item := range page.Items {
			sagas = append(sagas, item["PK"].(*types.AttributeValueMemberS).Value)
		}
		_ = json.NewEncoder(w).Encode(map[string]any{"sagas": sagas, "next": page.Next})
	}
	server := httptest.NewServer(http.HandlerFunc(list))
	defer server.Close()

	for next := ""; ; {
		response, err := http.Get(server.URL + "/sagas?cursor=" + url.QueryEscape(next))
		if err != nil {
			log.Fatal(err)
		}
		var page struct {
			Sagas []string
			Next  string
		}
		if err := json.NewDecoder(response.Body).Decode(&page); err != nil {
			log.Fatal(err)
		}
		response.Body.Close()
		fmt.Println(page.Sagas)
		if next = page.Next; next == "" {
			return
		}
	}
	// Output:
	// [RSAGA#1 RSAGA#4]
	// [RSAGA#2 RSAGA#3]
	// [RSAGA#5]
}

// Pollers share one load for each key, and a client that has the content already
// is told so.
func ExampleCache() {
	reader := exampleReader()
	lists := fanout.NewCache(func(ctx context.Context, person string) ([]Saga, error) {
		return fanout.Collect(fanout.Decode[Saga](reader.Owner(ctx, person, fanout.Query{})))
	}, fanout.CacheOptions[[]Saga]{Fresh: 2 * time.Second})
	defer lists.Close()

	first, err := lists.Get(context.Background(), "ann")
	if err != nil {
		log.Fatal(err)
	}
	again, err := lists.Get(context.Background(), "ann")
	fmt.Println(len(again.Value), again.Matches(first.ETag), err)
	// Output: 2 true <nil>
}

// A program that takes part in no move, and whose rows somebody is moving from the
// one old key to 16, reads both layouts.
func ExampleStatic() {
	client, sharded := sagasOnShards()
	legacy := sharded
	legacy.Count = 0
	both := fanout.Static(shard.StaticDual(legacy, sharded, sharded))
	reader := fanout.New(client, fanout.Table{Name: "propflow", Key: []string{"PK", "SK"}}, both, fanout.Options{})
	n, err := reader.Count(context.Background(), fanout.Query{})
	fmt.Println(n, err)
	// Output: 5 <nil>
}

func ExampleReport() {
	reader := exampleReader()
	var report fanout.Report
	_, err := fanout.Collect(reader.All(context.Background(), fanout.Query{Report: &report}))
	total := report.Total()
	fmt.Println(total.Requests, "requests,", total.Units, "read units,", err)
	fmt.Println(report.Shards()[fanout.Shard{Index: "GSI4", Key: "RenewalSaga#0"}].Units)
	// Output:
	// 16 requests, 8 read units, <nil>
	// 0.5
}

func exampleReader() *fanout.Reader {
	client, layout := sagasOnShards()
	return fanout.New(client, fanout.Table{Name: "propflow", Key: []string{"PK", "SK"}}, fanout.Static(shard.Static(layout)), fanout.Options{})
}
