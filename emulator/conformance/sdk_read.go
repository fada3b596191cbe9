package conformance

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
)

// Every page size and both directions walk a collection once, in order.
func testPaging(t *testing.T, s Subject) {
	b := newProbe(t, s)
	const n = 23
	b.fill("p", n, nil)
	b.fill("other", 3, nil)
	var want []string
	for i := range n {
		want = append(want, fmt.Sprint(i))
	}
	for _, limit := range []int32{1, 2, 7, 22, 23, 24} {
		for _, forward := range []bool{true, false} {
			expected := slices.Clone(want)
			if !forward {
				slices.Reverse(expected)
			}
			got, pages := b.walk(&dynamodb.QueryInput{
				TableName: b.table, KeyConditionExpression: aws.String("pk = :p"), ExpressionAttributeValues: item{":p": text("p")},
				Limit: aws.Int32(limit), ScanIndexForward: aws.Bool(forward), ConsistentRead: aws.Bool(true),
			})
			if !slices.Equal(got, expected) {
				t.Errorf("pages of %d, forward %v: %v", limit, forward, got)
			}
			if most := n/int(limit) + 1; pages > most {
				t.Errorf("pages of %d: %d pages", limit, pages)
			}
		}
	}
}

// walk reads all pages of a query.
func (b *probe) walk(in *dynamodb.QueryInput) (keys []string, pages int) {
	b.Helper()
	for p := dynamodb.NewQueryPaginator(b.client, in); p.HasMorePages(); pages++ {
		page, err := p.NextPage(b.Context())
		b.must(err)
		if in.Limit != nil && len(page.Items) > int(*in.Limit) {
			b.Errorf("%d items in a page of %d", len(page.Items), *in.Limit)
		}
		keys = append(keys, sequence(page.Items)...)
	}
	return keys, pages
}

// Entries of an index may have equal keys. Paging shows each of them once.
func testIndexPaging(t *testing.T, s Subject) {
	b := newProbe(t, s, types.GlobalSecondaryIndex{
		IndexName: aws.String("by_g"), KeySchema: []types.KeySchemaElement{{AttributeName: aws.String("g"), KeyType: types.KeyTypeHash}},
		Projection: &types.Projection{ProjectionType: types.ProjectionTypeKeysOnly},
	})
	const n = 19
	b.fill("p", n, item{"g": text("all")})
	query := &dynamodb.QueryInput{
		TableName: b.table, IndexName: aws.String("by_g"), KeyConditionExpression: aws.String("g = :g"), ExpressionAttributeValues: item{":g": text("all")},
	}
	b.until("entries", func() bool {
		out, err := b.client.Query(b.Context(), query)
		b.must(err)
		return len(out.Items) == n
	})
	for _, limit := range []int32{1, 3, 18, 19} {
		query.Limit = aws.Int32(limit)
		got, _ := b.walk(query)
		if len(got) != n || len(distinct(got)) != n {
			t.Errorf("pages of %d: %v", limit, got)
		}
	}
	scanned := 0
	for p := dynamodb.NewScanPaginator(b.client, &dynamodb.ScanInput{TableName: b.table, IndexName: aws.String("by_g"), Limit: aws.Int32(4)}); p.HasMorePages(); {
		page, err := p.NextPage(b.Context())
		b.must(err)
		scanned += len(page.Items)
	}
	if scanned != n {
		t.Errorf("a scan of the index shows %d entries of %d", scanned, n)
	}
}

func distinct(list []string) []string { return slices.Compact(slices.Sorted(slices.Values(list))) }

// Segments are disjoint and hold everything together.
func testParallelScan(t *testing.T, s Subject) {
	b := newProbe(t, s)
	const n = 60
	for i := range n / 10 {
		b.fill(fmt.Sprint("p", i), 10, nil)
	}
	for _, segments := range []int32{1, 2, 5, 100} {
		seen := map[string]int{}
		for segment := range segments {
			in := &dynamodb.ScanInput{TableName: b.table, Segment: aws.Int32(segment), TotalSegments: aws.Int32(segments), Limit: aws.Int32(7)}
			for p := dynamodb.NewScanPaginator(b.client, in); p.HasMorePages(); {
				page, err := p.NextPage(b.Context())
				b.must(err)
				for _, it := range page.Items {
					seen[it["pk"].(*types.AttributeValueMemberS).Value+"/"+it["sk"].(*types.AttributeValueMemberN).Value]++
				}
			}
		}
		for key, times := range seen {
			if times != 1 {
				t.Errorf("%d segments: %s came %d times", segments, key, times)
			}
		}
		if len(seen) != n {
			t.Errorf("%d segments: %d items of %d", segments, len(seen), n)
		}
	}
}

// A page ends at 1 MB of data read, before the filter and the projection.
func testPageSize(t *testing.T, s Subject) {
	b := newProbe(t, s)
	const n, size = 9, 250_000
	for i := range n {
		_, err := b.client.PutItem(b.Context(), &dynamodb.PutItemInput{
			TableName: b.table, Item: item{"pk": text("p"), "sk": number(i), "p": text(strings.Repeat("x", size))},
		}, retried)
		b.must(err)
	}
	query := &dynamodb.QueryInput{
		TableName: b.table, KeyConditionExpression: aws.String("pk = :p"), ExpressionAttributeValues: item{":p": text("p")},
		ProjectionExpression: aws.String("sk"), FilterExpression: aws.String("attribute_exists(p)"),
	}
	got, pages := b.walk(query)
	if len(got) != n || pages < 3 {
		t.Errorf("%d items in %d pages", len(got), pages)
	}
	first, err := b.client.Query(b.Context(), query)
	b.must(err)
	if len(first.Items) < 3 || len(first.Items) > 5 || first.LastEvaluatedKey == nil {
		t.Errorf("%d items of %d bytes in the first page", len(first.Items), size)
	}
}
