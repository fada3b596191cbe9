package main

import (
	"fmt"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/hotsplit/hotsplit/heat"
)

const (
	keysShown    = 8
	callersShown = 8
	textWidth    = 96
)

// diagnosisText is what diagnose prints for people.
func diagnosisText(d diagnosis, saved string) string {
	var b strings.Builder
	b.WriteString(wrapText(d.Paragraph(), "", textWidth))
	fmt.Fprintf(&b, "\n%s", sourceLine(d.Report))
	for _, r := range d.Resources {
		b.WriteString(resourceText(d.Report, r))
	}
	b.WriteString("\nVerdicts\n")
	for i, v := range d.Verdicts {
		b.WriteString(verdictText(v, i >= heat.ParagraphVerdicts))
	}
	b.WriteString("\n" + nextCommand(d, saved) + "\n")
	return b.String()
}

func sourceLine(r heat.Report) string {
	if r.From.IsZero() {
		return fmt.Sprintf("From %s: no requests.\n", r.Source)
	}
	span := fmt.Sprintf("From %s: %s to %s UTC", r.Source, r.From.Format(time.DateTime), r.To.Format(time.DateTime))
	if r.Resolution > 1 {
		return span + ", by the minute.\n"
	}
	return span + fmt.Sprintf(", %s requests.\n", thousands(r.Requests))
}

func resourceText(r heat.Report, res heat.ResourceReport) string {
	if len(res.Keys) == 0 && res.Throttled == 0 && res.Read+res.Write == 0 {
		return ""
	}
	var b strings.Builder
	fmt.Fprintf(&b, "\n%s: %s read and %s write units, %s attempts refused\n", res.Resource,
		thousands(int(res.Read)), thousands(int(res.Write)), thousands(res.Throttled))
	if len(res.Keys) > 0 {
		b.WriteString(keysText(r, res.Keys))
	}
	if len(res.Callers) > 0 {
		b.WriteString(callersText(res.Callers))
	}
	return b.String()
}

func keysText(r heat.Report, keys []heat.KeyReport) string {
	var b strings.Builder
	t := tabwriter.NewWriter(&b, 0, 0, 2, ' ', 0)
	busiest := "busiest second"
	if r.Resolution > 1 {
		busiest = "busiest minute, a second"
	}
	fmt.Fprintf(t, "  key\tshare\tread units\twrite units\t%s\trefused\tfailed\t\n", busiest)
	for _, k := range keys[:min(len(keys), keysShown)] {
		name := quoted(k.Key)
		if k.Key == "" {
			name = "(not in the requests)"
		}
		fmt.Fprintf(t, "  %s\t%.0f %%\t%s\t%s\t%s\t%s\t%s\t\n", name, 100*k.Share, thousands(int(k.Read)), thousands(int(k.Write)),
			peakText(k), thousands(k.Throttled), thousands(k.Failed))
	}
	t.Flush()
	if more := len(keys) - keysShown; more > 0 {
		fmt.Fprintf(&b, "  and %d keys with less\n", more)
	}
	return b.String()
}

func peakText(k heat.KeyReport) string {
	return fmt.Sprintf("%s read, %s write", thousands(int(k.PeakRead.Units+0.5)), thousands(int(k.PeakWrite.Units+0.5)))
}

// quoted makes control characters of a key value visible, and cuts a long one.
func quoted(key string) string {
	const most = 40
	q := fmt.Sprintf("%q", key)
	q = q[1 : len(q)-1]
	if r := []rune(q); len(r) > most {
		return string(r[:most-1]) + "…"
	}
	return q
}

func callersText(callers []heat.Part) string {
	var b strings.Builder
	t := tabwriter.NewWriter(&b, 0, 0, 2, ' ', 0)
	fmt.Fprintln(t, "  caller\tshare\trequests\tread units\twrite units\trefused\tfailed\t")
	for _, c := range callers[:min(len(callers), callersShown)] {
		fmt.Fprintf(t, "  %s\t%.0f %%\t%s\t%s\t%s\t%s\t%s\t\n", quoted(c.Name), 100*c.Share, thousands(c.Requests),
			thousands(int(c.Read)), thousands(int(c.Write)), thousands(c.Throttled), thousands(c.Failed))
	}
	t.Flush()
	return b.String()
}

// verdictText gives a verdict's evidence, and its words where the paragraph above
// does not have them.
func verdictText(v heat.Verdict, withText bool) string {
	var b strings.Builder
	about := v.Resource.String()
	if v.Key != "" {
		about = "key " + quoted(v.Key)
	}
	if v.Table == "" {
		about = "all that was seen"
	}
	fmt.Fprintf(&b, "- %s, %s: %s\n", v.Rule, v.Severity, about)
	if withText {
		b.WriteString(indented(v.Text, "    "))
	}
	for _, e := range v.Evidence {
		b.WriteString(indented(e, "    "))
	}
	return b.String()
}

// indented wraps text behind an indent, further lines a little deeper.
func indented(text, indent string) string {
	return indent + wrapText(text, indent+"  ", textWidth-len(indent))
}

// nextCommand is the last line: what to type next.
func nextCommand(d diagnosis, saved string) string {
	if len(d.Verdicts) == 0 {
		return "Next: record a trace (heat.Instrument) while the trouble shows."
	}
	next := d.Verdicts[0].Next
	if next == "" {
		return "Next: nothing to do."
	}
	if !strings.HasSuffix(next, "hotsplit plan") {
		return wrapText("Next: "+next, "", textWidth)
	}
	advice := strings.TrimSuffix(next, "hotsplit plan")
	if saved == "" {
		return wrapText("Next: "+advice+"run this again with --save diagnosis.json, then", "", textWidth) +
			"  hotsplit plan --diagnosis diagnosis.json"
	}
	return wrapText("Next: "+advice, "", textWidth) + "  hotsplit plan --diagnosis " + saved
}
