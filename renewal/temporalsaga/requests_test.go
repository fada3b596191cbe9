package temporalsaga_test

import (
	"errors"
	"strings"
	"testing"
	"time"

	"go.temporal.io/sdk/converter"
	"go.temporal.io/sdk/temporal"
	"go.temporal.io/sdk/workflow"

	"github.com/hotsplit/hotsplit/renewal"
	"github.com/hotsplit/hotsplit/renewal/temporalsaga"
)

// errorType is the type of the application error that an update was answered with.
func errorType(err error) string {
	var application *temporal.ApplicationError
	if errors.As(err, &application) {
		return application.Type()
	}
	return ""
}

func TestRequestTwiceIsDoneOnce(t *testing.T) {
	o := newOffice(t)
	accept := temporalsaga.Request{ID: "m1", To: renewal.Accepted}
	first := o.asks(1*day, accept)
	o.RegisterDelayedCallback(func() { o.SignalWorkflow("request", accept) }, 1*day)
	other := o.asks(2*day, temporalsaga.Request{ID: "m1", To: renewal.Declined})
	o.asks(3*day, temporalsaga.Request{ID: "s1", To: renewal.Signed})
	o.run(temporalsaga.Terms{})
	o.ends(renewal.Completed)
	if first.err != nil {
		t.Errorf("first: %v", first.err)
	}
	if other.answer.Saga.State != renewal.Accepted || other.answer.Body != first.answer.Body {
		t.Errorf("the id again with another body got %+v, want the first answer %+v", other.answer, first.answer)
	}
}

func TestRequestThatIsRefused(t *testing.T) {
	o := newOffice(t)
	stale := o.asks(1*day, temporalsaga.Request{ID: "d1", From: renewal.Negotiating, To: renewal.Cancelled})
	again := o.asks(2*day, temporalsaga.Request{ID: "d2", From: renewal.Negotiating, To: renewal.Cancelled})
	o.run(temporalsaga.Terms{})
	o.ends(renewal.Expired)
	for _, r := range []*reply{stale, again} {
		if !r.done || errorType(r.err) != "Refused" {
			t.Errorf("stale request answered %v, want Refused", r.err)
		}
	}
}

func TestRequestBadInput(t *testing.T) {
	o := newOffice(t)
	bad := map[string]*reply{}
	for name, q := range map[string]temporalsaga.Request{
		"no id":      {To: renewal.Accepted},
		"huge text":  {ID: "m1", Text: strings.Repeat("x", 3<<20)},
		"huge id":    {ID: strings.Repeat("x", 200)},
		"nul":        {ID: "m\x00"},
		"below zero": {ID: "m2", To: renewal.Prepared, RentCents: -1},
	} {
		bad[name] = o.asks(day, q)
	}
	o.run(temporalsaga.Terms{})
	o.ends(renewal.Expired)
	for name, r := range bad {
		if !r.done || errorType(r.err) != "BadInput" {
			t.Errorf("%s: answered %v, want BadInput", name, r.err)
		}
	}
}

func TestRequestAsTalkLeavesTheSaga(t *testing.T) {
	o := newOffice(t)
	talk := o.asks(day, temporalsaga.Request{ID: "m1", Kind: "message", Text: "is the cat allowed?"})
	o.RegisterDelayedCallback(func() {
		value, err := o.QueryWorkflow("timeline")
		if err != nil {
			t.Error(err)
			return
		}
		var timeline temporalsaga.Timeline
		if err := value.Get(&timeline); err != nil {
			t.Error(err)
		}
		last := timeline.Events[len(timeline.Events)-1]
		if last.Text != "is the cat allowed?" || timeline.Waiting != "a reply" {
			t.Errorf("timeline %+v", timeline)
		}
	}, 2*day)
	o.run(temporalsaga.Terms{})
	o.ends(renewal.Expired)
	if talk.err != nil || talk.answer.Saga.State != renewal.Offered {
		t.Errorf("talk answered %+v", talk)
	}
}

func TestNudgeMakesTheRenewalLook(t *testing.T) {
	o := newOffice(t)
	o.RegisterDelayedCallback(func() {
		if _, err := o.store.Transition(t.Context(), o.lease.SagaID(), renewal.Change{Op: "page", To: renewal.Cancelled}); err != nil {
			t.Error(err)
		}
		o.SignalWorkflow("nudge", nil)
	}, day)
	o.run(temporalsaga.Terms{ArchiveAfter: time.Hour})
	o.ends(renewal.Cancelled)
	if spent := o.Now().Sub(time.Date(2026, 12, 1, 9, 0, 0, 0, time.UTC)); spent > 2*day {
		t.Errorf("renewal ended after %v, want soon after the nudge", spent)
	}
}

func TestContinuesAsNewWithItsMemory(t *testing.T) {
	o := newOffice(t)
	for i := range 3 {
		o.asks(time.Duration(i+1)*day, temporalsaga.Request{ID: strings.Repeat("m", i+1), Text: "hm"})
	}
	o.run(temporalsaga.Terms{RequestsMax: 3})
	var again *workflow.ContinueAsNewError
	if !errors.As(o.GetWorkflowError(), &again) {
		t.Fatalf("workflow ended with %v, want a new run", o.GetWorkflowError())
	}
	var next temporalsaga.Input
	if err := convert(again, &next); err != nil {
		t.Fatal(err)
	}
	if len(next.Carried.Answers) != 3 || next.Carried.Runs != 1 || len(next.Carried.Events) == 0 {
		t.Errorf("next run starts with %+v", next.Carried)
	}
}

// convert decodes what the next run starts with.
func convert(again *workflow.ContinueAsNewError, next *temporalsaga.Input) error {
	return converter.GetDefaultDataConverter().FromPayloads(again.Input, next)
}
