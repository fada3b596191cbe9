package awsjson_test

import (
	"strings"
	"testing"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/hotsplit/hotsplit/emulator"
)

// The shapes of the control plane, as the SDK decodes them.
func TestTableShapes(t *testing.T) {
	c := inProcess(emulator.New(emulator.Options{}))
	key := func(name string, kind types.KeyType) types.KeySchemaElement {
		return types.KeySchemaElement{AttributeName: aws.String(name), KeyType: kind}
	}
	five := &types.ProvisionedThroughput{ReadCapacityUnits: aws.Int64(5), WriteCapacityUnits: aws.Int64(6)}
	name := aws.String("shapes")
	_, err := c.CreateTable(t.Context(), &dynamodb.CreateTableInput{
		TableName: name, ProvisionedThroughput: five, TableClass: types.TableClassStandardInfrequentAccess,
		AttributeDefinitions: []types.AttributeDefinition{{AttributeName: aws.String("p"), AttributeType: "S"}, {AttributeName: aws.String("s"), AttributeType: "N"}, {AttributeName: aws.String("x"), AttributeType: "B"}},
		KeySchema:            []types.KeySchemaElement{key("p", "HASH"), key("s", "RANGE")},
		LocalSecondaryIndexes: []types.LocalSecondaryIndex{{IndexName: aws.String("local"), KeySchema: []types.KeySchemaElement{key("p", "HASH"), key("x", "RANGE")},
			Projection: &types.Projection{ProjectionType: types.ProjectionTypeKeysOnly}}},
		GlobalSecondaryIndexes: []types.GlobalSecondaryIndex{{IndexName: aws.String("global"), KeySchema: []types.KeySchemaElement{key("x", "HASH")}, ProvisionedThroughput: five,
			Projection: &types.Projection{ProjectionType: types.ProjectionTypeInclude, NonKeyAttributes: []string{"a", "ż\"b"}}}},
		SSESpecification: &types.SSESpecification{Enabled: aws.Bool(true)}, DeletionProtectionEnabled: aws.Bool(true),
		Tags: []types.Tag{{Key: aws.String("team"), Value: aws.String("renewals")}},
	})
	if err != nil {
		t.Fatal(err)
	}
	out, err := c.DescribeTable(t.Context(), &dynamodb.DescribeTableInput{TableName: name})
	if err != nil {
		t.Fatal(err)
	}
	d := out.Table
	global, local := d.GlobalSecondaryIndexes[0], d.LocalSecondaryIndexes[0]
	for what, ok := range map[string]bool{
		"key":             len(d.KeySchema) == 2 && d.KeySchema[1].KeyType == "RANGE" && aws.ToString(d.KeySchema[1].AttributeName) == "s",
		"attributes":      len(d.AttributeDefinitions) == 3,
		"status":          d.TableStatus == types.TableStatusActive,
		"creation":        d.CreationDateTime != nil && !d.CreationDateTime.IsZero(),
		"throughput":      aws.ToInt64(d.ProvisionedThroughput.WriteCapacityUnits) == 6 && aws.ToInt64(d.ProvisionedThroughput.ReadCapacityUnits) == 5,
		"no billing mode": d.BillingModeSummary == nil || d.BillingModeSummary.BillingMode == types.BillingModeProvisioned,
		"class":           d.TableClassSummary != nil && d.TableClassSummary.TableClass == types.TableClassStandardInfrequentAccess,
		"protection":      aws.ToBool(d.DeletionProtectionEnabled),
		"encryption":      d.SSEDescription != nil && strings.HasPrefix(aws.ToString(d.SSEDescription.KMSMasterKeyArn), "arn:aws:kms:us-east-1:"),
		"local index":     aws.ToString(local.IndexName) == "local" && local.Projection.ProjectionType == "KEYS_ONLY",
		"global index":    aws.ToString(global.IndexName) == "global" && len(global.Projection.NonKeyAttributes) == 2 && aws.ToInt64(global.ProvisionedThroughput.WriteCapacityUnits) == 6,
		"index status":    global.IndexStatus == types.IndexStatusActive && strings.HasSuffix(aws.ToString(global.IndexArn), ":table/shapes/index/global"),
	} {
		if !ok {
			t.Errorf("%s: %+v", what, d)
		}
	}
	tags, err := c.ListTagsOfResource(t.Context(), &dynamodb.ListTagsOfResourceInput{ResourceArn: d.TableArn})
	if err != nil || len(tags.Tags) != 1 || aws.ToString(tags.Tags[0].Value) != "renewals" {
		t.Errorf("tags %+v: %v", tags, err)
	}
}
