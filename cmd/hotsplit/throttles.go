package main

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/cloudwatch"
	"github.com/aws/aws-sdk-go-v2/service/cloudwatch/types"

	"github.com/hotsplit/hotsplit/migrate"
)

// keyRangeMetrics say that a partition's ceiling was hit. Source: CloudWatch
// metrics of DynamoDB.
var keyRangeMetrics = []string{"ReadKeyRangeThroughputThrottleEvents", "WriteKeyRangeThroughputThrottleEvents"}

// throttles says where the key-range throttles of the index are counted: by
// CloudWatch, or by the emulator's own log where the endpoint is on this machine.
func (f *guardFlags) throttles(ctx context.Context, spec migrate.Spec) (func(context.Context, time.Time, time.Time) (float64, error), error) {
	if !f.watch || f.options.For == 0 {
		return nil, nil
	}
	if f.local() {
		return emulatorThrottles(f.endpoint, spec), nil
	}
	if f.endpoint != "" {
		return nil, nil // another service, which has no such metrics
	}
	cfg, err := f.config(ctx, "hotsplit")
	if err != nil {
		return nil, err
	}
	return cloudwatchThrottles(cloudwatch.NewFromConfig(cfg), spec), nil
}

func cloudwatchThrottles(client *cloudwatch.Client, spec migrate.Spec) func(context.Context, time.Time, time.Time) (float64, error) {
	return func(ctx context.Context, from, to time.Time) (float64, error) {
		sum := 0.0
		for _, name := range keyRangeMetrics {
			out, err := client.GetMetricStatistics(ctx, &cloudwatch.GetMetricStatisticsInput{
				Namespace: aws.String("AWS/DynamoDB"), MetricName: &name, StartTime: &from, EndTime: &to,
				Period: aws.Int32(periodFor(to.Sub(from))), Statistics: []types.Statistic{types.StatisticSum},
				Dimensions: []types.Dimension{
					{Name: aws.String("TableName"), Value: &spec.Table},
					{Name: aws.String("GlobalSecondaryIndexName"), Value: &spec.To.Index},
				},
			})
			if err != nil {
				return 0, fmt.Errorf("metric %s of %s: %w", name, spec.To.Index, err)
			}
			for _, point := range out.Datapoints {
				sum += aws.ToFloat64(point.Sum)
			}
		}
		return sum, nil
	}
}

// periodFor keeps a span below CloudWatch's 1,440 points.
func periodFor(span time.Duration) int32 {
	const points = 1000
	minutes := int32(span/(points*time.Minute)) + 1
	return 60 * minutes
}

// emulatorThrottles counts in the emulator's operation log, as far back as it
// reaches.
func emulatorThrottles(endpoint string, spec migrate.Spec) func(context.Context, time.Time, time.Time) (float64, error) {
	return func(ctx context.Context, from, to time.Time) (float64, error) {
		request, err := http.NewRequestWithContext(ctx, http.MethodGet, strings.TrimSuffix(endpoint, "/")+"/admin/log", nil)
		if err != nil {
			return 0, err
		}
		response, err := http.DefaultClient.Do(request)
		if err != nil {
			return 0, fmt.Errorf("log of the emulator: %w", err)
		}
		defer response.Body.Close()
		if response.StatusCode != http.StatusOK {
			return 0, fmt.Errorf("log of the emulator: %s", response.Status)
		}
		return countKeyRange(response.Body, spec.To.Index, from, to)
	}
}

func countKeyRange(log io.Reader, index string, from, to time.Time) (float64, error) {
	sum := 0.0
	for lines := json.NewDecoder(log); ; {
		var entry struct {
			Time    time.Time `json:"time"`
			Reasons []struct {
				Reason   string `json:"reason"`
				Resource string `json:"resource"`
			} `json:"reasons"`
		}
		if err := lines.Decode(&entry); err == io.EOF {
			return sum, nil
		} else if err != nil {
			return 0, fmt.Errorf("log of the emulator: %w", err)
		}
		if entry.Time.Before(from) || entry.Time.After(to) {
			continue
		}
		for _, r := range entry.Reasons {
			if strings.HasSuffix(r.Resource, "/index/"+index) && strings.HasSuffix(r.Reason, "KeyRangeThroughputExceeded") {
				sum++
			}
		}
	}
}

// labels spells a metric's labels in Prometheus' text format.
func labels(l map[string]string) string {
	if len(l) == 0 {
		return ""
	}
	pairs := make([]string, 0, len(l))
	for _, name := range slices.Sorted(maps.Keys(l)) {
		pairs = append(pairs, fmt.Sprintf("%s=%q", name, l[name]))
	}
	return "{" + strings.Join(pairs, ",") + "}"
}
