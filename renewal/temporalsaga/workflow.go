package temporalsaga

import (
	"fmt"

	"go.temporal.io/sdk/temporal"
	"go.temporal.io/sdk/workflow"

	"github.com/hotsplit/hotsplit/renewal"
)

// Names that others use to reach a workflow. They stand in recorded histories
// and in running programs: never rename one.
const (
	WorkflowType  = "Renewal"
	CohortType    = "RenewalCohort"
	updateRequest = "request"
	signalRequest = "request"
	signalNudge   = "nudge"
	queryTimeline = "timeline"
)

// Input is what a renewal starts with. SagaID is the lease's own unless the
// workflow adopts a saga that was opened without it.
type Input struct {
	Lease   Lease   `json:"lease"`
	SagaID  string  `json:"sagaId"`
	Terms   Terms   `json:"terms"`
	Carried Carried `json:"carried,omitzero"`
}

// NewInput spells the input out: nothing in it depends on a later default.
func NewInput(lease Lease, sagaID string, terms Terms) Input {
	fill(&sagaID, lease.SagaID())
	return Input{Lease: lease, SagaID: sagaID, Terms: terms.withDefaults()}
}

// Carried is what one run hands to the next when it continues as new.
type Carried struct {
	Events   []Event    `json:"events,omitempty"`
	Answers  []answered `json:"answers,omitempty"`
	Reminded int64      `json:"reminded,omitempty"` // the stay in a state whose reminder was sent
	Runs     int        `json:"runs,omitempty"`
}

// Renewal is the workflow of one lease and term. It ends when its saga is
// archived.
func Renewal(ctx workflow.Context, input Input) (Snapshot, error) {
	r := &run{input: input, Carried: input.Carried}
	if err := r.listen(ctx); err != nil {
		return Snapshot{}, err
	}
	if err := r.open(ctx); err != nil {
		return Snapshot{}, err
	}
	for !r.saga.Archived {
		if r.full(ctx) {
			return r.saga, r.continueAsNew(ctx)
		}
		if err := r.step(ctx); err != nil {
			return r.saga, err
		}
	}
	return r.saga, r.drain(ctx)
}

// run is one run of a renewal: the input, what it carried over, and what it
// knows of its saga.
type run struct {
	input Input
	Carried
	saga    Snapshot
	inbox   []*pending
	nudged  bool
	handled int
	waiting string // what the renewal waits for, for the page
}

// open opens the saga, or finds the one that is there.
func (r *run) open(ctx workflow.Context) error {
	var saga Snapshot
	err := workflow.ExecuteActivity(r.patient(ctx), activityOpen, OpenInput{SagaID: r.input.SagaID, Lease: r.input.Lease}).Get(ctx, &saga)
	if err != nil {
		return fmt.Errorf("open saga %s: %w", r.input.SagaID, err)
	}
	if r.Runs == 0 {
		r.note(ctx, "opened", "")
	}
	return r.know(ctx, saga)
}

// step does what the saga's state calls for.
func (r *run) step(ctx workflow.Context) error {
	switch r.saga.State {
	case renewal.Opened:
		return r.advance(ctx, renewal.Preparing)
	case renewal.Preparing:
		return r.prepare(ctx)
	case renewal.PrepareFailed:
		return r.awaitCure(ctx)
	case renewal.Prepared:
		return r.offer(ctx)
	case renewal.Offered, renewal.Negotiating:
		return r.awaitReply(ctx)
	case renewal.Accepted:
		return r.awaitSignature(ctx)
	case renewal.Signed:
		return r.complete(ctx)
	case renewal.Completed, renewal.Declined, renewal.Expired, renewal.Cancelled, renewal.NoticeReceived:
		return r.archive(ctx)
	default:
		return temporal.NewNonRetryableApplicationError(
			fmt.Sprintf("saga %s is in the unknown state %q: upgrade the worker", r.saga.ID, r.saga.State), typeInput, nil)
	}
}

// know takes over what an activity said about the saga.
func (r *run) know(ctx workflow.Context, saga Snapshot) error {
	changed := saga.State != r.saga.State
	r.saga = saga
	if !changed {
		return nil
	}
	return workflow.UpsertTypedSearchAttributes(ctx, attributeState.ValueSet(string(saga.State)))
}

// full says that this run has handled so much that the next one should go on.
func (r *run) full(ctx workflow.Context) bool {
	return r.handled >= r.input.Terms.RequestsMax || workflow.GetInfo(ctx).GetContinueAsNewSuggested()
}

// continueAsNew hands over to a new run when nobody waits for an answer.
func (r *run) continueAsNew(ctx workflow.Context) error {
	if err := r.settle(ctx); err != nil {
		return err
	}
	next := r.input
	next.Carried = r.Carried
	next.Carried.Runs++
	return workflow.NewContinueAsNewError(ctx, Renewal, next)
}
