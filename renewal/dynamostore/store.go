package dynamostore

import (
	"context"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/hotsplit/hotsplit/fanout"
	"github.com/hotsplit/hotsplit/renewal"
)

// Client is what a Store needs of *dynamodb.Client.
type Client interface {
	fanout.Client
	GetItem(context.Context, *dynamodb.GetItemInput, ...func(*dynamodb.Options)) (*dynamodb.GetItemOutput, error)
	PutItem(context.Context, *dynamodb.PutItemInput, ...func(*dynamodb.Options)) (*dynamodb.PutItemOutput, error)
	UpdateItem(context.Context, *dynamodb.UpdateItemInput, ...func(*dynamodb.Options)) (*dynamodb.UpdateItemOutput, error)
}

// Options tunes a Store. The zero value is what we use in production.
type Options struct {
	Now  func() time.Time // of changes; nil means time.Now
	Read fanout.Options
	// Spent is told what is spent on each key of the index; nil tells nobody.
	Spent func(key string, readUnits, writeUnits float64)
}

// Store is sagas in DynamoDB. It is safe for concurrent use and has nothing to
// close.
type Store struct {
	client  Client
	table   string
	routing Routing
	reader  *fanout.Reader
	now     func() time.Time
	spent   func(key string, readUnits, writeUnits float64)
}

var _ renewal.Store = (*Store)(nil)

// New is the sagas of a table.
func New(client Client, table string, routing Routing, options Options) *Store {
	s := &Store{
		client: client, table: table, routing: routing, now: options.Now, spent: options.Spent,
		reader: fanout.New(client, fanout.Table{Name: table, Key: []string{partitionAttribute, sortAttribute}}, routing, options.Read),
	}
	if s.now == nil {
		s.now = time.Now
	}
	return s
}

// Saga reads one saga, strongly.
func (s *Store) Saga(ctx context.Context, id string) (renewal.Saga, error) {
	item, err := s.item(ctx, id)
	if err != nil {
		return renewal.Saga{}, err
	}
	return decode(item)
}

func (s *Store) item(ctx context.Context, id string) (fanout.Item, error) {
	if err := renewal.CheckID("id", id); err != nil {
		return nil, err
	}
	item, err := s.get(ctx, sagaKey(id))
	if err != nil {
		return nil, fault("read saga "+id, err)
	}
	if !isSaga(item) {
		return nil, fault("read saga "+id, renewal.ErrNotFound)
	}
	return item, nil
}

func (s *Store) get(ctx context.Context, key fanout.Item) (fanout.Item, error) {
	out, err := s.client.GetItem(ctx, &dynamodb.GetItemInput{TableName: &s.table, Key: key, ConsistentRead: new(true)})
	if err != nil {
		return nil, err
	}
	return out.Item, nil
}

// SagaByLease reads the newest saga of a lease by its pointer.
func (s *Store) SagaByLease(ctx context.Context, leaseID string) (renewal.Saga, error) {
	if err := renewal.CheckID("leaseId", leaseID); err != nil {
		return renewal.Saga{}, err
	}
	pointer, err := s.get(ctx, pointerKey(leaseID))
	if err != nil {
		return renewal.Saga{}, fault("find renewal of lease "+leaseID, err)
	}
	id := textOf(pointer["sagaId"])
	if id == "" {
		return renewal.Saga{}, fault("find renewal of lease "+leaseID, renewal.ErrNotFound)
	}
	return s.Saga(ctx, id)
}

// wrote tells what a write spent on the index key of its row.
func (s *Store) wrote(item fanout.Item, partitionKey string, consumed *types.ConsumedCapacity) {
	if s.spent == nil || consumed == nil {
		return
	}
	key := textOf(item[partitionKey])
	for _, index := range consumed.GlobalSecondaryIndexes {
		if key != "" && index.CapacityUnits != nil {
			s.spent(key, 0, *index.CapacityUnits)
		}
	}
}
