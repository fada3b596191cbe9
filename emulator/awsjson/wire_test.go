package awsjson_test

import (
	"bytes"
	"compress/gzip"
	"context"
	"errors"
	"hash/crc32"
	"io"
	"net/http"
	"net/http/httptest"
	"strconv"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/hotsplit/hotsplit/emulator"
	"github.com/hotsplit/hotsplit/emulator/awsjson"
)

const signature = "AWS4-HMAC-SHA256 Credential=tester/20261201/us-east-1/dynamodb/aws4_request, SignedHeaders=host, Signature=00"

func newServer(t *testing.T, o emulator.Options) (*httptest.Server, *emulator.DB) {
	t.Helper()
	db := emulator.New(o)
	s := httptest.NewServer(awsjson.Handler(db))
	t.Cleanup(s.Close)
	return s, db
}

// request is a signed API request; headers given as "" are left out.
func request(t *testing.T, url, operation, body string, headers map[string]string) *http.Request {
	t.Helper()
	r, err := http.NewRequest(http.MethodPost, url, strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	r.Header.Set("X-Amz-Target", "DynamoDB_20120810."+operation)
	r.Header.Set("Content-Type", "application/x-amz-json-1.0")
	r.Header.Set("Authorization", signature)
	r.Header.Set("X-Amz-Date", "20261201T000000Z")
	for name, value := range headers {
		r.Header.Del(name)
		if value != "" {
			r.Header.Set(name, value)
		}
	}
	return r
}

func send(t *testing.T, r *http.Request) (*http.Response, string) {
	t.Helper()
	answer, err := http.DefaultTransport.RoundTrip(r)
	if err != nil {
		t.Fatal(err)
	}
	defer answer.Body.Close()
	body, err := io.ReadAll(answer.Body)
	if err != nil {
		t.Fatal(err)
	}
	return answer, string(body)
}

func inProcess(db *emulator.DB) *dynamodb.Client {
	return dynamodb.New(dynamodb.Options{Region: "us-east-1", Credentials: aws.AnonymousCredentials{},
		HTTPClient: &http.Client{Transport: awsjson.Transport(db)}})
}

func createTable(t *testing.T, c *dynamodb.Client) {
	t.Helper()
	s := types.ScalarAttributeTypeS
	_, err := c.CreateTable(t.Context(), &dynamodb.CreateTableInput{
		TableName: aws.String("sagas"), BillingMode: types.BillingModePayPerRequest,
		AttributeDefinitions: []types.AttributeDefinition{{AttributeName: aws.String("PK"), AttributeType: s}, {AttributeName: aws.String("SK"), AttributeType: s},
			{AttributeName: aws.String("GSI4PK"), AttributeType: s}, {AttributeName: aws.String("GSI4SK"), AttributeType: s}},
		KeySchema: []types.KeySchemaElement{{AttributeName: aws.String("PK"), KeyType: "HASH"}, {AttributeName: aws.String("SK"), KeyType: "RANGE"}},
		GlobalSecondaryIndexes: []types.GlobalSecondaryIndex{{IndexName: aws.String("GSI4"), Projection: &types.Projection{ProjectionType: "ALL"},
			KeySchema: []types.KeySchemaElement{{AttributeName: aws.String("GSI4PK"), KeyType: "HASH"}, {AttributeName: aws.String("GSI4SK"), KeyType: "RANGE"}}}},
	})
	if err != nil {
		t.Fatal(err)
	}
}

func saga(id string) map[string]types.AttributeValue {
	return map[string]types.AttributeValue{"PK": text("RSAGA#" + id), "SK": text("META"), "GSI4PK": text("RenewalSaga"), "GSI4SK": text(id + "#2026")}
}

func TestProtocolErrors(t *testing.T) {
	s, _ := newServer(t, emulator.Options{})
	for _, c := range []struct {
		name, operation, body string
		headers               map[string]string
		status                int
		want                  string // all of the body, or its start when it ends with …
	}{
		{"unknown operation", "Nonsense", "{}", nil, 400, `{"__type":"com.amazon.coral.service#UnknownOperationException"}`},
		{"no target", "", "{}", map[string]string{"X-Amz-Target": ""}, 400, `{"__type":"com.amazon.coral.service#UnknownOperationException"}`},
		{"foreign target", "", "{}", map[string]string{"X-Amz-Target": "GetItem"}, 400, `{"__type":"com.amazon.coral.service#UnknownOperationException"}`},
		{"unsigned", "ListTables", "{}", map[string]string{"Authorization": ""}, 400, `{"__type":"com.amazon.coral.service#MissingAuthenticationTokenException","message":"Request is missing Authentication Token"}`},
		{"other scheme", "ListTables", "{}", map[string]string{"Authorization": "Basic abc"}, 400, `{"__type":"com.amazon.coral.service#MissingAuthenticationTokenException",…`},
		{"incomplete signature", "ListTables", "{}", map[string]string{"Authorization": "AWS4-HMAC-SHA256 Credential=a/b"}, 400,
			`{"__type":"com.amazon.coral.service#IncompleteSignatureException","message":"Authorization header requires 'Signature' parameter. Authorization header requires 'SignedHeaders' parameter. Authorization=AWS4-HMAC-SHA256 Credential=a/b"}`},
		{"no date", "ListTables", "{}", map[string]string{"X-Amz-Date": ""}, 400, `{"__type":"com.amazon.coral.service#IncompleteSignatureException",…`},
		{"no JSON", "ListTables", "hello", nil, 400, `{"__type":"com.amazon.coral.service#SerializationException"}`},
		{"no body", "ListTables", "", nil, 400, `{"__type":"com.amazon.coral.service#SerializationException"}`},
		{"wrong type", "ListTables", `{"Limit":"1"}`, nil, 400, `{"__type":"com.amazon.coral.service#SerializationException","Message":"STRING_VALUE cannot be converted to Integer"}`},
		{"wrong content type", "ListTables", "{}", map[string]string{"Content-Type": "text/plain"}, 404, "<UnknownOperationException/>\n"},
		{"missing table", "GetItem", `{"TableName":"nowhere","Key":{"a":{"S":"b"}}}`, nil, 400, `{"__type":"com.amazonaws.dynamodb.v20120810#ResourceNotFoundException","message":"Requested resource not found…`},
		{"validation", "GetItem", `{}`, nil, 400, `{"__type":"com.amazon.coral.validate#ValidationException","message":"…`},
		{"out of scope", "ExecuteStatement", `{}`, nil, 400, `{"__type":"com.amazon…`},
		{"streams", "", `{}`, map[string]string{"X-Amz-Target": "DynamoDBStreams_20120810.ListStreams"}, 400, `{"__type":"com.amazon…`},
		{"plain JSON", "ListTables", "{}", map[string]string{"Content-Type": "application/json; charset=utf-8"}, 200, `{"TableNames":[]}`},
	} {
		answer, body := send(t, request(t, s.URL, c.operation, c.body, c.headers))
		want, prefix := strings.CutSuffix(c.want, "…")
		if answer.StatusCode != c.status || !(body == want || prefix && strings.HasPrefix(body, want)) {
			t.Errorf("%s: %d %s, want %d %s", c.name, answer.StatusCode, body, c.status, c.want)
		}
		checkEnvelope(t, c.name, answer, body)
	}
}

// checkEnvelope checks what every answer carries.
func checkEnvelope(t *testing.T, name string, answer *http.Response, body string) {
	t.Helper()
	if id := answer.Header.Get("x-amzn-RequestId"); len(id) != 52 {
		t.Errorf("%s: request id %q", name, id)
	}
	if sum := strconv.FormatUint(uint64(crc32.ChecksumIEEE([]byte(body))), 10); answer.Header.Get("X-Amz-Crc32") != sum {
		t.Errorf("%s: checksum %s, want %s", name, answer.Header.Get("X-Amz-Crc32"), sum)
	}
	if answer.ContentLength != int64(len(body)) {
		t.Errorf("%s: content length %d of %d", name, answer.ContentLength, len(body))
	}
}

func TestOtherMethods(t *testing.T) {
	s, _ := newServer(t, emulator.Options{})
	for _, c := range []struct {
		method, path, accept, origin string
		status                       int
		want                         string
	}{
		{"GET", "/", "", "", 200, "healthy: " + strings.TrimPrefix(s.URL, "http://") + " "},
		{"GET", "/", "text/html,*/*", "", 200, "<!doctype html>"},
		{"GET", "/index.htm", "", "", 404, "<UnknownOperationException/>"},
		{"PUT", "/", "", "", 404, "<UnknownOperationException/>"},
		{"POST", "/abc", "", "", 404, "<UnknownOperationException/>"},
		{"OPTIONS", "/", "", "", 404, ""},
		{"OPTIONS", "/", "", "http://example.com", 200, ""},
	} {
		r, _ := http.NewRequest(c.method, s.URL+c.path, nil)
		if c.accept != "" {
			r.Header.Set("Accept", c.accept)
		}
		if c.origin != "" {
			r.Header.Set("Origin", c.origin)
			r.Header.Set("Access-Control-Request-Headers", "x-amz-target")
		}
		answer, body := send(t, r)
		if answer.StatusCode != c.status || !strings.HasPrefix(body, c.want) {
			t.Errorf("%s %s: %d %.60s", c.method, c.path, answer.StatusCode, body)
		}
		if (answer.Header.Get("Access-Control-Allow-Origin") == "*") != (c.origin != "") {
			t.Errorf("%s %s with origin %q: %v", c.method, c.path, c.origin, answer.Header)
		}
	}
}

func TestCompression(t *testing.T) {
	s, db := newServer(t, emulator.Options{})
	c := inProcess(db)
	createTable(t, c)
	long := strings.Repeat("x", 5000)
	var packed bytes.Buffer
	z := gzip.NewWriter(&packed)
	io.WriteString(z, `{"TableName":"sagas","Item":{"PK":{"S":"a"},"SK":{"S":"b"},"long":{"S":"`+long+`"}}}`)
	z.Close()
	if answer, body := send(t, request(t, s.URL, "PutItem", packed.String(), map[string]string{"Content-Encoding": "gzip"})); answer.StatusCode != 200 {
		t.Fatalf("packed request: %d %s", answer.StatusCode, body)
	}
	for _, broken := range []string{"", "no gzip", packed.String()[:packed.Len()-9]} {
		answer, body := send(t, request(t, s.URL, "PutItem", broken, map[string]string{"Content-Encoding": "gzip"}))
		if answer.StatusCode != 400 || !strings.Contains(body, "SerializationException") {
			t.Errorf("broken gzip %.10q: %d %s", broken, answer.StatusCode, body)
		}
	}
	get := `{"TableName":"sagas","Key":{"PK":{"S":"a"},"SK":{"S":"b"}},"ConsistentRead":true}`
	answer, body := send(t, request(t, s.URL, "GetItem", get, map[string]string{"Accept-Encoding": "gzip"}))
	checkEnvelope(t, "packed answer", answer, body)
	unpack, err := gzip.NewReader(strings.NewReader(body))
	if err != nil || answer.Header.Get("Content-Encoding") != "gzip" {
		t.Fatalf("%v, headers %v", err, answer.Header)
	}
	if plain, _ := io.ReadAll(unpack); !strings.Contains(string(plain), long) {
		t.Errorf("answer %.80s", plain)
	}
}

func TestTooLargeRequest(t *testing.T) {
	s, _ := newServer(t, emulator.Options{})
	body := `{"Limit":1` + strings.Repeat(" ", 17<<20) + `}`
	for _, length := range []int64{-1, int64(len(body))} {
		r := request(t, s.URL, "ListTables", body, nil)
		r.ContentLength = length
		if answer, _ := send(t, r); answer.StatusCode != http.StatusRequestEntityTooLarge {
			t.Errorf("length %d: %d", length, answer.StatusCode)
		}
	}
	if answer, text := send(t, request(t, s.URL, "ListTables", body[:15<<20]+"}", nil)); answer.StatusCode != 200 {
		t.Errorf("15 MB: %d %s", answer.StatusCode, text)
	}
}

// The member of the reasons differs between exceptions; the SDK decodes the
// wrong one to nothing.
func TestThrottlingReasonsReachTheClient(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		db := emulator.New(emulator.Options{})
		c := inProcess(db)
		createTable(t, c)
		var throttled *types.ThrottlingException
		for i := range 3000 {
			_, err := c.PutItem(t.Context(), &dynamodb.PutItemInput{TableName: aws.String("sagas"), Item: saga(strconv.Itoa(i))},
				func(o *dynamodb.Options) { o.RetryMaxAttempts = 1 })
			if errors.As(err, &throttled) {
				break
			}
			if err != nil {
				t.Fatal(err)
			}
		}
		if throttled == nil {
			t.Fatal("3,000 writes at one moment on one index key were not throttled")
		}
		if len(throttled.ThrottlingReasons) != 1 || aws.ToString(throttled.ThrottlingReasons[0].Reason) != "IndexWriteKeyRangeThroughputExceeded" ||
			!strings.HasSuffix(aws.ToString(throttled.ThrottlingReasons[0].Resource), ":table/sagas/index/GSI4") {
			t.Errorf("reasons %+v", throttled.ThrottlingReasons)
		}
	})
}

func TestInBubble(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		db := emulator.New(emulator.Options{})
		c := inProcess(db)
		createTable(t, c)
		if _, err := c.PutItem(t.Context(), &dynamodb.PutItemInput{TableName: aws.String("sagas"), Item: saga("1")}); err != nil {
			t.Fatal(err)
		}
		query := func() int32 {
			out, err := c.Query(t.Context(), &dynamodb.QueryInput{TableName: aws.String("sagas"), IndexName: aws.String("GSI4"),
				KeyConditionExpression: aws.String("GSI4PK = :k"), ExpressionAttributeValues: map[string]types.AttributeValue{":k": text("RenewalSaga")}})
			if err != nil {
				t.Fatal(err)
			}
			return out.Count
		}
		if n := query(); n != 0 {
			t.Errorf("the index shows %d rows without lag", n)
		}
		time.Sleep(time.Second)
		if n := query(); n != 1 {
			t.Errorf("the index shows %d rows after a second", n)
		}
	})
}

func TestDroppedAnswer(t *testing.T) {
	s, db := newServer(t, emulator.Options{})
	createTable(t, inProcess(db))
	drop := emulator.Fault{Kind: emulator.FaultDrop, Count: 1}
	put := `{"TableName":"sagas","Item":{"PK":{"S":"a"},"SK":{"S":"b"}}}`
	db.Inject(drop)
	if answer, err := http.DefaultTransport.RoundTrip(request(t, s.URL, "PutItem", put, nil)); err == nil {
		answer.Body.Close()
		t.Errorf("over HTTP: answered %d", answer.StatusCode)
	}
	db.Inject(drop)
	if _, err := awsjson.Transport(db).RoundTrip(request(t, s.URL, "PutItem", put, nil)); err == nil {
		t.Error("in process: answered")
	}
	if _, body := send(t, request(t, s.URL, "GetItem", `{"TableName":"sagas","ConsistentRead":true,"Key":{"PK":{"S":"a"},"SK":{"S":"b"}}}`, nil)); !strings.Contains(body, `"PK"`) {
		t.Errorf("the dropped write did not happen: %s", body)
	}
}

func TestCallers(t *testing.T) {
	s, db := newServer(t, emulator.Options{})
	for _, c := range []struct{ name, want string }{{"", "tester"}, {"backfill", "backfill"}} {
		send(t, request(t, s.URL, "ListTables", "{}", map[string]string{"X-Hotsplit-Caller": c.name}))
		log := db.Log()
		if got := log[len(log)-1].Caller; got != c.want {
			t.Errorf("caller %q, want %q", got, c.want)
		}
	}
}

func TestCancelledRequest(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	_, err := inProcess(emulator.New(emulator.Options{})).ListTables(ctx, &dynamodb.ListTablesInput{})
	if err == nil {
		t.Error("a cancelled request is answered")
	}
}
