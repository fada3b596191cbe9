package fanout

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"sync/atomic"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
)

// Client is what a Reader needs of *dynamodb.Client.
type Client interface {
	Query(context.Context, *dynamodb.QueryInput, ...func(*dynamodb.Options)) (*dynamodb.QueryOutput, error)
	BatchGetItem(context.Context, *dynamodb.BatchGetItemInput, ...func(*dynamodb.Options)) (*dynamodb.BatchGetItemOutput, error)
}

// Options tunes a Reader. The zero value is what we use in production.
type Options struct {
	InFlight    *InFlight // bound on requests on the way; nil shares the process's bound of 128
	AttemptsMax int       // times a request is tried, each with the SDK's own retries; 0 means 3
}

func (o Options) withDefaults() Options {
	if o.InFlight == nil {
		o.InFlight = process
	}
	if o.AttemptsMax <= 0 {
		o.AttemptsMax = attemptsMax
	}
	return o
}

// Reader reads one entity's rows on an index, however they are spread. It is
// safe for concurrent use and has nothing to close.
type Reader struct {
	client  Client
	table   Table
	source  Source
	options Options

	rowBytes atomic.Int64 // of a row seen lately; 0 before any
	census   census
}

// New is a reader of the rows that source's routing names.
func New(client Client, table Table, source Source, options Options) *Reader {
	return &Reader{client: client, table: table, source: source, options: options.withDefaults()}
}

// Owner streams the rows of one owner. It asks one partition key, as before
// sharding and for the same read units; two while a move is open.
func (r *Reader) Owner(ctx context.Context, owner string, q Query) iter.Seq2[Item, error] {
	return r.stream(ctx, q, oneOwner(owner))
}

// Owners streams the rows of several owners in the one global order. Owners that
// share a shard share requests where that costs no more read units than asking
// for them one by one; see docs/reading.md.
func (r *Reader) Owners(ctx context.Context, owners []string, q Query) iter.Seq2[Item, error] {
	return r.stream(ctx, q, ownersScope(owners))
}

// All streams every row: all shards at once, merged. It holds at most two pages
// of each shard.
func (r *Reader) All(ctx context.Context, q Query) iter.Seq2[Item, error] {
	return r.stream(ctx, q, everything{})
}

// begin opens a call under the source's view of now.
func (r *Reader) begin(ctx context.Context, q Query) (*call, error) {
	view, err := r.source.View(ctx)
	if err != nil {
		return nil, fmt.Errorf("view of table %s: %w", r.table.Name, err)
	}
	return &call{reader: r, ask: q, order: order{q.Descending}, view: view}, nil
}

// holds asks whether what was read under the call's view is right.
func (c *call) holds(ctx context.Context) error {
	ok, err := c.reader.source.Holds(ctx, c.view)
	if err != nil {
		return fmt.Errorf("second look at the view of table %s: %w", c.reader.table.Name, err)
	}
	if !ok {
		c.ask.Report.redo()
		return errChanged
	}
	return nil
}

// errChanged has a read done again under a new view; it never leaves the package.
var errChanged = errors.New("routing changed")
