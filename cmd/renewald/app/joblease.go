package app

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
)

// jobLease lets one process at a time run a job, and each slot of its schedule
// run once, in whichever process comes first. The item PK=SWEEPJOB#{job} holds a
// fencing token that only grows; what a run reports counts under its own token
// alone. Clocks of hosts are assumed to agree to within seconds, no more depends
// on it: each move of a sweep is conditional on its saga's version, so two that
// overlap after all still move once.
type jobLease struct {
	client *dynamodb.Client
	table  string
	holder string
}

// leaseFor is how long a run may take; it is cancelled somewhat earlier.
const (
	leaseFor    = 2 * time.Minute
	leaseMargin = 10 * time.Second
)

// held is a job that this process may run.
type held struct {
	job   string
	token string
}

func jobKey(job string) map[string]types.AttributeValue {
	return map[string]types.AttributeValue{
		"PK": &types.AttributeValueMemberS{Value: "SWEEPJOB#" + job}, "SK": &types.AttributeValueMemberS{Value: "META"},
	}
}

func number(n int64) types.AttributeValue {
	return &types.AttributeValueMemberN{Value: strconv.FormatInt(n, 10)}
}

func text(s string) types.AttributeValue { return &types.AttributeValueMemberS{Value: s} }

// take takes the job's slot, unless another has it or it was run.
func (l jobLease) take(ctx context.Context, job string, slot int64, now time.Time) (held, bool, error) {
	out, err := l.client.UpdateItem(ctx, &dynamodb.UpdateItemInput{
		TableName: &l.table, Key: jobKey(job),
		UpdateExpression:         new("SET entityType = :kind, holder = :holder, slot = :slot, heldUntil = :until ADD #token :one"),
		ConditionExpression:      new("attribute_not_exists(PK) OR (slot < :slot AND heldUntil < :now)"),
		ExpressionAttributeNames: map[string]string{"#token": "token"},
		ExpressionAttributeValues: map[string]types.AttributeValue{
			":kind": text("SweepJob"), ":holder": text(l.holder), ":slot": number(slot), ":one": number(1),
			":until": number(now.Add(leaseFor).Unix()), ":now": number(now.Unix()),
		},
		ReturnValues:                        types.ReturnValueAllNew,
		ReturnValuesOnConditionCheckFailure: types.ReturnValuesOnConditionCheckFailureAllOld,
	})
	var refused *types.ConditionalCheckFailedException
	switch {
	case err == nil:
		return held{job, numberOf(out.Attributes["token"])}, true, nil
	case errors.As(err, &refused) && l.own(refused.Item, slot):
		return held{job, numberOf(refused.Item["token"])}, true, nil
	case errors.As(err, &refused):
		return held{}, false, nil
	default:
		return held{}, false, fmt.Errorf("take job %s: %w", job, err)
	}
}

// own recognises the write of an attempt whose answer was lost: this process
// takes a slot of a job once.
func (l jobLease) own(item map[string]types.AttributeValue, slot int64) bool {
	holder, _ := item["holder"].(*types.AttributeValueMemberS)
	return holder != nil && holder.Value == l.holder && numberOf(item["slot"]) == strconv.FormatInt(slot, 10) && numberOf(item["heldUntil"]) != "0"
}

// finish reports a run and frees the job for its next slot. A run whose token
// was overtaken reports nothing.
func (l jobLease) finish(ctx context.Context, h held, result string) error {
	_, err := l.client.UpdateItem(ctx, &dynamodb.UpdateItemInput{
		TableName: &l.table, Key: jobKey(h.job),
		UpdateExpression:         new("SET heldUntil = :zero, lastResult = :result, lastAt = :at"),
		ConditionExpression:      new("#token = :token"),
		ExpressionAttributeNames: map[string]string{"#token": "token"},
		ExpressionAttributeValues: map[string]types.AttributeValue{
			":zero": number(0), ":result": text(result), ":token": &types.AttributeValueMemberN{Value: h.token},
			":at": text(time.Now().UTC().Format(time.RFC3339)),
		},
	})
	var overtaken *types.ConditionalCheckFailedException
	if errors.As(err, &overtaken) {
		return fmt.Errorf("report job %s: another process has taken it over", h.job)
	}
	if err != nil {
		return fmt.Errorf("report job %s: %w", h.job, err)
	}
	return nil
}

func numberOf(v types.AttributeValue) string {
	if n, ok := v.(*types.AttributeValueMemberN); ok {
		return n.Value
	}
	return ""
}
