package migrate_test

import (
	"context"
	"fmt"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/hotsplit/hotsplit/fanout"
	"github.com/hotsplit/hotsplit/migrate"
	"github.com/hotsplit/hotsplit/shard"
)

var sagas = migrate.Spec{
	Name: "renewal-saga", Table: "propflow-prod", Key: []string{"PK", "SK"}, Owner: "personId",
	Index: "gsi4", PartitionKey: "GSI4PK", SortKey: "GSI4SK",
	From: shard.Layout{Base: "RenewalSaga"}, To: shard.Layout{Base: "RenewalSaga", Count: 16},
}

// A process that reads and writes rows while they may be on the move.
func ExampleWatch() {
	ctx := context.Background()
	client := dynamodb.NewFromConfig(aws.Config{Region: "us-east-1"})

	watcher, err := migrate.Watch(ctx, client, sagas, migrate.WatchOptions{Role: "web", Version: "1.4.0"})
	if err != nil {
		fmt.Println(err) // e.g. the record holds another count than this process was told
		return
	}
	defer watcher.Close()

	reader := fanout.New(client, fanout.Table{Name: sagas.Table, Key: sagas.Key}, watcher, fanout.Options{})
	for row, err := range reader.Owner(ctx, "person-2", fanout.Query{}) {
		fmt.Println(row, err)
	}

	stamp, err := watcher.Stamp(ctx, "person-2")
	if err != nil {
		fmt.Println(err)
		return
	}
	key := migrate.Item{
		"PK": &types.AttributeValueMemberS{Value: "RSAGA#1"}, "SK": &types.AttributeValueMemberS{Value: "META"},
	}
	// ... write the row with stamp.Key in the attribute stamp.Attribute, then:
	if _, err := watcher.Confirm(ctx, stamp, key); err != nil {
		fmt.Println(err) // written, and not to be acknowledged yet
	}
}

// A whole move in one call. It may be broken off and called again.
func ExampleRunner_Move() {
	ctx := context.Background()
	client := migrate.RunnerClient(aws.Config{Region: "us-east-1"})
	runner, err := migrate.NewRunner(client, sagas, migrate.Options{
		Observe: func(e migrate.Event) { fmt.Println(e) },
		Confirm: func(_ context.Context, q migrate.Question) error { return fmt.Errorf("nobody to ask: %s", q.Text) },
	})
	if err != nil {
		fmt.Println(err)
		return
	}
	summary, err := runner.Move(ctx)
	fmt.Println(summary.Phase, summary.Progress.Moved, err)
}
