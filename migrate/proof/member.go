package proof

import (
	"context"
	"fmt"
	"strconv"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/hotsplit/hotsplit/fanout"
	"github.com/hotsplit/hotsplit/migrate"
)

// member is a program that reads and writes by the record.
type member struct {
	world   *world
	process *process
	client  *dynamodb.Client
	watcher *migrate.Watcher
	reader  *fanout.Reader
	stamps  int
	kept    map[string]migrate.Stamp // for the mutant that keeps its stamps
}

func (w *world) join(ctx context.Context, name string) (*member, error) {
	m := &member{world: w, process: w.process(name), kept: map[string]migrate.Stamp{}}
	m.client = m.process.client()
	watcher, err := migrate.Watch(ctx, m.client, w.spec, migrate.WatchOptions{Member: name, Role: "reader and writer"})
	if err != nil {
		return nil, err
	}
	m.watcher = watcher
	m.reader = fanout.New(m.client, fanout.Table{Name: w.spec.Table, Key: w.spec.Key}, w.mutant.source(watcher), fanout.Options{AttemptsMax: 2})
	return m, nil
}

// live reads and writes at random until ctx ends.
func (m *member) live(ctx context.Context) {
	for ctx.Err() == nil {
		if m.process.draw(3) > 0 {
			m.read(ctx)
		} else {
			m.write(ctx)
		}
		if sleep(ctx, time.Duration(60+m.process.draw(300))*time.Millisecond) != nil {
			return
		}
	}
}

func (m *member) read(ctx context.Context) {
	began := time.Now()
	owner := m.world.owner(m.process.draw)
	switch m.process.draw(5) {
	case 0:
		if n, err := m.reader.Count(ctx, fanout.Query{}); err == nil {
			m.world.ledger.checkCount(began, n)
		}
	case 1:
		rows, err := fanout.Collect(m.reader.All(ctx, fanout.Query{Descending: m.process.draw(2) == 0}))
		m.answer("all", began, nil, rows, err)
	case 2:
		owners := []string{owner, m.world.owner(m.process.draw)}
		rows, err := fanout.Collect(m.reader.Owners(ctx, owners, fanout.Query{}))
		m.answer("owners", began, owners, rows, err)
	default:
		rows, err := fanout.Collect(m.reader.Owner(ctx, owner, fanout.Query{}))
		m.answer("owner "+owner, began, []string{owner}, rows, err)
	}
}

func (m *member) answer(what string, began time.Time, owners []string, rows []fanout.Item, err error) {
	if err == nil {
		m.world.ledger.check(m.process.name+" "+what, began, owners, rows)
	}
}

func (m *member) write(ctx context.Context) {
	k := m.world.ledger.pick(m.process.draw)
	switch choice := m.process.draw(10); {
	case k == nil || (choice < 4 && m.world.room()):
		m.create(ctx)
	case choice < 8:
		m.update(ctx, k)
	case choice == 8:
		m.reown(ctx, k)
	default:
		m.delete(ctx, k)
	}
}

func (m *member) create(ctx context.Context) {
	m.stamps++
	id, owner := fmt.Sprintf("%s-%d", m.process.name, m.stamps), m.world.owner(m.process.draw)
	k, number := m.world.ledger.begin(id)
	m.world.ledger.end(k, version{owner: owner, number: number}, m.put(ctx, id, owner, number))
}

// put writes a new row as an application does: stamp, write, look again.
func (m *member) put(ctx context.Context, id, owner string, number int) error {
	stamp, err := m.stamp(ctx, owner)
	if err != nil {
		return err
	}
	row := m.world.row(id, owner, number)
	row[stamp.Attribute] = text(stamp.Key)
	if _, err := m.client.PutItem(ctx, &dynamodb.PutItemInput{TableName: &m.world.spec.Table, Item: row}); err != nil {
		return err
	}
	return m.confirm(ctx, stamp, id)
}

func (m *member) stamp(ctx context.Context, owner string) (migrate.Stamp, error) {
	if kept, ok := m.kept[owner]; ok && m.world.mutant == mutantKeptStamp {
		return kept, nil
	}
	stamp, err := m.watcher.Stamp(ctx, owner)
	if err == nil {
		m.kept[owner] = stamp
	}
	return stamp, err
}

// confirm goes on until it is known what became of the write: what was not
// confirmed is not acknowledged.
func (m *member) confirm(ctx context.Context, stamp migrate.Stamp, id string) error {
	if m.world.mutant == mutantNoConfirm || m.world.mutant == mutantKeptStamp {
		return nil
	}
	_, err := m.watcher.Confirm(ctx, stamp, rowKey(id))
	return err
}

// update changes a row and leaves its index key alone.
func (m *member) update(ctx context.Context, k *known) {
	_, number := m.world.ledger.begin(k.id)
	last := k.last()
	_, err := m.client.UpdateItem(ctx, &dynamodb.UpdateItemInput{
		TableName: &m.world.spec.Table, Key: rowKey(k.id),
		UpdateExpression:         new("SET #v = :new"),
		ConditionExpression:      new("personId = :owner"),
		ExpressionAttributeNames: map[string]string{"#v": "version"},
		ExpressionAttributeValues: map[string]types.AttributeValue{
			":new": count(number), ":owner": text(last.owner),
		},
	})
	m.world.ledger.end(k, version{owner: last.owner, number: number}, err)
}

// reown gives a row to somebody else: as a creation does, it stamps the key.
func (m *member) reown(ctx context.Context, k *known) {
	_, number := m.world.ledger.begin(k.id)
	owner := m.world.owner(m.process.draw)
	err := func() error {
		stamp, err := m.stamp(ctx, owner)
		if err != nil {
			return err
		}
		_, err = m.client.UpdateItem(ctx, &dynamodb.UpdateItemInput{
			TableName: &m.world.spec.Table, Key: rowKey(k.id),
			UpdateExpression:         new("SET personId = :owner, #k = :key, GSI4SK = :sort, #v = :new"),
			ConditionExpression:      new("attribute_exists(PK)"),
			ExpressionAttributeNames: map[string]string{"#k": stamp.Attribute, "#v": "version"},
			ExpressionAttributeValues: map[string]types.AttributeValue{
				":owner": text(owner), ":key": text(stamp.Key), ":sort": text(sortKey(owner, k.id)), ":new": count(number),
			},
		})
		if err != nil {
			return err
		}
		return m.confirm(ctx, stamp, k.id)
	}()
	m.world.ledger.end(k, version{owner: owner, number: number}, err)
}

func (m *member) delete(ctx context.Context, k *known) {
	_, number := m.world.ledger.begin(k.id)
	last := k.last()
	_, err := m.client.DeleteItem(ctx, &dynamodb.DeleteItemInput{TableName: &m.world.spec.Table, Key: rowKey(k.id)})
	m.world.ledger.end(k, version{owner: last.owner, number: number, deleted: true}, err)
}

func rowKey(id string) fanout.Item { return fanout.Item{"PK": text(id), "SK": text("META")} }

func text(s string) types.AttributeValue { return &types.AttributeValueMemberS{Value: s} }

func count(n int) types.AttributeValue {
	return &types.AttributeValueMemberN{Value: strconv.Itoa(n)}
}
