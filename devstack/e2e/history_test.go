package e2e_test

import (
	"errors"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"testing"
	"time"

	enums "go.temporal.io/api/enums/v1"
	"go.temporal.io/api/history/v1"
	"go.temporal.io/sdk/client"
	"go.temporal.io/sdk/worker"
	"go.temporal.io/sdk/workflow"
	"google.golang.org/protobuf/encoding/protojson"

	"github.com/hotsplit/hotsplit/renewal"
	"github.com/hotsplit/hotsplit/renewal/temporalsaga"
)

// record names the release whose histories are stored for good, beside those of
// the releases before. Without it the histories are replayed and forgotten.
var record = flag.String("record", "", "store the histories as those of this release, for instance v3")

const historyFolder = "../../renewal/temporalsaga/testdata/histories"

// TestHistories takes renewals through all they can meet and replays what
// Temporal recorded of them.
func TestHistories(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	r.terms.RequestsMax = 4
	r.work(&lossy{share: 0.1})
	c := r.dial()
	leases := r.leases(5)
	stories := map[string]func(temporalsaga.Lease){
		"accepted":   r.signs,
		"negotiated": r.negotiates,
		"expired":    func(temporalsaga.Lease) {},
		"cured":      r.cures,
		"cancelled":  r.cancels,
	}
	next := 0
	for name, story := range stories {
		lease := leases[next]
		next++
		terms := r.terms
		if name == "expired" {
			terms.ReplyWithin = 2 * time.Second
		}
		if name == "cured" {
			lease.RentCents = 0
			r.table.dropRent(lease)
		}
		if _, err := r.worker.Renewals().StartWith(t.Context(), lease, terms); err != nil {
			t.Fatal(err)
		}
		story(lease)
		r.archived(lease)
		for i, run := range r.runs(c, lease.WorkflowID()) {
			keep(t, fmt.Sprintf("%s%s", name, suffix(i)), run)
		}
	}
	r.walk(c, r.queue+"-walk")
	keep(t, "cohort", events(t, c, r.queue+"-walk", ""))
}

func suffix(run int) string {
	if run == 0 {
		return ""
	}
	return fmt.Sprintf("-run%d", run+1)
}

func (r *rig) negotiates(lease temporalsaga.Lease) {
	r.reaches(lease, renewal.Offered)
	r.ask(lease, temporalsaga.Request{ID: "n1-" + lease.ID, Kind: "message", To: renewal.Negotiating, Text: "too much"})
	r.ask(lease, temporalsaga.Request{ID: "n2-" + lease.ID, Kind: "message", Text: "still there?"})
	r.ask(lease, temporalsaga.Request{ID: "n3-" + lease.ID, Kind: "decision", To: renewal.Prepared, RentCents: 99_000, By: "pm"})
	r.signs(lease)
}

func (r *rig) cures(lease temporalsaga.Lease) {
	r.reaches(lease, renewal.PrepareFailed)
	if _, err := r.portfolio.Import(r.t.Context(), []temporalsaga.Lease{withRent(lease)}); err != nil {
		r.t.Fatal(err)
	}
	r.ask(lease, temporalsaga.Request{ID: "c1-" + lease.ID, Kind: "sweep", To: renewal.Preparing})
	r.signs(lease)
}

func (r *rig) cancels(lease temporalsaga.Lease) {
	r.reaches(lease, renewal.Offered)
	_, err := r.worker.Renewals().Ask(r.t.Context(), lease.WorkflowID(),
		temporalsaga.Request{ID: "x0-" + lease.ID, Kind: "decision", From: renewal.Accepted, To: renewal.Signed})
	if !errors.Is(err, temporalsaga.ErrRefused) {
		r.t.Errorf("a move from a state that it is not in: %v, want ErrRefused", err)
	}
	r.ask(lease, temporalsaga.Request{ID: "x1-" + lease.ID, Kind: "decision", To: renewal.Cancelled, By: "pm"})
}

func withRent(lease temporalsaga.Lease) temporalsaga.Lease {
	lease.RentCents = 88_000
	return lease
}

// runs are the histories of a workflow that continued as new, the first one first.
func (r *rig) runs(c client.Client, workflowID string) []*history.History {
	r.t.Helper()
	var all []*history.History
	run := events(r.t, c, workflowID, firstRun(r.t, c, workflowID))
	for {
		all = append(all, run)
		next := run.Events[len(run.Events)-1].GetWorkflowExecutionContinuedAsNewEventAttributes().GetNewExecutionRunId()
		if next == "" {
			return all
		}
		run = events(r.t, c, workflowID, next)
	}
}

func firstRun(t *testing.T, c client.Client, workflowID string) string {
	t.Helper()
	last := events(t, c, workflowID, "")
	return last.Events[0].GetWorkflowExecutionStartedEventAttributes().GetFirstExecutionRunId()
}

// events waits for the end of a run and returns all that happened in it.
func events(t *testing.T, c client.Client, workflowID, runID string) *history.History {
	t.Helper()
	h := &history.History{}
	for iterator := c.GetWorkflowHistory(t.Context(), workflowID, runID, true, enums.HISTORY_EVENT_FILTER_TYPE_ALL_EVENT); iterator.HasNext(); {
		event, err := iterator.Next()
		if err != nil {
			t.Fatal(err)
		}
		h.Events = append(h.Events, event)
	}
	return h
}

// keep replays a history, and stores it when this run records.
func keep(t *testing.T, name string, h *history.History) {
	t.Helper()
	replayer := worker.NewWorkflowReplayer()
	replayer.RegisterWorkflowWithOptions(temporalsaga.Renewal, workflow.RegisterOptions{Name: temporalsaga.WorkflowType})
	replayer.RegisterWorkflowWithOptions(temporalsaga.Cohort, workflow.RegisterOptions{Name: temporalsaga.CohortType})
	if err := replayer.ReplayWorkflowHistory(nil, h); err != nil {
		t.Errorf("replay %s: %v", name, err)
	}
	if *record == "" {
		return
	}
	text, err := protojson.Marshal(h)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(historyFolder, *record+"-"+name+".json"), append(text, '\n'), 0o644); err != nil {
		t.Fatal(err)
	}
}
