package demo

import (
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/hotsplit/hotsplit/capacity"
)

// Result is what a demonstration measured.
type Result struct {
	Before Span    `json:"before"`
	During Span    `json:"during"`
	After  Span    `json:"after"`
	Rows   Rows    `json:"rows"`
	Reads  Reads   `json:"reads"`
	Owners Owners  `json:"owners"`
	Peak   Peak    `json:"peak_read_units"`
	Length float64 `json:"seconds"`

	shards  int
	usual   bool // the default workload, of which it is known that the key is hot
	hottest struct{ before, after string }
	heat    heatMap
	final   []item // the loaded rows as they are in the end, in the order of the load
}

// WriteRows writes the rows as they are after the move, in the export format.
func (r *Result) WriteRows(w io.Writer) error { return WriteExport(w, r.final) }

// Rows is where the rows are in the end, by a strongly consistent scan.
type Rows struct {
	Total    int `json:"total"`
	OnOldKey int `json:"on_old_key"`
	OnShards int `json:"on_shards"`
	Altered  int `json:"altered"` // rows that differ in more than the index key and what the traffic wrote, or are gone
}

// Owners is how many persons' rows are the same by the index and by the base table.
type Owners struct {
	Checked   int `json:"checked"`
	Identical int `json:"identical"`
}

// Peak is the most read units that one index key served in a second.
type Peak struct {
	Before float64 `json:"before"`
	After  float64 `json:"after"`
}

// Faults lists in words what went wrong; none means that the move is proved.
func (r *Result) Faults() []string {
	var faults []string
	fault := func(wrong bool, format string, args ...any) {
		if wrong {
			faults = append(faults, fmt.Sprintf(format, args...))
		}
	}
	fault(r.Reads.Missed > 0, "%d times a row that had to be visible was missing from an answer", r.Reads.Missed)
	fault(r.Reads.Doubled > 0, "%d times a row was in an answer twice", r.Reads.Doubled)
	fault(r.Reads.Foreign > 0, "%d times an answer held a row that it should not", r.Reads.Foreign)
	fault(r.Reads.Checked == 0, "no answer was checked")
	fault(r.Rows.OnOldKey > 0, "%d rows are still on the old key", r.Rows.OnOldKey)
	fault(r.Rows.Altered > 0, "%d rows differ in more than their index key", r.Rows.Altered)
	fault(r.Owners.Identical != r.Owners.Checked, "%d of %d owners read differently by the index than by the table",
		r.Owners.Checked-r.Owners.Identical, r.Owners.Checked)
	fault(r.usual && r.Before.Throttled == 0, "the one key was not hot before, so nothing was shown")
	fault(r.usual && r.After.Throttled > 0, "%d requests were throttled after the move", r.After.Throttled)
	return faults
}

// Verdict is the result in plain sentences.
func (r *Result) Verdict() string {
	var s strings.Builder
	if r.Before.Throttled > 0 {
		fmt.Fprintf(&s, "One key was hot: at its peak it served %.0f read units in a second (a partition refills %.0f a second) and %s of %s requests were throttled. ",
			r.Peak.Before, capacity.PartitionCeiling.Read, thousands(r.Before.Throttled), thousands(r.Before.Requests))
	} else {
		s.WriteString("The one key was not hot under this load: nothing was throttled before the move. ")
	}
	switch keys := countedKeys(r.shards); {
	case r.After.Throttled == 0:
		fmt.Fprintf(&s, "On %s the same load is cool: the hottest serves %.0f and nothing is throttled. ", keys, r.Peak.After)
	default:
		fmt.Fprintf(&s, "On %s the load is still hot: %s of %s requests were throttled. ", keys, thousands(r.After.Throttled), thousands(r.After.Requests))
	}
	if faults := r.Faults(); len(faults) > 0 {
		fmt.Fprintf(&s, "But the move is not proved: %s.", strings.Join(faults, "; "))
	} else {
		fmt.Fprintf(&s, "While %d rows moved, %s answers were checked and not one row was missed or doubled.", r.Rows.OnShards, thousands(int64(r.Reads.Checked)))
	}
	return s.String()
}

func countedKeys(n int) string {
	if n == 1 {
		return "1 shard key"
	}
	return fmt.Sprintf("%d shard keys", n)
}

// thousands spells a number with separators, for people.
func thousands(n int64) string {
	s := fmt.Sprint(n)
	for at := len(s) - 3; at > 0; at -= 3 {
		s = s[:at] + "," + s[at:]
	}
	return s
}

// Table is the comparison as text, before, during and after.
func (r *Result) Table() string {
	var s strings.Builder
	line := func(name string, cell func(Span) string) {
		fmt.Fprintf(&s, "%-34s %12s %12s %12s\n", name, cell(r.Before), cell(r.During), cell(r.After))
	}
	fmt.Fprintf(&s, "%-34s %12s %12s %12s\n", "", "before", "during", "after")
	line("requests", func(p Span) string { return thousands(p.Requests) })
	line("throttled", func(p Span) string { return thousands(p.Throttled) })
	line("errors after the SDK's retries", func(p Span) string { return thousands(p.Errors) })
	line("p50 of the application's calls", func(p Span) string { return milliseconds(p.P50) })
	line("p99", func(p Span) string { return milliseconds(p.P99) })
	fmt.Fprintf(&s, "%-34s %12s %12s %12s\n", "hottest key, read units/s", fmt.Sprintf("%.0f", r.Peak.Before), "", fmt.Sprintf("%.0f", r.Peak.After))
	fmt.Fprintf(&s, "%-34s %12s %12s %12s\n", "hottest key", r.hottest.before, "", r.hottest.after)
	return s.String()
}

func milliseconds(ms float64) string {
	return time.Duration(ms * float64(time.Millisecond)).Round(100 * time.Microsecond).String()
}
