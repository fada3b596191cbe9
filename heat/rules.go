package heat

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/hotsplit/hotsplit/capacity"
)

const (
	enoughSeconds   = 30  // with requests, before silence means anything
	enoughRequests  = 100 // likewise
	mostShare       = 0.5 // of a key's load, that makes one item or owner its cause
	risingShare     = 0.9 // of inserts, that makes a sort key a rising one
	enoughInserts   = 50
	burstSecondsMax = 10 // of an episode that is still a short burst
	burstsMax       = 2  // episodes; more are a habit
	crowdMin        = 3  // keys that make a crowd
	keysJudgedMax   = 3  // of one resource, that get a verdict of their own
)

func judgeResource(r Report, res ResourceReport) []Verdict {
	var verdicts []Verdict
	hot := hotKeys(r, res)
	for _, k := range hot[:min(len(hot), keysJudgedMax)] {
		verdicts = append(verdicts, judgeKey(r, res, k)...)
	}
	if v, ok := judgeCrowd(res, hot); ok {
		verdicts = append(verdicts, v)
	}
	verdicts = append(verdicts, judgeLimits(res)...)
	if v, ok := judgeBackPressure(res); ok {
		verdicts = append(verdicts, v)
	}
	if v, ok := judgeUnexplained(r, res, verdicts); ok {
		verdicts = append(verdicts, v)
	}
	return verdicts
}

// hotKeys lists the keys that came near a partition's ceiling, or were refused
// for a key range while they carried most of what was refused. Where figures are
// averages over minutes, a refusing partition's key is the one with most load.
func hotKeys(r Report, res ResourceReport) []KeyReport {
	var hot []KeyReport
	for _, k := range res.Keys {
		refused := k.Throttled > 0 && res.keyRange() > 0 && 2*k.Throttled >= res.Throttled
		suspect := r.Resolution > 1 && res.keyRange() > 0 && k.Share >= mostShare
		if k.Key != "" && (k.peakLoad() >= hotShare || refused || suspect) {
			hot = append(hot, k)
		}
	}
	slices.SortStableFunc(hot, func(a, b KeyReport) int {
		return cmp.Or(cmp.Compare(b.Throttled, a.Throttled), cmp.Compare(b.peakLoad(), a.peakLoad()))
	})
	return hot
}

func (k KeyReport) peakLoad() float64 { return load(k.PeakRead.Units, k.PeakWrite.Units) }

// busiest is the direction that came nearer to its ceiling.
func (k KeyReport) busiest() (direction string, at Peak, ceiling float64) {
	c := capacity.PartitionCeiling
	if k.PeakWrite.Units/c.Write > k.PeakRead.Units/c.Read {
		return "write", k.PeakWrite, c.Write
	}
	return "read", k.PeakRead, c.Read
}

// keyRange is how many attempts were refused because of one partition. Refusals
// whose reason the client was too old to see may be among them.
func (res ResourceReport) keyRange() int {
	return res.because("KeyRangeThroughputExceeded") + res.Reasons["unknown"]
}

// because is how many attempts were refused for reasons that end in suffix.
func (res ResourceReport) because(suffix string) int {
	n := 0
	for reason, count := range res.Reasons {
		if strings.HasSuffix(reason, suffix) {
			n += count
		}
	}
	return n
}

func judgeKey(r Report, res ResourceReport, k KeyReport) []Verdict {
	v := Verdict{Rule: HotPartitionKey, Severity: Warning, Resource: res.Resource, Key: k.Key, Callers: names(k.Callers)}
	if k.Throttled > 0 || r.Resolution > 1 && res.keyRange() > 0 {
		v.Severity = Critical
	}
	v.Evidence = keyEvidence(r, res, k)
	what := fmt.Sprintf("Key %q of %s", k.Key, res.describe())
	switch {
	case most(k.Items):
		v.Rule = HotItem
		v.Text = fmt.Sprintf("%s is hot because of one item: %q takes %s of the key's load. %s Sharding by owner will not help: the item stays on one partition.",
			what, k.Items[0].Name, percent(k.Items[0].Share), figures(r, k))
		v.Next = "Cache the item, or split its contents over several items; a new index key does not change where one item lies."
	case most(k.Owners):
		v.Rule = HotOwner
		v.Text = fmt.Sprintf("%s is hot because of one owner: %q takes %s of the key's load. %s Sharding by owner keeps this owner's rows together, so its shard would be as hot.",
			what, k.Owners[0].Name, percent(k.Owners[0].Share), figures(r, k))
		v.Next = "Find out why this owner is read or written so much (" + strings.Join(v.Callers, ", ") + "), or shard by something finer than the owner."
	case k.Episodes <= burstsMax && k.LongestSeconds <= burstSecondsMax && r.Resolution == 1 && r.length() >= 5*k.HotSeconds && r.length() >= enoughSeconds:
		v.Rule = ShortBurst
		if k.Throttled > 0 {
			v.Severity = Warning
		} else {
			v.Severity = Info
		}
		v.Text = fmt.Sprintf("%s was near its ceiling for a short burst: %s in %s. %s",
			what, plural(k.HotSeconds, "hot second", "hot seconds"), plural(r.length(), "second", "seconds"), figures(r, k))
		v.Next = "Spread the burst or let the SDK's retries absorb it; record for longer to see whether it comes back. " + planNext(res.Resource)
	default:
		v.Text = fmt.Sprintf("%s is hot. %s%s", what, figures(r, k), callerSentence(k.Callers))
		v.Next = planNext(res.Resource)
	}
	return append([]Verdict{v}, judgeRising(res, k)...)
}

// planNext is what to do about a key that sharding cures.
func planNext(res Resource) string {
	if res.Index == "" {
		return "This is the table's own key: hotsplit moves index keys. Give the rows an index key that is sharded by owner, and read through it."
	}
	return "hotsplit plan"
}

func judgeRising(res ResourceReport, k KeyReport) []Verdict {
	if k.Inserts < enoughInserts || k.Rising < risingShare {
		return nil
	}
	return []Verdict{{
		Rule: RisingSortKey, Severity: Warning, Resource: res.Resource, Key: k.Key,
		Text: fmt.Sprintf("New sort keys of %q keep rising (%s of %d inserts were above all before), so DynamoDB cannot help by splitting the key for heat: all inserts land at one end.",
			k.Key, percent(k.Rising), k.Inserts),
		Next: "Do not wait for a split; shard the partition key. " + planNext(res.Resource),
	}}
}

// judgeCrowd finds keys that are each below the ceiling and refused together:
// they lie on one physical partition.
func judgeCrowd(res ResourceReport, hot []KeyReport) (Verdict, bool) {
	if len(hot) > 0 || res.keyRange() == 0 {
		return Verdict{}, false
	}
	var crowd []KeyReport
	for _, k := range res.Keys {
		if k.Key != "" && k.Throttled > 0 && k.peakLoad() < hotShare {
			crowd = append(crowd, k)
		}
	}
	if len(crowd) < crowdMin {
		return Verdict{}, false
	}
	top := crowd[0]
	direction, at, ceiling := top.busiest()
	return Verdict{
		Rule: CrowdedPartition, Severity: Critical, Resource: res.Resource, Callers: names(res.Callers),
		Text: fmt.Sprintf("%s of %s are refused, though none alone comes near a ceiling (the busiest, %q, took %s of %s %s units): they share physical partitions.",
			plural(len(crowd), "key", "keys"), res.describe(), top.Key, number(at.Units), number(ceiling), direction),
		Evidence: []string{reasonEvidence(res)},
		Next:     "More partitions, not more keys: raise the index's warm throughput, or wait minutes for DynamoDB to split for heat.",
	}, true
}

func judgeLimits(res ResourceReport) []Verdict {
	var verdicts []Verdict
	add := func(rule Rule, n int, text, next string) {
		if n > 0 {
			verdicts = append(verdicts, Verdict{
				Rule: rule, Severity: Critical, Resource: res.Resource, Callers: names(res.Callers), Text: text,
				Evidence: []string{reasonEvidence(res)}, Next: next,
			})
		}
	}
	n := res.because("ProvisionedThroughputExceeded")
	add(TableLimit, n, fmt.Sprintf("%s refused %s because its provisioned throughput is used up. This is not a hot key.", res.describe(), plural(n, "attempt", "attempts")),
		"Raise the provisioned throughput or switch to on-demand; sharding does not change this limit.")
	n = res.because("MaxOnDemandThroughputExceeded")
	add(TableLimit, n, fmt.Sprintf("%s refused %s because of the on-demand maximum that somebody set on it. This is not a hot key.", res.describe(), plural(n, "attempt", "attempts")),
		"Raise or remove MaxReadRequestUnits / MaxWriteRequestUnits.")
	n = res.because("AccountLimitExceeded")
	add(AccountLimit, n, fmt.Sprintf("%s refused %s because of the account's quota. This is not a hot key.", res.describe(), plural(n, "attempt", "attempts")),
		"Ask AWS for a higher quota, or use less.")
	return verdicts
}

// judgeBackPressure names the index where the table was written.
func judgeBackPressure(res ResourceReport) (Verdict, bool) {
	refused := 0
	for reason, n := range res.Reasons {
		if strings.HasPrefix(reason, "IndexWrite") {
			refused += n
		}
	}
	if res.Index == "" || refused == 0 {
		return Verdict{}, false
	}
	var via []string
	for operation, n := range res.WrittenVia {
		via = append(via, fmt.Sprintf("%s (%s)", operation, count(n)))
	}
	slices.Sort(via)
	v := Verdict{
		Rule: IndexBackPressure, Severity: Critical, Resource: res.Resource, Callers: names(res.Callers),
		Text: fmt.Sprintf("%s to table %s were refused because index %s could not take its part: the table itself is not the cause.",
			plural(refused, "write", "writes"), res.Table, res.Index),
		Evidence: []string{reasonEvidence(res)},
		Next:     "Leave the table's throughput alone. " + planNext(res.Resource),
	}
	if len(via) > 0 {
		v.Evidence = append(v.Evidence, "refused through "+strings.Join(via, ", "))
	}
	return v, true
}

// judgeUnexplained is about refusals that no other rule could place.
func judgeUnexplained(r Report, res ResourceReport, found []Verdict) (Verdict, bool) {
	placed := slices.ContainsFunc(found, func(v Verdict) bool {
		return v.Rule != IndexBackPressure && v.Rule != RisingSortKey
	})
	if res.Throttled == 0 || placed {
		return Verdict{}, false
	}
	v := Verdict{Resource: res.Resource, Callers: names(res.Callers), Evidence: []string{reasonEvidence(res)}}
	if n := res.because("KeyRangeThroughputExceeded"); n > 0 {
		v.Rule, v.Severity = HotPartitionKey, Critical
		v.Text = fmt.Sprintf("A partition of %s is at its ceiling: %s refused for a key range. Which key it is, this data does not say.",
			res.describe(), plural(n, "attempt was", "attempts were"))
		v.Next = "hotsplit diagnose --scan counts the index's rows by key; a trace (heat.Instrument) names the key and the callers."
		if c := res.Consumed; c != nil {
			v.Evidence = append(v.Evidence, fmt.Sprintf("busiest minute: %s write and %s read units a second on the whole of it; an average hides what happens within a minute", number(c.Write), number(c.Read)))
		}
		return v, true
	}
	v.Rule, v.Severity = CannotTell, Unknown
	v.Text = fmt.Sprintf("%s of %s refused, without a reason and with no key near a ceiling in %s. The cause cannot be told.",
		plural(res.Throttled, "attempt", "attempts"), res.describe(), plural(r.Seconds, "recorded second", "recorded seconds"))
	v.Next = "Use an SDK that shows throttling reasons (dynamodb v1.48 or newer), and record all processes that use the table."
	return v, true
}

// judgeQuiet tells silence that means something from silence that does not.
func judgeQuiet(r Report) Verdict {
	if r.Requests < enoughRequests || r.Seconds < enoughSeconds {
		return Verdict{
			Rule: CannotTell, Severity: Unknown,
			Text: fmt.Sprintf("Too little was seen to tell: %s in %s (at least %d in %d seconds are needed).",
				plural(r.Requests, "request", "requests"), plural(r.Seconds, "second", "seconds"), enoughRequests, enoughSeconds),
			Next: "Record for longer, over a time when the trouble shows.",
		}
	}
	v := Verdict{Rule: NothingHot, Severity: Info}
	if r.Resolution > 1 {
		v.Text = fmt.Sprintf("Nothing was refused in %s. How near keys came to their ceilings within a minute, this data does not show.", plural(r.length()/60, "minute", "minutes"))
		return v
	}
	v.Text = fmt.Sprintf("Nothing is hot: in %s over %s no key came to %s of a partition's ceiling and nothing was refused.",
		plural(r.Requests, "request", "requests"), plural(r.length(), "second", "seconds"), percent(hotShare))
	if res, k, ok := r.hottest(); ok {
		direction, at, ceiling := k.busiest()
		v.Resource, v.Key = res.Resource, k.Key
		v.Text += fmt.Sprintf(" The busiest was %q of %s with %s of %s %s units in its busiest second.",
			k.Key, res.describe(), number(at.Units), number(ceiling), direction)
	}
	return v
}
