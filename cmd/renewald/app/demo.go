package app

import (
	"cmp"
	"context"
	"fmt"
	"math/rand/v2"
	"net"
	"net/http"
	"sync"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"golang.org/x/sync/errgroup"

	"github.com/hotsplit/hotsplit/cmd/renewald/portfolio"
	"github.com/hotsplit/hotsplit/emulator"
	"github.com/hotsplit/hotsplit/emulator/awsjson"
	"github.com/hotsplit/hotsplit/renewal"
	"github.com/hotsplit/hotsplit/renewal/dynamostore"
	"github.com/hotsplit/hotsplit/renewal/temporalsaga"
	"github.com/hotsplit/hotsplit/shard"
)

// demo is an emulator in this process, which answers over HTTP too so that
// hotsplit can work on the table that the pages show.
type demo struct {
	db       *emulator.DB
	listener net.Listener
	server   *http.Server
	stopped  sync.WaitGroup
}

func newDemo(o Options) (*demo, error) {
	d := &demo{db: emulator.New(o.Emulator)}
	var err error
	if d.listener, err = net.Listen("tcp", o.DemoEndpoint); err != nil {
		return nil, fmt.Errorf("listen for the demo's emulator: %w", err)
	}
	d.server = &http.Server{Handler: awsjson.Handler(d.db), ReadHeaderTimeout: 10 * time.Second}
	d.stopped.Go(func() { _ = d.server.Serve(d.listener) })
	return d, nil
}

func (d *demo) endpoint() string { return "http://" + d.listener.Addr().String() }

func (d *demo) close() {
	_ = d.server.Close()
	d.stopped.Wait()
}

// The portfolio that a demonstration shows.
var (
	demoProperties = []string{"elm-street-12", "harbor-view", "maple-court", "mill-lane-7", "oak-terrace", "river-house"}
	demoFirst      = []string{"Ada", "Amir", "Bea", "Carlos", "Chen", "Dana", "Elif", "Femi", "Grace", "Hugo", "Ines", "Jonas", "Kofi", "Lena", "Mila", "Noor", "Omar", "Priya", "Rosa", "Sven"}
	demoLast       = []string{"Abebe", "Brandt", "Castillo", "Dubois", "Evans", "Fischer", "García", "Hansen", "Ito", "Jansen", "Kowalski", "Lindqvist", "Mensah", "Novak", "Okafor", "Patel", "Quinn", "Rossi", "Silva", "Tanaka"}
)

// demoPaths are how far renewals have come, the more usual ones more often.
var demoPaths = [][]renewal.State{
	{},
	{renewal.Preparing},
	{renewal.Preparing, renewal.PrepareFailed},
	{renewal.Preparing, renewal.Prepared},
	{renewal.Preparing, renewal.Prepared, renewal.Offered},
	{renewal.Preparing, renewal.Prepared, renewal.Offered},
	{renewal.Preparing, renewal.Prepared, renewal.Offered},
	{renewal.Preparing, renewal.Prepared, renewal.Offered, renewal.Negotiating},
	{renewal.Preparing, renewal.Prepared, renewal.Offered, renewal.Accepted},
	{renewal.Preparing, renewal.Prepared, renewal.Offered, renewal.Accepted, renewal.Signed},
	{renewal.Preparing, renewal.Prepared, renewal.Offered, renewal.Accepted, renewal.Signed, renewal.Completed},
	{renewal.Preparing, renewal.Prepared, renewal.Offered, renewal.Declined},
	{renewal.NoticeReceived},
}

// fillInFlight keeps filling below what one key takes.
const fillInFlight = 6

func (d *demo) fill(ctx context.Context, client *dynamodb.Client, o Options) error {
	defer d.hurry()()
	layout := o.Layout()
	if o.Move != "" {
		layout = Legacy() // where a move begins
	}
	routing := dynamostore.Static(shard.Static(layout))
	leases := portfolio.New(client, o.Table)
	g, filling := errgroup.WithContext(ctx)
	g.SetLimit(fillInFlight)
	now := time.Now().UTC()
	for i := range o.DemoSagas {
		g.Go(func() error {
			chance := rand.New(rand.NewPCG(uint64(i), 85)) // the same portfolio every time
			story := storyOf(i, chance, now)
			if _, err := leases.Import(filling, []temporalsaga.Lease{story.lease}); err != nil {
				return err
			}
			return story.tell(filling, func(clock func() time.Time) *dynamostore.Store {
				return dynamostore.New(client, o.Table, routing, dynamostore.Options{Now: clock})
			})
		})
	}
	if err := g.Wait(); err != nil {
		return fmt.Errorf("fill the demo's table: %w", err)
	}
	return d.settle(ctx, o)
}

const (
	settleMax  = 5 * time.Second
	settleStep = 20 * time.Millisecond
)

// settle waits until the index shows what was written, so that the first list is
// the whole portfolio.
func (d *demo) settle(ctx context.Context, o Options) error {
	ctx, cancel := context.WithTimeout(ctx, settleMax)
	defer cancel()
	tick := time.NewTicker(settleStep)
	defer tick.Stop()
	for {
		pending, err := d.db.PendingIndex(o.Table, o.Layout().Index)
		if err != nil || pending == 0 {
			return err
		}
		select {
		case <-ctx.Done():
			return nil // a held index never settles; the list then fills up later
		case <-tick.C:
		}
	}
}

// hurry lets the emulator's clock run fast until the returned function is called:
// small partitions, which throttle what a demonstration shows, would make
// filling its table take minutes.
func (d *demo) hurry() (stop func()) {
	done := make(chan struct{})
	var running sync.WaitGroup
	running.Go(func() {
		tick := time.NewTicker(time.Millisecond)
		defer tick.Stop()
		for {
			select {
			case <-done:
				return
			case <-tick.C:
				d.db.Advance(500 * time.Millisecond)
			}
		}
	})
	return func() { close(done); running.Wait() }
}

// story is one renewal of the demonstration.
type story struct {
	saga   renewal.Saga
	lease  temporalsaga.Lease
	path   []renewal.State
	began  time.Time
	step   time.Duration
	offer  renewal.Offer
	reason string
}

func storyOf(i int, chance *rand.Rand, now time.Time) story {
	path := demoPaths[chance.IntN(len(demoPaths))]
	property := demoProperties[i%len(demoProperties)]
	rent := int64(90_000+chance.IntN(160)*1000) / 500 * 500
	ends := now.AddDate(0, 0, 20+chance.IntN(100)).Truncate(24 * time.Hour)
	age := time.Duration(1+chance.IntN(12)) * 24 * time.Hour
	s := renewal.Saga{
		PersonID: fmt.Sprintf("p-%04d", 1000+i), LeaseID: fmt.Sprintf("L-%04d", 2000+i), PropertyID: property,
		PersonName: demoFirst[chance.IntN(len(demoFirst))] + " " + demoLast[chance.IntN(len(demoLast))],
		Unit:       fmt.Sprintf("%d%c", 1+i/len(demoProperties)%9, 'A'+rune(chance.IntN(6))), LeaseEnd: ends, OpenedAt: now.Add(-age),
	}
	return story{
		saga: s, path: path, began: now.Add(-age), step: age / time.Duration(len(path)+1),
		lease:  temporalsaga.Lease{ID: s.LeaseID, PersonID: s.PersonID, PersonName: s.PersonName, PropertyID: property, Unit: s.Unit, Ends: ends, RentCents: rent, TermMonths: 12},
		offer:  renewal.Offer{RentCents: rent * 103 / 100 / 100 * 100, Expires: now.AddDate(0, 0, chance.IntN(15))},
		reason: []string{"no comparable rents for this unit", "the ledger did not answer", "the owner's approval is missing"}[chance.IntN(3)],
	}
}

// tell opens the renewal and makes its moves at the times at which they would
// have been made.
func (s story) tell(ctx context.Context, open func(clock func() time.Time) *dynamostore.Store) error {
	at := s.began
	store := open(func() time.Time { return at })
	saga, err := store.Open(ctx, s.saga)
	if err != nil {
		return err
	}
	for i, to := range s.path {
		at = at.Add(s.step)
		c := renewal.Change{Op: fmt.Sprintf("demo.%d", i), To: to, Kind: "decision", By: "automation", Text: demoWords[to]}
		if to == renewal.PrepareFailed {
			c.Text = s.reason
		}
		if to == renewal.Prepared || to == renewal.Offered {
			c.Offer = &s.offer
		}
		if to == renewal.Negotiating || to == renewal.Accepted || to == renewal.Declined || to == renewal.NoticeReceived {
			c.By = cmp.Or(saga.PersonName, "tenant")
		}
		if saga, err = store.Transition(ctx, saga.ID, c); err != nil {
			return err
		}
	}
	return nil
}

var demoWords = map[renewal.State]string{
	renewal.Negotiating:    "Could we stay at the present rent if we sign for two years?",
	renewal.Accepted:       "Yes, we would love to stay.",
	renewal.Declined:       "Thank you, but we have found something nearer to work.",
	renewal.NoticeReceived: "We are moving out at the end of the lease.",
}
