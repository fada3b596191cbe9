package temporalsaga

import (
	"cmp"
	"fmt"
	"slices"
	"time"

	"github.com/hotsplit/hotsplit/renewal"
)

// Fault is what can be wrong between a saga and its workflow.
type Fault string

// The faults, and what repairs them.
const (
	NoWorkflow     Fault = "no workflow"     // an open saga that nothing moves: start one, the saga says where
	ClosedWorkflow Fault = "closed workflow" // its workflow ended before its time: start one again
	NoSaga         Fault = "no saga"         // a workflow whose row is gone: for a person to look at
	Behind         Fault = "behind"          // the workflow believes another state: have it read the row
	StuckTask      Fault = "stuck task"      // an activity or the workflow's own code fails over and over: for a person
)

// Repairable says that Repair can heal the fault without a person. Nothing that
// it does could harm a healthy renewal.
func (f Fault) Repairable() bool {
	return f == NoWorkflow || f == ClosedWorkflow || f == Behind
}

// Flow is what Temporal's list says of one renewal workflow.
type Flow struct {
	WorkflowID string
	Running    bool
	State      renewal.State // as the workflow last said
	StartedAt  time.Time
}

// Standing is what a saga row says, with the lease it belongs to.
type Standing struct {
	Saga  Snapshot
	Lease Lease
}

// Finding is one fault.
type Finding struct {
	Fault      Fault
	WorkflowID string
	SagaID     string
	Lease      Lease
	Detail     string
}

func (f Finding) String() string {
	return fmt.Sprintf("%s: saga %s, workflow %s: %s", f.Fault, f.SagaID, f.WorkflowID, f.Detail)
}

// Compare holds sagas against workflows, both ways. settled is how long a
// difference must have stood: Temporal's list and the index both lag a little.
func Compare(sagas []Standing, flows []Flow, now time.Time, settled time.Duration) []Finding {
	byID := map[string]Flow{}
	for _, flow := range flows {
		if known, ok := byID[flow.WorkflowID]; !ok || flow.Running || !known.Running && flow.StartedAt.After(known.StartedAt) {
			byID[flow.WorkflowID] = flow
		}
	}
	var findings []Finding
	sagaOf := map[string]bool{}
	for _, s := range sagas {
		sagaOf[s.Lease.WorkflowID()] = true
		if s.Saga.Archived || now.Sub(s.Saga.UpdatedAt) < settled {
			continue
		}
		flow, known := byID[s.Lease.WorkflowID()]
		if f, ok := compareOne(s, flow, known); ok {
			findings = append(findings, f)
		}
	}
	for id, flow := range byID {
		if flow.Running && !sagaOf[id] && now.Sub(flow.StartedAt) >= settled {
			findings = append(findings, Finding{Fault: NoSaga, WorkflowID: id, Detail: fmt.Sprintf("in state %q", flow.State)})
		}
	}
	slices.SortFunc(findings, func(a, b Finding) int { return cmp.Compare(a.WorkflowID, b.WorkflowID) })
	return findings
}

func compareOne(s Standing, flow Flow, known bool) (Finding, bool) {
	f := Finding{WorkflowID: s.Lease.WorkflowID(), SagaID: s.Saga.ID, Lease: s.Lease}
	switch {
	case !known:
		f.Fault, f.Detail = NoWorkflow, fmt.Sprintf("saga is %s", s.Saga.State)
	case !flow.Running:
		f.Fault, f.Detail = ClosedWorkflow, fmt.Sprintf("saga is %s and not archived", s.Saga.State)
	case flow.State != s.Saga.State:
		f.Fault, f.Detail = Behind, fmt.Sprintf("saga is %s, workflow believes %q", s.Saga.State, flow.State)
	default:
		return Finding{}, false
	}
	return f, true
}
