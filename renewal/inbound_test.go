package renewal_test

import (
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/hotsplit/hotsplit/renewal"
)

func in(id string) renewal.Inbound { return renewal.Inbound{ID: id, PersonID: "p1", Text: "hello"} }

func offered(lease string, openedAt time.Time) renewal.Saga {
	return renewal.Saga{ID: lease + ".x", PersonID: "p1", LeaseID: lease, State: renewal.Offered, OpenedAt: openedAt, Version: 5}
}

func TestMessageMovesWhereItMay(t *testing.T) {
	for _, c := range []struct {
		state  renewal.State
		intent renewal.Intent
		want   renewal.State
	}{
		{renewal.Offered, renewal.Accept, renewal.Accepted},
		{renewal.Offered, renewal.Decline, renewal.Declined},
		{renewal.Offered, renewal.Counter, renewal.Negotiating},
		{renewal.Offered, "", renewal.Offered},
		{renewal.Preparing, renewal.Accept, renewal.Preparing},
		{renewal.Signed, renewal.Decline, renewal.Signed},
	} {
		saga := offered("l1", nine)
		saga.State = c.state
		d, ok := renewal.DecideMessage([]renewal.Saga{saga}, in("m1"), c.intent)
		if !ok {
			t.Fatal("no decision")
		}
		after, applied, err := saga.Apply(d.Change, nine)
		if err != nil || !applied || after.State != c.want || after.Timeline[0].Text != "hello" {
			t.Errorf("%s in %s: %+v, %v; want %s", c.intent, c.state, after, err, c.want)
		}
		if _, applied, err := after.Apply(d.Change, nine); err != nil || applied {
			t.Errorf("%s in %s again: applied %v, %v", c.intent, c.state, applied, err)
		}
	}
}

// TestMessageAgainGoesToWhoHeardIt: the first delivery ended the renewal, so the
// second must not end the person's other one.
func TestMessageAgainGoesToWhoHeardIt(t *testing.T) {
	first, second := offered("l1", nine.Add(time.Hour)), offered("l2", nine)
	d, _ := renewal.DecideMessage([]renewal.Saga{second, first}, in("m1"), renewal.Decline)
	if d.SagaID != first.ID {
		t.Fatalf("decided about %s, want the newest, %s", d.SagaID, first.ID)
	}
	first, _, _ = first.Apply(d.Change, nine)
	again, _ := renewal.DecideMessage([]renewal.Saga{second, first}, in("m1"), renewal.Decline)
	if again.SagaID != first.ID {
		t.Errorf("the repetition is about %s, want %s", again.SagaID, first.ID)
	}
	other, _ := renewal.DecideMessage([]renewal.Saga{second, first}, in("m2"), renewal.Decline)
	if other.SagaID != second.ID {
		t.Errorf("a new message is about %s, want %s", other.SagaID, second.ID)
	}
}

func TestNoticeEndsEveryRenewalOfThePerson(t *testing.T) {
	ended := offered("l3", nine)
	ended.State = renewal.Completed
	sagas := []renewal.Saga{offered("l1", nine), offered("l2", nine), ended}
	if got := renewal.DecideNotice(sagas, in("n1")); len(got) != 2 || got[0].Change.To != renewal.NoticeReceived {
		t.Errorf("decided %+v, want two notices", got)
	}
	one := in("n1")
	one.LeaseID = "l2"
	if got := renewal.DecideNotice(sagas, one); len(got) != 1 || got[0].SagaID != "l2.x" {
		t.Errorf("decided %+v, want one about l2", got)
	}
}

func TestSignalAndVoice(t *testing.T) {
	saga := offered("l1", nine)
	saga.State = renewal.Accepted
	d, ok := renewal.DecideSignal([]renewal.Saga{saga}, in("s1"), renewal.SignalSigned)
	if !ok || d.Change.To != renewal.Signed {
		t.Errorf("signed: %+v, %v", d, ok)
	}
	if d, ok := renewal.DecideVoice([]renewal.Saga{saga}, in("v1")); !ok || d.Change.To != "" || d.Change.Kind != "voice" {
		t.Errorf("voice: %+v, %v", d, ok)
	}
	if _, ok := renewal.DecideVoice(nil, in("v1")); ok {
		t.Error("a person without renewals got a decision")
	}
}

func TestInboundNamesBadFields(t *testing.T) {
	bad := renewal.Inbound{ID: strings.Repeat("x", 101), LeaseID: "a/b", Text: strings.Repeat("x", 3000)}
	err := bad.Validate()
	if !errors.Is(err, renewal.ErrInvalid) {
		t.Fatal(err)
	}
	for _, field := range []string{"id", "personId", "leaseId", "text"} {
		if !strings.Contains(err.Error(), field+" ") {
			t.Errorf("%v does not name %s", err, field)
		}
	}
}
