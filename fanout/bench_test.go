package fanout_test

import (
	"context"
	"fmt"
	"runtime"
	"slices"
	"strconv"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/hotsplit/hotsplit/emulator"
	"github.com/hotsplit/hotsplit/fanout"
	"github.com/hotsplit/hotsplit/shard"
)

// sagaBytes fills a row up to about 2 KB, as the ADR's are.
const sagaBytes = 1850

// adr is the table of the ADR: 239 rows of 120 persons, or of as many as said.
func adr(base string, count, persons int) collection {
	c := collection{layout: layout(base, count), fill: sagaBytes}
	for i := range 239 {
		owner := fmt.Sprintf("person-%03d", i%persons)
		c.rows = append(c.rows, entry{
			id: fmt.Sprintf("%s-%03d", base, i), owner: owner, sort: opened(owner, i/persons), key: c.layout.Key(owner), status: "open",
		})
	}
	return c
}

// rawQuery is one owner's query, or a whole key's, as it is written without fanout.
func rawQuery(tb testing.TB, client *dynamodb.Client, key, prefix string) []fanout.Item {
	in := &dynamodb.QueryInput{
		TableName:                 &sagas.Name,
		IndexName:                 aws.String("GSI4"),
		KeyConditionExpression:    aws.String("GSI4PK = :pk"),
		ExpressionAttributeValues: fanout.Item{":pk": &types.AttributeValueMemberS{Value: key}},
	}
	if prefix != "" {
		in.KeyConditionExpression = aws.String("GSI4PK = :pk AND begins_with(GSI4SK, :sk)")
		in.ExpressionAttributeValues[":sk"] = &types.AttributeValueMemberS{Value: prefix}
	}
	var items []fanout.Item
	for {
		out, err := client.Query(tb.Context(), in)
		must(tb, err)
		items = append(items, out.Items...)
		if in.ExclusiveStartKey = out.LastEvaluatedKey; in.ExclusiveStartKey == nil {
			return items
		}
	}
}

// pair times two ways of one thing in turn, so that both meet the same machine,
// and each goes first as often. Medians keep a busy machine's pauses out.
type pair struct{ raw, ours []time.Duration }

func (p *pair) loop(b *testing.B, raw, ours func()) {
	for n := 0; b.Loop(); n++ {
		if n%2 == 0 {
			p.raw = append(p.raw, timed(raw))
		}
		p.ours = append(p.ours, timed(ours))
		if n%2 == 1 {
			p.raw = append(p.raw, timed(raw))
		}
	}
	b.ReportMetric(float64(median(p.raw).Nanoseconds()), "raw-ns")
	b.ReportMetric(float64(median(p.ours).Nanoseconds()), "fanout-ns")
}

func timed(f func()) time.Duration {
	start := time.Now()
	f()
	return time.Since(start)
}

func median(all []time.Duration) time.Duration {
	slices.Sort(all)
	return all[len(all)/2]
}

// BenchmarkOwnerAgainstRaw: throughput of Owner over that of the query it sends.
func BenchmarkOwnerAgainstRaw(b *testing.B) {
	c := adr("RenewalSaga", 16, 80)
	r := newRig(b, rigOptions{})
	load(b, r.client, r.table.Name, c.rows, c.fill)
	reader := r.reader(shard.Static(c.layout))
	owner := c.rows[7].owner
	var p pair
	p.loop(b,
		func() { rawQuery(b, r.client, c.layout.Key(owner), c.layout.OwnerPrefix(owner)) },
		func() {
			items, err := fanout.Collect(reader.Owner(b.Context(), owner, fanout.Query{}))
			if err != nil || len(items) != 3 {
				b.Fatal(len(items), err)
			}
		})
	b.ReportMetric(float64(median(p.raw))/float64(median(p.ours)), "of-raw")
}

// BenchmarkAllAgainstOneQuery: with 5 ms to every answer, all of 16 shards take
// hardly longer than the same rows under one key.
func BenchmarkAllAgainstOneQuery(b *testing.B) {
	sharded, whole := adr("RenewalSaga", 16, 120), adr("Whole", 0, 120)
	r := newRig(b, rigOptions{})
	load(b, r.client, r.table.Name, sharded.rows, sharded.fill)
	load(b, r.client, r.table.Name, whole.rows, whole.fill)
	r.db.Inject(emulator.Fault{Kind: emulator.FaultDelay, Delay: 5 * time.Millisecond, Operation: "Query"})
	reader := r.reader(shard.Static(sharded.layout))
	var p pair
	p.loop(b,
		func() { rawQuery(b, r.client, "Whole", "") },
		func() {
			items, err := fanout.Collect(reader.All(b.Context(), fanout.Query{}))
			if err != nil || len(items) != 239 {
				b.Fatal(len(items), err)
			}
		})
	b.ReportMetric(float64(median(p.ours))/float64(median(p.raw)), "x-one-query")
}

// endless answers queries out of thin air, so that the merge alone is measured.
type endless struct {
	fanout.Client
	rows, page int // of each shard
}

func (e endless) Query(_ context.Context, in *dynamodb.QueryInput, _ ...func(*dynamodb.Options)) (*dynamodb.QueryOutput, error) {
	from := 0
	if last := in.ExclusiveStartKey; last != nil {
		from, _ = strconv.Atoi(last["GSI4SK"].(*types.AttributeValueMemberS).Value)
		from++
	}
	key := in.ExpressionAttributeValues[":hs_pk"]
	out := &dynamodb.QueryOutput{}
	for i := from; i < min(from+e.page, e.rows); i++ {
		sort := &types.AttributeValueMemberS{Value: fmt.Sprintf("%09d", i)}
		out.Items = append(out.Items, fanout.Item{"GSI4PK": key, "GSI4SK": sort, "PK": key, "SK": sort})
	}
	if from+e.page < e.rows {
		out.LastEvaluatedKey = out.Items[len(out.Items)-1]
	}
	return out, nil
}

// BenchmarkMergeMillion: one million rows through the merge, memory as it goes.
func BenchmarkMergeMillion(b *testing.B) {
	const rows = 1_000_000
	reader := fanout.New(endless{rows: rows / 16, page: 1000}, sagas, fanout.Static(shard.Static(layout("RenewalSaga", 16))), fanout.Options{})
	var early, most uint64
	for b.Loop() {
		n := 0
		for _, err := range reader.All(b.Context(), fanout.Query{}) {
			if err != nil {
				b.Fatal(err)
			}
			if n++; n%100_000 == 0 {
				runtime.GC()
				var m runtime.MemStats
				runtime.ReadMemStats(&m)
				if n == 100_000 {
					early = m.HeapAlloc
				}
				most = max(most, m.HeapAlloc)
			}
		}
		if n != rows {
			b.Fatal(n)
		}
	}
	b.ReportMetric(float64(rows)*float64(b.N)/b.Elapsed().Seconds(), "rows/s")
	b.ReportMetric(float64(early)/(1<<20), "MB-after-100k")
	b.ReportMetric(float64(most)/(1<<20), "MB-at-most")
}

// BenchmarkPageUnits: read units of a walk in pages, over those of the same walk
// on one unsharded key.
func BenchmarkPageUnits(b *testing.B) {
	for _, fill := range []int{sagaBytes, 300} {
		for _, limit := range []int{10, 25, 50, 100} {
			b.Run(fmt.Sprintf("row=%dB/limit=%d", fill+150, limit), func(b *testing.B) {
				sharded, whole := adr("RenewalSaga", 16, 120), adr("Whole", 0, 120)
				r := newRig(b, rigOptions{})
				load(b, r.client, r.table.Name, sharded.rows, fill)
				load(b, r.client, r.table.Name, whole.rows, fill)
				reader := r.reader(shard.Static(sharded.layout))
				walkUnits(b, reader, limit) // learns the size of a row
				var ours fanout.Cost
				pages := 0
				for b.Loop() {
					ours, pages = walkUnits(b, reader, limit)
				}
				one := rawWalkUnits(b, r.client, "Whole", limit)
				b.ReportMetric(ours.Units/float64(pages), "units/page")
				b.ReportMetric(float64(ours.Requests)/float64(pages), "requests/page")
				b.ReportMetric(ours.Units/one, "x-unsharded")
			})
		}
	}
}

func walkUnits(tb testing.TB, reader *fanout.Reader, limit int) (fanout.Cost, int) {
	var report fanout.Report
	pages := 0
	for cursor := ""; ; {
		p, err := reader.Page(tb.Context(), fanout.PageRequest{Query: fanout.Query{Report: &report}, Limit: limit, Cursor: cursor})
		must(tb, err)
		pages++
		if cursor = p.Next; cursor == "" {
			return report.Total(), pages
		}
	}
}

func rawWalkUnits(tb testing.TB, client *dynamodb.Client, key string, limit int) (units float64) {
	in := &dynamodb.QueryInput{
		TableName:                 &sagas.Name,
		IndexName:                 aws.String("GSI4"),
		KeyConditionExpression:    aws.String("GSI4PK = :pk"),
		ExpressionAttributeValues: fanout.Item{":pk": &types.AttributeValueMemberS{Value: key}},
		Limit:                     aws.Int32(int32(limit)),
		ReturnConsumedCapacity:    types.ReturnConsumedCapacityTotal,
	}
	for {
		out, err := client.Query(tb.Context(), in)
		must(tb, err)
		units += *out.ConsumedCapacity.CapacityUnits
		if in.ExclusiveStartKey = out.LastEvaluatedKey; in.ExclusiveStartKey == nil {
			return units
		}
	}
}
