package demo

import (
	_ "embed"
	"html/template"
	"io"
	"strings"

	"github.com/hotsplit/hotsplit/capacity"
)

//go:embed report.html.tmpl
var reportText string

var reportTemplate = template.Must(template.New("report").Parse(reportText))

// swatch is one step of the legend.
type swatch struct {
	Fill  template.CSS
	Label string
}

// WriteReport writes the result as one HTML page that needs nothing else.
func (r *Result) WriteReport(w io.Writer) error {
	type row struct{ Name, Before, During, After string }
	rows := []row{
		{"requests", thousands(r.Before.Requests), thousands(r.During.Requests), thousands(r.After.Requests)},
		{"throttled", thousands(r.Before.Throttled), thousands(r.During.Throttled), thousands(r.After.Throttled)},
		{"errors after the SDK's retries", thousands(r.Before.Errors), thousands(r.During.Errors), thousands(r.After.Errors)},
		{"p50 of the application's calls", milliseconds(r.Before.P50), milliseconds(r.During.P50), milliseconds(r.After.P50)},
		{"p99", milliseconds(r.Before.P99), milliseconds(r.During.P99), milliseconds(r.After.P99)},
		{"hottest key", r.hottest.before, "", r.hottest.after},
		{"its read units in a second, at the peak", thousands(int64(r.Peak.Before)), "", thousands(int64(r.Peak.After))},
	}
	var legend []swatch
	for _, load := range []struct {
		share float64
		label string
	}{{0, "0"}, {0.25, "25 %"}, {0.5, "50 %"}, {0.75, "75 %"}, {1, "ceiling"}} {
		legend = append(legend, swatch{heatColour(load.share), load.label})
	}
	return reportTemplate.Execute(w, map[string]any{
		"Headline": strings.SplitAfterN(r.Verdict(), ". ", 2), "Good": len(r.Faults()) == 0, "Table": rows, "Result": r,
		"Picture": r.heat.picture(), "Legend": legend, "Ceiling": capacity.PartitionCeiling,
		"Keys": countedKeys(r.shards),
	})
}
