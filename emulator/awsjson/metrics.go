package awsjson

import (
	"bytes"
	"fmt"
	"net/http"
	"slices"
	"strconv"
	"strings"

	"github.com/hotsplit/hotsplit/emulator"
)

// metrics are the counters under their CloudWatch names and dimensions, in the
// Prometheus text format.
func (c *console) metrics(w http.ResponseWriter, _ *http.Request) {
	var b bytes.Buffer
	counters := c.db.Counters()
	slices.SortStableFunc(counters, func(a, b emulator.Counter) int { return strings.Compare(a.Metric, b.Metric) })
	for i, m := range counters {
		if i == 0 || counters[i-1].Metric != m.Metric {
			fmt.Fprintf(&b, "# HELP %s CloudWatch metric AWS/DynamoDB %s, summed since the table or index was made.\n# TYPE %[1]s counter\n", m.Metric, m.Metric)
		}
		sample(&b, m.Metric, m.Value, "TableName", m.Table, "GlobalSecondaryIndexName", m.Index, "Operation", m.Operation)
	}
	partitionMetrics(&b, c.db.Heat(c.db.Now()))
	w.Header().Set("Content-Type", "text/plain; version=0.0.4; charset=utf-8")
	w.Write(b.Bytes())
}

// partitionMetrics show what production hides: the physical partitions.
func partitionMetrics(b *bytes.Buffer, resources []emulator.ResourceHeat) {
	for _, m := range []struct {
		name, kind, help string
		read, write      func(p emulator.PartitionHeat) float64
	}{
		{"hotsplit_partition_units_total", "counter", "Units that a physical partition served.",
			func(p emulator.PartitionHeat) float64 { return p.Used.Read }, func(p emulator.PartitionHeat) float64 { return p.Used.Write }},
		{"hotsplit_partition_throttles_total", "counter", "Requests that a physical partition refused.",
			func(p emulator.PartitionHeat) float64 { return float64(p.ReadThrottled) }, func(p emulator.PartitionHeat) float64 { return float64(p.WriteThrottled) }},
		{"hotsplit_partition_available_units", "gauge", "Units that a physical partition could serve at this moment.",
			func(p emulator.PartitionHeat) float64 { return p.Available.Read }, func(p emulator.PartitionHeat) float64 { return p.Available.Write }},
	} {
		fmt.Fprintf(b, "# HELP %s %s\n# TYPE %[1]s %[3]s\n", m.name, m.help, m.kind)
		for _, r := range resources {
			for _, p := range r.Partitions {
				id := strconv.Itoa(p.ID)
				sample(b, m.name, m.read(p), "TableName", r.Table, "GlobalSecondaryIndexName", r.Index, "partition", id, "direction", "read")
				sample(b, m.name, m.write(p), "TableName", r.Table, "GlobalSecondaryIndexName", r.Index, "partition", id, "direction", "write")
			}
		}
	}
}

var labelEscapes = strings.NewReplacer(`\`, `\\`, "\n", `\n`, `"`, `\"`)

// sample writes one line; labels are pairs, and those without a value are left out.
func sample(b *bytes.Buffer, name string, value float64, labels ...string) {
	b.WriteString(name)
	separator := byte('{')
	for i := 0; i < len(labels); i += 2 {
		if labels[i+1] == "" {
			continue
		}
		fmt.Fprintf(b, `%c%s="%s"`, separator, labels[i], labelEscapes.Replace(labels[i+1]))
		separator = ','
	}
	if separator == ',' {
		b.WriteByte('}')
	}
	fmt.Fprintf(b, " %s\n", strconv.FormatFloat(value, 'g', -1, 64))
}
