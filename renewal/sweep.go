package renewal

import (
	"cmp"
	"fmt"
	"slices"
	"time"
)

// Decision is what a sweep wants done with one saga, or what it found when To is
// "". Version stands in the change, so a saga that moved meanwhile is left alone.
type Decision struct {
	SagaID string
	Change Change
	Why    string
}

// Finding is something that a person should look at.
type Finding struct {
	SagaID  string `json:"sagaId"`
	LeaseID string `json:"leaseId"`
	Why     string `json:"why"`
}

// Rules bounds what the sweeps do. The zero value is what we use in production.
type Rules struct {
	AttemptsMax int           // preparations of one renewal; 0 means 5
	RetryMin    time.Duration // before the second attempt, doubled for each further one; 0 means 10 min
	RetryMax    time.Duration // 0 means 6 h
	Grace       time.Duration // after an offer or lease ran out, for the workflow to say so itself; 0 means 1 h
	Stuck       time.Duration // in a state that the automation should leave by itself; 0 means 24 h
	Slow        time.Duration // in a state that waits for people; 0 means 21 days
}

func (r Rules) withDefaults() Rules {
	r.AttemptsMax = cmp.Or(r.AttemptsMax, 5)
	r.RetryMin = cmp.Or(r.RetryMin, 10*time.Minute)
	r.RetryMax = cmp.Or(r.RetryMax, 6*time.Hour)
	r.Grace = cmp.Or(r.Grace, time.Hour)
	r.Stuck = cmp.Or(r.Stuck, 24*time.Hour)
	r.Slow = cmp.Or(r.Slow, 21*24*time.Hour)
	return r
}

// RetryAt is when a failed preparation is due for another attempt. ok is false
// where no attempt is left, or none failed.
func (r Rules) RetryAt(s Saga) (at time.Time, ok bool) {
	r = r.withDefaults()
	if s.State != PrepareFailed || s.Archived || s.Attempts >= r.AttemptsMax {
		return time.Time{}, false
	}
	wait := r.RetryMin
	for range max(0, s.Attempts-1) {
		wait = min(2*wait, r.RetryMax)
	}
	return s.StateSince.Add(wait), true
}

// RetryFailedPrepare has failed preparations tried again, each a bounded number
// of times and ever later.
func (r Rules) RetryFailedPrepare(sagas []Saga, now time.Time) []Decision {
	var decisions []Decision
	for _, s := range sagas {
		if at, ok := r.RetryAt(s); ok && !now.Before(at) {
			decisions = append(decisions, decide(s, Preparing, "retry-failed-prepare", fmt.Sprintf("attempt %d", s.Attempts+1)))
		}
	}
	return decisions
}

// StuckSaga ends what ran out and nobody ended, and names what stands still.
func (r Rules) StuckSaga(sagas []Saga, now time.Time) ([]Decision, []Finding) {
	r = r.withDefaults()
	var decisions []Decision
	var findings []Finding
	for _, s := range sagas {
		if s.Archived || s.State.Ended() {
			continue
		}
		if why := r.ranOut(s, now); why != "" && s.State.MayMove(Expired) {
			decisions = append(decisions, decide(s, Expired, "stuck-saga", why))
		} else if why := r.stands(s, now); why != "" {
			findings = append(findings, finding(s, why))
		}
	}
	return decisions, findings
}

func (r Rules) ranOut(s Saga, now time.Time) string {
	switch {
	case !s.LeaseEnd.IsZero() && now.After(s.LeaseEnd.AddDate(0, 0, 1).Add(r.Grace)):
		return "the lease ended on " + s.LeaseEnd.Format(time.DateOnly)
	case (s.State == Offered || s.State == Negotiating) && !s.Offer.Expires.IsZero() && now.After(s.Offer.Expires.Add(r.Grace)):
		return "the offer ran out on " + s.Offer.Expires.Format(time.DateOnly)
	default:
		return ""
	}
}

func (r Rules) stands(s Saga, now time.Time) string {
	standing := now.Sub(s.StateSince)
	switch {
	case s.StateSince.IsZero():
		return ""
	case s.State.Automatic() && standing > r.Stuck, standing > r.Slow:
		return fmt.Sprintf("%s since %s", s.State, s.StateSince.Format(time.DateOnly))
	default:
		return ""
	}
}

// Automatic says that the automation should leave s by itself, soon.
func (s State) Automatic() bool {
	return s == Opened || s == Preparing || s == Prepared || s == Signed
}

// WorkflowHealth names sagas that contradict themselves. What a workflow service
// says about them is compared where there is one.
func (r Rules) WorkflowHealth(sagas []Saga, now time.Time) []Finding {
	r = r.withDefaults()
	var findings []Finding
	for _, s := range sagas {
		if why := r.unhealthy(s, now); why != "" {
			findings = append(findings, finding(s, why))
		}
	}
	return findings
}

func (r Rules) unhealthy(s Saga, now time.Time) string {
	switch {
	case !s.State.Known():
		return fmt.Sprintf("state %q is of another release", s.State)
	case s.PersonID == "" || s.LeaseID == "":
		return "person or lease is missing"
	case s.LeaseEnd.IsZero():
		return "the lease's end is missing"
	case s.OpenedAt.After(now.Add(r.Grace)):
		return "opened in the future, on " + s.OpenedAt.Format(time.DateOnly)
	case s.State == PrepareFailed && s.Attempts >= r.AttemptsMax:
		return fmt.Sprintf("preparation failed %d times: %s", s.Attempts, s.LastError)
	case (s.State == Offered || s.State == Accepted || s.State == Signed) && s.Offer.RentCents == 0:
		return "offered without a rent"
	default:
		return ""
	}
}

// decide is a move whose id names saga, sweep and version: sweeping twice moves
// once.
func decide(s Saga, to State, sweep, why string) Decision {
	return Decision{SagaID: s.ID, Why: why, Change: Change{
		Op: fmt.Sprintf("sweep.%s.v%d", sweep, s.Version), From: s.State, To: to, Version: s.Version,
		By: sweep, Kind: "sweep", Text: why,
	}}
}

func finding(s Saga, why string) Finding {
	return Finding{SagaID: s.ID, LeaseID: s.LeaseID, Why: why}
}

// Metrics is the agents' snapshot of the portfolio.
type Metrics struct {
	Open     int            `json:"open"`
	ByState  map[State]int  `json:"byState"`
	Overdue  int            `json:"overdue"`  // the next action was due before now
	DueSoon  int            `json:"dueSoon"`  // within a week
	Failing  int            `json:"failing"`  // preparations that failed
	Won      int            `json:"won"`      // signed or completed
	Lost     int            `json:"lost"`     // declined, expired, cancelled, notice
	Property map[string]int `json:"property"` // open and not ended, by property
	Median   time.Duration  `json:"median"`   // age of renewals that have not ended
}

// AgentMetrics counts a snapshot.
func (r Rules) AgentMetrics(sagas []Saga, now time.Time) Metrics {
	m := Metrics{ByState: map[State]int{}, Property: map[string]int{}}
	var ages []time.Duration
	for _, s := range sagas {
		if s.Archived {
			continue
		}
		m.Open++
		m.ByState[s.State]++
		m.count(s, now)
		if !s.State.Ended() {
			m.Property[s.PropertyID]++
			ages = append(ages, now.Sub(s.OpenedAt))
		}
	}
	slices.Sort(ages)
	if len(ages) > 0 {
		m.Median = ages[len(ages)/2]
	}
	return m
}

const soon = 7 * 24 * time.Hour

func (m *Metrics) count(s Saga, now time.Time) {
	switch s.State {
	case PrepareFailed:
		m.Failing++
	case Signed, Completed:
		m.Won++
	case Declined, Expired, Cancelled, NoticeReceived:
		m.Lost++
	default:
	}
	next := s.Next()
	switch {
	case next.Due.IsZero():
	case next.Due.Before(now):
		m.Overdue++
	case next.Due.Before(now.Add(soon)):
		m.DueSoon++
	}
}
