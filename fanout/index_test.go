package fanout_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/hotsplit/hotsplit/fanout"
	"github.com/hotsplit/hotsplit/shard"
)

// addIndex creates GSI5 beside GSI4.
func (r *rig) addIndex(ctx context.Context) error {
	attribute := func(name string) types.AttributeDefinition {
		return types.AttributeDefinition{AttributeName: &name, AttributeType: types.ScalarAttributeTypeS}
	}
	_, err := r.client.UpdateTable(ctx, &dynamodb.UpdateTableInput{
		TableName:            &r.table.Name,
		AttributeDefinitions: []types.AttributeDefinition{attribute("GSI5PK"), attribute("GSI5SK")},
		GlobalSecondaryIndexUpdates: []types.GlobalSecondaryIndexUpdate{{Create: &types.CreateGlobalSecondaryIndexAction{
			IndexName: aws.String("GSI5"), Projection: &types.Projection{ProjectionType: types.ProjectionTypeAll},
			KeySchema: []types.KeySchemaElement{
				{AttributeName: aws.String("GSI5PK"), KeyType: types.KeyTypeHash},
				{AttributeName: aws.String("GSI5SK"), KeyType: types.KeyTypeRange},
			},
		}}},
	})
	return err
}

// TestBuildingIndexesAreUnavailable: an index that is still being filled would give
// some of its rows, which is worse than none.
func TestBuildingIndexesAreUnavailable(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t, rigOptions{tableDelay: time.Minute})
		time.Sleep(2 * time.Minute)
		must(t, r.addIndex(t.Context()))
		l := shard.Layout{Index: "GSI5", PartitionKey: "GSI5PK", SortKey: "GSI5SK", Base: "RenewalSaga", Count: 4}
		for name, read := range entryPoints(r.reader(shard.Static(l)), []string{"p1", "p2"}) {
			if _, err := read(t.Context(), fanout.Query{}); !errors.Is(err, fanout.ErrIndexUnavailable) {
				t.Errorf("%s while the index is built: %v", name, err)
			}
		}
		time.Sleep(2 * time.Minute)
		if _, err := fanout.Collect(r.reader(shard.Static(l)).All(t.Context(), fanout.Query{})); err != nil {
			t.Errorf("once it is built: %v", err)
		}
	})
}

// TestSideBySideLayouts: the new layout has an index and key attributes of its own;
// rows that have them already stand on both, and are one row.
func TestSideBySideLayouts(t *testing.T) {
	old := layout("RenewalSaga", 0)
	wide := shard.Layout{Index: "GSI5", PartitionKey: "GSI5PK", SortKey: "GSI5SK", Base: "RenewalSaga", Count: 4}
	c := shape{rows: 40, count: 0, owners: 8, ties: 2, rare: 1}.build("RenewalSaga", 40)
	r := newRig(t, rigOptions{})
	must(t, r.addIndex(t.Context()))
	var moving []fanout.MovingRow
	for i, e := range c.rows {
		item := e.item(0)
		if i%3 > 0 { // filled already
			item["GSI5PK"] = &types.AttributeValueMemberS{Value: wide.Key(e.owner)}
			item["GSI5SK"] = item["GSI4SK"]
		}
		_, err := r.client.PutItem(t.Context(), &dynamodb.PutItemInput{TableName: &r.table.Name, Item: item})
		must(t, err)
		if i < 10 {
			moving = append(moving, fanout.MovingRow{Key: e.baseKey(), Owner: e.owner})
		}
	}
	routing := shard.RoutingFor(shard.Backfill, old, wide, 1)
	rec := &record{}
	rec.publish(routing, moving)
	for name, source := range map[string]fanout.Source{"watched": &follower{record: rec}, "static": fanout.Static(routing)} {
		reader := fanout.New(r.client, r.table, source, fanout.Options{})
		all, err := fanout.Collect(reader.All(t.Context(), fanout.Query{}))
		must(t, err)
		one, err := fanout.Collect(reader.Owner(t.Context(), "p1", fanout.Query{}))
		must(t, err)
		paged, err := pagesOf(t, reader, 7)
		must(t, err)
		want := ids(sorted(c.rows, false))
		if !slices.Equal(idsOf(all), want) || !slices.Equal(paged, want) || !slices.Equal(idsOf(one), ids(sorted(owned(c.rows, "p1"), false))) {
			t.Errorf("%s: %s", name, fmt.Sprint(len(all), len(paged), len(one)))
		}
	}
}
