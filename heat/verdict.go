package heat

import (
	"cmp"
	"slices"
	"strings"
)

// Severity orders verdicts.
type Severity string

// Severities, from worst to least.
const (
	Critical Severity = "critical" // requests are refused
	Warning  Severity = "warning"  // near a limit, or a cure will not work
	Info     Severity = "info"     // worth knowing
	Unknown  Severity = "unknown"  // the data does not tell
)

func (s Severity) rank() int {
	return slices.Index([]Severity{Critical, Warning, Unknown, Info}, s)
}

// Rule names what a verdict found.
type Rule string

// The rules.
const (
	HotPartitionKey   Rule = "hot-partition-key"   // one key value is at a partition's ceiling
	HotItem           Rule = "hot-item"            // one item is; sharding by owner will not help
	HotOwner          Rule = "hot-owner"           // one owner is; the owner's rows stay together
	CrowdedPartition  Rule = "crowded-partition"   // several warm keys share one partition
	IndexBackPressure Rule = "index-back-pressure" // an index refuses the table's writes
	TableLimit        Rule = "table-limit"         // the table's or index's own rate, not a key
	AccountLimit      Rule = "account-limit"       // a quota, not a key
	RisingSortKey     Rule = "rising-sort-key"     // splitting for heat cannot help
	ShortBurst        Rule = "short-burst"         // over in seconds
	NothingHot        Rule = "nothing-hot"         // enough was seen, and all is below the ceilings
	CannotTell        Rule = "cannot-tell"         // too little was seen
)

// Verdict is one finding.
type Verdict struct {
	Rule     Rule     `json:"rule"`
	Severity Severity `json:"severity"`
	Resource
	Key      string   `json:"key,omitempty"`
	Callers  []string `json:"callers,omitempty"`
	Text     string   `json:"text"`
	Evidence []string `json:"evidence,omitempty"`
	Next     string   `json:"next,omitempty"`
}

// hot says that the verdict is about heat that somebody has to act on.
func (v Verdict) hot() bool {
	return v.Severity == Critical || v.Severity == Warning
}

// Outcome sums the verdicts up for an exit code.
type Outcome string

// Outcomes.
const (
	Hot     Outcome = "hot"
	Cold    Outcome = "nothing hot"
	Untold  Outcome = "cannot tell"
	nothing         = "Nothing was recorded."
)

// Outcome is hot when any verdict calls for action, and cannot tell when none
// does and one could not.
func (r Report) Outcome() Outcome {
	if slices.ContainsFunc(r.Verdicts, Verdict.hot) {
		return Hot
	}
	if len(r.Verdicts) == 0 || slices.ContainsFunc(r.Verdicts, func(v Verdict) bool { return v.Severity == Unknown }) {
		return Untold
	}
	return Cold
}

// ParagraphVerdicts is how many verdicts the paragraph says.
const ParagraphVerdicts = 3

// Paragraph says the verdicts in one paragraph, the worst first.
func (r Report) Paragraph() string {
	if len(r.Verdicts) == 0 {
		return nothing
	}
	var texts []string
	for _, v := range r.Verdicts {
		texts = append(texts, v.Text)
	}
	return strings.Join(texts[:min(ParagraphVerdicts, len(texts))], " ")
}

// Judge applies the rules to a report's figures. What it says of a key follows
// from seconds, never from averages over minutes.
func Judge(r Report) []Verdict {
	var verdicts []Verdict
	for _, res := range r.Resources {
		verdicts = append(verdicts, judgeResource(r, res)...)
	}
	if !slices.ContainsFunc(verdicts, Verdict.hot) && !hasUnknown(verdicts) {
		verdicts = append(verdicts, judgeQuiet(r))
	}
	slices.SortStableFunc(verdicts, func(a, b Verdict) int {
		return cmp.Compare(a.Severity.rank(), b.Severity.rank())
	})
	return verdicts
}

func hasUnknown(verdicts []Verdict) bool {
	return slices.ContainsFunc(verdicts, func(v Verdict) bool { return v.Severity == Unknown })
}
