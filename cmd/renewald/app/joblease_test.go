package app

import (
	"net/http"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"

	"github.com/hotsplit/hotsplit/emulator"
	"github.com/hotsplit/hotsplit/emulator/awsjson"
	"github.com/hotsplit/hotsplit/renewal/dynamostore"
)

func leaseRig(t *testing.T) (*emulator.DB, func(holder string) jobLease) {
	t.Helper()
	db := emulator.New(emulator.Options{})
	client := dynamodb.New(dynamodb.Options{
		Region: "us-east-1", Credentials: aws.AnonymousCredentials{}, HTTPClient: &http.Client{Transport: awsjson.Transport(db)},
	})
	if err := dynamostore.CreateTable(t.Context(), client, "sagas", Legacy(), dynamostore.Warm{}); err != nil {
		t.Fatal(err)
	}
	return db, func(holder string) jobLease { return jobLease{client: client, table: "sagas", holder: holder} }
}

func TestSlotIsRunOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		_, lease := leaseRig(t)
		a, b := lease("a"), lease("b")
		now := time.Now()
		h, ours, err := a.take(t.Context(), "job", 100, now)
		if err != nil || !ours {
			t.Fatalf("a: %v, %v", ours, err)
		}
		if _, ours, err := b.take(t.Context(), "job", 100, now); ours || err != nil {
			t.Errorf("b has the slot too: %v, %v", ours, err)
		}
		if _, ours, err := b.take(t.Context(), "job", 200, now); ours || err != nil {
			t.Errorf("b runs beside a: %v, %v", ours, err)
		}
		if err := a.finish(t.Context(), h, "done"); err != nil {
			t.Fatal(err)
		}
		if _, ours, err := b.take(t.Context(), "job", 100, now); ours || err != nil {
			t.Errorf("a slot that was run is run again: %v, %v", ours, err)
		}
		if _, ours, err := b.take(t.Context(), "job", 200, now); !ours || err != nil {
			t.Errorf("b does not get the next slot: %v, %v", ours, err)
		}
	})
}

// TestFrozenRunIsFenced: a run that froze past its lease is taken over, and what
// it reports when it thaws does not count.
func TestFrozenRunIsFenced(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		_, lease := leaseRig(t)
		a, b := lease("a"), lease("b")
		frozen, _, err := a.take(t.Context(), "job", 100, time.Now())
		if err != nil {
			t.Fatal(err)
		}
		time.Sleep(leaseFor + time.Second)
		next, ours, err := b.take(t.Context(), "job", 200, time.Now())
		if err != nil || !ours || next.token <= frozen.token {
			t.Fatalf("b takes over: %v with token %s after %s, %v", ours, next.token, frozen.token, err)
		}
		if err := a.finish(t.Context(), frozen, "late"); err == nil || !strings.Contains(err.Error(), "taken it over") {
			t.Errorf("the frozen run reported: %v", err)
		}
		if err := b.finish(t.Context(), next, "done"); err != nil {
			t.Error(err)
		}
	})
}

func TestLostAnswerOfALease(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		db, lease := leaseRig(t)
		db.Inject(emulator.Fault{Kind: emulator.FaultDrop, Operation: "UpdateItem", Count: 1})
		if _, ours, err := lease("a").take(t.Context(), "job", 100, time.Now()); err != nil || !ours {
			t.Errorf("the own lease was not recognised: %v, %v", ours, err)
		}
	})
}

func TestScheduleIsStable(t *testing.T) {
	every := 5 * time.Minute
	now := time.Date(2026, 12, 1, 9, 0, 0, 0, time.UTC)
	places := map[time.Duration]string{}
	for _, name := range Sweeps {
		at := next(name, every, now)
		if !at.After(now) || at.Sub(now) > every {
			t.Errorf("%s comes at %v", name, at)
		}
		if again := next(name, every, at); again.Sub(at) != every {
			t.Errorf("%s comes again after %v", name, again.Sub(at))
		}
		if slot(name, every, at) != slot(name, every, at.Add(every-time.Nanosecond)) || slot(name, every, at) == slot(name, every, at.Add(every)) {
			t.Errorf("%s has other slots than periods", name)
		}
		if other, taken := places[offset(name, every)]; taken {
			t.Errorf("%s and %s come together", name, other)
		}
		places[offset(name, every)] = name
	}
}
