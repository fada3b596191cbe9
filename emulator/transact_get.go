package emulator

import (
	"context"
	"fmt"
	"strings"

	"github.com/hotsplit/hotsplit/capacity"
	"github.com/hotsplit/hotsplit/emulator/attr"
	"github.com/hotsplit/hotsplit/emulator/expr"
)

// TransactGetItems reads up to 100 items as of one moment.
func (db *DB) TransactGetItems(ctx context.Context, in *TransactGetItemsInput) (*TransactGetItemsOutput, error) {
	c := db.begin(ctx, "TransactGetItems")
	out, err := c.transactGet(in)
	return answer(c, out, err)
}

func (c *call) transactGet(in *TransactGetItemsInput) (*TransactGetItemsOutput, error) {
	if err := in.check(); err != nil {
		return nil, err
	}
	projections, err := in.bind(&c.db.exprs)
	if err != nil {
		return nil, err
	}
	lookups := make([]lookup, len(in.TransactItems))
	reasons := newReasons(len(in.TransactItems))
	tx := &transaction{}
	for i := range in.TransactItems {
		l, err := c.newTransactGet(in.TransactItems[i].Get, projections[i])
		if err := reasons.noteFirst(i, err); err != nil {
			return nil, err
		}
		lookups[i] = l
		tx.named = append(tx.named, *in.TransactItems[i].Get.TableName)
		tx.mutations = append(tx.mutations, &mutation{t: l.t, treeKey: l.treeKey})
		if l.t != nil {
			tx.concern(l.t)
		}
	}
	if err := first(reasons.err(), tx.checkDistinct(), tx.sufferReads(c, lookups)); err != nil {
		return nil, err
	}
	return tx.read(c, in, lookups)
}

func (in *TransactGetItemsInput) check() error {
	var c constraints
	c.returnConsumedCapacity(in.ReturnConsumedCapacity)
	c.transactItems(in.TransactItems != nil, len(in.TransactItems))
	if err := c.err(); err != nil {
		return err
	}
	for i := range in.TransactItems {
		path := fmt.Sprintf("transactItems.%d.member.get", i+1)
		get := in.TransactItems[i].Get
		if !c.required(get != nil, path) {
			continue
		}
		switch {
		case !c.required(get.TableName != nil, path+".tableName"):
		case *get.TableName == "":
			c.unnamed(path+".tableName", "Member must have length greater than or equal to 1")
		case !strings.HasPrefix(*get.TableName, "arn:"):
			c.nameText(*get.TableName, path+".tableName")
		}
		c.required(!get.Key.IsNil(), path+".key")
	}
	return c.err()
}

// bind checks what takes no table to be checked, one read after the other.
func (in *TransactGetItemsInput) bind(exprs *expr.Cache) ([]*expr.Projection, error) {
	projections := make([]*expr.Projection, len(in.TransactItems))
	for i := range in.TransactItems {
		get := in.TransactItems[i].Get
		if err := olderValueError(get.Key.Err()); err != nil {
			return nil, err
		}
		p, err := bindProjection(exprs, get.Names, get.ProjectionExpression)
		if err != nil {
			return nil, err
		}
		projections[i] = p
	}
	return projections, nil
}

func (c *call) newTransactGet(get *TransactGet, projection *expr.Projection) (lookup, error) {
	t, err := c.table(get.TableName)
	if err != nil {
		return lookup{}, err
	}
	l := lookup{t: t, key: get.Key, projection: projection, level: capacity.Transactional}
	if err := first(t.checkKey(get.Key), t.checkProjectionPaths(projection)); err != nil {
		return l, err
	}
	l.treeKey = t.treeKey(get.Key)
	return l, nil
}

func (tx *transaction) sufferReads(c *call, lookups []lookup) error {
	for _, t := range tx.tables {
		err := c.suffer(t, "", func() []string {
			var keys []string
			for i := range lookups {
				if lookups[i].t == t {
					keys = append(keys, lookups[i].faultKeys()...)
				}
			}
			return keys
		})
		if err != nil {
			return tx.scripted(err)
		}
	}
	return nil
}

func (tx *transaction) read(c *call, in *TransactGetItemsInput, lookups []lookup) (*TransactGetItemsOutput, error) {
	items := tx.snapshot(lookups)
	costs := make([]cost, len(items))
	bounds := make([]int, len(items))
	bytes := 0
	for i, item := range items {
		costs[i] = lookups[i].cost(item)
		costs[i].item = i
		bounds[i] = i + 1
		bytes += item.Size()
	}
	if bytes > transactBytesMax {
		return nil, invalid("Collection size exceeded the maximum of 4 MB for a transaction")
	}
	if refused, err := tx.admit(c, costs); err != nil {
		reasons := newReasons(len(items))
		reasons.throttled(refused.item, err.(*Error))
		c.entry.Reasons = err.(*Error).Reasons
		return nil, reasons.err()
	}
	out := &TransactGetItemsOutput{Responses: make([]attr.Item, len(items))}
	for i := range items {
		out.Responses[i] = lookups[i].show(items[i])
	}
	write := tx.output(&TransactWriteItemsInput{ReturnConsumedCapacity: in.ReturnConsumedCapacity}, costs, bounds)
	out.ConsumedCapacity = write.ConsumedCapacity
	return out, nil
}

// snapshot reads all items while no table can change.
func (tx *transaction) snapshot(lookups []lookup) []attr.Item {
	for _, t := range tx.tables {
		t.mu.RLock()
		defer t.mu.RUnlock()
	}
	items := make([]attr.Item, len(lookups))
	for i := range lookups {
		items[i], _ = lookups[i].t.rows.Get(lookups[i].treeKey)
	}
	return items
}
