package main

import (
	"context"
	"encoding/json"
	"io"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/credentials"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
	"github.com/spf13/pflag"
)

// startEmulate runs the verb until the test ends and returns its endpoint.
func startEmulate(t *testing.T, flags ...string) string {
	t.Helper()
	ctx, interrupt := context.WithCancel(t.Context())
	stdout, announce := io.Pipe()
	cmd := newEmulateCmd()
	cmd.SetArgs(append([]string{"--listen", "127.0.0.1:0", "--json"}, flags...))
	cmd.SetOut(announce)
	ended := make(chan error, 1)
	go func() {
		err := cmd.ExecuteContext(ctx)
		announce.CloseWithError(io.EOF)
		ended <- err
	}()
	t.Cleanup(func() {
		interrupt()
		if err := <-ended; err != nil {
			t.Errorf("interrupted: %v", err)
		}
	})
	var started struct{ Endpoint string }
	if err := json.NewDecoder(stdout).Decode(&started); err != nil {
		t.Fatal(err)
	}
	return started.Endpoint
}

func TestEmulateServes(t *testing.T) {
	client := dynamodb.New(dynamodb.Options{
		Region: "eu-central-1", Credentials: credentials.NewStaticCredentialsProvider("test", "test", ""),
		BaseEndpoint: aws.String(startEmulate(t, "--region", "eu-central-1", "--account", "123456789012", "--isolate-keys", "--lag-max", "0s", "--lag-min", "0s")),
	})
	out, err := client.CreateTable(t.Context(), &dynamodb.CreateTableInput{
		TableName: aws.String("orders"), BillingMode: types.BillingModePayPerRequest,
		AttributeDefinitions: []types.AttributeDefinition{{AttributeName: aws.String("id"), AttributeType: "S"}},
		KeySchema:            []types.KeySchemaElement{{AttributeName: aws.String("id"), KeyType: "HASH"}},
	})
	if err != nil {
		t.Fatal(err)
	}
	if got := aws.ToString(out.TableDescription.TableArn); got != "arn:aws:dynamodb:eu-central-1:123456789012:table/orders" {
		t.Errorf("ARN %s", got)
	}
}

// Each option of the physics stands in the documentation with its default.
func TestEmulateFlagsAreDocumented(t *testing.T) {
	text, err := os.ReadFile("../../docs/emulator.md")
	if err != nil {
		t.Fatal(err)
	}
	rows := strings.Split(string(text), "\n")
	flags := pflag.NewFlagSet("", pflag.ContinueOnError)
	new(physicsFlags).register(flags)
	flags.VisitAll(func(f *pflag.Flag) {
		at := slices.IndexFunc(rows, func(row string) bool { return strings.HasPrefix(row, "|") && strings.Contains(row, "`--"+f.Name+"`") })
		if at < 0 {
			t.Errorf("--%s is not in the table", f.Name)
		} else if f.DefValue != "false" && !strings.Contains(rows[at], f.DefValue) {
			t.Errorf("--%s: default %s is not in %s", f.Name, f.DefValue, rows[at])
		}
	})
}
