package awsjson_test

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/credentials"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
)

// benchCase is one request that the servers are compared on, with the goals of
// the ratio to the null server and to dynalite.
type benchCase struct {
	name               string
	ofNull, ofDynalite float64
	do                 func(ctx context.Context, c *dynamodb.Client, n int64) error
}

var benchCases = []benchCase{
	{"GetItem", 0.85, 1, func(ctx context.Context, c *dynamodb.Client, n int64) error {
		_, err := c.GetItem(ctx, &dynamodb.GetItemInput{TableName: aws.String("bench"), Key: benchKey("person-3", n%3)})
		return err
	}},
	{"PutItem", 0.85, 1, func(ctx context.Context, c *dynamodb.Client, n int64) error {
		_, err := c.PutItem(ctx, &dynamodb.PutItemInput{TableName: aws.String("bench"), Item: benchItem("put", n%1000)})
		return err
	}},
	{"Query3", 0.85, 2.5, benchQuery("person-3")},
	{"Query179", 0.7, 3, benchQuery("person-179")},
}

func benchQuery(owner string) func(ctx context.Context, c *dynamodb.Client, n int64) error {
	return func(ctx context.Context, c *dynamodb.Client, _ int64) error {
		_, err := c.Query(ctx, &dynamodb.QueryInput{
			TableName: aws.String("bench"), KeyConditionExpression: aws.String("#pk = :pk"),
			ExpressionAttributeNames:  map[string]string{"#pk": "PK"},
			ExpressionAttributeValues: map[string]types.AttributeValue{":pk": text(owner)},
		})
		return err
	}
}

func text(s string) types.AttributeValue { return &types.AttributeValueMemberS{Value: s} }

func benchKey(owner string, n int64) map[string]types.AttributeValue {
	return map[string]types.AttributeValue{"PK": text(owner), "SK": text(fmt.Sprintf("2026-12-01T00:00:00.%03dZ", n))}
}

// benchItem is a row of about 500 bytes, as a saga is.
func benchItem(owner string, n int64) map[string]types.AttributeValue {
	item := benchKey(owner, n)
	for name, value := range map[string]string{
		"personId": owner, "entityType": "RenewalSaga", "state": "AWAITING_SIGNATURE", "leaseId": fmt.Sprintf("lease-%06d", n),
		"propertyId": "property-0042", "updatedAt": "2026-12-01T09:30:00.000Z", "notes": strings.Repeat("renewal ", 20),
	} {
		item[name] = text(value)
	}
	item["version"] = &types.AttributeValueMemberN{Value: fmt.Sprint(n)}
	item["rent"] = &types.AttributeValueMemberN{Value: "1895.50"}
	item["active"] = &types.AttributeValueMemberBOOL{Value: true}
	item["contact"] = &types.AttributeValueMemberM{Value: map[string]types.AttributeValue{"channel": text("sms"), "language": text("en")}}
	return item
}

// caseHeader tells the null server which body to answer with.
const caseHeader = "X-Bench-Case"

// benchWorkers is how many requests are under way at once.
const benchWorkers = 4

// benchRounds times benchSlice is how long each server is measured per case. The
// servers take turns, so that what else the machine does hits all alike.
const (
	benchRounds = 8
	benchSlice  = 250 * time.Millisecond
)

type caseTransport struct {
	http.RoundTripper
	name   string
	record string // file for the answer, "" for none
}

func (t *caseTransport) RoundTrip(r *http.Request) (*http.Response, error) {
	r.Header.Set(caseHeader, t.name)
	answer, err := t.RoundTripper.RoundTrip(r)
	if err != nil || t.record == "" {
		return answer, err
	}
	body, err := io.ReadAll(answer.Body)
	if err != nil {
		return nil, err
	}
	answer.Body = io.NopCloser(strings.NewReader(string(body)))
	return answer, os.WriteFile(t.record, body, 0o600)
}

// benchClient retries as applications do: on a busy machine the SDK now and then
// closes a request's body while net/http still looks at it, which costs the answer.
func benchClient(address, name, record string) *dynamodb.Client {
	pool := &http.Transport{MaxIdleConnsPerHost: benchWorkers}
	return dynamodb.New(dynamodb.Options{
		Region: "us-east-1", BaseEndpoint: aws.String("http://" + address),
		Credentials: credentials.NewStaticCredentialsProvider("bench", "bench", ""),
		HTTPClient:  &http.Client{Transport: &caseTransport{pool, name, record}},
	})
}

func withTransport(c *dynamodb.Client, t http.RoundTripper) *dynamodb.Client {
	o := c.Options()
	o.HTTPClient = &http.Client{Transport: t}
	return dynamodb.New(o)
}

// loadRows makes the table of the benchmark and its two owners.
func loadRows(b *testing.B, c *dynamodb.Client) {
	b.Helper()
	ctx := b.Context()
	_, err := c.CreateTable(ctx, &dynamodb.CreateTableInput{
		TableName: aws.String("bench"), BillingMode: types.BillingModePayPerRequest,
		AttributeDefinitions: []types.AttributeDefinition{{AttributeName: aws.String("PK"), AttributeType: "S"}, {AttributeName: aws.String("SK"), AttributeType: "S"}},
		KeySchema:            []types.KeySchemaElement{{AttributeName: aws.String("PK"), KeyType: "HASH"}, {AttributeName: aws.String("SK"), KeyType: "RANGE"}},
	})
	if err != nil {
		b.Fatal(err)
	}
	if err := dynamodb.NewTableExistsWaiter(c).Wait(ctx, &dynamodb.DescribeTableInput{TableName: aws.String("bench")}, time.Minute); err != nil {
		b.Fatal(err)
	}
	for owner, rows := range map[string]int64{"person-3": 3, "person-179": 179} {
		for n := range rows {
			if _, err := c.PutItem(ctx, &dynamodb.PutItemInput{TableName: aws.String("bench"), Item: benchItem(owner, n)}); err != nil {
				b.Fatal(err)
			}
		}
	}
}

// measure is what one server did in one case.
type measure struct {
	rates  []float64 // requests a second, by round
	done   int64
	server time.Duration // processor time of the server
	client time.Duration // and of this process
}

func (m *measure) serverEach() time.Duration { return m.server / time.Duration(max(1, m.done)) }

// bothEach is what a request costs both sides: the rate of a machine that does
// nothing else follows from it.
func (m *measure) bothEach() float64 {
	return float64(m.server+m.client) / float64(max(1, m.done))
}

// run drives a server for one slice.
func (m *measure) run(b *testing.B, s *benchServer, c benchCase, db *dynamodb.Client) {
	var done, next atomic.Int64
	server, client, start := s.cpu(), ownCPU(), time.Now()
	var workers sync.WaitGroup
	for range benchWorkers {
		workers.Go(func() {
			for time.Since(start) < benchSlice {
				if err := c.do(b.Context(), db, next.Add(1)); err != nil {
					b.Error(s.name, c.name, err)
					return
				}
				done.Add(1)
			}
		})
	}
	workers.Wait()
	m.rates = append(m.rates, float64(done.Load())/time.Since(start).Seconds())
	m.done += done.Load()
	m.server += s.cpu() - server
	m.client += ownCPU() - client
}

func median(values []float64) float64 {
	sorted := slices.Sorted(slices.Values(values))
	return sorted[len(sorted)/2]
}

// ratio is the median over the rounds of what one server did for each request
// that the other did.
func ratio(ours, other *measure) float64 {
	each := make([]float64, len(ours.rates))
	for i := range each {
		each[i] = ours.rates[i] / other.rates[i]
	}
	return median(each)
}

// BenchmarkServers compares the emulator over loopback HTTP with a server that
// does nothing and with dynalite, through one SDK client.
func BenchmarkServers(b *testing.B) {
	canned := b.TempDir()
	ours := startSelf(b, "ours", "")
	loadRows(b, benchClient(ours.address, "", ""))
	for _, c := range benchCases {
		if err := c.do(b.Context(), benchClient(ours.address, c.name, filepath.Join(canned, c.name)), 1); err != nil {
			b.Fatal(err)
		}
	}
	servers := []*benchServer{ours, startSelf(b, "null", canned)}
	if dynalite := startDynalite(b); dynalite != nil {
		loadRows(b, benchClient(dynalite.address, "", ""))
		servers = append(servers, dynalite)
	}
	b.ResetTimer()
	for _, c := range benchCases {
		compare(b, c, servers)
	}
	b.ReportMetric(0, "ns/op")
}

func compare(b *testing.B, c benchCase, servers []*benchServer) {
	measures := make([]measure, len(servers))
	clients := make([]*dynamodb.Client, len(servers))
	for i, s := range servers {
		clients[i] = benchClient(s.address, c.name, "")
		var warm measure
		warm.run(b, s, c, clients[i])
	}
	for range benchRounds {
		for i, s := range servers {
			measures[i].run(b, s, c, clients[i])
		}
	}
	fmt.Printf("%-9s", c.name)
	for i, s := range servers {
		fmt.Printf("  %s %6.0f/s %4d µs CPU", s.name, median(measures[i].rates), measures[i].serverEach().Microseconds())
	}
	r := ratio(&measures[0], &measures[1])
	fmt.Printf("  of null %.2f, by CPU %.2f (goal %.2f)", r, measures[1].bothEach()/measures[0].bothEach(), c.ofNull)
	b.ReportMetric(r, c.name+"/null")
	if len(servers) > 2 {
		r := ratio(&measures[0], &measures[2])
		cpu := float64(measures[0].serverEach()) / float64(max(1, measures[2].serverEach()))
		fmt.Printf("  of dynalite %.2f (goal %.2f) with %.2f of its CPU (goal 0.50)", r, c.ofDynalite, cpu)
		b.ReportMetric(r, c.name+"/dynalite")
	}
	fmt.Println()
}
