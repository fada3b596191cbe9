package heat

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/hotsplit/hotsplit/capacity"
)

// length is the whole time in seconds, silent ones included.
func (r Report) length() int {
	return max(r.Seconds, int(r.To.Sub(r.From)/time.Second)+1)
}

func (r Report) hottest() (res ResourceReport, key KeyReport, ok bool) {
	for _, candidate := range r.Resources {
		for _, k := range candidate.Keys {
			if k.Key != "" && k.peakLoad() > key.peakLoad() {
				res, key, ok = candidate, k, true
			}
		}
	}
	return res, key, ok
}

func (r Resource) describe() string {
	if r.Index == "" {
		return "table " + r.Table
	}
	return "index " + r.Index
}

// most says that the first part is certainly most of the whole.
func most(parts []Part) bool {
	return len(parts) > 0 && parts[0].Share-parts[0].Error >= mostShare
}

func names(parts []Part) []string {
	var out []string
	for _, p := range parts[:min(3, len(parts))] {
		out = append(out, p.Name)
	}
	return out
}

// callerSentence tells who causes the load from who was refused: whoever comes
// while the partition is full suffers, whoever filled it.
func callerSentence(callers []Part) string {
	if len(callers) == 0 {
		return " The callers are not known."
	}
	s := fmt.Sprintf(" %s makes %s of its load", callers[0].Name, percent(callers[0].Share))
	if len(callers) > 1 && callers[1].Share >= 0.05 {
		s += fmt.Sprintf(", %s %s", callers[1].Name, percent(callers[1].Share))
	}
	victim := slices.MaxFunc(callers, func(a, b Part) int { return a.Throttled - b.Throttled })
	switch {
	case victim.Throttled == 0:
		return s + "."
	case victim.Name == callers[0].Name:
		return s + " and is refused most."
	}
	return s + fmt.Sprintf("; %s is refused most: the victim, not the cause.", victim.Name)
}

// figures is the key's busiest second and its refusals in words.
func figures(r Report, k KeyReport) string {
	direction, at, ceiling := k.busiest()
	if r.Resolution > 1 {
		return fmt.Sprintf("In its busiest minute it took %s %s units a second on average, %s of the %s that one partition serves; within the minute it was more.",
			number(at.Units), direction, percent(at.Units/ceiling), number(ceiling))
	}
	s := fmt.Sprintf("In its busiest second it took %s %s units, %s of the %s that one partition serves",
		number(at.Units), direction, percent(at.Units/ceiling), number(ceiling))
	if k.Throttled == 0 {
		return s + "; nothing was refused."
	}
	s += fmt.Sprintf("; %s refused", plural(k.Throttled, "attempt was", "attempts were"))
	if k.Episodes > 0 {
		s += fmt.Sprintf(" in %s, the longest %d s", plural(k.Episodes, "episode", "episodes"), k.LongestSeconds)
	}
	if k.Failed > 0 {
		return s + fmt.Sprintf(", and %s its caller as an error.", plural(k.Failed, "request reached", "requests reached"))
	}
	return s + ", and the SDK's retries hid all of them."
}

func keyEvidence(r Report, res ResourceReport, k KeyReport) []string {
	var lines []string
	when := "second"
	if r.Resolution > 1 {
		when = "minute's average"
	}
	if at := k.PeakRead; at.Units > 0 {
		lines = append(lines, fmt.Sprintf("reads: busiest "+when+" %s of %s units at %s", number(at.Units), number(capacity.PartitionCeiling.Read), at.At.Format(time.RFC3339)))
	}
	if at := k.PeakWrite; at.Units > 0 {
		lines = append(lines, fmt.Sprintf("writes: busiest "+when+" %s of %s units at %s", number(at.Units), number(capacity.PartitionCeiling.Write), at.At.Format(time.RFC3339)))
	}
	if r.Resolution == 1 {
		lines = append(lines, fmt.Sprintf("hot for %s of %d in %s", plural(k.HotSeconds, "second", "seconds"), r.length(), plural(k.Episodes, "episode", "episodes")))
	}
	lines = append(lines, fmt.Sprintf("the key has %s of the load of %s", percent(k.Share), res.describe()))
	if k.Share > 0 && k.Error > 0.05*k.Load {
		lines = append(lines, fmt.Sprintf("the key's load may be up to %s higher than counted: there were more keys than are kept", percent(k.Error/k.Load)))
	}
	if len(res.Reasons) > 0 {
		lines = append(lines, reasonEvidence(res))
	}
	for _, p := range k.Callers[:min(4, len(k.Callers))] {
		lines = append(lines, fmt.Sprintf("caller %s: %s of the load, %s", p.Name, percent(p.Share), plural(p.Requests, "request", "requests")))
	}
	if len(k.Owners) > 0 {
		lines = append(lines, fmt.Sprintf("heaviest owner %q: %s of the key's load", k.Owners[0].Name, percent(k.Owners[0].Share)))
	}
	return lines
}

func reasonEvidence(res ResourceReport) string {
	var reasons []string
	for reason, n := range res.Reasons {
		reasons = append(reasons, fmt.Sprintf("%s × %s", reason, count(n)))
	}
	slices.Sort(reasons)
	if len(reasons) == 0 {
		return "no reasons for refusals are known"
	}
	return "refused: " + strings.Join(reasons, ", ")
}

func percent(share float64) string {
	if share > 0 && share < 0.1 {
		return fmt.Sprintf("%.1f %%", 100*share)
	}
	return fmt.Sprintf("%.0f %%", 100*share)
}

func plural(n int, one, many string) string {
	if n == 1 {
		return "1 " + one
	}
	return count(n) + " " + many
}

func number(units float64) string {
	if units < 10 && units != float64(int(units)) {
		return strconv.FormatFloat(units, 'f', 1, 64)
	}
	return count(int(units + 0.5))
}

// count writes 12345 as 12,345.
func count(n int) string {
	digits := strconv.Itoa(n)
	for i := len(digits) - 3; i > 0; i -= 3 {
		digits = digits[:i] + "," + digits[i:]
	}
	return digits
}
