package temporalsaga_test

import (
	"context"
	"errors"
	"slices"
	"sync"
	"testing"
	"time"

	"go.temporal.io/sdk/testsuite"

	"github.com/hotsplit/hotsplit/renewal"
	"github.com/hotsplit/hotsplit/renewal/temporalsaga"
)

// desk is the office around a renewal: the portfolio and the post. It remembers
// letters by id, as who delivers them must.
type desk struct {
	mu      sync.Mutex
	ends    map[string]time.Time
	extends map[string]temporalsaga.Extended
	letters map[string]temporalsaga.Letter
	quote   func() (int64, error)
}

func newDesk() *desk {
	return &desk{
		ends: map[string]time.Time{}, extends: map[string]temporalsaga.Extended{}, letters: map[string]temporalsaga.Letter{},
		quote: func() (int64, error) { return 123_400, nil },
	}
}

func (d *desk) Ending(context.Context, time.Time, time.Time, string, int) (temporalsaga.LeasePage, error) {
	return temporalsaga.LeasePage{}, nil
}

func (d *desk) Quote(context.Context, temporalsaga.Lease) (int64, error) { return d.quote() }

func (d *desk) Extend(_ context.Context, e temporalsaga.Extension) (temporalsaga.Extended, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if done, ok := d.extends[e.ID]; ok {
		return done, nil
	}
	d.ends[e.LeaseID] = e.To
	d.extends[e.ID] = temporalsaga.Extended{Ends: e.To}
	return d.extends[e.ID], nil
}

func (d *desk) Send(_ context.Context, letter temporalsaga.Letter) error {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.letters[letter.ID] = letter
	return nil
}

// kinds lists the kinds of the letters that were sent, each letter once.
func (d *desk) kinds() []string {
	d.mu.Lock()
	defer d.mu.Unlock()
	var kinds []string
	for _, letter := range d.letters {
		kinds = append(kinds, letter.Kind)
	}
	slices.Sort(kinds)
	return kinds
}

// office is one renewal in the SDK's test environment, where time is skipped.
type office struct {
	*testsuite.TestWorkflowEnvironment
	t     *testing.T
	desk  *desk
	store renewal.Store
	lease temporalsaga.Lease
}

func newOffice(t *testing.T) *office {
	t.Helper()
	var suite testsuite.WorkflowTestSuite
	suite.SetLogger(silent{})
	o := &office{TestWorkflowEnvironment: suite.NewTestWorkflowEnvironment(), t: t, desk: newDesk(), lease: temporalsaga.Lease{
		ID: "lease-1", PersonID: "person-1", PropertyID: "elm-street", Unit: "4B",
		Ends: time.Date(2027, 3, 31, 0, 0, 0, 0, time.UTC), RentCents: 120_000, TermMonths: 12,
	}}
	o.SetStartTime(time.Date(2026, 12, 1, 9, 0, 0, 0, time.UTC))
	o.SetTestTimeout(20 * time.Second)
	o.store = openStore(t, o.Now)
	temporalsaga.Register(o.TestWorkflowEnvironment, &temporalsaga.Activities{Store: o.store, Leases: o.desk, Letters: o.desk})
	return o
}

func (o *office) run(terms temporalsaga.Terms) {
	o.t.Helper()
	o.ExecuteWorkflow(temporalsaga.WorkflowType, temporalsaga.NewInput(o.lease, "", terms))
}

// asks makes a request at a moment after the start and keeps what came of it.
func (o *office) asks(after time.Duration, q temporalsaga.Request) *reply {
	r := &reply{}
	o.RegisterDelayedCallback(func() { o.UpdateWorkflow("request", q.ID, r, q) }, after)
	return r
}

// reply collects the answer of an update.
type reply struct {
	answer temporalsaga.Answer
	err    error
	done   bool
}

func (r *reply) Accept()          {}
func (r *reply) Reject(err error) { r.err, r.done = err, true }
func (r *reply) Complete(value any, err error) {
	r.err, r.done = err, true
	if answer, ok := value.(temporalsaga.Answer); ok {
		r.answer = answer
	}
}

func (o *office) saga() renewal.Saga {
	o.t.Helper()
	saga, err := o.store.Saga(o.t.Context(), o.lease.SagaID())
	if err != nil {
		o.t.Fatal(err)
	}
	return saga
}

func (o *office) ends(want renewal.State) {
	o.t.Helper()
	if err := o.GetWorkflowError(); err != nil {
		o.t.Fatalf("workflow failed: %v", err)
	}
	if saga := o.saga(); saga.State != want || !saga.Archived {
		o.t.Fatalf("saga ends %s, archived %v; want %s and archived", saga.State, saga.Archived, want)
	}
}

const day = 24 * time.Hour

func TestRenewalAcceptedAndSigned(t *testing.T) {
	o := newOffice(t)
	accept := o.asks(3*day, temporalsaga.Request{ID: "m1", Kind: "message", To: renewal.Accepted, Text: "yes"})
	sign := o.asks(5*day, temporalsaga.Request{ID: "s1", Kind: "signature", To: renewal.Signed})
	o.run(temporalsaga.Terms{})
	o.ends(renewal.Completed)
	if accept.err != nil || accept.answer.Saga.State != renewal.Accepted || sign.err != nil {
		t.Errorf("answers %+v and %+v", accept, sign)
	}
	if got, want := o.desk.ends[o.lease.ID], o.lease.NextEnd(); !got.Equal(want) || len(o.desk.extends) != 1 {
		t.Errorf("lease ends %v after %d extensions, want %v after one", got, len(o.desk.extends), want)
	}
	if got, want := o.desk.kinds(), []string{"contract", "offer"}; !slices.Equal(got, want) {
		t.Errorf("letters %v, want %v", got, want)
	}
}

func TestRenewalExpires(t *testing.T) {
	o := newOffice(t)
	o.run(temporalsaga.Terms{})
	o.ends(renewal.Expired)
	if len(o.desk.extends) != 0 {
		t.Errorf("an expired renewal extended the lease: %v", o.desk.extends)
	}
}

func TestRenewalNegotiates(t *testing.T) {
	o := newOffice(t)
	o.asks(1*day, temporalsaga.Request{ID: "m1", To: renewal.Negotiating, Text: "too much"})
	o.asks(2*day, temporalsaga.Request{ID: "d1", To: renewal.Prepared, RentCents: 121_000, By: "pm"})
	o.asks(3*day, temporalsaga.Request{ID: "m2", To: renewal.Accepted})
	o.asks(4*day, temporalsaga.Request{ID: "s1", To: renewal.Signed})
	o.run(temporalsaga.Terms{})
	o.ends(renewal.Completed)
	if got := o.saga().Offer.RentCents; got != 121_000 {
		t.Errorf("rent %d, want the negotiated one", got)
	}
}

func TestRenewalPrepareFailsAndIsCured(t *testing.T) {
	o := newOffice(t)
	broken := true
	o.desk.quote = func() (int64, error) {
		if broken {
			return 0, errors.New("market data: no such zip code")
		}
		return 99_000, nil
	}
	o.RegisterDelayedCallback(func() {
		if saga := o.saga(); saga.State != renewal.PrepareFailed {
			t.Errorf("after a day the saga is %s, want %s", saga.State, renewal.PrepareFailed)
		}
		broken = false
	}, day)
	o.asks(day+time.Minute, temporalsaga.Request{ID: "d1", To: renewal.Preparing, By: "pm"})
	o.asks(2*day, temporalsaga.Request{ID: "m1", To: renewal.Declined})
	o.run(temporalsaga.Terms{})
	o.ends(renewal.Declined)
}

// silent drops the SDK's own log.
type silent struct{}

func (silent) Debug(string, ...any) {}
func (silent) Info(string, ...any)  {}
func (silent) Warn(string, ...any)  {}
func (silent) Error(string, ...any) {}

func TestRenewalRemindsOnce(t *testing.T) {
	o := newOffice(t)
	o.asks(15*day, temporalsaga.Request{ID: "m1", Kind: "message", Text: "I shall think about it"})
	o.run(temporalsaga.Terms{})
	o.ends(renewal.Expired)
	if got, want := o.desk.kinds(), []string{"offer", "reminder"}; !slices.Equal(got, want) {
		t.Errorf("letters %v, want %v", got, want)
	}
}
