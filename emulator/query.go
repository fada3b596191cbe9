package emulator

import (
	"context"
	"strings"

	"github.com/hotsplit/hotsplit/emulator/attr"
	"github.com/hotsplit/hotsplit/emulator/expr"
)

// Query reads a page of one item collection.
func (db *DB) Query(ctx context.Context, in *QueryInput) (*QueryOutput, error) {
	c := db.begin(ctx, "Query")
	out, err := c.query(in)
	return answer(c, out, err)
}

func (c *call) query(in *QueryInput) (*QueryOutput, error) {
	q, err := in.check(&c.db.exprs)
	if err != nil {
		return nil, err
	}
	p, err := c.page(in.TableName, in.IndexName, in.ConsistentRead)
	if err != nil {
		return nil, err
	}
	if err := first(p.selection(in.Select, q), p.collection(q.key, in.ExclusiveStartKey), p.checkPaths(q, true)); err != nil {
		return nil, err
	}
	p.reverse = in.ScanIndexForward != nil && !*in.ScanIndexForward
	if in.Limit != nil {
		p.limit = *in.Limit
	}
	if err := c.suffer(p.t, c.entry.Index, func() []string { return []string{p.key} }); err != nil {
		return nil, err
	}
	return c.run(p, *in.TableName, in.ReturnConsumedCapacity)
}

// conditions are the expressions of a page.
type conditions struct {
	key        *expr.KeyCondition
	filter     *expr.Condition
	projection *expr.Projection
}

func (in *QueryInput) check(exprs *expr.Cache) (conditions, error) {
	var c constraints
	c.returnConsumedCapacity(in.ReturnConsumedCapacity)
	c.tableName(in.TableName)
	c.indexName(in.IndexName)
	c.selection(in.Select)
	if in.Limit != nil && *in.Limit < 1 {
		c.unnamed("Limit", "Member must have value greater than or equal to 1")
	}
	if err := first(c.err(), in.Legacy.refuse(named(
		"ProjectionExpression", in.ProjectionExpression, "FilterExpression", in.FilterExpression,
		"KeyConditionExpression", in.KeyConditionExpression)...), startKeyError(valueError(in.ExclusiveStartKey.Err()))); err != nil {
		return conditions{}, err
	}
	if in.KeyConditionExpression == nil && in.Expressions.Names == nil && in.Expressions.Values == nil {
		return conditions{}, invalid("Either the KeyConditions or KeyConditionExpression parameter must be specified in the request.")
	}
	q, err := in.Expressions.bindPage(exprs, false, in.KeyConditionExpression, in.FilterExpression, in.ProjectionExpression)
	return q, first(err, enveloped(checkSelect(in.Select, in.IndexName != nil, q.projection != nil)))
}

// checkSelect checks what is to be shown, as far as the request alone tells.
func checkSelect(sel string, index, projection bool) error {
	switch {
	case sel == "ALL_PROJECTED_ATTRIBUTES" && !index:
		return invalid("One or more parameter values were invalid: ALL_PROJECTED_ATTRIBUTES can be used only when Querying using an IndexName")
	case sel == "SPECIFIC_ATTRIBUTES" && !projection:
		return invalid("Must specify the AttributesToGet or ProjectionExpression when choosing to get SPECIFIC_ATTRIBUTES")
	case sel == "COUNT" && projection:
		return invalid("Cannot specify the ProjectionExpression when choosing to get only the Count")
	case sel != "" && sel != "SPECIFIC_ATTRIBUTES" && projection:
		return invalid("Cannot specify the ProjectionExpression when choosing to get " + sel)
	}
	return nil
}

// startKeyError is what is wrong about the values of a start key. What is wrong
// about numbers and sets is said without mention of the key.
func startKeyError(err error) error {
	e, ok := err.(*Error)
	if !ok {
		return nil
	}
	for _, bare := range []string{"contains duplicates", "number set", "numeric value", "significant digits", "with magnitude"} {
		if strings.Contains(e.Message, bare) {
			return e
		}
	}
	e.Message = "The provided starting key is invalid: " + e.Message
	return e
}

// page finds the table and index of a Query or Scan.
func (c *call) page(tableName, indexName *string, strong bool) (*page, error) {
	t, err := c.table(tableName)
	if err != nil {
		return nil, err
	}
	p := &page{t: t, level: consistency(strong)}
	if indexName == nil {
		return p, nil
	}
	t.mu.RLock()
	defer t.mu.RUnlock()
	p.ix = t.index(*indexName, c.now)
	if p.ix == nil {
		return nil, invalid("The table does not have the specified index: " + *indexName)
	}
	c.entry.Index = p.ix.name
	if p.ix.local {
		return p, nil
	}
	if strong {
		return nil, invalid("Consistent reads are not supported on global secondary indexes")
	}
	switch p.ix.lifecycle.status(c.now) {
	case "CREATING":
		return nil, invalid("Cannot read from backfilling global secondary index: " + *indexName)
	case "DELETING":
		return nil, invalid("The table does not have the specified index: " + *indexName)
	}
	return p, nil
}

// schema is the key that the page is ordered by.
func (p *page) schema() schema {
	if p.ix != nil {
		return p.ix.schema
	}
	return p.t.schema
}

func (p *page) seed() uint64 {
	if p.ix != nil {
		return p.ix.seed
	}
	return p.t.seed
}

// selection holds what is to be shown against the index.
func (p *page) selection(sel string, q conditions) error {
	p.filter, p.projection = q.filter, q.projection
	p.count = sel == "COUNT"
	switch {
	case p.ix == nil || p.ix.all:
		return nil
	case sel == "ALL_ATTRIBUTES" && !p.ix.local:
		return invalid("One or more parameter values were invalid: Select type ALL_ATTRIBUTES is not supported for global secondary index " +
			p.ix.name + " because its projection type is not ALL")
	case sel == "ALL_ATTRIBUTES":
		p.whole = true
	}
	return p.unprojected(q)
}

// unprojected deals with attributes that the index does not have: a local index
// fetches them from the table, a global one cannot.
func (p *page) unprojected(q conditions) error {
	var names []string
	if q.projection != nil {
		names = append(names, q.projection.Names()...)
	}
	if q.filter != nil {
		names = append(names, q.filter.Names()...)
	}
	var missing []string
	for _, name := range names {
		if !p.ix.projects(name) {
			missing = append(missing, name)
		}
	}
	switch {
	case len(missing) == 0:
		return nil
	case p.ix.local:
		p.whole = true
		return nil
	}
	return invalid("One or more parameter values were invalid: Global secondary index " + p.ix.name + " does not project [" + join(missing) + "]")
}

// collection bounds the page to what the key condition asks for, and to what is
// behind the start key.
func (p *page) collection(k *expr.KeyCondition, start attr.Item) error {
	if k == nil {
		return invalid("Either the KeyConditions or KeyConditionExpression parameter must be specified in the request.")
	}
	r, err := p.schema().rangeOf(k)
	if err != nil {
		return err
	}
	p.key = r.text
	prefix := string(r.appendHash(nil, p.seed()))
	r.bound(p, prefix)
	if start.IsNil() {
		return nil
	}
	if err := p.checkStartKey(start); err != nil {
		return err
	}
	p.after = p.startTreeKey(start)
	return p.checkInside(r, prefix)
}

// checkInside refuses a start key of another collection or range.
func (p *page) checkInside(r keyRange, prefix string) error {
	inCollection := len(p.after) >= len(prefix) && p.after[:len(prefix)] == prefix
	inRange := p.after >= p.low && (p.high == "" || p.after < p.high)
	switch {
	case inCollection && inRange:
		return nil
	case !r.sorted():
		return invalid("The provided starting key is outside query boundaries based on provided conditions")
	case inCollection:
		return invalid("The provided starting key does not match the range key predicate")
	}
	return invalid("The query can return at most one row and cannot be restarted")
}

// startTreeKey is the tree key that a start key stands for.
func (p *page) startTreeKey(start attr.Item) string {
	if p.ix == nil {
		return p.t.treeKey(start)
	}
	return p.ix.treeKey(start)
}

// checkStartKey checks that a start key has the attributes that a
// LastEvaluatedKey of the same page would have.
func (p *page) checkStartKey(start attr.Item) error {
	want := p.t.keyNames
	if p.ix != nil {
		want = p.ix.keyNames
	}
	if start.Len() != len(want) {
		return p.startMismatch()
	}
	for _, name := range want {
		if !start.Has(name) {
			return p.startMismatch()
		}
	}
	for _, s := range []schema{p.schema(), p.t.schema} {
		for i, list := range [2][]keyAttr{s.hash, s.sort} {
			for _, a := range list {
				if start.Get(a.name).Kind() != a.kind {
					return invalid("The provided starting key is invalid: The provided key element does not match the schema")
				}
				if err := checkKeySize(i == 0, start.Get(a.name)); err != nil {
					return err
				}
			}
		}
	}
	return nil
}

// startMismatch is the answer to a start key that has not the attributes of one.
func (p *page) startMismatch() error {
	if p.ix != nil || p.key != scanKey {
		return invalid("The provided starting key is invalid")
	}
	return invalid("The provided starting key is invalid: The provided key element does not match the schema")
}

// checkPaths refuses nested use of keys and, in a query, filters on the keys.
func (p *page) checkPaths(q conditions, query bool) error {
	if q.filter != nil && query {
		for _, name := range q.filter.Names() {
			if p.schema().has(name) {
				return invalid("Filter Expression can only contain non-primary key attributes: Primary key attribute: " + name)
			}
		}
	}
	return first(p.t.checkProjectionPaths(q.projection), p.t.checkConditionPaths(q.filter))
}
