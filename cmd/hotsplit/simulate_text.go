package main

import (
	"fmt"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/hotsplit/hotsplit/sim"
)

// simulationText is what simulate prints: the comparison, the routes, and what
// they say.
func simulationText(w sim.Workload, outcomes []sim.Outcome) string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s\n%s days from %s, %d rows of %s bytes, retries %s, seed %d\n\n",
		w.Name, trimFloat(w.Days), w.Start.Format(time.DateOnly), w.Rows.Count, thousands(w.Rows.Bytes), retryText(w.Retry), w.Seed)
	t := tabwriter.NewWriter(&b, 0, 0, 2, ' ', tabwriter.AlignRight)
	fmt.Fprintln(t, "design\tthrottled\tthrottle\tepisodes\tuser\tpages\thottest\tfullest\tpartitions\tmoney\tonce\t")
	fmt.Fprintln(t, "\trequests\tevents\t\terrors\twith gaps\tkey\tpartition\t\ta month\t\t")
	for _, o := range outcomes {
		fmt.Fprintf(t, "%s\t%s\t%s\t%s\t%s\t%s\t%.2f\t%.2f\t%d\t$%s\t%s\t\n", o.Design.Name,
			thousands(o.Throttled), thousands(o.Events), thousands(o.Episodes), thousands(o.UserErrors), thousands(o.Gaps),
			o.Hottest.Load, o.Fullest, o.Partitions, money(o.Cost.Month), onceText(o.Cost.Once))
	}
	t.Flush()
	b.WriteString(legend)
	b.WriteString(routesText(outcomes))
	b.WriteString(backgroundText(outcomes))
	if says := conclusions(outcomes); len(says) > 0 {
		b.WriteString("\nWhat this says\n")
		for _, s := range says {
			b.WriteString(wrapText("- "+s, "  ", 96))
		}
	}
	return b.String()
}

const legend = `
throttled requests: attempts that were refused. throttle events: calls that failed after the
SDK's retries, as an error tracker counts them. hottest key, fullest partition: the busiest
second, in shares of one partition's ceiling; above 1 only because a full bucket and a second's
refill can be spent together. money: this workload's own units.
`

func retryText(r sim.Retry) string {
	model := r.Model
	if model == "" {
		model = sim.RetrySDK
	}
	if r.Attempts > 0 {
		return fmt.Sprintf("%s with %d attempts", model, r.Attempts)
	}
	return model
}

func onceText(once float64) string {
	if once == 0 {
		return ""
	}
	return "$" + money(once)
}

func routesText(outcomes []sim.Outcome) string {
	var b strings.Builder
	for i := range outcomes[0].Routes {
		if outcomes[0].Routes[i].Background {
			continue
		}
		fmt.Fprintf(&b, "\n%s\n", outcomes[0].Routes[i].Name)
		t := tabwriter.NewWriter(&b, 0, 0, 2, ' ', tabwriter.AlignRight)
		fmt.Fprintln(t, "  design\tcalls\tfailed\twith gaps\tp50\tp99\tp99.9\tworst\t")
		for _, o := range outcomes {
			r := o.Routes[i]
			fmt.Fprintf(t, "  %s\t%s\t%s\t%s\t%s\t%s\t%s\t%s\t\n", o.Design.Name, thousands(r.Calls), thousands(r.Failed), thousands(r.Gaps),
				duration(r.P50), duration(r.P99), duration(r.P999), duration(r.Worst))
		}
		t.Flush()
	}
	return b.String()
}

// backgroundText sums up the routes that nobody waits for; --json and --html have
// each of them.
func backgroundText(outcomes []sim.Outcome) string {
	var b strings.Builder
	t := tabwriter.NewWriter(&b, 0, 0, 2, ' ', tabwriter.AlignRight)
	fmt.Fprintln(t, "  design\tcalls\tfailed\tslowest p50\tslowest p99\t")
	for _, o := range outcomes {
		var sum sim.RouteOutcome
		for _, r := range o.Routes {
			if r.Background {
				sum.Calls += r.Calls
				sum.Failed += r.Failed
				sum.P50, sum.P99 = max(sum.P50, r.P50), max(sum.P99, r.P99)
			}
		}
		if sum.Calls == 0 {
			return ""
		}
		fmt.Fprintf(t, "  %s\t%s\t%s\t%s\t%s\t\n", o.Design.Name, thousands(sum.Calls), thousands(sum.Failed), duration(sum.P50), duration(sum.P99))
	}
	t.Flush()
	return "\nbackground routes together\n" + b.String()
}

// conclusions compares every design with the first.
func conclusions(outcomes []sim.Outcome) []string {
	first := outcomes[0]
	says := []string{describeFirst(first)}
	for _, o := range outcomes[1:] {
		says = append(says, o.Design.Name+": "+describeChange(first, o))
	}
	return says
}

func describeFirst(o sim.Outcome) string {
	if o.Throttled == 0 {
		return fmt.Sprintf("%s: nothing is throttled; the fullest partition reaches %.0f %% of its ceiling.", o.Design.Name, 100*o.Fullest)
	}
	quiet := 0
	for _, h := range o.Hours {
		if h.Throttled == 0 {
			quiet++
		}
	}
	return fmt.Sprintf("%s: %s throttle events in %s episodes; %.1f %% of all hours see no throttle at all. Bursts, not constant load, and users see %s errors and %s pages with rows missing.",
		o.Design.Name, thousands(o.Events), thousands(o.Episodes), 100*float64(quiet)/float64(len(o.Hours)), thousands(o.UserErrors), thousands(o.Gaps))
}

func describeChange(first, o sim.Outcome) string {
	var parts []string
	switch {
	case first.Throttled == 0:
	case o.Throttled == 0:
		parts = append(parts, "nothing is throttled")
	case o.Events == 0:
		parts = append(parts, "some requests are throttled, but retries hide all of them")
	default:
		parts = append(parts, fmt.Sprintf("%s throttle events (%s)", thousands(o.Events), ratioText(o.Events, first.Events)))
	}
	switch {
	case o.Throttled > 0 || o.Fullest == 0:
	case o.Fullest <= 1:
		parts = append(parts, fmt.Sprintf("its fullest partition peaks at %.0f %% of the ceiling, so traffic may grow %.1f × before a second passes it", 100*o.Fullest, 1/o.Fullest))
	default:
		parts = append(parts, fmt.Sprintf("but the busiest second of its fullest partition is %.0f %% of the ceiling, paid from saved tokens: there is no room to grow", 100*o.Fullest))
	}
	if n := o.Design.Shards; n > 1 {
		reach := sim.EvenSpread(n).ReachOn(o.Partitions, 1)
		parts = append(parts, fmt.Sprintf("%d keys on %d partitions carry %.1f × what one key does, %.1f to %.1f × by luck of placement", n, o.Partitions, reach.Mean, reach.Low, reach.High))
	}
	if extra := o.Requests - first.Requests; o.Design.Shards > 1 && o.Design.Cache == 0 && extra > 0 {
		parts = append(parts, fmt.Sprintf("%.1f %% more requests", 100*float64(extra)/float64(first.Requests)))
	}
	if reads := readUnits(o) / readUnits(first); reads < 0.9 || reads > 1.1 {
		parts = append(parts, fmt.Sprintf("read units %.2f ×", reads))
	}
	if change := o.Cost.Month - first.Cost.Month; change > 0.05 || change < -0.05 {
		parts = append(parts, fmt.Sprintf("%+.2f dollars a month", change))
	}
	if o.Design.OwnerKey {
		parts = append(parts, "reading all rows is a scan of the whole table, "+slowest(o))
	}
	if len(parts) == 0 {
		return "no difference that counts."
	}
	return strings.Join(parts, "; ") + "."
}

func readUnits(o sim.Outcome) float64 { return o.Units.IndexRead + o.Units.TableRead }

// slowest names the slowest background route by its median.
func slowest(o sim.Outcome) string {
	var worst sim.RouteOutcome
	for _, r := range o.Routes {
		if r.P50 > worst.P50 {
			worst = r
		}
	}
	return fmt.Sprintf("which takes %s %s (median)", worst.Name, duration(worst.P50))
}

func ratioText(n, of int) string {
	if of == 0 {
		return "none before"
	}
	if n == of {
		return "no change"
	}
	return fmt.Sprintf("%+.0f %%", 100*float64(n-of)/float64(of))
}

func duration(d time.Duration) string {
	switch {
	case d >= time.Minute:
		return d.Round(time.Second).String()
	case d >= time.Second:
		return fmt.Sprintf("%.1f s", d.Seconds())
	case d >= 10*time.Millisecond:
		return fmt.Sprintf("%.0f ms", float64(d)/1e6)
	}
	return fmt.Sprintf("%.1f ms", float64(d)/1e6)
}

func money(m float64) string {
	if m >= 1000 {
		return thousands(int(m + 0.5))
	}
	return fmt.Sprintf("%.2f", m)
}

func trimFloat(f float64) string {
	return strings.TrimSuffix(strings.TrimRight(fmt.Sprintf("%.2f", f), "0"), ".")
}

// thousands writes 12345 as 12,345.
func thousands(n int) string {
	s := fmt.Sprint(n)
	for i := len(s) - 3; i > 0; i -= 3 {
		s = s[:i] + "," + s[i:]
	}
	return s
}

// wrapText breaks a paragraph at width; later lines begin with indent.
func wrapText(text, indent string, width int) string {
	var b strings.Builder
	length := 0
	for i, word := range strings.Fields(text) {
		switch {
		case i == 0:
		case length+1+len([]rune(word)) > width:
			b.WriteString("\n" + indent)
			length = len(indent)
		default:
			b.WriteByte(' ')
			length++
		}
		b.WriteString(word)
		length += len([]rune(word))
	}
	return b.String() + "\n"
}
