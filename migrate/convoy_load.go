package migrate

import (
	"context"
	"fmt"
	"time"

	"github.com/hotsplit/hotsplit/fanout"
)

func (c *convoy) hasMore() bool { return len(c.backlog) > 0 || (c.pass != nil && c.pass.more()) }

// batchRows is how many rows are published at once under the present pace.
func (c *convoy) batchRows() int {
	if n := c.r.opts.BatchRows; n > 0 {
		return n
	}
	return min(max(int(c.r.pace.rate*batchSeconds), batchRowsMin), batchRowsMax)
}

// load reads a page when the backlog would not fill a batch.
func (c *convoy) load(ctx context.Context) (bool, error) {
	want := c.batchRows()
	if c.pass == nil || !c.pass.more() || len(c.backlog) >= want || c.full() {
		return false, nil
	}
	limit := pageRowsMax
	if c.pass.source == SourceDrain {
		limit = min(max(want-len(c.backlog), pageRowsMin), pageRowsMax)
	}
	rows, pg, err := c.pass.next(ctx, limit)
	if err != nil {
		return false, err
	}
	c.backlog = append(c.backlog, rows...)
	c.trail.add(pg)
	return true, nil
}

// full says that enough batches are on the way, or wait to be moved.
func (c *convoy) full() bool {
	waiting := 0
	for _, b := range c.batches {
		if len(b.rows) > 0 {
			waiting++
		}
	}
	return len(c.batches) >= batchesMax || waiting >= batchesMax-1
}

// publishNext cuts a batch off the backlog and publishes it, together with what
// is on the way and without what has settled.
func (c *convoy) publishNext(ctx context.Context) (bool, error) {
	if len(c.backlog) == 0 || c.full() {
		return false, nil
	}
	room := movingBytesMax * movingItemsMax
	for _, b := range c.batches {
		for _, row := range append(b.rows[:len(b.rows):len(b.rows)], b.moved...) {
			room -= bytesOf(row.moving())
		}
	}
	n := 0
	for n < min(c.batchRows(), len(c.backlog)) && room > 0 {
		room -= bytesOf(c.backlog[n].moving())
		n++
	}
	if n == 0 {
		return false, nil
	}
	b := &batch{rows: c.backlog[:n:n]}
	c.batches = append(c.batches, b)
	if err := c.publish(ctx); err != nil {
		c.batches = c.batches[:len(c.batches)-1] // nobody is known to have seen it
		return false, err
	}
	c.backlog = c.backlog[n:]
	b.version, b.at = c.r.record.Moving.Version, time.Now()
	c.r.tell(ctx, Event{Kind: EventPublished, Rows: n, Text: fmt.Sprintf("%d rows in moving set %d", n, b.version)})
	return true, nil
}

// publish writes the set of all rows that are on the way.
func (c *convoy) publish(ctx context.Context) error {
	var rows []fanout.MovingRow
	for _, b := range c.batches {
		for _, row := range b.rows {
			rows = append(rows, row.moving())
		}
		for _, row := range b.moved {
			rows = append(rows, row.moving())
		}
	}
	if err := c.r.publish(ctx, rows); err != nil {
		return err
	}
	c.dirty, c.empty = false, len(rows) == 0
	return nil
}
