package heat

import (
	"context"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
	"github.com/aws/smithy-go/middleware"
)

// Instrument makes every DynamoDB client that is built from cfg report to the
// recorder that it returns.
func Instrument(cfg *aws.Config, o Options) *Recorder {
	r := NewRecorder(o)
	cfg.APIOptions = append(cfg.APIOptions, r.attach)
	return r
}

// Client makes one client report to r: dynamodb.New(options, r.Client).
func (r *Recorder) Client(o *dynamodb.Options) {
	o.APIOptions = append(o.APIOptions, r.attach)
}

func (r *Recorder) attach(stack *middleware.Stack) error {
	return stack.Initialize.Add(watcher{r}, middleware.Before)
}

// watcher sees a call as the application does: once, retries included.
type watcher struct{ recorder *Recorder }

func (watcher) ID() string { return "hotsplit.heat" }

func (w watcher) HandleInitialize(ctx context.Context, in middleware.InitializeInput, next middleware.InitializeHandler) (
	middleware.InitializeOutput, middleware.Metadata, error,
) {
	parameters, known := askForCapacity(in.Parameters)
	if !known {
		return next.HandleInitialize(ctx, in)
	}
	in.Parameters = parameters
	began := time.Now()
	out, metadata, err := next.HandleInitialize(ctx, in)
	now := time.Now()
	c := call{
		recorder: w.recorder, ctx: ctx,
		event: Event{Time: now, Caller: caller(ctx), Latency: now.Sub(began)},
	}
	c.record(parameters, out.Result, metadata, err)
	return out, metadata, err
}

// askForCapacity gives a copy of the request that asks what it costs, unless the
// caller asked already. It reports false for requests that carry no keys.
func askForCapacity(in any) (any, bool) {
	switch in := in.(type) {
	case *dynamodb.QueryInput:
		return asking(in, func(i *dynamodb.QueryInput) *types.ReturnConsumedCapacity { return &i.ReturnConsumedCapacity }), true
	case *dynamodb.GetItemInput:
		return asking(in, func(i *dynamodb.GetItemInput) *types.ReturnConsumedCapacity { return &i.ReturnConsumedCapacity }), true
	case *dynamodb.PutItemInput:
		return asking(in, func(i *dynamodb.PutItemInput) *types.ReturnConsumedCapacity { return &i.ReturnConsumedCapacity }), true
	case *dynamodb.UpdateItemInput:
		return asking(in, func(i *dynamodb.UpdateItemInput) *types.ReturnConsumedCapacity { return &i.ReturnConsumedCapacity }), true
	case *dynamodb.DeleteItemInput:
		return asking(in, func(i *dynamodb.DeleteItemInput) *types.ReturnConsumedCapacity { return &i.ReturnConsumedCapacity }), true
	case *dynamodb.ScanInput:
		return asking(in, func(i *dynamodb.ScanInput) *types.ReturnConsumedCapacity { return &i.ReturnConsumedCapacity }), true
	case *dynamodb.BatchGetItemInput:
		return asking(in, func(i *dynamodb.BatchGetItemInput) *types.ReturnConsumedCapacity { return &i.ReturnConsumedCapacity }), true
	case *dynamodb.BatchWriteItemInput:
		return asking(in, func(i *dynamodb.BatchWriteItemInput) *types.ReturnConsumedCapacity { return &i.ReturnConsumedCapacity }), true
	case *dynamodb.TransactWriteItemsInput:
		return asking(in, func(i *dynamodb.TransactWriteItemsInput) *types.ReturnConsumedCapacity {
			return &i.ReturnConsumedCapacity
		}), true
	case *dynamodb.TransactGetItemsInput:
		return asking(in, func(i *dynamodb.TransactGetItemsInput) *types.ReturnConsumedCapacity {
			return &i.ReturnConsumedCapacity
		}), true
	}
	return in, false
}

func asking[T any](in *T, field func(*T) *types.ReturnConsumedCapacity) *T {
	if asked := *field(in); asked != "" && asked != types.ReturnConsumedCapacityNone {
		return in
	}
	out := new(*in)
	*field(out) = types.ReturnConsumedCapacityIndexes
	return out
}
