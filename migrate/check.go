package migrate

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/hotsplit/hotsplit/capacity"
	"github.com/hotsplit/hotsplit/shard"
)

// Severity says what a fact means for the move.
type Severity string

// The severities.
const (
	SeverityOK      Severity = "ok"
	SeverityWarning Severity = "warning"
	SeverityFault   Severity = "fault" // the move must not begin
)

// Fact is one thing that a check found out.
type Fact struct {
	Severity Severity `json:"severity"`
	Name     string   `json:"name"`
	Text     string   `json:"text"`
	Do       string   `json:"do,omitempty"`
}

// Weight is an owner or a shard with the rows that it has.
type Weight struct {
	Name string `json:"name"`
	Rows int64  `json:"rows"`
}

// Facts is what a check found out about the table, the index and the rows.
type Facts struct {
	Facts         []Fact           `json:"facts"`
	Phase         shard.Phase      `json:"phase,omitempty"` // "" where there is no record
	Rows          int64            `json:"rows"`
	OnFrom        int64            `json:"onFrom"`
	OnTo          int64            `json:"onTo"`
	Foreign       int64            `json:"foreign"` // rows of the entity with a key of neither layout
	Bytes         int64            `json:"bytes"`
	Owners        int64            `json:"owners"`
	Unshardable   map[string]int64 `json:"unshardable,omitempty"`
	HeaviestOwner Weight           `json:"heaviestOwner"`
	HeaviestShard Weight           `json:"heaviestShard"` // of the layout that the move goes to
	ToMove        int64            `json:"toMove"`
	TableUnits    float64          `json:"tableUnits"` // write units that the move spends
	IndexUnits    float64          `json:"indexUnits"`
	Duration      time.Duration    `json:"-"`
	Seconds       float64          `json:"seconds"` // at the default budget
	Dollars       float64          `json:"dollars"` // at the on-demand list price of us-east-1
}

// writeUnitDollars is the on-demand price of a write request unit in us-east-1,
// since November 2024.
const writeUnitDollars = 0.625 / 1e6

// Err wraps ErrRefused where a fact forbids the move.
func (f Facts) Err() error {
	var faults []error
	for _, fact := range f.Facts {
		if fact.Severity == SeverityFault {
			faults = append(faults, &GateError{Gate: fact.Name, Why: fact.Text, Do: fact.Do})
		}
	}
	return errors.Join(faults...)
}

func (f *Facts) add(severity Severity, name, do, format string, args ...any) {
	f.Facts = append(f.Facts, Fact{Severity: severity, Name: name, Do: do, Text: fmt.Sprintf(format, args...)})
}

// backups is what a client may be able to say beside ReadAPI.
type backups interface {
	DescribeContinuousBackups(context.Context, *dynamodb.DescribeContinuousBackupsInput, ...func(*dynamodb.Options)) (*dynamodb.DescribeContinuousBackupsOutput, error)
}

// Inspect finds out what an operator should know before a move. It reads the
// table once, eventually consistent, and changes nothing.
func Inspect(ctx context.Context, client ReadAPI, spec Spec) (Facts, error) {
	var f Facts
	spec, err := spec.Resolve()
	if err != nil {
		return f, err
	}
	c, err := describe(ctx, client, spec)
	if err != nil {
		return f, err
	}
	f.describeTable(spec, c)
	f.describeBackups(ctx, client, spec)
	record, err := loadRecord(ctx, client, spec.shelf())
	switch {
	case err == nil:
		f.Phase = record.Phase
		f.add(SeverityWarning, "record", "", "there is a record already, in phase %s", record.Phase)
	case !errors.Is(err, ErrNoRecord):
		return f, err
	}
	if err := f.readRows(ctx, client, spec); err != nil {
		return f, err
	}
	f.judgeRows(spec)
	return f, nil
}

func (f *Facts) describeTable(spec Spec, c *catalog) {
	table, index := c.table, c.index
	if table.TableStatus != types.TableStatusActive {
		f.add(SeverityFault, "table", "wait until it is ACTIVE", "table %s is %s", spec.Table, table.TableStatus)
	}
	switch {
	case index.IndexStatus != types.IndexStatusActive:
		f.add(SeverityFault, "index", "wait until it is ACTIVE", "index %s is %s", spec.From.Index, index.IndexStatus)
	case index.Backfilling != nil && *index.Backfilling:
		f.add(SeverityFault, "index", "wait until it is filled", "index %s is still being filled", spec.From.Index)
	default:
		f.add(SeverityOK, "index", "", "index %s is ACTIVE, projection %s", spec.From.Index, c.projection())
	}
	types := c.attributeTypes()
	f.checkKey("partitionKey", spec.From.PartitionKey, index.KeySchema, 0)
	f.checkKey("sortKey", spec.From.SortKey, index.KeySchema, 1)
	for i, name := range spec.Key {
		f.checkKey(fmt.Sprintf("key[%d]", i), name, table.KeySchema, i)
		if t := types[name]; t != "S" {
			f.add(SeverityFault, "key types", "the move's own items need keys of type S", "base key %s is of type %s", name, t)
		}
	}
	if len(spec.Key) != len(table.KeySchema) {
		f.add(SeverityFault, "key", "name every key attribute of the table", "the spec names %d base key attributes, the table has %d", len(spec.Key), len(table.KeySchema))
	}
	if t := types[spec.From.PartitionKey]; t != "S" {
		f.add(SeverityFault, "key types", "only text can be spelled with a shard number", "index key %s is of type %s", spec.From.PartitionKey, t)
	}
	if s := table.StreamSpecification; s != nil && s.StreamEnabled != nil && *s.StreamEnabled {
		f.add(SeverityWarning, "streams", "see that its consumers expect one MODIFY for each moved row", "the table has a stream")
	}
	if !c.knowsOwner(spec) {
		f.add(SeverityWarning, "projection", "", "the index does not carry %s, so each candidate is read from the base table", spec.Owner)
	}
}

func (f *Facts) checkKey(field, name string, schema []types.KeySchemaElement, at int) {
	have := ""
	if at < len(schema) && schema[at].AttributeName != nil {
		have = *schema[at].AttributeName
	}
	if have != name {
		f.add(SeverityFault, field, "correct the spec", "the spec says %q, the service says %q", name, have)
	}
}

func (c *catalog) projection() string {
	if c.index.Projection == nil {
		return "ALL"
	}
	return string(c.index.Projection.ProjectionType)
}

func (c *catalog) attributeTypes() map[string]types.ScalarAttributeType {
	m := map[string]types.ScalarAttributeType{}
	for _, d := range c.table.AttributeDefinitions {
		if d.AttributeName != nil {
			m[*d.AttributeName] = d.AttributeType
		}
	}
	return m
}

func (f *Facts) describeBackups(ctx context.Context, client ReadAPI, spec Spec) {
	const name, do = "backup", "switch point-in-time recovery on before moving production rows"
	teller, ok := client.(backups)
	if !ok {
		return
	}
	out, err := teller.DescribeContinuousBackups(ctx, &dynamodb.DescribeContinuousBackupsInput{TableName: &spec.Table})
	if err != nil {
		f.add(SeverityWarning, name, do, "point-in-time recovery is not known: %v", err)
		return
	}
	d := out.ContinuousBackupsDescription
	if d == nil || d.PointInTimeRecoveryDescription == nil || d.PointInTimeRecoveryDescription.PointInTimeRecoveryStatus != types.PointInTimeRecoveryStatusEnabled {
		f.add(SeverityWarning, name, do, "point-in-time recovery is off")
		return
	}
	f.add(SeverityOK, name, "", "point-in-time recovery is on")
}

// readRows reads the table once and weighs owners, shards and costs.
func (f *Facts) readRows(ctx context.Context, client ReadAPI, spec Spec) error {
	s := sieve{spec: spec, shelf: spec.shelf(), way: way{from: spec.From, to: spec.To}}
	owners, shards := map[string]int64{}, map[string]int64{}
	in := scanInput(spec, s, nil)
	in.ConsistentRead = nil
	for {
		out, err := client.Scan(ctx, in)
		if err != nil {
			return fmt.Errorf("scan %s: %w", spec.Table, err)
		}
		for _, item := range out.Items {
			f.weigh(s, item, owners, shards)
		}
		if len(out.LastEvaluatedKey) == 0 {
			break
		}
		in.ExclusiveStartKey = out.LastEvaluatedKey
	}
	f.Owners = int64(len(owners))
	f.HeaviestOwner, f.HeaviestShard = heaviest(owners), heaviest(shards)
	return nil
}

func (f *Facts) weigh(s sieve, item Item, owners, shards map[string]int64) {
	r, class := s.read(item)
	if r == nil {
		if !s.shelf.holds(item) && s.ofEntity(item) {
			f.Foreign++
		}
		return
	}
	f.Rows++
	size := sizeOf(item)
	f.Bytes += int64(size)
	if _, onTo := s.way.to.Parse(r.at); onTo == nil {
		f.OnTo++
	} else {
		f.OnFrom++
	}
	if class != "" {
		if f.Unshardable == nil {
			f.Unshardable = map[string]int64{}
		}
		f.Unshardable[string(class)]++
		return
	}
	owners[r.owner]++
	shards[r.to]++
	if r.at == r.to {
		return
	}
	f.ToMove++
	units := capacity.WriteUnits(size, size)
	f.TableUnits += 2 * units // a transaction prepares and commits
	f.IndexUnits += 2 * units // a delete on the old key and a put on the new
}

func heaviest(rows map[string]int64) Weight {
	var w Weight
	for name, n := range rows {
		if n > w.Rows || (n == w.Rows && name < w.Name) {
			w = Weight{Name: name, Rows: n}
		}
	}
	return w
}

func (f *Facts) judgeRows(spec Spec) {
	for class, n := range f.Unshardable {
		f.add(SeverityFault, "unshardable", fmt.Sprintf("repair them, or leave them behind by name: exclude %q", class),
			"%d rows have an owner that cannot be keyed: %s", n, class)
	}
	if f.Foreign > 0 {
		f.add(SeverityWarning, "foreign", "see that entity, base and separator in the spec are right",
			"%d rows of the entity carry a key of neither layout", f.Foreign)
	}
	if f.Rows == 0 {
		f.add(SeverityWarning, "rows", "see that entity and base in the spec are right", "no row of the entity was found")
		return
	}
	mean := float64(f.Rows) / float64(max(spec.To.Count, 1))
	if share := float64(f.HeaviestOwner.Rows) / float64(f.Rows); spec.To.Count > 1 && float64(f.HeaviestOwner.Rows) > 2*mean {
		f.add(SeverityWarning, "heaviest owner", "an owner's rows share a key, whatever the count is",
			"owner %q has %d rows, %.0f %% of all", f.HeaviestOwner.Name, f.HeaviestOwner.Rows, 100*share)
	}
	f.add(SeverityOK, "heaviest shard", "", "%s would hold %d rows, %.2f times the mean", f.HeaviestShard.Name, f.HeaviestShard.Rows, float64(f.HeaviestShard.Rows)/mean)
	rate := budgetDefault / max(f.IndexUnits/2/max(float64(f.ToMove), 1), 1)
	f.Duration = time.Duration(float64(f.ToMove)/rate*float64(time.Second)) + 30*time.Second
	f.Seconds = f.Duration.Seconds()
	f.Dollars = (f.TableUnits + f.IndexUnits) * writeUnitDollars
	f.add(SeverityOK, "estimate", "", "%d of %d rows move in about %v, for %.0f write units (about $%.4f on demand)",
		f.ToMove, f.Rows, f.Duration.Round(time.Second), f.TableUnits+f.IndexUnits, f.Dollars)
}

// sizeOf is what the service counts a row as, nearly: names and values in bytes.
func sizeOf(item Item) int {
	n := 0
	for name, v := range item {
		n += len(name) + sizeOfValue(v)
	}
	return n
}

func sizeOfValue(v types.AttributeValue) int {
	switch v := v.(type) {
	case *types.AttributeValueMemberS:
		return len(v.Value)
	case *types.AttributeValueMemberN:
		return len(v.Value)/2 + 2
	case *types.AttributeValueMemberB:
		return len(v.Value)
	case *types.AttributeValueMemberL:
		n := 3
		for _, e := range v.Value {
			n += 1 + sizeOfValue(e)
		}
		return n
	case *types.AttributeValueMemberM:
		return 3 + len(v.Value) + sizeOf(v.Value)
	case *types.AttributeValueMemberSS:
		n := 0
		for _, s := range v.Value {
			n += len(s)
		}
		return n
	case *types.AttributeValueMemberNS:
		n := 0
		for _, s := range v.Value {
			n += len(s)/2 + 2
		}
		return n
	case *types.AttributeValueMemberBS:
		n := 0
		for _, b := range v.Value {
			n += len(b)
		}
		return n
	}
	return 1
}
