package main

import (
	"bytes"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/aws/smithy-go/encoding/cbor"
)

// metrics answers the CloudWatch requests of the real SDK client: the service has
// no stand-in of ours, so its wire is spoken here. Values are by metric name and
// index, for one minute.
type metrics struct {
	t      *testing.T
	values map[string]float64 // "index/metric", the table's index is ""
	rule   string             // Contributor Insights rule; "" is none
	keys   map[string]float64 // key → ConsumedThroughputUnits of the busiest minute
}

func (m metrics) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	body, err := io.ReadAll(r.Body)
	if err != nil {
		m.t.Error(err)
	}
	in, err := cbor.Decode(body)
	if err != nil {
		m.t.Errorf("request is no CBOR: %v", err)
		return
	}
	var out cbor.Map
	switch operation := r.URL.Path[strings.LastIndexByte(r.URL.Path, '/')+1:]; operation {
	case "GetMetricData":
		out = m.metricData(in.(cbor.Map))
	case "DescribeInsightRules":
		out = cbor.Map{"InsightRules": m.rules()}
	case "GetInsightRuleReport":
		out = m.report()
	default:
		m.t.Errorf("unexpected %s", operation)
	}
	w.Header().Set("Content-Type", "application/cbor")
	w.Header().Set("Smithy-Protocol", "rpc-v2-cbor")
	w.Write(cbor.Encode(out))
}

func (m metrics) metricData(in cbor.Map) cbor.Map {
	var results cbor.List
	for _, q := range in["MetricDataQueries"].(cbor.List) {
		query := q.(cbor.Map)
		metric := query["MetricStat"].(cbor.Map)["Metric"].(cbor.Map)
		index := ""
		for _, d := range metric["Dimensions"].(cbor.List) {
			if dimension := d.(cbor.Map); dimension["Name"] == cbor.String("GlobalSecondaryIndexName") {
				index = string(dimension["Value"].(cbor.String))
			}
		}
		result := cbor.Map{"Id": query["Id"], "Values": cbor.List{}}
		if v, ok := m.values[index+"/"+string(metric["MetricName"].(cbor.String))]; ok {
			result["Values"] = cbor.List{cbor.Float64(v)}
		}
		results = append(results, result)
	}
	return cbor.Map{"MetricDataResults": results}
}

func (m metrics) rules() cbor.List {
	if m.rule == "" {
		return cbor.List{}
	}
	return cbor.List{cbor.Map{"Name": cbor.String(m.rule), "Schema": cbor.String("x"), "State": cbor.String("ENABLED"), "Definition": cbor.String("{}")}}
}

func (m metrics) report() cbor.Map {
	var contributors cbor.List
	total := 0.0
	for key, v := range m.keys {
		total += v
		contributors = append(contributors, cbor.Map{
			"Keys": cbor.List{cbor.String(key)}, "ApproximateAggregateValue": cbor.Float64(v),
			"Datapoints": cbor.List{cbor.Map{"Timestamp": &cbor.Tag{ID: 1, Value: cbor.Float64(1.75e9)}, "ApproximateValue": cbor.Float64(v)}},
		})
	}
	return cbor.Map{"AggregateValue": cbor.Float64(total), "Contributors": contributors}
}

func TestDiagnoseCloudWatch(t *testing.T) {
	const hotIndex = "renewal-saga-person-index"
	insights := "DynamoDBContributorInsights-PKC-" + hotIndex + "-1751500000"
	for _, c := range []struct {
		name string
		metrics
		code int
		says []string
	}{
		{
			"a hot partition of the index, key unknown",
			metrics{values: map[string]float64{hotIndex + "/ReadKeyRangeThroughputThrottleEvents": 812, hotIndex + "/ConsumedReadCapacityUnits": 150000}},
			exitWrong, []string{"A partition of index " + hotIndex + " is at its ceiling", "812 attempts were refused", "Which key it is, this data does not say", "2,500 read"},
		},
		{
			"Contributor Insights name the key",
			metrics{
				values: map[string]float64{hotIndex + "/ReadKeyRangeThroughputThrottleEvents": 812, hotIndex + "/ConsumedReadCapacityUnits": 150000},
				rule:   insights, keys: map[string]float64{"RenewalSaga": 150000, "Other": 3000},
			},
			exitWrong, []string{`Key "RenewalSaga" of index ` + hotIndex + " is hot", "In its busiest minute it took 2,500", "hotsplit plan"},
		},
		{
			"the index refuses the table's writes",
			metrics{values: map[string]float64{hotIndex + "/WriteKeyRangeThroughputThrottleEvents": 40, hotIndex + "/ConsumedWriteCapacityUnits": 57000}},
			exitWrong, []string{"40 writes to table propflow-prod were refused because index " + hotIndex},
		},
		{
			"provisioned throughput used up",
			metrics{values: map[string]float64{"/ReadProvisionedThroughputThrottleEvents": 9, "/ConsumedReadCapacityUnits": 6000}},
			exitWrong, []string{"table propflow-prod refused 9 attempts because its provisioned throughput", "not a hot key"},
		},
		{
			"busy and nothing refused",
			metrics{values: map[string]float64{hotIndex + "/ConsumedReadCapacityUnits": 60000}},
			exitDone, []string{"Nothing was refused"},
		},
		{"no use at all", metrics{}, exitUnknown, []string{"Too little was seen"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			c.metrics.t = t
			server := httptest.NewServer(c.metrics)
			defer server.Close()
			t.Setenv("AWS_ENDPOINT_URL_CLOUDWATCH", server.URL)
			t.Setenv("AWS_ACCESS_KEY_ID", "x")
			t.Setenv("AWS_SECRET_ACCESS_KEY", "x")
			var stdout, stderr bytes.Buffer
			code := run([]string{"diagnose", "--cloudwatch", "--table", "propflow-prod", "--index", hotIndex, "--region", "eu-west-1", "--since", time.Hour.String()},
				strings.NewReader(""), &stdout, &stderr)
			if code != c.code {
				t.Errorf("exit code %d, want %d; stderr %s", code, c.code, &stderr)
			}
			text := strings.Join(strings.Fields(stdout.String()), " ")
			for _, want := range c.says {
				if !strings.Contains(text, want) {
					t.Errorf("%q is not said:\n%s", want, &stdout)
				}
			}
		})
	}
}
