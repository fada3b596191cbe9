package proof

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"sync"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/hotsplit/hotsplit/emulator"
	"github.com/hotsplit/hotsplit/emulator/awsjson"
	"github.com/hotsplit/hotsplit/fanout"
	"github.com/hotsplit/hotsplit/migrate"
	"github.com/hotsplit/hotsplit/shard"
)

// calmWithin is how long a move may take, in virtual time, once the faults have
// stopped, to be complete or rolled back.
const calmWithin = 10 * time.Minute

// Outcome is what one seed came to.
type Outcome struct {
	Seed   int64
	Faults []string // what must never happen and did; none is a pass
	Phase  shard.Phase
	Reads  int // answers that were checked
	Writes int // writes that were acknowledged
	Moved  int64
	Story  []string // what was done to the world, in order
}

// world is one embedded DynamoDB with the programs on it, drawn from a seed. It
// lives in a synctest bubble.
type world struct {
	seed    int64
	rng     *rand.Rand
	mutant  Mutant
	db      *emulator.DB
	spec    migrate.Spec
	options migrate.Options
	ledger  *ledger
	owners  []string
	rowsMax int

	flights   sync.WaitGroup
	mu        sync.Mutex
	processes []*process
	story     []string
	began     time.Time
}

// Run plays one seed. It must be called in a synctest bubble.
func Run(ctx context.Context, seed int64, mutant Mutant) Outcome {
	w := newWorld(seed, mutant)
	err := w.play(ctx)
	defer w.flights.Wait()
	w.ledger.mu.Lock()
	defer w.ledger.mu.Unlock()
	out := Outcome{Seed: seed, Faults: w.ledger.faults, Reads: w.ledger.reads, Writes: w.ledger.writes, Story: w.story}
	if err != nil {
		out.Faults = append(out.Faults, err.Error())
	}
	if record, err := w.record(ctx); err == nil {
		out.Phase, out.Moved = record.Phase, record.Progress.Moved
	}
	return out
}

func newWorld(seed int64, mutant Mutant) *world {
	rng := rand.New(rand.NewPCG(uint64(seed), 6))
	lag := []time.Duration{5, 60, 400}[rng.IntN(3)] * time.Millisecond
	w := &world{seed: seed, rng: rng, mutant: mutant, began: time.Now(), rowsMax: 4 + rng.IntN(14)}
	w.db = emulator.New(emulator.Options{
		Seed: seed, LagMin: lag / 10, LagMax: lag, Unlimited: true, IndexOrder: emulator.IndexOrder(rng.IntN(3)),
		PageItems: []int{0, 0, 3}[rng.IntN(3)],
	})
	w.ledger = newLedger(lag + time.Millisecond)
	for i := range 1 + rng.IntN(6) {
		w.owners = append(w.owners, fmt.Sprintf("person-%d", i))
	}
	counts := [][2]int{{0, 4}, {0, 1}, {0, 16}, {4, 8}, {3, 2}, {16, 12}}[rng.IntN(6)]
	w.spec = migrate.Spec{
		Name: "proof", Table: "sagas", Key: []string{"PK", "SK"}, Owner: "personId",
		Index: "gsi4", PartitionKey: "GSI4PK", SortKey: "GSI4SK",
		From: shard.Layout{Base: "K", Count: counts[0]}, To: shard.Layout{Base: "K", Count: counts[1]},
	}
	spec, err := w.spec.Resolve()
	if err != nil {
		panic(err) // a spec of ours
	}
	w.spec = spec
	w.options = migrate.Options{
		Source: []migrate.Source{migrate.SourceDrain, migrate.SourceScan}[rng.IntN(2)],
		Bounds: migrate.Bounds{Poll: 300 * time.Millisecond, PollIdle: time.Second, Stale: 900 * time.Millisecond, StaleIdle: 3 * time.Second,
			Settle: 300 * time.Millisecond, Lease: 3 * time.Second, Member: 4 * time.Second},
		Budget: 200, BatchRows: 1 + rng.IntN(8), ChunkRows: 1 + rng.IntN(4), Watch: time.Second, Alone: true,
	}
	return w
}

func (w *world) tell(format string, args ...any) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.story = append(w.story, fmt.Sprintf("%8.3fs ", time.Since(w.began).Seconds())+fmt.Sprintf(format, args...))
}

func (w *world) process(name string) *process {
	w.mu.Lock()
	defer w.mu.Unlock()
	p := &process{name: name, flights: &w.flights, next: w.mutant.transport(name, awsjson.Transport(w.db)), rng: rand.New(rand.NewPCG(uint64(w.seed), uint64(len(w.processes)+100)))}
	w.processes = append(w.processes, p)
	return p
}

func (w *world) owner(draw func(int) int) string { return w.owners[draw(len(w.owners))] }

// room keeps the table small.
func (w *world) room() bool {
	w.ledger.mu.Lock()
	defer w.ledger.mu.Unlock()
	return len(w.ledger.rows) < 2*w.rowsMax
}

func sortKey(owner, id string) string { return owner + "#" + id }

func (w *world) row(id, owner string, number int) fanout.Item {
	return fanout.Item{
		"PK": text(id), "SK": text("META"), "personId": text(owner), "GSI4SK": text(sortKey(owner, id)),
		"version": count(number), "payload": text(payload(id)),
	}
}

// createTable makes the table, with a projection that the seed draws, and the
// rows that are there before anything moves.
func (w *world) createTable(ctx context.Context) error {
	projection := &types.Projection{ProjectionType: types.ProjectionTypeAll}
	switch w.rng.IntN(3) {
	case 0:
		projection = &types.Projection{ProjectionType: types.ProjectionTypeInclude, NonKeyAttributes: []string{"personId", "version"}}
	case 1:
		projection = &types.Projection{ProjectionType: types.ProjectionTypeInclude, NonKeyAttributes: []string{"version"}}
	}
	client := w.process("loader").client()
	attribute := func(n string) types.AttributeDefinition {
		return types.AttributeDefinition{AttributeName: &n, AttributeType: types.ScalarAttributeTypeS}
	}
	schema := func(hash, sort string) []types.KeySchemaElement {
		return []types.KeySchemaElement{{AttributeName: &hash, KeyType: types.KeyTypeHash}, {AttributeName: &sort, KeyType: types.KeyTypeRange}}
	}
	_, err := client.CreateTable(ctx, &dynamodb.CreateTableInput{
		TableName: &w.spec.Table, BillingMode: types.BillingModePayPerRequest, KeySchema: schema("PK", "SK"),
		AttributeDefinitions: []types.AttributeDefinition{attribute("PK"), attribute("SK"), attribute("GSI4PK"), attribute("GSI4SK")},
		GlobalSecondaryIndexes: []types.GlobalSecondaryIndex{{
			IndexName: aws.String("gsi4"), KeySchema: schema("GSI4PK", "GSI4SK"), Projection: projection,
		}},
	})
	if err != nil {
		return err
	}
	for i := range w.rowsMax {
		id, owner := fmt.Sprintf("row-%d", i), w.owner(w.rng.IntN)
		k, number := w.ledger.begin(id)
		row := w.row(id, owner, number)
		row["GSI4PK"] = text(w.spec.From.Key(owner))
		if _, err := client.PutItem(ctx, &dynamodb.PutItemInput{TableName: &w.spec.Table, Item: row}); err != nil {
			return err
		}
		w.ledger.end(k, version{owner: owner, number: number}, nil)
	}
	return sleep(ctx, 2*w.ledger.lag)
}

func (w *world) record(ctx context.Context) (migrate.Record, error) {
	ledger, err := migrate.OpenLedger(w.auditor(), w.spec)
	if err != nil {
		return migrate.Record{}, err
	}
	return ledger.Load(ctx)
}

// auditor is a client that no fault and no mutant touches.
func (w *world) auditor() *dynamodb.Client {
	p := &process{name: "auditor", flights: &w.flights, next: awsjson.Transport(w.db), rng: rand.New(rand.NewPCG(uint64(w.seed), 9))}
	return p.client()
}

// play is the whole life of a world: storm, calm, inspection.
func (w *world) play(ctx context.Context) error {
	if err := w.createTable(ctx); err != nil {
		return fmt.Errorf("create table: %w", err)
	}
	life, stop := context.WithCancel(ctx)
	defer stop()
	var members sync.WaitGroup
	var joined []*member
	for i := range 2 {
		m, err := w.join(ctx, fmt.Sprintf("member-%d", i))
		if err != nil {
			return fmt.Errorf("join: %w", err)
		}
		joined = append(joined, m)
		members.Go(func() { m.live(life) })
	}
	w.storm(ctx)
	w.calm()
	err := w.finish(ctx)
	stop()
	members.Wait()
	for _, m := range joined {
		_ = m.watcher.Close() // its last report may meet a fault
	}
	if err != nil {
		return err
	}
	return w.inspect(ctx)
}

// finish brings the move to an end once the faults have stopped.
func (w *world) finish(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, calmWithin)
	defer cancel()
	w.tell("calm")
	for round := 0; ; round++ {
		r, err := migrate.NewRunner(w.process(fmt.Sprintf("runner-calm-%d", round)).client(), w.spec, w.options)
		if err != nil {
			return err
		}
		if w.rng.IntN(4) == 0 {
			_, err = r.Rollback(ctx)
			if errors.Is(err, migrate.ErrNoRecord) {
				err = nil
			}
		} else {
			_, err = r.Move(ctx)
		}
		if err == nil {
			w.tell("finished in phase %s", r.Record().Phase)
			return nil
		}
		if ctx.Err() != nil {
			return fmt.Errorf("liveness: the move did not end within %v: %w", calmWithin, err)
		}
		if errors.Is(err, migrate.ErrDiverged) {
			return fmt.Errorf("liveness: %w", err)
		}
		w.tell("not yet: %v", err)
		if err := sleep(ctx, time.Second); err != nil {
			return fmt.Errorf("liveness: the move did not end within %v", calmWithin)
		}
	}
}

// guard heals what a process wrote that ended before it could look again: such a
// row was never acknowledged, and may be on a key that was left.
func (w *world) guard(ctx context.Context) error {
	w.flights.Wait()
	g, err := migrate.NewGuard(w.process("guard").client(), w.spec, migrate.GuardOptions{Heal: true, Full: true, Holder: "guard"})
	if err != nil {
		return err
	}
	report, err := g.Once(ctx)
	if report.Found > 0 {
		w.tell("the guard healed %d of %d stragglers", report.Healed, report.Found)
	}
	if errors.Is(err, migrate.ErrNoRecord) {
		return nil
	}
	return err
}

// inspect holds the table and the index against the ledger when all is quiet.
func (w *world) inspect(ctx context.Context) error {
	if err := w.guard(ctx); err != nil {
		return fmt.Errorf("guard: %w", err)
	}
	if err := sleep(ctx, 2*w.ledger.lag+5*time.Second); err != nil {
		return err
	}
	client := w.auditor()
	scan, err := client.Scan(ctx, &dynamodb.ScanInput{
		TableName: &w.spec.Table, ConsistentRead: aws.Bool(true), FilterExpression: aws.String("SK = :meta"),
		ExpressionAttributeValues: fanout.Item{":meta": text("META")},
	})
	if err != nil {
		return err
	}
	rows := scan.Items
	for scan.LastEvaluatedKey != nil {
		scan, err = client.Scan(ctx, &dynamodb.ScanInput{TableName: &w.spec.Table, ConsistentRead: aws.Bool(true), FilterExpression: aws.String("SK = :meta"),
			ExpressionAttributeValues: fanout.Item{":meta": text("META")}, ExclusiveStartKey: scan.LastEvaluatedKey})
		if err != nil {
			return err
		}
		rows = append(rows, scan.Items...)
	}
	w.ledger.checkTable(rows)
	record, err := w.record(ctx)
	if errors.Is(err, migrate.ErrNoRecord) {
		return nil
	}
	if err != nil {
		return err
	}
	final := record.Routing()
	unsure := 0
	for _, row := range rows {
		// A row that nobody acknowledged, of a writer that ended before it could look
		// again: the guard heals it after a move, and does not look where there is none.
		if w.ledger.unsure(textOf(row, "PK")) {
			unsure++
			continue
		}
		if owner, key := textOf(row, "personId"), textOf(row, "GSI4PK"); key != final.Key(owner) {
			w.ledger.fault("table: in phase %s row %s of %s carries %q, want %q", record.Phase, textOf(row, "PK"), owner, key, final.Key(owner))
		}
	}
	began := time.Now()
	all, err := fanout.Collect(fanout.New(client, fanout.Table{Name: w.spec.Table, Key: w.spec.Key}, fanout.Static(final), fanout.Options{}).All(ctx, fanout.Query{}))
	if err != nil {
		return err
	}
	w.ledger.check("at the end", began, nil, all)
	if len(all) > len(rows) || len(all) < len(rows)-unsure {
		w.ledger.fault("at the end: readers see %d rows, the table has %d, %d of them unacknowledged", len(all), len(rows), unsure)
	}
	return nil
}
