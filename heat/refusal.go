package heat

import (
	"errors"

	"github.com/aws/aws-sdk-go-v2/aws/retry"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
	"github.com/aws/smithy-go"
	"github.com/aws/smithy-go/middleware"
)

// refusals records each attempt of the call that was throttled. The last one
// also failed the call when the call failed.
func (c *call) refusals(metadata middleware.Metadata, err error) {
	attempts, ok := retry.GetAttemptResults(metadata)
	if !ok {
		return
	}
	for i, attempt := range attempts.Results {
		if attempt.Err == nil {
			continue
		}
		last := i == len(attempts.Results)-1
		for n, reason := range reasonsOf(attempt.Err) {
			c.refuse(c.refuser(reason), deref(reason.Reason), 1, last && n == 0 && err != nil)
		}
	}
}

// refuser is the table or index that refused: as the reason says, else as asked.
func (c *call) refuser(reason types.ThrottlingReason) Resource {
	if r, ok := resourceOf(deref(reason.Resource)); ok {
		return r
	}
	return Resource{Table: c.event.Table, Index: c.event.Index}
}

// refuse records attempts that one resource refused. Its key is known when it
// was asked for by key; that of an index behind a write only by the caller's hint.
func (c *call) refuse(by Resource, reason string, attempts int, failed bool) {
	e := c.event
	e.Read, e.Write, e.Throttled, e.Reason, e.Failed = 0, 0, attempts, reason, failed
	e.Table = by.Table
	if e.Index != by.Index {
		e.Index, e.Sort, e.Item = by.Index, "", false
		e.Key = indexKeyOf(c.ctx, by.Index)
	}
	c.recorder.Observe(e)
}

// reasonsOf is why an attempt was throttled; empty when it was not.
func reasonsOf(err error) []types.ThrottlingReason {
	if e, ok := errors.AsType[*types.ThrottlingException](err); ok {
		return orUnknown(e.ThrottlingReasons)
	}
	if e, ok := errors.AsType[*types.ProvisionedThroughputExceededException](err); ok {
		return orUnknown(e.ThrottlingReasons)
	}
	if e, ok := errors.AsType[*types.RequestLimitExceeded](err); ok {
		return orUnknown(e.ThrottlingReasons)
	}
	if e, ok := errors.AsType[*types.TransactionCanceledException](err); ok {
		for _, r := range e.CancellationReasons {
			if code := deref(r.Code); code == "ThrottlingError" || code == "ProvisionedThroughputExceeded" {
				return orUnknown(nil)
			}
		}
		return nil
	}
	if e, ok := errors.AsType[smithy.APIError](err); ok && e.ErrorCode() == "ThrottlingException" {
		return orUnknown(nil)
	}
	return nil
}

func orUnknown(reasons []types.ThrottlingReason) []types.ThrottlingReason {
	if len(reasons) > 0 {
		return reasons
	}
	return []types.ThrottlingReason{{Reason: new("unknown")}}
}
