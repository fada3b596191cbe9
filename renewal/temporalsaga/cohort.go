package temporalsaga

import (
	"fmt"
	"time"

	"go.temporal.io/sdk/workflow"
)

// cohortPagesMax is how many pages one run of the walker handles before it
// continues as new.
const cohortPagesMax = 100

// CohortInput says how the walker walks. Its zero value is what we use in
// production.
type CohortInput struct {
	Horizon   time.Duration `json:"horizon"`   // leases that end within it are renewed; 0 means 120 days
	PageItems int           `json:"pageItems"` // leases looked at in one step; 0 means 25
	Pause     time.Duration `json:"pause"`     // between two pages; 0 means 2 s
	Terms     Terms         `json:"terms"`
	After     string        `json:"after,omitempty"` // where the run before stopped
	From      time.Time     `json:"from,omitzero"`   // fixed with Before by the first run, so that one walk has one horizon
	Before    time.Time     `json:"before,omitzero"`
	Walked    Walked        `json:"walked,omitzero"`
}

// Walked counts what a walk did.
type Walked struct {
	Seen    int      `json:"seen"`
	Started int      `json:"started"`
	Known   int      `json:"known"`             // their renewal was started before
	Refused []string `json:"refused,omitempty"` // leases with bad fields, the first few
}

// Filled spells the input out, as a schedule or a start must: nothing that runs
// depends on a later default.
func (in CohortInput) Filled() CohortInput {
	fill(&in.Horizon, 120*24*time.Hour)
	fill(&in.PageItems, 25)
	fill(&in.Pause, 2*time.Second)
	in.Terms = in.Terms.withDefaults()
	return in
}

// Cohort walks the portfolio once and starts a renewal for each lease that ends
// within the horizon. It is paced: a page, a pause, a page. That the same lease
// is met again, by this walk or the next, changes nothing: the renewal's
// workflow id is its lease and term.
func Cohort(ctx workflow.Context, in CohortInput) (Walked, error) {
	if in.Before.IsZero() {
		in.From = workflow.Now(ctx)
		in.Before = in.From.Add(in.Horizon)
	}
	ctx = workflow.WithActivityOptions(ctx, activityOptions(in.Terms))
	for range cohortPagesMax {
		next, err := walkPage(ctx, &in)
		if err != nil || next == "" {
			return in.Walked, err
		}
		in.After = next
		if err := workflow.Sleep(ctx, in.Pause); err != nil {
			return in.Walked, err
		}
	}
	return in.Walked, workflow.NewContinueAsNewError(ctx, Cohort, in)
}

func walkPage(ctx workflow.Context, in *CohortInput) (next string, err error) {
	var page LeasePage
	find := FindInput{From: in.From, Before: in.Before, After: in.After, Items: in.PageItems}
	if err := workflow.ExecuteActivity(ctx, activityFind, find).Get(ctx, &page); err != nil {
		return "", fmt.Errorf("find leases after %q: %w", in.After, err)
	}
	if len(page.Leases) == 0 {
		return page.Next, nil
	}
	var walked Walked
	if err := workflow.ExecuteActivity(ctx, activityStart, StartInput{Leases: page.Leases, Terms: in.Terms}).Get(ctx, &walked); err != nil {
		return "", fmt.Errorf("start renewals after %q: %w", in.After, err)
	}
	in.Walked = in.Walked.add(walked)
	return page.Next, nil
}

// refusedMax bounds the list of leases with bad fields; the counts go on.
const refusedMax = 20

func (w Walked) add(more Walked) Walked {
	w.Seen += more.Seen
	w.Started += more.Started
	w.Known += more.Known
	w.Refused = append(w.Refused, more.Refused...)
	w.Refused = w.Refused[:min(len(w.Refused), refusedMax)]
	return w
}

// FindInput asks for a page of leases.
type FindInput struct {
	From   time.Time `json:"from"`
	Before time.Time `json:"before"`
	After  string    `json:"after,omitempty"`
	Items  int       `json:"items"`
}

// StartInput is a page of leases whose renewals should run.
type StartInput struct {
	Leases []Lease `json:"leases"`
	Terms  Terms   `json:"terms"`
}
