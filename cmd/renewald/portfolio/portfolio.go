// Package portfolio knows the leases and letters that stand beside the sagas in
// the application's table: LEASE#{id} and LETTER#{id}.
//
// Neither carries an index key, so a move of the saga index never meets them.
package portfolio

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/hotsplit/hotsplit/renewal/temporalsaga"
)

// Client is the part of DynamoDB that a portfolio needs; *dynamodb.Client fits.
type Client interface {
	GetItem(context.Context, *dynamodb.GetItemInput, ...func(*dynamodb.Options)) (*dynamodb.GetItemOutput, error)
	PutItem(context.Context, *dynamodb.PutItemInput, ...func(*dynamodb.Options)) (*dynamodb.PutItemOutput, error)
	UpdateItem(context.Context, *dynamodb.UpdateItemInput, ...func(*dynamodb.Options)) (*dynamodb.UpdateItemOutput, error)
	Scan(context.Context, *dynamodb.ScanInput, ...func(*dynamodb.Options)) (*dynamodb.ScanOutput, error)
}

// Portfolio is the leases of one table, and the letters about them. It is what
// a renewal's activities need: temporalsaga.Leases and temporalsaga.Letters.
type Portfolio struct {
	client Client
	table  string
}

var (
	_ temporalsaga.Leases  = (*Portfolio)(nil)
	_ temporalsaga.Letters = (*Portfolio)(nil)
)

// New is the portfolio in a table.
func New(client Client, table string) *Portfolio {
	return &Portfolio{client: client, table: table}
}

type item = map[string]types.AttributeValue

func text(value string) types.AttributeValue { return &types.AttributeValueMemberS{Value: value} }

func number[T int | int64](value T) types.AttributeValue {
	return &types.AttributeValueMemberN{Value: strconv.FormatInt(int64(value), 10)}
}

func key(kind, id string) item { return item{"PK": text(kind + "#" + id), "SK": text("META")} }

func textOf(value types.AttributeValue) string {
	if s, ok := value.(*types.AttributeValueMemberS); ok {
		return s.Value
	}
	return ""
}

func numberOf(value types.AttributeValue) int64 {
	n, ok := value.(*types.AttributeValueMemberN)
	if !ok {
		return 0
	}
	parsed, _ := strconv.ParseInt(n.Value, 10, 64) // a foreign value reads as 0, which Validate then names
	return parsed
}

func dayOf(value types.AttributeValue) time.Time {
	day, _ := time.Parse(time.DateOnly, textOf(value)) // as with numberOf
	return day
}

// Ending reads one page of the table and keeps the leases that end between two
// days. The walk is a scan: it is paced, runs a few times a day, and an index
// for it would cost a write with every change of every lease.
func (p *Portfolio) Ending(ctx context.Context, from, before time.Time, after string, limit int) (temporalsaga.LeasePage, error) {
	in := &dynamodb.ScanInput{
		TableName:        &p.table,
		Limit:            aws.Int32(int32(limit)),
		FilterExpression: aws.String("entityType = :lease AND ends BETWEEN :from AND :before"),
		ExpressionAttributeValues: item{
			":lease": text("Lease"), ":from": text(from.UTC().Format(time.DateOnly)), ":before": text(before.UTC().Format(time.DateOnly)),
		},
	}
	if after != "" {
		pk, sk, err := parsePosition(after)
		if err != nil {
			return temporalsaga.LeasePage{}, err
		}
		in.ExclusiveStartKey = item{"PK": text(pk), "SK": text(sk)}
	}
	out, err := p.client.Scan(ctx, in)
	if err != nil {
		return temporalsaga.LeasePage{}, unavailable("scan leases of "+p.table, err)
	}
	page := temporalsaga.LeasePage{Leases: make([]temporalsaga.Lease, 0, len(out.Items))}
	for _, it := range out.Items {
		page.Leases = append(page.Leases, leaseOf(it))
	}
	if out.LastEvaluatedKey != nil {
		page.Next = position(textOf(out.LastEvaluatedKey["PK"]), textOf(out.LastEvaluatedKey["SK"]))
	}
	return page, nil
}

// Lease reads one lease; an absent one is the zero Lease.
func (p *Portfolio) Lease(ctx context.Context, id string) (temporalsaga.Lease, error) {
	it, err := p.lease(ctx, id)
	if err != nil || it == nil {
		return temporalsaga.Lease{}, err
	}
	return leaseOf(it), nil
}

func (p *Portfolio) lease(ctx context.Context, id string) (item, error) {
	out, err := p.client.GetItem(ctx, &dynamodb.GetItemInput{TableName: &p.table, Key: key("LEASE", id), ConsistentRead: aws.Bool(true)})
	if err != nil {
		return nil, unavailable("read lease "+id, err)
	}
	return out.Item, nil
}

// Quote is the rent that the lease asks for its next term, or else today's.
func (p *Portfolio) Quote(ctx context.Context, lease temporalsaga.Lease) (int64, error) {
	it, err := p.lease(ctx, lease.ID)
	if err != nil {
		return 0, err
	}
	for _, rent := range []int64{numberOf(it["askCents"]), numberOf(it["rentCents"]), lease.RentCents} {
		if rent > 0 {
			return rent, nil
		}
	}
	return 0, &temporalsaga.InputError{Subject: "lease " + lease.ID, Faults: []string{"has no rent to renew at"}}
}

// Extend moves a lease's end from one day to the next, once for its id.
func (p *Portfolio) Extend(ctx context.Context, e temporalsaga.Extension) (temporalsaga.Extended, error) {
	_, err := p.client.UpdateItem(ctx, &dynamodb.UpdateItemInput{
		TableName: &p.table, Key: key("LEASE", e.LeaseID),
		ConditionExpression: aws.String("attribute_exists(PK) AND ends = :from"),
		UpdateExpression:    aws.String("SET ends = :to, rentCents = :rent, extendedBy = :id"),
		ExpressionAttributeValues: item{
			":from": text(e.From.UTC().Format(time.DateOnly)), ":to": text(e.To.UTC().Format(time.DateOnly)),
			":rent": number(e.RentCents), ":id": text(e.ID),
		},
		ReturnValuesOnConditionCheckFailure: types.ReturnValuesOnConditionCheckFailureAllOld,
	})
	var refused *types.ConditionalCheckFailedException
	switch {
	case err == nil:
		return temporalsaga.Extended{Ends: e.To}, nil
	case errors.As(err, &refused):
		// No row, the own write of an attempt whose answer was lost, or
		// another hand: the old item says which.
		return temporalsaga.Extended{
			Ends: dayOf(refused.Item["ends"]), Foreign: textOf(refused.Item["extendedBy"]) != e.ID,
		}, nil
	default:
		return temporalsaga.Extended{}, unavailable("extend lease "+e.LeaseID, err)
	}
}

// Send puts a letter into the outbox. The same id again is the same letter.
func (p *Portfolio) Send(ctx context.Context, letter temporalsaga.Letter) error {
	row := key("LETTER", letter.ID)
	row["entityType"], row["sagaId"], row["kind"] = text("Letter"), text(letter.SagaID), text(letter.Kind)
	row["toPerson"], row["rentCents"] = text(letter.PersonID), number(letter.RentCents)
	if !letter.Expires.IsZero() {
		row["expires"] = text(letter.Expires.UTC().Format(time.RFC3339))
	}
	_, err := p.client.PutItem(ctx, &dynamodb.PutItemInput{
		TableName: &p.table, Item: row, ConditionExpression: aws.String("attribute_not_exists(PK)"),
	})
	var there *types.ConditionalCheckFailedException
	if err != nil && !errors.As(err, &there) {
		return unavailable("send letter "+letter.ID, err)
	}
	return nil
}

func leaseOf(it item) temporalsaga.Lease {
	_, id := splitKey(textOf(it["PK"]))
	return temporalsaga.Lease{
		ID: id, PersonID: textOf(it["personId"]), PersonName: textOf(it["personName"]), PropertyID: textOf(it["propertyId"]), Unit: textOf(it["unit"]),
		Ends: dayOf(it["ends"]), RentCents: numberOf(it["rentCents"]), TermMonths: int(numberOf(it["termMonths"])),
	}
}

// unavailable marks what DynamoDB did not do as a matter of time: an activity
// tries it again for as long as it takes.
func unavailable(what string, err error) error {
	return fmt.Errorf("%s: %w: %w", what, temporalsaga.ErrUnavailable, err)
}
