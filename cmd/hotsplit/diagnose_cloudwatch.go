package main

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/cloudwatch"
	"github.com/aws/aws-sdk-go-v2/service/cloudwatch/types"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"

	"github.com/hotsplit/hotsplit/capacity"
	"github.com/hotsplit/hotsplit/heat"
)

const (
	minute          = 60
	contributorsMax = 25
	pagesMax        = 100 // of any CloudWatch listing
)

// causes are the families of throttle metrics; "Read" or "Write" goes before, and
// "ThrottleEvents" behind.
var causes = []string{"KeyRangeThroughput", "ProvisionedThroughput", "MaxOnDemandThroughput", "AccountLimit"}

// fromCloudWatch reads a table's and its indexes' throttle metrics by reason, what
// they consumed, and which keys Contributor Insights names.
func (d *diagnose) fromCloudWatch(ctx context.Context, now time.Time) (diagnosis, error) {
	cfg, err := d.config(ctx, "hotsplit")
	if err != nil {
		return diagnosis{}, err
	}
	resources, err := d.resources(ctx)
	if err != nil {
		return diagnosis{}, err
	}
	w := watch{client: cloudwatch.NewFromConfig(cfg), from: now.Add(-d.since).Truncate(time.Minute), to: now}
	report := heat.Report{
		Source: "CloudWatch, the last " + d.since.String(), From: w.from.UTC(), To: now.UTC(), Resolution: minute,
		Seconds: int(d.since.Seconds()),
	}
	for _, r := range resources {
		res, err := w.resource(ctx, r)
		if err != nil {
			return diagnosis{}, fmt.Errorf("cloudwatch of %s: %w", r, err)
		}
		report.Resources = append(report.Resources, res)
	}
	if err := w.contributors(ctx, &report); err != nil {
		return diagnosis{}, fmt.Errorf("contributor insights of %s: %w", d.table, err)
	}
	for _, r := range report.Resources {
		report.Requests += int(r.Read + r.Write) // at least a half unit each: enough to tell silence from use
	}
	report.Verdicts = heat.Judge(report)
	return diagnosis{Report: report}, nil
}

// resources are the table and its indexes, or the one index that was named.
func (d *diagnose) resources(ctx context.Context) ([]heat.Resource, error) {
	if d.index != "" {
		return []heat.Resource{{Table: d.table}, {Table: d.table, Index: d.index}}, nil
	}
	client, err := d.client(ctx, "hotsplit")
	if err != nil {
		return nil, err
	}
	described, err := client.DescribeTable(ctx, &dynamodb.DescribeTableInput{TableName: &d.table})
	if err != nil {
		return nil, fmt.Errorf("table %s: %w", d.table, err)
	}
	resources := []heat.Resource{{Table: d.table}}
	for _, i := range described.Table.GlobalSecondaryIndexes {
		resources = append(resources, heat.Resource{Table: d.table, Index: aws.ToString(i.IndexName)})
	}
	return resources, nil
}

// watch is one look at CloudWatch.
type watch struct {
	client   *cloudwatch.Client
	from, to time.Time
}

func (w watch) resource(ctx context.Context, r heat.Resource) (heat.ResourceReport, error) {
	res := heat.ResourceReport{Resource: r, Reasons: map[string]int{}, Consumed: &heat.Consumed{}}
	series, err := w.series(ctx, r)
	if err != nil {
		return res, err
	}
	kind := "Table"
	if r.Index != "" {
		kind = "Index"
	}
	for _, direction := range []string{"Read", "Write"} {
		for _, cause := range causes {
			n := 0.0
			for _, v := range series[direction+cause+"ThrottleEvents"] {
				n += v
			}
			if n > 0 {
				res.Reasons[kind+direction+cause+"Exceeded"] = int(n)
				res.Throttled += int(n)
			}
		}
	}
	consumed := func(metric string) (total, busiest float64) {
		for _, v := range series[metric] {
			total, busiest = total+v, max(busiest, v/minute)
		}
		return total, busiest
	}
	res.Read, res.Consumed.Read = consumed("ConsumedReadCapacityUnits")
	res.Write, res.Consumed.Write = consumed("ConsumedWriteCapacityUnits")
	return res, nil
}

// series are the minutes' sums of every metric of interest.
func (w watch) series(ctx context.Context, r heat.Resource) (map[string][]float64, error) {
	metrics := []string{"ConsumedReadCapacityUnits", "ConsumedWriteCapacityUnits"}
	for _, cause := range causes {
		metrics = append(metrics, "Read"+cause+"ThrottleEvents", "Write"+cause+"ThrottleEvents")
	}
	dimensions := []types.Dimension{{Name: aws.String("TableName"), Value: &r.Table}}
	if r.Index != "" {
		dimensions = append(dimensions, types.Dimension{Name: aws.String("GlobalSecondaryIndexName"), Value: &r.Index})
	}
	in := &cloudwatch.GetMetricDataInput{StartTime: &w.from, EndTime: &w.to}
	for i, name := range metrics {
		in.MetricDataQueries = append(in.MetricDataQueries, types.MetricDataQuery{
			Id: aws.String(fmt.Sprintf("m%d", i)),
			MetricStat: &types.MetricStat{
				Metric: &types.Metric{Namespace: aws.String("AWS/DynamoDB"), MetricName: aws.String(name), Dimensions: dimensions},
				Period: aws.Int32(minute), Stat: aws.String("Sum"),
			},
		})
	}
	series := map[string][]float64{}
	pages := cloudwatch.NewGetMetricDataPaginator(w.client, in)
	for range pagesMax {
		if !pages.HasMorePages() {
			break
		}
		page, err := pages.NextPage(ctx)
		if err != nil {
			return nil, err
		}
		for _, m := range page.MetricDataResults {
			var at int
			if _, err := fmt.Sscanf(aws.ToString(m.Id), "m%d", &at); err == nil && at < len(metrics) {
				series[metrics[at]] = append(series[metrics[at]], m.Values...)
			}
		}
	}
	return series, nil
}

// contributors reads the most accessed keys of every resource that has
// Contributor Insights on. Throttled keys are not read: a write that an index
// refused is not counted there.
func (w watch) contributors(ctx context.Context, report *heat.Report) error {
	rules, err := w.rules(ctx)
	if err != nil {
		return err
	}
	for i := range report.Resources {
		res := &report.Resources[i]
		rule := ruleOf(rules, res.Resource)
		if rule == "" {
			continue
		}
		out, err := w.client.GetInsightRuleReport(ctx, &cloudwatch.GetInsightRuleReportInput{
			RuleName: &rule, StartTime: &w.from, EndTime: &w.to, Period: aws.Int32(minute), MaxContributorCount: aws.Int32(contributorsMax),
		})
		if err != nil {
			return err
		}
		res.Keys = keysOfContributors(out, res.Consumed)
	}
	return nil
}

const mostAccessedKeys = "DynamoDBContributorInsights-PKC-"

func (w watch) rules(ctx context.Context) ([]string, error) {
	var names []string
	pages := cloudwatch.NewDescribeInsightRulesPaginator(w.client, &cloudwatch.DescribeInsightRulesInput{})
	for range pagesMax {
		if !pages.HasMorePages() {
			break
		}
		page, err := pages.NextPage(ctx)
		if err != nil {
			return nil, err
		}
		for _, r := range page.InsightRules {
			if name := aws.ToString(r.Name); strings.HasPrefix(name, mostAccessedKeys) {
				names = append(names, name)
			}
		}
	}
	return names, nil
}

// ruleOf finds a resource's rule by its name, which ends in the time of creation.
// An index's rule carries the index's name, alone or after the table's.
func ruleOf(rules []string, r heat.Resource) string {
	want := []string{r.Table}
	if r.Index != "" {
		want = []string{r.Index, r.Table + "/" + r.Index, r.Table + "-" + r.Index}
	}
	for _, rule := range rules {
		name := strings.TrimPrefix(rule, mostAccessedKeys)
		if at := strings.LastIndexByte(name, '-'); at > 0 && slices.Contains(want, name[:at]) {
			return rule
		}
	}
	return ""
}

// keysOfContributors turns Contributor Insights' figures, three times the write
// units plus the read units, into the key's part of what was consumed.
func keysOfContributors(out *cloudwatch.GetInsightRuleReportOutput, consumed *heat.Consumed) []heat.KeyReport {
	total := aws.ToFloat64(out.AggregateValue)
	writes := 3 * consumed.Write
	var keys []heat.KeyReport
	for _, c := range out.Contributors {
		if len(c.Keys) == 0 {
			continue
		}
		k := heat.KeyReport{Key: c.Keys[0]}
		if total > 0 {
			k.Share = aws.ToFloat64(c.ApproximateAggregateValue) / total
		}
		busiest := 0.0
		for _, p := range c.Datapoints {
			busiest = max(busiest, aws.ToFloat64(p.ApproximateValue)/minute)
		}
		share := 1.0 // of the busiest minute that were reads
		if all := writes + consumed.Read; all > 0 {
			share = consumed.Read / all
		}
		k.PeakRead.Units, k.PeakWrite.Units = busiest*share, busiest*(1-share)/3
		k.Load = max(k.PeakRead.Units/capacity.PartitionCeiling.Read, k.PeakWrite.Units/capacity.PartitionCeiling.Write)
		keys = append(keys, k)
	}
	slices.SortStableFunc(keys, func(a, b heat.KeyReport) int {
		switch {
		case a.Share > b.Share:
			return -1
		case a.Share < b.Share:
			return 1
		}
		return 0
	})
	return keys
}
