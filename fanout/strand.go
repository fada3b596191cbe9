package fanout

import (
	"context"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/hotsplit/hotsplit/shard"
)

// strand is one partition key's part of an answer, read page by page. It is
// used by one goroutine; ask alone may run in another, one at a time.
type strand struct {
	layout shard.Layout
	key    string
	in     bounds
	rank   int               // where two copies of a row meet, the higher rank wins
	keep   func(string) bool // which sort keys are wanted, where in holds others too
	load   func(context.Context) ([]Item, error)

	input *dynamodb.QueryInput

	rows      []row // rows[at:ready] may be yielded; rows[ready:] may lack rows of their sort key
	at, ready int
	next      Item   // where the service goes on; nil at the end or before the start
	bound     scalar // rows not read yet are at or after it
	started   bool
	done      bool
	evaluated int // rows that the service looked at, filtered ones included
	failed    *ShardError
	after     *position // rows up to it were returned before
	own       state     // what a cursor says of this strand alone

	answer   chan answer // a page on its way
	prefetch int         // when at gets here the next page is asked for
	limit    int         // rows to ask for in a page; 0 leaves that to the service

	probe []*strand // takes over, one owner each, where one page did not reach the end
	tally *tally    // counts what owners take, while the strand reads
}

// answer is a page or why there is none.
type answer struct {
	items     []Item
	next      Item
	evaluated int
	err       error
}

func (s *strand) shard() Shard { return Shard{Index: s.layout.Index, Key: s.key} }

func (s *strand) fault(t Table, err error) *ShardError {
	return &ShardError{Table: t.Name, Index: s.layout.Index, Key: s.key, Err: err}
}

// blocked says that the next row of s is not known yet.
func (s *strand) blocked() bool { return !s.done && s.at == s.ready }

// promised says that the first row of s is known from a cursor, and not yet read.
func (s *strand) promised() bool { return s.own.stage == stageFrom && s.evaluated == 0 }

func (s *strand) head() *row { return &s.rows[s.at] }

// resume sets s to what is left of it after the shared position and its own state.
func (s *strand) resume(c *call, own state, shared *position) {
	s.after, s.own = shared, own
	switch own.stage {
	case stageFinished:
		s.done, s.started = true, true
		return
	case stageUnopened:
		s.after = nil
		return
	case stageOwed:
		s.after = &own.at
	case stageFrom:
		s.in = s.in.startingAt(own.at.sort, c.order)
		s.started, s.bound = true, own.at.sort
	case stageAfter:
		s.next = s.keyOf(c, own.at)
		s.started, s.bound = true, own.at.sort
	}
	if s.after != nil {
		s.in = s.in.startingAt(s.after.sort, c.order)
	}
	if s.in.empty() {
		s.done, s.started = true, true
	}
}

// owed is the state that has the next page come back to a strand that failed.
func (s *strand) owed() state {
	if s.after == nil {
		return state{stage: stageUnopened}
	}
	return state{stage: stageOwed, at: *s.after}
}

// keyOf is the service's own form of a position in s.
func (s *strand) keyOf(c *call, p position) Item {
	key := Item{s.layout.PartitionKey: &types.AttributeValueMemberS{Value: s.key}, s.layout.SortKey: p.sort.value()}
	for i, attribute := range c.reader.table.Key {
		key[attribute] = p.base[i].value()
	}
	return key
}

// ask reads the next page of s; limit 0 leaves its size to the service.
func (s *strand) ask(ctx context.Context, c *call, limit int) answer {
	if s.load != nil {
		items, err := s.load(ctx)
		return answer{items: items, evaluated: len(items), err: err}
	}
	if s.input == nil {
		s.input = c.input(s)
	}
	s.input.ExclusiveStartKey = s.next
	if limit > 0 {
		s.input.Limit = new(int32(limit))
	}
	out, err := c.query(ctx, s.input, s.shard())
	if err != nil {
		return answer{err: err}
	}
	return answer{items: out.Items, next: out.LastEvaluatedKey, evaluated: int(out.ScannedCount)}
}

// accept takes a page in. Index copies of moving rows are dropped: the base read
// speaks for them.
func (s *strand) accept(c *call, a answer) {
	s.started, s.next, s.done = true, a.next, a.next == nil
	s.evaluated += a.evaluated
	s.compact(len(a.items))
	for _, item := range a.items {
		place := position{sort: c.sortOf(s, item), base: c.reader.table.baseOf(item)}
		s.tally.add(place.sort.text, item)
		if c.wants(s, place) {
			s.rows = append(s.rows, row{item: item, place: place, rank: s.rank})
		}
	}
	if s.load != nil {
		slices.SortFunc(s.rows, func(a, b row) int { return c.order.compare(a.place, b.place) })
	}
	s.release(c.order)
	if s.done {
		s.tally.finish()
	}
}

// split ends a probe after its one page. The strands of the owners that it did
// not reach take over.
func (s *strand) split(c *call) []*strand {
	rest := s.probe
	s.probe = nil
	if rest == nil || s.done {
		return nil
	}
	c.reader.census.markLarge(s.shard())
	s.done, s.rows = true, s.rows[:s.ready]
	for _, t := range rest {
		t.rank, t.after = s.rank, s.after
		t.in = t.in.startingAt(s.bound, c.order)
	}
	return slices.DeleteFunc(rest, func(t *strand) bool { return t.in.empty() })
}

func (s *strand) compact(more int) {
	n := copy(s.rows, s.rows[s.at:])
	clear(s.rows[n:])
	s.rows, s.ready, s.at = s.rows[:n], s.ready-s.at, 0
	s.rows = slices.Grow(s.rows, more)
}

// release frees the rows whose sort key is complete, in their final order.
func (s *strand) release(o order) {
	ready := len(s.rows)
	if !s.done {
		s.bound = scalarOf(s.next[s.layout.SortKey])
		for ready > s.ready && o.compareSort(s.rows[ready-1].place.sort, s.bound) >= 0 {
			ready--
		}
	}
	sortTies(s.rows[s.ready:ready], o)
	s.ready = ready
	s.prefetch = s.at + (ready-s.at)/2
}

// sortTies orders the rows of each sort key, which the index keeps in an order of
// its own, by their base key.
func sortTies(rows []row, o order) {
	for from := 0; from < len(rows); {
		to := from + 1
		for to < len(rows) && rows[to].place.sort == rows[from].place.sort {
			to++
		}
		if to-from > 1 {
			slices.SortFunc(rows[from:to], func(a, b row) int { return o.compare(a.place, b.place) })
		}
		from = to
	}
}

// input is the request for the rows of s, without its page.
func (c *call) input(s *strand) *dynamodb.QueryInput {
	f := &c.ask.Filter
	values := make(map[string]types.AttributeValue, len(f.Values)+3)
	maps.Copy(values, f.Values)
	values[":"+placeholder+"pk"] = &types.AttributeValueMemberS{Value: s.key}
	n := names{filter: f.Names}
	pk, sk := n.spell("pk", s.layout.PartitionKey), ""
	if !s.in.unbounded() {
		sk = n.spell("sk", s.layout.SortKey)
	}
	condition := s.in.condition(pk, sk, values)
	in := &dynamodb.QueryInput{
		TableName:                 &c.reader.table.Name,
		IndexName:                 &s.layout.Index,
		KeyConditionExpression:    &condition,
		ExpressionAttributeValues: values,
		ReturnConsumedCapacity:    c.ask.Report.wants(),
	}
	if f.Expression != "" {
		in.FilterExpression = &f.Expression
	}
	if c.order.descending {
		in.ScanIndexForward = new(false)
	}
	if c.keysOnly {
		in.ProjectionExpression = new(c.projection(s, &n))
	}
	in.ExpressionAttributeNames = n.placeholders()
	return in
}

// projection names the keys of a row, all that counting needs.
func (c *call) projection(s *strand, n *names) string {
	words := []string{n.spell("sort", s.layout.SortKey)}
	for i, attribute := range c.reader.table.Key {
		words = append(words, n.spell("base"+strconv.Itoa(i), attribute))
	}
	return strings.Join(words, ", ")
}
