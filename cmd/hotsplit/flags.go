package main

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/url"
	"strings"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/config"
	"github.com/aws/aws-sdk-go-v2/credentials"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/spf13/cobra"
)

// connection is where DynamoDB is: the flags that every verb with a table takes.
// The standard AWS environment and configuration files fill what is not given.
type connection struct {
	endpoint, region, profile string
}

func (c *connection) register(cmd *cobra.Command) {
	f := cmd.Flags()
	f.StringVar(&c.endpoint, "endpoint", "", "DynamoDB endpoint `URL`; default: AWS's own for the region")
	f.StringVar(&c.region, "region", "", "AWS `region`; default: from the AWS configuration")
	f.StringVar(&c.profile, "profile", "", "AWS shared-configuration `profile`")
}

// check finds what is wrong with the flags before anything is asked.
func (c *connection) check() error {
	if c.endpoint == "" {
		return nil
	}
	u, err := url.Parse(c.endpoint)
	if err != nil || u.Host == "" || (u.Scheme != "http" && u.Scheme != "https") {
		return badInput(fmt.Errorf("--endpoint: %q is not a URL like http://127.0.0.1:8000", c.endpoint))
	}
	return nil
}

// local says that the endpoint is one of this machine, which checks no
// credentials.
func (c *connection) local() bool {
	u, err := url.Parse(c.endpoint)
	return err == nil && (u.Hostname() == "localhost" || u.Hostname() == "::1" || strings.HasPrefix(u.Hostname(), "127."))
}

// config loads the AWS configuration. An endpoint on this machine needs neither
// credentials nor a region, so that a laptop without AWS works; caller names the
// program in the endpoint's operation log.
func (c *connection) config(ctx context.Context, caller string) (aws.Config, error) {
	if err := c.check(); err != nil {
		return aws.Config{}, err
	}
	var options []func(*config.LoadOptions) error
	if c.profile != "" {
		options = append(options, config.WithSharedConfigProfile(c.profile))
	}
	if c.region != "" {
		options = append(options, config.WithRegion(c.region))
	}
	if c.local() {
		options = append(options, config.WithCredentialsProvider(
			credentials.NewStaticCredentialsProvider(caller, "local", "")))
	}
	cfg, err := config.LoadDefaultConfig(ctx, options...)
	if err != nil {
		return aws.Config{}, badInput(fmt.Errorf("AWS configuration: %w", err))
	}
	if cfg.Region == "" && c.local() {
		cfg.Region = "us-east-1"
	}
	if cfg.Region == "" {
		return aws.Config{}, badInput(fmt.Errorf("no AWS region: give --region, or set AWS_REGION"))
	}
	return cfg, nil
}

// client is a DynamoDB client of its own, so that its retries drain nobody
// else's retry budget.
func (c *connection) client(ctx context.Context, caller string, tune ...func(*dynamodb.Options)) (*dynamodb.Client, error) {
	cfg, err := c.config(ctx, caller)
	if err != nil {
		return nil, err
	}
	if c.endpoint != "" {
		tune = append(tune, func(o *dynamodb.Options) { o.BaseEndpoint = aws.String(c.endpoint) })
	}
	return dynamodb.NewFromConfig(cfg, tune...), nil
}

// printJSON writes one indented object and a line end.
func printJSON(w io.Writer, v any) error {
	e := json.NewEncoder(w)
	e.SetIndent("", "  ")
	e.SetEscapeHTML(false)
	return e.Encode(v)
}
