package migrate

import (
	"context"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/aws/retry"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
)

// ReadAPI is what looking needs of *dynamodb.Client. A dry run, a verification
// and a check hold nothing else.
type ReadAPI interface {
	GetItem(context.Context, *dynamodb.GetItemInput, ...func(*dynamodb.Options)) (*dynamodb.GetItemOutput, error)
	BatchGetItem(context.Context, *dynamodb.BatchGetItemInput, ...func(*dynamodb.Options)) (*dynamodb.BatchGetItemOutput, error)
	Query(context.Context, *dynamodb.QueryInput, ...func(*dynamodb.Options)) (*dynamodb.QueryOutput, error)
	Scan(context.Context, *dynamodb.ScanInput, ...func(*dynamodb.Options)) (*dynamodb.ScanOutput, error)
	DescribeTable(context.Context, *dynamodb.DescribeTableInput, ...func(*dynamodb.Options)) (*dynamodb.DescribeTableOutput, error)
}

// WriteAPI is what changing needs of *dynamodb.Client. There is no PutItem in it:
// nothing is ever written whole. DeleteItem touches the move's own items alone.
type WriteAPI interface {
	UpdateItem(context.Context, *dynamodb.UpdateItemInput, ...func(*dynamodb.Options)) (*dynamodb.UpdateItemOutput, error)
	DeleteItem(context.Context, *dynamodb.DeleteItemInput, ...func(*dynamodb.Options)) (*dynamodb.DeleteItemOutput, error)
	TransactWriteItems(context.Context, *dynamodb.TransactWriteItemsInput, ...func(*dynamodb.Options)) (*dynamodb.TransactWriteItemsOutput, error)
}

// Client is what a move needs of *dynamodb.Client.
type Client interface {
	ReadAPI
	WriteAPI
}

const (
	runnerAttemptsMax = 6
	runnerBackoffMax  = 2 * time.Second
)

// RunnerClient is a client for a runner or a guard. Its retries come from its
// own budget, so a throttled move never takes the application's.
func RunnerClient(cfg aws.Config, fns ...func(*dynamodb.Options)) *dynamodb.Client {
	own := func(o *dynamodb.Options) {
		o.Retryer = retry.NewStandard(func(s *retry.StandardOptions) {
			s.MaxAttempts = runnerAttemptsMax
			s.MaxBackoff = runnerBackoffMax
		})
	}
	return dynamodb.NewFromConfig(cfg, append([]func(*dynamodb.Options){own}, fns...)...)
}
