package emulator

import (
	"context"
	"slices"

	"github.com/hotsplit/hotsplit/emulator/attr"
	"github.com/hotsplit/hotsplit/emulator/expr"
)

const (
	batchGetItemsMax  = 100
	batchBytesMax     = 16 << 20
	batchWriteMax     = 25
	transactItemsMax  = 100
	transactBytesMax  = 4 << 20
	clientTokenBytes  = 36
	duplicateKeysText = "Provided list of item keys contains duplicates"
)

// BatchGetItem reads up to 100 items.
func (db *DB) BatchGetItem(ctx context.Context, in *BatchGetItemInput) (*BatchGetItemOutput, error) {
	c := db.begin(ctx, "BatchGetItem")
	out, err := c.batchGet(in)
	return answer(c, out, err)
}

// tableReads are the checked reads of one table of a batch.
type tableReads struct {
	*TableKeys
	t       *table
	lookups []lookup
}

func (c *call) batchGet(in *BatchGetItemInput) (*BatchGetItemOutput, error) {
	projections, err := in.check(&c.db.exprs)
	if err != nil {
		return nil, err
	}
	reads := make([]tableReads, len(in.RequestItems))
	for i := range in.RequestItems {
		if reads[i], err = c.lookups(&in.RequestItems[i], projections[i]); err != nil {
			return nil, err
		}
	}
	out := &BatchGetItemOutput{Responses: []TableItems{}}
	room, served := batchBytesMax, 0
	var throttle error
	for _, r := range reads {
		if err := c.suffer(r.t, "", r.faultKeys); err != nil {
			return nil, err
		}
		n, err := c.batchGetTable(r, in.ReturnConsumedCapacity, &room, out)
		served += n
		throttle = first(throttle, err)
	}
	if served == 0 && throttle != nil {
		return nil, c.throttledRequest(reads[0].t, throttle)
	}
	return out, nil
}

func (r tableReads) faultKeys() []string {
	keys := make([]string, len(r.lookups))
	for i := range r.lookups {
		keys[i] = r.t.schema.keyText(r.lookups[i].key)
	}
	return keys
}

func (in *BatchGetItemInput) check(exprs *expr.Cache) ([]*expr.Projection, error) {
	var c constraints
	if c.required(in.RequestItems != nil, "requestItems") && len(in.RequestItems) == 0 {
		c.unnamed("RequestItems", "Member must have length greater than or equal to 1")
	}
	if slices.ContainsFunc(in.RequestItems, func(k TableKeys) bool { return !isMapName(k.TableName) }) {
		c.violated("'"+in.spell()+"'", "requestItems", mapNameConstraint)
	}
	c.returnConsumedCapacity(in.ReturnConsumedCapacity)
	for i := range in.RequestItems {
		c.tableKeys(&in.RequestItems[i])
	}
	if err := c.err(); err != nil {
		return nil, err
	}
	return in.bind(exprs)
}

func (c *constraints) tableKeys(k *TableKeys) {
	switch {
	case k.Keys == nil:
		c.violated("null", "requestItems."+k.TableName+".member.keys", "Member must not be null")
	case len(k.Keys) == 0:
		c.unnamed("RequestItems."+k.TableName+".member.Keys", "Member must have length greater than or equal to 1")
	case len(k.Keys) > batchGetItemsMax:
		c.unnamed("RequestItems."+k.TableName+".member.Keys", "Member must have length less than or equal to 100")
	}
}

func (in *BatchGetItemInput) bind(exprs *expr.Cache) ([]*expr.Projection, error) {
	projections := make([]*expr.Projection, len(in.RequestItems))
	total := 0
	for i := range in.RequestItems {
		k := &in.RequestItems[i]
		if err := k.Legacy.refuse(named("ProjectionExpression", k.ProjectionExpression)...); err != nil {
			return nil, err
		}
		p, err := bindProjection(exprs, k.Names, k.ProjectionExpression)
		if err != nil {
			return nil, err
		}
		projections[i] = p
		for _, key := range k.Keys {
			if err := valueError(key.Err()); err != nil {
				return nil, err
			}
		}
		if total += len(k.Keys); total > batchGetItemsMax {
			return nil, invalid("Too many items requested for the BatchGetItem call")
		}
	}
	return projections, nil
}

// checkDuplicates is for keys of a table that is not there, where their values
// are all there is to tell them apart.
func checkDuplicates(keys []attr.Item) error {
	for i, key := range keys {
		if slices.ContainsFunc(keys[:i], key.Equal) {
			return invalid(duplicateKeysText)
		}
	}
	return nil
}

func (c *call) lookups(k *TableKeys, projection *expr.Projection) (tableReads, error) {
	r := tableReads{TableKeys: k}
	t, err := c.table(&k.TableName)
	if err != nil {
		return r, first(checkDuplicates(k.Keys), err)
	}
	r.t = t
	if err := t.checkProjectionPaths(projection); err != nil {
		return r, err
	}
	seen := make(map[string]bool, len(k.Keys))
	for _, key := range k.Keys {
		if err := t.checkKey(key); err != nil {
			return r, err
		}
		treeKey := t.treeKey(key)
		if seen[treeKey] {
			return r, invalid(duplicateKeysText)
		}
		seen[treeKey] = true
		r.lookups = append(r.lookups, lookup{
			t: t, key: key, treeKey: treeKey, projection: projection, level: consistency(k.ConsistentRead),
		})
	}
	return r, nil
}

// batchGetTable reads the items of one table. What is throttled, or does not fit
// into the answer, stays unprocessed.
func (c *call) batchGetTable(r tableReads, level string, room *int, out *BatchGetItemOutput) (served int, throttle error) {
	b := bill{named: r.TableName, level: level}
	found := TableItems{TableName: r.TableName, Items: []attr.Item{}}
	var left []attr.Item
	skip := c.leave(len(r.lookups))
	for i := range r.lookups {
		l := &r.lookups[i]
		item := l.find()
		if i >= len(r.lookups)-skip || *room < item.Size() {
			left = append(left, l.key)
			continue
		}
		costs := [1]cost{l.cost(item)}
		if err := c.admit(r.t, costs[:]); err != nil {
			throttle = first(throttle, err)
			left = append(left, l.key)
			continue
		}
		b.add(costs[:])
		served++
		*room -= item.Size()
		if !item.IsNil() {
			found.Items = append(found.Items, l.show(item))
		}
	}
	out.Responses = append(out.Responses, found)
	if len(left) > 0 {
		rest := *r.TableKeys
		rest.Keys = left
		out.UnprocessedKeys = append(out.UnprocessedKeys, rest)
	}
	if cc := b.consumed(false); cc != nil {
		out.ConsumedCapacity = append(out.ConsumedCapacity, *cc)
	}
	return served, throttle
}

// leave is how many of n batch items a fault leaves unprocessed.
func (c *call) leave(n int) int { return int(c.unprocessed*float64(n) + 0.5) }
