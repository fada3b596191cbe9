package heat_test

import (
	"context"
	"fmt"
	"net/http"
	"net/http/httptest"
	"runtime"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/credentials"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
	"go.opentelemetry.io/otel/sdk/metric"
	"go.opentelemetry.io/otel/sdk/metric/metricdata"

	"github.com/hotsplit/hotsplit/emulator"
	"github.com/hotsplit/hotsplit/emulator/awsjson"
	"github.com/hotsplit/hotsplit/heat"
)

func s(v string) types.AttributeValue { return &types.AttributeValueMemberS{Value: v} }

func saga(id, person, key string) map[string]types.AttributeValue {
	return map[string]types.AttributeValue{
		"PK": s("RSAGA#" + id), "SK": s("META"), "GSI4PK": s(key), "GSI4SK": s(person + "#2026-05-22T06:00:00.000Z"),
		"body": s(strings.Repeat("x", 5000)),
	}
}

// openTable makes a table with one index and rows on it, and gives its schema.
func openTable(tb testing.TB, client *dynamodb.Client, rows int) heat.Schema {
	tb.Helper()
	key := func(pk, sk string) []types.KeySchemaElement {
		return []types.KeySchemaElement{{AttributeName: &pk, KeyType: types.KeyTypeHash}, {AttributeName: &sk, KeyType: types.KeyTypeRange}}
	}
	var attributes []types.AttributeDefinition
	for _, name := range []string{"PK", "SK", "GSI4PK", "GSI4SK"} {
		attributes = append(attributes, types.AttributeDefinition{AttributeName: aws.String(name), AttributeType: types.ScalarAttributeTypeS})
	}
	made, err := client.CreateTable(context.Background(), &dynamodb.CreateTableInput{
		TableName: aws.String(table), BillingMode: types.BillingModePayPerRequest, KeySchema: key("PK", "SK"), AttributeDefinitions: attributes,
		GlobalSecondaryIndexes: []types.GlobalSecondaryIndex{{
			IndexName: aws.String(index), KeySchema: key("GSI4PK", "GSI4SK"), Projection: &types.Projection{ProjectionType: types.ProjectionTypeAll},
		}},
	})
	if err != nil {
		tb.Fatal(err)
	}
	for i := range rows {
		if _, err := client.PutItem(context.Background(), &dynamodb.PutItemInput{
			TableName: aws.String(table), Item: saga(fmt.Sprint(i), fmt.Sprintf("person-%d", i), "RenewalSaga"),
		}); err != nil {
			tb.Fatal(err)
		}
	}
	return heat.SchemaOf(made.TableDescription)
}

func inProcess(db *emulator.DB) dynamodb.Options {
	return dynamodb.Options{
		Region: "us-east-1", Credentials: aws.AnonymousCredentials{},
		HTTPClient: &http.Client{Transport: awsjson.Transport(db)},
	}
}

func ofPerson(person string) *dynamodb.QueryInput {
	return &dynamodb.QueryInput{
		TableName: aws.String(table), IndexName: aws.String(index),
		KeyConditionExpression:   aws.String("#p = :p AND begins_with(GSI4SK, :o)"),
		ExpressionAttributeNames: map[string]string{"#p": "GSI4PK"},
		ExpressionAttributeValues: map[string]types.AttributeValue{
			":p": s("RenewalSaga"), ":o": s(person + "#"),
		},
	}
}

func resource(t *testing.T, rep heat.Report, index string) heat.ResourceReport {
	t.Helper()
	at := slices.IndexFunc(rep.Resources, func(r heat.ResourceReport) bool { return r.Index == index })
	if at < 0 {
		t.Fatalf("nothing was recorded of index %q: %+v", index, rep.Resources)
	}
	return rep.Resources[at]
}

// TestInstrumentedClient sees units, keys, callers and refusals on the real wire,
// in virtual time.
func TestInstrumentedClient(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		db := emulator.New(emulator.Options{LagMax: -1, Partitions: 1})
		schema := openTable(t, dynamodb.New(inProcess(db)), 20)
		var cfg aws.Config
		recorder := heat.Instrument(&cfg, heat.Options{Tables: []heat.Schema{schema}})
		options := inProcess(db)
		options.APIOptions = cfg.APIOptions
		client := dynamodb.New(options)
		time.Sleep(time.Minute)

		list := heat.WithCaller(t.Context(), "renewals/list")
		for range 5 {
			for i := range 1400 { // 1 unit each: two pages of 4 KB, half a unit a page
				if _, err := client.Query(list, ofPerson(fmt.Sprintf("person-%d", i%20))); err != nil {
					t.Fatal(err)
				}
			}
			time.Sleep(time.Second)
		}
		if _, err := client.PutItem(t.Context(), &dynamodb.PutItemInput{TableName: aws.String(table), Item: saga("new", "person-7", "RenewalSaga")}); err != nil {
			t.Fatal(err)
		}
		recorder.Flush()
		rep := recorder.Report()
		onIndex := resource(t, rep, index)
		k := onIndex.Keys[0]
		if k.Key != "RenewalSaga" || k.Read != 5*1400 || k.PeakRead.Units != 1400 || k.Requests != 5*1400 {
			t.Errorf("key %+v, want RenewalSaga with 7,000 units and requests, 1,400 in a second", k.Use)
		}
		if k.Callers[0].Name != "renewals/list" || len(k.Owners) != 12 {
			t.Errorf("caller %q, %d owners; want renewals/list and the heaviest 12", k.Callers[0].Name, len(k.Owners))
		}
		if k.Write != 5 {
			t.Errorf("the put's part on the index is %v units of the key, want 5", k.Write)
		}
		if onTable := resource(t, rep, ""); onTable.Keys[0].Key != "RSAGA#new" || onTable.Write != 5 {
			t.Errorf("the put is %v units of key %q", onTable.Write, onTable.Keys[0].Key)
		}
		if caller := resource(t, rep, "").Callers[0].Name; !strings.HasSuffix(caller, "hotsplit/heat_test") {
			t.Errorf("a call without label is by %q, want this package", caller)
		}
	})
}

// TestBackPressureIsSeenAtTheIndex writes the table until the index refuses.
func TestBackPressureIsSeenAtTheIndex(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		db := emulator.New(emulator.Options{LagMax: -1, Placement: emulator.PlacementIsolated, NoTableLimits: true})
		schema := openTable(t, dynamodb.New(inProcess(db)), 40)
		recorder := heat.NewRecorder(heat.Options{Tables: []heat.Schema{schema}})
		client := dynamodb.New(inProcess(db), recorder.Client, func(o *dynamodb.Options) { o.RetryMaxAttempts = 1 })
		time.Sleep(time.Minute)
		ctx := heat.WithIndexKey(heat.WithCaller(t.Context(), "workflow"), index, "RenewalSaga")
		failed := 0
		for i := range 400 {
			_, err := client.UpdateItem(ctx, &dynamodb.UpdateItemInput{
				TableName: aws.String(table), Key: map[string]types.AttributeValue{"PK": s(fmt.Sprintf("RSAGA#%d", i%40)), "SK": s("META")},
				UpdateExpression: aws.String("SET step = :s"), ExpressionAttributeValues: map[string]types.AttributeValue{":s": s(fmt.Sprint(i))},
			})
			if err != nil {
				failed++
			}
		}
		recorder.Flush()
		rep := recorder.Report()
		if failed == 0 || rep.Failed != failed {
			t.Fatalf("%d writes failed, %d were recorded", failed, rep.Failed)
		}
		rules := map[heat.Rule]heat.Verdict{}
		for _, v := range rep.Verdicts {
			rules[v.Rule] = v
		}
		if v, ok := rules[heat.IndexBackPressure]; !ok || v.Index != index || !slices.Contains(v.Callers, "workflow") {
			t.Errorf("verdicts %v, want back-pressure of %s by workflow", rep.Verdicts, index)
		}
		if k := resource(t, rep, index).Keys[0]; k.Key != "RenewalSaga" || k.Throttled != failed {
			t.Errorf("key %q with %d refused, want RenewalSaga with %d", k.Key, k.Throttled, failed)
		}
	})
}

// TestCallerAskedForCapacity leaves what the caller asked for as it is, and the
// caller's own request untouched.
func TestCallerAskedForCapacity(t *testing.T) {
	db := emulator.New(emulator.Options{LagMax: -1})
	schema := openTable(t, dynamodb.New(inProcess(db)), 1)
	client := dynamodb.New(inProcess(db), heat.NewRecorder(heat.Options{Tables: []heat.Schema{schema}}).Client)
	in := ofPerson("person-0")
	if _, err := client.Query(t.Context(), in); err != nil {
		t.Fatal(err)
	}
	if in.ReturnConsumedCapacity != "" {
		t.Errorf("the caller's request now asks for %s", in.ReturnConsumedCapacity)
	}
	in.ReturnConsumedCapacity = types.ReturnConsumedCapacityTotal
	out, err := client.Query(t.Context(), in)
	if err != nil || out.ConsumedCapacity == nil || len(out.ConsumedCapacity.GlobalSecondaryIndexes) != 0 {
		t.Errorf("asked for TOTAL, got %+v, error %v", out, err)
	}
}

func TestExport(t *testing.T) {
	recorder := heat.NewRecorder(heat.Options{})
	reader := metric.NewManualReader()
	if err := recorder.Export(metric.NewMeterProvider(metric.WithReader(reader)).Meter("test")); err != nil {
		t.Fatal(err)
	}
	read("RenewalSaga", "p#", "list", 10, 2.5)(nil, began, recorder.Observe)
	refuse("Query", index, "RenewalSaga", "list", readRange, 3)(nil, began, recorder.Observe)
	recorder.Flush()
	var got metricdata.ResourceMetrics
	if err := reader.Collect(t.Context(), &got); err != nil {
		t.Fatal(err)
	}
	names := map[string]bool{}
	for _, m := range got.ScopeMetrics[0].Metrics {
		names[m.Name] = true
	}
	for _, want := range []string{"hotsplit.consumed.units", "hotsplit.throttled.attempts", "hotsplit.key.peak"} {
		if !names[want] {
			t.Errorf("%s is not exported, only %v", want, names)
		}
	}
}

// TestMemoryStaysFlat observes an hour of a load with ever new keys.
func TestMemoryStaysFlat(t *testing.T) {
	recorder := heat.NewRecorder(heat.Options{})
	observe := func(from, to int) {
		for second := from; second < to; second++ {
			at := began.Add(time.Duration(second) * time.Second)
			for i := range 200 {
				key := fmt.Sprintf("key-%d-%d", second, i)
				recorder.Observe(heat.Event{Time: at, Operation: "Query", Table: table, Index: index, Key: key, Sort: key + "#", Caller: key, Read: 1, Primary: true})
			}
		}
	}
	used := func() uint64 {
		runtime.GC()
		var m runtime.MemStats
		runtime.ReadMemStats(&m)
		return m.HeapAlloc
	}
	observe(0, 1200)
	before := used()
	observe(1200, 3600)
	if after := used(); after > before+before/5+1<<20 {
		t.Errorf("%d bytes in use after 20 minutes, %d after an hour", before, after)
	}
	runtime.KeepAlive(recorder)
}

// BenchmarkOverhead is the instrument's price: calls over loopback HTTP, the
// nearest to real ones that a test has, with and without it in turn. The medians
// are compared, because other load on the machine comes in bursts.
func BenchmarkOverhead(b *testing.B) {
	db := emulator.New(emulator.Options{LagMax: -1, Unlimited: true})
	server := httptest.NewServer(awsjson.Handler(db))
	defer server.Close()
	options := dynamodb.Options{
		Region: "us-east-1", Credentials: credentials.NewStaticCredentialsProvider("bench", "x", ""), BaseEndpoint: &server.URL,
	}
	schema := openTable(b, dynamodb.New(options), 20)
	clients := []*dynamodb.Client{
		dynamodb.New(options),
		dynamodb.New(options, heat.NewRecorder(heat.Options{Tables: []heat.Schema{schema}}).Client),
	}
	in := ofPerson("person-7")
	in.ReturnConsumedCapacity = types.ReturnConsumedCapacityIndexes
	took := make([][]time.Duration, 2)
	for b.Loop() {
		for i, client := range clients {
			began := time.Now()
			if _, err := client.Query(b.Context(), in); err != nil {
				b.Fatal(err)
			}
			took[i] = append(took[i], time.Since(began))
		}
	}
	median := func(d []time.Duration) float64 { slices.Sort(d); return float64(d[len(d)/2]) }
	plain, instrumented := median(took[0]), median(took[1])
	b.ReportMetric(plain/1000, "µs/plain")
	b.ReportMetric(100*(instrumented-plain)/plain, "%overhead")
}

// BenchmarkObserve is the recorder's own work for one event.
func BenchmarkObserve(b *testing.B) {
	recorder := heat.NewRecorder(heat.Options{})
	e := heat.Event{Time: began, Operation: "Query", Table: table, Index: index, Key: "RenewalSaga", Sort: "person-7#", Caller: "list", Read: 0.5, Primary: true}
	for b.Loop() {
		recorder.Observe(e)
	}
}
