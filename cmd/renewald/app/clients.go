package app

import (
	"context"
	"fmt"
	"net/http"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/config"
	"github.com/aws/aws-sdk-go-v2/credentials"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"

	"github.com/hotsplit/hotsplit/emulator"
	"github.com/hotsplit/hotsplit/emulator/awsjson"
)

// callerHeader tells the emulator whose requests these are; AWS ignores it.
const callerHeader = "X-Hotsplit-Caller"

// clients are one for each kind of work. Each has its own retry budget, so a
// sweep that is throttled does not take the pages' retries away.
type clients struct {
	pages, sweeps, record, automation *dynamodb.Client
}

// connect makes the clients. db is the demo's emulator, or nil.
func connect(ctx context.Context, o Options, db *emulator.DB, watch func(*dynamodb.Options)) (clients, error) {
	cfg, err := configOf(ctx, o, db)
	if err != nil {
		return clients{}, err
	}
	client := func(caller string, more ...func(*dynamodb.Options)) *dynamodb.Client {
		return dynamodb.NewFromConfig(cfg, append(more, func(d *dynamodb.Options) {
			if o.Endpoint != "" {
				d.BaseEndpoint = &o.Endpoint
			}
			d.HTTPClient = labelled{d.HTTPClient, caller}
		})...)
	}
	return clients{
		pages: client("pages", watch), sweeps: client("sweeps", watch), automation: client("automation", watch), record: client("watcher"),
	}, nil
}

func configOf(ctx context.Context, o Options, db *emulator.DB) (aws.Config, error) {
	if db != nil {
		return aws.Config{
			Region: o.Region, Credentials: credentials.NewStaticCredentialsProvider("demo", "demo", ""),
			HTTPClient: &http.Client{Transport: awsjson.Transport(db)},
		}, nil
	}
	var with []func(*config.LoadOptions) error
	if o.Region != "" {
		with = append(with, config.WithRegion(o.Region))
	}
	cfg, err := config.LoadDefaultConfig(ctx, with...)
	if err != nil {
		return cfg, fmt.Errorf("load AWS configuration: %w", err)
	}
	return cfg, nil
}

// labelled names the caller in each request.
type labelled struct {
	next   dynamodb.HTTPClient
	caller string
}

func (l labelled) Do(r *http.Request) (*http.Response, error) {
	r.Header.Set(callerHeader, l.caller)
	if l.next == nil {
		return http.DefaultClient.Do(r)
	}
	return l.next.Do(r)
}
