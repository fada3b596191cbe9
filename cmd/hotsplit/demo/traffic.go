package demo

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"math/rand/v2"
	"sync"
	"sync/atomic"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
	"golang.org/x/sync/errgroup"

	"github.com/hotsplit/hotsplit/fanout"
	"github.com/hotsplit/hotsplit/migrate"
)

// The ADR's traffic, with its hours pressed into seconds.
const (
	pollers      = 5                      // browsers on the list page
	pollEvery    = 500 * time.Millisecond // each of them
	personsMax   = 50                     // persons on a list page, each asked one by one
	pageInFlight = 10                     // of a page's queries at once
	sweepEvery   = 120 * time.Millisecond // each of those that want rows, for the ADR's number of rows
	countEvery   = 60 * time.Millisecond  // each of those that want a number
	sweeps       = 3                      // of each kind
	sweepRows    = 239                    // the ADR's number of rows
	lookupEvery  = 50 * time.Millisecond  // detail pages, and inbound messages
	writeEvery   = 20 * time.Millisecond  // state transitions
	openEvery    = 500 * time.Millisecond // new sagas, and the end of an earlier one
	opensAlive   = 4                      // of them at a time
)

// application is the program that owns the table: it reads and writes by a
// watched routing and has every answer checked.
type application struct {
	reader  *fanout.Reader
	watcher *migrate.Watcher
	client  *dynamodb.Client
	spec    migrate.Spec
	model   *model
	meter   *atomic.Pointer[meter]
	owners  []string
	own     bool // the rows are the user's own: no attribute of theirs may change
	opens   bool // rows can be made up: every key attribute is text
	sagas   *sagas

	mu     sync.Mutex // guards random, serial and sagas
	random *rand.Rand
	serial int

	living []*modelRow // opened by the traffic, oldest first; used by openAndPurge alone
}

// run drives the traffic until ctx ends. It gives an error only where the
// demonstration itself is wrong; what the service refuses is counted.
func (a *application) run(ctx context.Context) error {
	g, ctx := errgroup.WithContext(ctx)
	every := func(period time.Duration, do func(context.Context) error) {
		g.Go(func() error { return a.loop(ctx, period, do) })
	}
	for range pollers {
		every(pollEvery, a.listPage)
	}
	for range sweeps {
		every(a.paced(sweepEvery), a.sweepRows)
		every(a.paced(countEvery), a.sweepCount)
	}
	every(lookupEvery, a.detail)
	every(lookupEvery, a.inbound)
	every(writeEvery, a.transition)
	if a.opens {
		every(openEvery, a.openAndPurge)
	}
	return g.Wait()
}

// paced keeps the units that sweeps ask for the same whatever the number of
// rows: a larger table is swept less often.
func (a *application) paced(period time.Duration) time.Duration {
	return period * time.Duration(max(len(a.model.loaded), sweepRows)) / sweepRows
}

// loop calls do once a period, from a random moment on, and never twice at once.
func (a *application) loop(ctx context.Context, period time.Duration, do func(context.Context) error) error {
	first := time.NewTimer(time.Duration(a.draw(int(period))))
	defer first.Stop()
	select {
	case <-ctx.Done():
		return nil
	case <-first.C:
	}
	tick := time.NewTicker(period)
	defer tick.Stop()
	for {
		if err := do(ctx); err != nil && ctx.Err() == nil {
			return err
		}
		select {
		case <-ctx.Done():
			return nil
		case <-tick.C:
		}
	}
}

func (a *application) draw(n int) int {
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.random.IntN(n)
}

// ask reads, checks the answer, and counts a failure.
func (a *application) ask(ctx context.Context, q question, rows iter.Seq2[fanout.Item, error]) {
	answer, err := fanout.Collect(rows)
	if err != nil {
		a.failed(ctx)
		return
	}
	a.model.check(q, answer)
}

// failed counts a call that failed, unless it was cut off by the end of the
// traffic.
func (a *application) failed(ctx context.Context) {
	if ctx.Err() == nil {
		a.meter.Load().errors.Add(1)
	}
}

// timed counts how long the application waited: for a page, a look-up, a write,
// a sweep.
func (a *application) timed(ctx context.Context, do func()) {
	start := time.Now()
	do()
	if ctx.Err() == nil {
		a.meter.Load().waited(time.Since(start))
	}
}

func (a *application) askOwner(ctx context.Context, owner string) {
	q := question{owners: []string{owner}, started: time.Now()}
	a.ask(ctx, q, a.reader.Owner(ctx, owner, fanout.Query{}))
}

// listPage fans out per person, as the application of the ADR does.
func (a *application) listPage(ctx context.Context) error {
	var g errgroup.Group
	g.SetLimit(pageInFlight)
	a.timed(ctx, func() {
		for _, owner := range a.someOwners(personsMax) {
			g.Go(func() error { a.askOwner(ctx, owner); return nil })
		}
		_ = g.Wait() // nothing in it fails
	})
	return nil
}

func (a *application) someOwners(n int) []string {
	a.mu.Lock()
	defer a.mu.Unlock()
	n = min(n, len(a.owners))
	some := make([]string, n)
	for i, at := range a.random.Perm(len(a.owners))[:n] {
		some[i] = a.owners[at]
	}
	return some
}

func (a *application) sweepRows(ctx context.Context) error {
	q := question{started: time.Now()}
	query := fanout.Query{}
	if !a.own {
		q.openOnly = true
		query.Filter = fanout.Filter{Expression: "archived = :no",
			Values: map[string]types.AttributeValue{":no": &types.AttributeValueMemberBOOL{}}}
	}
	a.timed(ctx, func() { a.ask(ctx, q, a.reader.All(ctx, query)) })
	return nil
}

// sweepCount is the metrics snapshot, which wants a number alone.
func (a *application) sweepCount(ctx context.Context) error {
	q := question{started: time.Now()}
	a.timed(ctx, func() {
		count, err := a.reader.Count(ctx, fanout.Query{})
		if err != nil {
			a.failed(ctx)
			return
		}
		a.model.checkCount(q, count)
	})
	return nil
}

func (a *application) detail(ctx context.Context) error {
	a.timed(ctx, func() { a.askOwner(ctx, a.someOwners(1)[0]) })
	return nil
}

func (a *application) inbound(ctx context.Context) error { return a.detail(ctx) }

// transition changes a row that is there and leaves its index key alone. On the
// user's own rows it writes the owner's own value again, which costs the same
// and changes nothing.
func (a *application) transition(ctx context.Context) error {
	row := a.model.some(a.draw)
	if row == nil {
		return nil
	}
	update := a.touch(row)
	if !a.own {
		update = a.changeStatus(row)
	}
	a.timed(ctx, func() {
		out, err := a.client.UpdateItem(ctx, update)
		if gone := (*types.ConditionalCheckFailedException)(nil); errors.As(err, &gone) {
			return // purged, or a retry of a write whose answer was lost
		}
		if err != nil {
			a.failed(ctx)
			return
		}
		a.spent(row, out.ConsumedCapacity)
	})
	return nil
}

func (a *application) touch(row *modelRow) *dynamodb.UpdateItemInput {
	return &dynamodb.UpdateItemInput{
		TableName: &a.spec.Table, Key: a.keyItem(row.key),
		UpdateExpression:         new("SET #owner = :owner"),
		ConditionExpression:      new("#owner = :owner"),
		ExpressionAttributeNames: map[string]string{"#owner": a.spec.Owner},
		ExpressionAttributeValues: map[string]types.AttributeValue{
			":owner": text(row.owner),
		},
		ReturnConsumedCapacity: types.ReturnConsumedCapacityIndexes,
	}
}

func (a *application) changeStatus(row *modelRow) *dynamodb.UpdateItemInput {
	return &dynamodb.UpdateItemInput{
		TableName: &a.spec.Table, Key: a.keyItem(row.key),
		UpdateExpression:         new("SET #status = :status ADD version :one"),
		ConditionExpression:      new("attribute_exists(PK)"),
		ExpressionAttributeNames: map[string]string{"#status": "status"},
		ExpressionAttributeValues: map[string]types.AttributeValue{
			":status": text(statuses[a.draw(len(statuses))]), ":one": number(1),
		},
		ReturnConsumedCapacity: types.ReturnConsumedCapacityIndexes,
	}
}

// spent tells the move what live writes cost the index key, so that its pace
// leaves them room.
func (a *application) spent(row *modelRow, used *types.ConsumedCapacity) {
	if used == nil {
		return
	}
	index, ok := used.GlobalSecondaryIndexes[a.spec.Index]
	if ok && index.CapacityUnits != nil {
		a.watcher.Count(a.watcher.Routing().Key(row.owner), 0, *index.CapacityUnits)
	}
}

// openAndPurge creates a saga and, once there are enough, ends the oldest that
// the traffic created. So the table holds its own rows alone in the end.
func (a *application) openAndPurge(ctx context.Context) error {
	if len(a.living) >= opensAlive {
		a.purgeOldest(ctx)
	}
	return a.open(ctx)
}

func (a *application) open(ctx context.Context) error {
	a.mu.Lock()
	owner := a.owners[a.random.IntN(len(a.owners))]
	a.serial++
	it, err := a.newRow(fmt.Sprintf("demo-%d", a.serial), owner)
	a.mu.Unlock()
	if err != nil {
		return fmt.Errorf("open saga of %q: %w", owner, err)
	}
	row := a.model.creating(it, owner)
	a.living = append(a.living, row)
	a.timed(ctx, func() {
		if err := a.create(ctx, owner, it); err != nil {
			a.failed(ctx)
			return
		}
		a.model.acknowledged(row)
	})
	return nil
}

// newRow is a saga, or a row that looks like the user's own to the spec alone.
func (a *application) newRow(id, owner string) (item, error) {
	made, err := a.sagas.row(id, owner, false)
	if err != nil || !a.own {
		return made, err
	}
	it := item{a.spec.Owner: text(owner)}
	for _, name := range a.spec.Key {
		it[name] = text("hotsplit-" + id)
	}
	if a.spec.Entity.Attribute != "" {
		it[a.spec.Entity.Attribute] = text(a.spec.Entity.Value)
	}
	if name := a.spec.To.SortKey; name != "" && it[name] == nil {
		it[name] = made[name]
	}
	return it, nil
}

// create stamps the row by the routing of now, writes it, and looks a second
// time at the routing before it is acknowledged.
func (a *application) create(ctx context.Context, owner string, it item) error {
	stamp, err := a.watcher.Stamp(ctx, owner)
	if err != nil {
		return err
	}
	it[stamp.Attribute] = text(stamp.Key)
	if _, err := a.client.PutItem(ctx, &dynamodb.PutItemInput{TableName: &a.spec.Table, Item: it}); err != nil {
		return err
	}
	_, err = a.watcher.Confirm(ctx, stamp, a.keyItem(a.model.keyOf(it)))
	return err
}

func (a *application) purgeOldest(ctx context.Context) {
	row := a.living[0]
	a.model.deleting(row)
	_, err := a.client.DeleteItem(ctx, &dynamodb.DeleteItemInput{TableName: &a.spec.Table, Key: a.keyItem(row.key)})
	if err != nil {
		a.failed(ctx)
		return
	}
	a.living = a.living[1:]
}

// purgeAll removes what the traffic created, once it has ended.
func (a *application) purgeAll(ctx context.Context) error {
	for _, row := range a.living {
		a.model.deleting(row)
		if _, err := a.client.DeleteItem(ctx, &dynamodb.DeleteItemInput{TableName: &a.spec.Table, Key: a.keyItem(row.key)}); err != nil {
			return fmt.Errorf("purge %v: %w", row.key, err)
		}
	}
	return nil
}

func (a *application) keyItem(k rowKey) item { return a.model.keyItem(k) }
