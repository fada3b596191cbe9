package fanout

import (
	"context"
	"fmt"
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
	err = retried(ctx, c.reader.options.AttemptsMax, func() error {
		return c.reader.options.InFlight.send(ctx, func() (err error) {
			out, err = c.reader.client.Query(ctx, in)
			if report := c.ask.Report; report != nil {
				report.add(s, queryCost(out, err))
			}
			return err
		})
	})
	return out, classify(err)
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

// projection names the keys of a row, all that counting needs.
func (c *call) projection(s *strand, names map[string]string) string {
	attributes := append([]string{s.layout.SortKey}, c.reader.table.Key...)
	words := make([]string, len(attributes))
	for i, attribute := range attributes {
		words[i] = fmt.Sprintf("#%skey%d", placeholder, i)
		names[words[i]] = attribute
	}
	return strings.Join(words, ", ")
}
