package awsjson_test

import (
	"bytes"
	"encoding/json"
	"io"
	"math/rand/v2"
	"net/http"
	"strings"
	"testing"

	"github.com/hotsplit/hotsplit/emulator"
	"github.com/hotsplit/hotsplit/emulator/awsjson"
)

// bodies holds one legal request for each operation, on a table that exists.
var bodies = map[string]string{
	"CreateTable": `{"TableName":"other","BillingMode":"PROVISIONED","ProvisionedThroughput":{"ReadCapacityUnits":5,"WriteCapacityUnits":5},"AttributeDefinitions":[{"AttributeName":"id","AttributeType":"S"},{"AttributeName":"g","AttributeType":"N"}],"KeySchema":[{"AttributeName":"id","KeyType":"HASH"}],"GlobalSecondaryIndexes":[{"IndexName":"byG","KeySchema":[{"AttributeName":"g","KeyType":"HASH"}],"Projection":{"ProjectionType":"INCLUDE","NonKeyAttributes":["a"]},"ProvisionedThroughput":{"ReadCapacityUnits":5,"WriteCapacityUnits":5}}],"LocalSecondaryIndexes":[],"Tags":[{"Key":"a","Value":"b"}],"SSESpecification":{"Enabled":false},"OnDemandThroughput":{"MaxReadRequestUnits":-1},"WarmThroughput":{"ReadUnitsPerSecond":12000,"WriteUnitsPerSecond":4000}}`,
	"UpdateTable": `{"TableName":"sagas","AttributeDefinitions":[{"AttributeName":"h","AttributeType":"S"}],"GlobalSecondaryIndexUpdates":[{"Create":{"IndexName":"byH","KeySchema":[{"AttributeName":"h","KeyType":"HASH"}],"Projection":{"ProjectionType":"KEYS_ONLY"}}},{"Update":{"IndexName":"GSI4","ProvisionedThroughput":{"ReadCapacityUnits":1,"WriteCapacityUnits":1}}},{"Delete":{"IndexName":"GSI4"}}],"DeletionProtectionEnabled":true,"TableClass":"STANDARD"}`,
	"DeleteTable": `{"TableName":"absent"}`, "DescribeTable": `{"TableName":"sagas"}`, "ListTables": `{"Limit":10,"ExclusiveStartTableName":"a"}`,
	"PutItem":    `{"TableName":"sagas","Item":{"PK":{"S":"a"},"SK":{"S":"b"},"n":{"N":"1.50"},"b":{"B":"AQI="},"l":{"L":[{"NULL":true},{"BOOL":false},{"M":{"x":{"SS":["a","b"]}}}]},"ns":{"NS":["1","2"]},"bs":{"BS":["AQ==","Ag=="]}},"ConditionExpression":"attribute_not_exists(PK) OR #n = :n","ExpressionAttributeNames":{"#n":"n"},"ExpressionAttributeValues":{":n":{"N":"1"}},"ReturnValues":"ALL_OLD","ReturnConsumedCapacity":"INDEXES","ReturnItemCollectionMetrics":"SIZE"}`,
	"GetItem":    `{"TableName":"sagas","Key":{"PK":{"S":"a"},"SK":{"S":"b"}},"ConsistentRead":true,"ProjectionExpression":"#n, l[2].x","ExpressionAttributeNames":{"#n":"n"},"ReturnConsumedCapacity":"TOTAL"}`,
	"UpdateItem": `{"TableName":"sagas","Key":{"PK":{"S":"a"},"SK":{"S":"b"}},"UpdateExpression":"SET n = if_not_exists(n, :one) + :one, l[0] = :one REMOVE b ADD ns :set DELETE bs :bs","ExpressionAttributeValues":{":one":{"N":"1"},":set":{"NS":["3"]},":bs":{"BS":["AQ=="]}},"ReturnValues":"ALL_NEW","ReturnValuesOnConditionCheckFailure":"ALL_OLD"}`,
	"DeleteItem": `{"TableName":"sagas","Key":{"PK":{"S":"z"},"SK":{"S":"b"}},"ConditionExpression":"size(n) > :n","ExpressionAttributeValues":{":n":{"N":"1"}}}`,
	"Query":      `{"TableName":"sagas","IndexName":"GSI4","KeyConditionExpression":"GSI4PK = :k AND begins_with(GSI4SK, :s)","FilterExpression":"contains(PK, :k) AND n BETWEEN :n AND :n","ExpressionAttributeValues":{":k":{"S":"RenewalSaga"},":s":{"S":"x"},":n":{"N":"1"}},"ScanIndexForward":false,"Limit":5,"ExclusiveStartKey":{"PK":{"S":"a"},"SK":{"S":"b"},"GSI4PK":{"S":"RenewalSaga"},"GSI4SK":{"S":"x"}},"Select":"ALL_ATTRIBUTES"}`,
	"Scan":       `{"TableName":"sagas","FilterExpression":"n IN (:n, :n)","ExpressionAttributeValues":{":n":{"N":"1"}},"Segment":0,"TotalSegments":4,"Limit":5,"Select":"COUNT"}`,

	"BatchGetItem":       `{"RequestItems":{"sagas":{"Keys":[{"PK":{"S":"a"},"SK":{"S":"b"}}],"ConsistentRead":false,"ProjectionExpression":"PK"}},"ReturnConsumedCapacity":"TOTAL"}`,
	"BatchWriteItem":     `{"RequestItems":{"sagas":[{"PutRequest":{"Item":{"PK":{"S":"c"},"SK":{"S":"d"}}}},{"DeleteRequest":{"Key":{"PK":{"S":"e"},"SK":{"S":"f"}}}}]}}`,
	"TransactGetItems":   `{"TransactItems":[{"Get":{"TableName":"sagas","Key":{"PK":{"S":"a"},"SK":{"S":"b"}}}}]}`,
	"TransactWriteItems": `{"TransactItems":[{"Put":{"TableName":"sagas","Item":{"PK":{"S":"g"},"SK":{"S":"h"}}}},{"Update":{"TableName":"sagas","Key":{"PK":{"S":"i"},"SK":{"S":"j"}},"UpdateExpression":"SET a = :a","ExpressionAttributeValues":{":a":{"N":"1"}}}},{"ConditionCheck":{"TableName":"sagas","Key":{"PK":{"S":"k"},"SK":{"S":"l"}},"ConditionExpression":"attribute_not_exists(PK)"}},{"Delete":{"TableName":"sagas","Key":{"PK":{"S":"m"},"SK":{"S":"n"}}}}],"ClientRequestToken":"token"}`,
	"UpdateTimeToLive":   `{"TableName":"sagas","TimeToLiveSpecification":{"AttributeName":"ttl","Enabled":true}}`, "DescribeTimeToLive": `{"TableName":"sagas"}`,
	"TagResource":        `{"ResourceArn":"arn:aws:dynamodb:us-east-1:123456789012:table/sagas","Tags":[{"Key":"a","Value":"b"}]}`,
	"UntagResource":      `{"ResourceArn":"arn:aws:dynamodb:us-east-1:123456789012:table/sagas","TagKeys":["a"]}`,
	"ListTagsOfResource": `{"ResourceArn":"arn:aws:dynamodb:us-east-1:123456789012:table/sagas"}`,
	"DescribeLimits":     `{}`, "DescribeEndpoints": `{}`,
}

// fragments are what mutations put in the place of something else.
var fragments = []string{
	`null`, `true`, `0`, `-1`, `1e400`, `"x"`, `""`, `[]`, `{}`, `[null]`, `{"S":null}`, `{"S":"a","N":"1"}`, `{"N":"x"}`, `{"N":""}`, `{"SS":[]}`, `{"B":"?"}`, `{"L":[{}]}`, `{"M":{"":{"S":""}}}`,
	`"#"`, `":"`, `"a = :b"`, `"\ud800"`, `"arn:aws:dynamodb:us-east-1:123456789012:table/sagas/index/GSI4"`, `9999999999999`, `[[[[[[]]]]]]`, `{"a":{"a":{"a":1}}}`, `"` + strings.Repeat("x", 3000) + `"`,
}

// answerTo performs a request in process and checks that the answer is one that
// the service could give.
func answerTo(t *testing.T, transport http.RoundTripper, operation, body string) {
	t.Helper()
	r, err := http.NewRequest(http.MethodPost, "http://local/", strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	r.Header.Set("X-Amz-Target", "DynamoDB_20120810."+operation)
	r.Header.Set("Content-Type", "application/x-amz-json-1.0")
	answer, err := transport.RoundTrip(r)
	if err != nil {
		t.Fatalf("%s %q: %v", operation, body, err)
	}
	text, _ := io.ReadAll(answer.Body)
	if answer.StatusCode != 200 && answer.StatusCode != 400 {
		t.Errorf("%s %q: %d %s", operation, body, answer.StatusCode, text)
	}
	if len(text) == 0 && strings.HasSuffix(operation, "agResource") {
		return
	}
	var members map[string]any
	if err := json.Unmarshal(text, &members); err != nil {
		t.Errorf("%s %q: answer %q: %v", operation, body, text, err)
	}
	if kind, _ := members["__type"].(string); (answer.StatusCode == 400) != strings.Contains(kind, "#") {
		t.Errorf("%s %q: %d with type %q", operation, body, answer.StatusCode, kind)
	}
}

func TestLegalRequestsAreTaken(t *testing.T) {
	db := emulator.New(emulator.Options{Unlimited: true})
	createTable(t, inProcess(db))
	transport := awsjson.Transport(db)
	for operation, body := range bodies {
		answerTo(t, transport, operation, body)
	}
}

// TestMalformedRequests mutates legal requests: cut, bytes changed, values and
// members exchanged for others. None may crash the emulator or get a 500.
func TestMalformedRequests(t *testing.T) {
	db := emulator.New(emulator.Options{Unlimited: true})
	createTable(t, inProcess(db))
	transport := awsjson.Transport(db)
	rounds := 120
	if testing.Short() {
		rounds = 20
	}
	for operation, body := range bodies {
		random := rand.New(rand.NewPCG(1, uint64(len(body))))
		for range rounds {
			answerTo(t, transport, operation, mutate(random, body))
		}
	}
}

func mutate(random *rand.Rand, body string) string {
	for range 1 + random.IntN(2) {
		b := []byte(body)
		at := random.IntN(len(b) + 1)
		switch random.IntN(5) {
		case 0:
			b = b[:at]
		case 1:
			b = append(b[:at:at], append([]byte{byte(random.IntN(256))}, b[at:]...)...)
		default:
			b = exchangeValue(b, at, fragments[random.IntN(len(fragments))])
		}
		body = string(b)
	}
	return body
}

// exchangeValue puts fragment in the place of the first value behind at.
func exchangeValue(b []byte, at int, fragment string) []byte {
	colon := bytes.IndexByte(b[at:], ':')
	if colon < 0 {
		return b
	}
	start := at + colon + 1
	var value json.RawMessage
	d := json.NewDecoder(bytes.NewReader(b[start:]))
	if d.Decode(&value) != nil {
		return b
	}
	end := start + int(d.InputOffset())
	return append(append(b[:start:start], fragment...), b[end:]...)
}

// FuzzRequest sends any body to any operation.
func FuzzRequest(f *testing.F) {
	for operation, body := range bodies {
		f.Add(operation, body)
	}
	f.Fuzz(func(t *testing.T, operation, body string) {
		db := emulator.New(emulator.Options{Unlimited: true})
		createTable(t, inProcess(db))
		if _, known := bodies[operation]; known {
			answerTo(t, awsjson.Transport(db), operation, body)
		}
	})
}
