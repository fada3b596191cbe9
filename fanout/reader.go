package fanout

import (
	"context"
	"errors"
	"fmt"
	"iter"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb"

	"github.com/hotsplit/hotsplit/shard"
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
}

// New is a reader of the rows that source's routing names.
func New(client Client, table Table, source Source, options Options) *Reader {
	return &Reader{client: client, table: table, source: source, options: options.withDefaults()}
}

// Owner streams the rows of one owner. It asks one partition key, as before
// sharding and for the same read units; two while a move is open.
func (r *Reader) Owner(ctx context.Context, owner string, q Query) iter.Seq2[Item, error] {
	return r.stream(ctx, q, ownerScope(owner))
}

// All streams every row: all shards at once, merged. It holds at most two pages
// of each shard.
func (r *Reader) All(ctx context.Context, q Query) iter.Seq2[Item, error] {
	return r.stream(ctx, q, allScope)
}

// scope says which strands make up an answer under a routing, and which moving
// rows belong to it.
type scope struct {
	name    string // part of a cursor's fingerprint
	check   func(shard.Layout) error
	strands func(shard.Layout, bounds) []*strand
	owns    func(owner string) bool
}

var allScope = scope{
	check: func(shard.Layout) error { return nil },
	strands: func(l shard.Layout, in bounds) []*strand {
		keys := l.Keys()
		strands := make([]*strand, len(keys))
		for i, key := range keys {
			strands[i] = &strand{layout: l, key: key, in: in}
		}
		return strands
	},
	owns: func(string) bool { return true },
}

func ownerScope(owner string) scope {
	return scope{
		name:  owner,
		check: func(l shard.Layout) error { return l.CheckOwner(owner) },
		strands: func(l shard.Layout, in bounds) []*strand {
			return []*strand{{layout: l, key: l.Key(owner), in: in.within(l.OwnerPrefix(owner))}}
		},
		owns: func(o string) bool { return o == owner },
	}
}

// plan lists the strands of a scope under the call's view, in the order of the
// layouts. A key that both layouts spell is asked once, unless the layouts are
// asked in turn: then its rows may have come from the other one meanwhile.
func (c *call) plan(s scope) ([]*strand, error) {
	in := c.ask.bounds()
	if c.after != nil {
		in = in.startingAt(c.after.sort, c.order)
	}
	type asked struct {
		Shard
		from, to scalar
	}
	seen := make(map[asked]*strand)
	var all []*strand
	for _, layout := range c.view.Routing.Read {
		if layout.SortKey == "" {
			return nil, fmt.Errorf("%w: layout %s has no sort key to order by", ErrQuery, layout)
		}
		if err := s.check(layout); err != nil {
			return nil, err
		}
		for _, t := range s.strands(layout, in) {
			if layout == c.view.Routing.To {
				t.rank = 1
			}
			this := asked{t.shard(), t.in.from, t.in.to}
			if twin := seen[this]; twin != nil && !c.view.InOrder {
				twin.rank = max(twin.rank, t.rank)
				continue
			}
			if t.in.empty() {
				continue
			}
			seen[this] = t
			all = append(all, t)
		}
	}
	return all, nil
}

// begin opens a call under the source's view of now.
func (r *Reader) begin(ctx context.Context, q Query, after *position) (*call, error) {
	view, err := r.source.View(ctx)
	if err != nil {
		return nil, fmt.Errorf("view of table %s: %w", r.table.Name, err)
	}
	return &call{reader: r, ask: q, order: order{q.Descending}, view: view, after: after}, nil
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
