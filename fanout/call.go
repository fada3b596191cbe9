package fanout

import (
	"context"
	"strings"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
)

// call is one question put to the index under one view.
type call struct {
	reader   *Reader
	ask      Query
	order    order
	view     View
	keysOnly bool                // rows carry their keys alone; see Count
	skip     map[string]struct{} // base keys of moving rows
}

// sortOf is a row's sort key. A row of the base table may lack that of one layout
// where the layouts have attributes of their own.
func (c *call) sortOf(s *strand, item Item) scalar {
	sort := scalarOf(item[s.layout.SortKey])
	if s.load == nil || sort.kind != kindNone {
		return sort
	}
	for _, layout := range c.view.Routing.Read {
		if sort = scalarOf(item[layout.SortKey]); sort.kind != kindNone {
			break
		}
	}
	return sort
}

// wants says whether a row that strand s read belongs to the answer.
func (c *call) wants(s *strand, at position) bool {
	if at.sort.kind == kindNone || (s.in.prefix != "" && !strings.HasPrefix(at.sort.text, s.in.prefix)) {
		return false
	}
	if s.keep != nil && !s.keep(at.sort.text) {
		return false
	}
	if s.after != nil && !c.order.after(at, *s.after) {
		return false
	}
	if len(c.skip) > 0 && s.load == nil {
		_, moving := c.skip[baseKey(at.base)]
		return !moving
	}
	return true
}

// query sends one request, again where that may help, and counts what it cost.
func (c *call) query(ctx context.Context, in *dynamodb.QueryInput, s Shard) (out *dynamodb.QueryOutput, err error) {
	if out, err = c.send(ctx, in, s); err == nil {
		return out, nil
	}
	err = retried(ctx, c.reader.options.AttemptsMax, err, func() (err error) {
		out, err = c.send(ctx, in, s)
		return err
	})
	return out, classify(err)
}

func (c *call) send(ctx context.Context, in *dynamodb.QueryInput, s Shard) (*dynamodb.QueryOutput, error) {
	if err := c.reader.options.InFlight.acquire(ctx); err != nil {
		return nil, err
	}
	defer c.reader.options.InFlight.release()
	out, err := c.reader.client.Query(ctx, in)
	if report := c.ask.Report; report != nil {
		report.add(s, queryCost(out, err))
	}
	return out, err
}

func queryCost(out *dynamodb.QueryOutput, err error) Cost {
	if err != nil {
		return Cost{Requests: 1}
	}
	cost := Cost{Requests: attempts(out.ResultMetadata), Pages: 1, Rows: len(out.Items)}
	if out.ConsumedCapacity != nil {
		cost.Units = units(*out.ConsumedCapacity)
	}
	return cost
}
