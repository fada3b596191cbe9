package emulator

import (
	"context"
	"math/bits"
	"strconv"

	"github.com/hotsplit/hotsplit/emulator/attr"
	"github.com/hotsplit/hotsplit/emulator/expr"
)

// scanKey stands for the keys of a scan in heat and log: it has none.
const scanKey = "…scan"

// Scan reads a page of a table or index in the order of placement.
func (db *DB) Scan(ctx context.Context, in *ScanInput) (*ScanOutput, error) {
	c := db.begin(ctx, "Scan")
	out, err := c.scan(in)
	return answer(c, out, err)
}

func (c *call) scan(in *ScanInput) (*ScanOutput, error) {
	q, err := in.check(&c.db.exprs)
	if err != nil {
		return nil, err
	}
	p, err := c.page(in.TableName, in.IndexName, in.ConsistentRead)
	if err != nil {
		return nil, err
	}
	p.key = scanKey
	if err := first(p.selection(in.Select, q), p.segment(in), p.checkPaths(q, false)); err != nil {
		return nil, err
	}
	if in.Limit != nil {
		p.limit = *in.Limit
	}
	if err := c.suffer(p.t, c.entry.Index, func() []string { return nil }); err != nil {
		return nil, err
	}
	return c.run(p, *in.TableName, in.ReturnConsumedCapacity)
}

const segmentsMax = 1_000_000

func (in *ScanInput) check(exprs *expr.Cache) (conditions, error) {
	var c constraints
	c.returnConsumedCapacity(in.ReturnConsumedCapacity)
	c.tableName(in.TableName)
	c.indexName(in.IndexName)
	c.selection(in.Select)
	c.atLeast(in.Limit, "limit", 1)
	c.atLeast(in.Segment, "segment", 0)
	c.atMost(in.Segment, "segment", segmentsMax-1)
	c.atLeast(in.TotalSegments, "totalSegments", 1)
	c.atMost(in.TotalSegments, "totalSegments", segmentsMax)
	if err := first(c.err(), in.Legacy.refuse(named(
		"ProjectionExpression", in.ProjectionExpression, "FilterExpression", in.FilterExpression)...),
		startKeyError(olderValueError(in.ExclusiveStartKey.Err())), in.checkSegments()); err != nil {
		return conditions{}, err
	}
	if in.FilterExpression == nil && in.Expressions.Values != nil {
		return conditions{}, invalid("ExpressionAttributeValues can only be specified when using expressions: FilterExpression is null")
	}
	q, err := in.Expressions.bindPage(exprs, true, nil, in.FilterExpression, in.ProjectionExpression)
	return q, first(err, checkSelect(in.Select, in.IndexName != nil, q.projection != nil))
}

func (c *constraints) atLeast(v *int, path string, least int) {
	if v != nil && *v < least {
		c.violated("'"+strconv.Itoa(*v)+"'", path, "Member must have value greater than or equal to "+strconv.Itoa(least))
	}
}

func (c *constraints) atMost(v *int, path string, most int) {
	if v != nil && *v > most {
		c.violated("'"+strconv.Itoa(*v)+"'", path, "Member must have value less than or equal to "+strconv.Itoa(most))
	}
}

func (in *ScanInput) checkSegments() error {
	switch {
	case in.Segment != nil && in.TotalSegments == nil:
		return invalid("The TotalSegments parameter is required but was not present in the request when Segment parameter is present")
	case in.Segment == nil && in.TotalSegments != nil:
		return invalid("The Segment parameter is required but was not present in the request when parameter TotalSegments is present")
	case in.Segment != nil && *in.Segment >= *in.TotalSegments:
		return invalid("The Segment parameter is zero-based and must be less than parameter TotalSegments: Segment: " +
			strconv.Itoa(*in.Segment) + " is not less than TotalSegments: " + strconv.Itoa(*in.TotalSegments))
	}
	return nil
}

// segment bounds the page to the hashes of its segment, behind the start key.
func (p *page) segment(in *ScanInput) error {
	if in.TotalSegments != nil {
		p.low = segmentStart(*in.Segment, *in.TotalSegments)
		if *in.Segment+1 < *in.TotalSegments {
			p.high = segmentStart(*in.Segment+1, *in.TotalSegments)
		}
	}
	if in.ExclusiveStartKey.IsNil() {
		return nil
	}
	if err := first(p.checkStartKey(in.ExclusiveStartKey), p.t.checkStartEmpty(in.ExclusiveStartKey)); err != nil {
		return err
	}
	p.after = p.startTreeKey(in.ExclusiveStartKey)
	if p.after < p.low || !p.inside(p.after) {
		return invalid("The provided starting key is invalid: Invalid ExclusiveStartKey. Please use ExclusiveStartKey with correct Segment. TotalSegments: " +
			strconv.Itoa(*in.TotalSegments) + " Segment: " + strconv.Itoa(*in.Segment))
	}
	return nil
}

func (t *table) checkStartEmpty(start attr.Item) error {
	for _, a := range t.schema.attrs() {
		if err := checkEmptyKey(a.name, start.Get(a.name)); err != nil {
			return invalid("The provided starting key is invalid: " + err.(*Error).Message)
		}
	}
	return nil
}

// segmentStart is the first tree key of a segment: segments are equal shares of
// the hashes.
func segmentStart(segment, total int) string {
	// segment × 2^64 / total, in 128 bits.
	hash, _ := bits.Div64(uint64(segment), 0, uint64(total))
	var b [hashBytes]byte
	putHash(b[:], hash)
	return string(b[:])
}
