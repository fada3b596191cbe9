package main

import (
	"context"
	"errors"
	"fmt"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/credentials"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
	"github.com/rogpeppe/go-internal/testscript"

	"github.com/hotsplit/hotsplit/emulator"
	"github.com/hotsplit/hotsplit/emulator/awsjson"
)

func TestMain(m *testing.M) {
	testscript.Main(m, map[string]func(){
		"hotsplit": func() { os.Exit(run(os.Args[1:], os.Stdin, os.Stdout, os.Stderr)) },
	})
}

// TestScript runs testdata/script/*.txtar against the real main. Each script has
// an emulator of its own at $ENDPOINT, and beside testscript's commands:
//
//	exits CODE PROGRAM ARG…    run, and want that exit code
//	awaits PATTERN PROGRAM ARG…    run again and again until its output matches
//	sagas N                    a table "propflow" with N sagas of N/2+1 persons on the old key
//	stamp ID PERSON KEY        write one saga as a program of an older release would
func TestScript(t *testing.T) {
	testscript.Run(t, testscript.Params{
		Dir:                 "testdata/script",
		RequireExplicitExec: true,
		RequireUniqueNames:  true,
		UpdateScripts:       os.Getenv("HOTSPLIT_REWRITE") != "",
		Setup:               startEmulator,
		Cmds: map[string]func(*testscript.TestScript, bool, []string){
			"exits": exits, "awaits": awaits, "sagas": sagas, "stamp": stamp, "trace": trace,
		},
	})
}

func startEmulator(env *testscript.Env) error {
	db := emulator.New(emulator.Options{Seed: 1, LagMin: time.Millisecond, LagMax: 20 * time.Millisecond})
	server := httptest.NewServer(awsjson.Handler(db))
	env.Defer(server.Close)
	env.Setenv("ENDPOINT", server.URL)
	env.Setenv("AWS_EC2_METADATA_DISABLED", "true")
	reader, err := filepath.Abs("../../examples/record-reader/reader.mjs")
	env.Setenv("READER", reader)
	return errors.Join(err, needNode())
}

// needNode fails where node is missing and nothing may be skipped.
func needNode() error {
	if _, err := exec.LookPath("node"); err != nil && os.Getenv("HOTSPLIT_NO_SKIP") != "" {
		return err
	}
	return nil
}

func exits(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) < 2 {
		ts.Fatalf("usage: exits CODE PROGRAM ARG…")
	}
	want, err := strconv.Atoi(args[0])
	ts.Check(err)
	got := 0
	if err := ts.Exec(args[1], args[2:]...); err != nil {
		exit, ok := err.(*exec.ExitError)
		if !ok {
			ts.Fatalf("%s: %v", args[1], err)
		}
		got = exit.ExitCode()
	}
	if got != want {
		ts.Fatalf("exit code %d, want %d", got, want)
	}
}

// awaitWithin bounds how long a script waits for another process.
const awaitWithin = time.Minute

func awaits(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) < 2 {
		ts.Fatalf("usage: awaits PATTERN PROGRAM ARG…")
	}
	pattern, err := regexp.Compile(args[0])
	ts.Check(err)
	giveUp, again := time.After(awaitWithin), time.NewTicker(50*time.Millisecond)
	defer again.Stop()
	for {
		err := ts.Exec(args[1], args[2:]...)
		if err == nil && pattern.MatchString(ts.ReadFile("stdout")) {
			return
		}
		select {
		case <-giveUp:
			ts.Fatalf("%v after %v: %v", pattern, awaitWithin, err)
		case <-again.C:
		}
	}
}

func scriptClient(ts *testscript.TestScript) *dynamodb.Client {
	return dynamodb.New(dynamodb.Options{
		Region: "us-east-1", BaseEndpoint: aws.String(ts.Getenv("ENDPOINT")),
		Credentials: credentials.NewStaticCredentialsProvider("old-release", "x", ""),
	})
}

func sagas(ts *testscript.TestScript, _ bool, args []string) {
	n, err := strconv.Atoi(args[0])
	ts.Check(err)
	text := func(name string) types.AttributeDefinition {
		return types.AttributeDefinition{AttributeName: &name, AttributeType: types.ScalarAttributeTypeS}
	}
	key := func(hash, sort string) []types.KeySchemaElement {
		return []types.KeySchemaElement{{AttributeName: &hash, KeyType: types.KeyTypeHash}, {AttributeName: &sort, KeyType: types.KeyTypeRange}}
	}
	_, err = scriptClient(ts).CreateTable(context.Background(), &dynamodb.CreateTableInput{
		TableName: aws.String("propflow"), BillingMode: types.BillingModePayPerRequest, KeySchema: key("PK", "SK"),
		AttributeDefinitions: []types.AttributeDefinition{text("PK"), text("SK"), text("GSI4PK"), text("GSI4SK")},
		GlobalSecondaryIndexes: []types.GlobalSecondaryIndex{{
			IndexName: aws.String("gsi4"), KeySchema: key("GSI4PK", "GSI4SK"), Projection: &types.Projection{ProjectionType: types.ProjectionTypeAll},
		}},
	})
	ts.Check(err)
	for i := range n {
		ts.Check(putSaga(ts, fmt.Sprintf("%04d", i), fmt.Sprintf("person-%d", i/2), "RenewalSaga"))
	}
}

func stamp(ts *testscript.TestScript, _ bool, args []string) {
	if len(args) != 3 {
		ts.Fatalf("usage: stamp ID PERSON KEY")
	}
	ts.Check(putSaga(ts, args[0], args[1], args[2]))
}

func putSaga(ts *testscript.TestScript, id, person, key string) error {
	text := func(s string) types.AttributeValue { return &types.AttributeValueMemberS{Value: s} }
	_, err := scriptClient(ts).PutItem(context.Background(), &dynamodb.PutItemInput{TableName: aws.String("propflow"), Item: map[string]types.AttributeValue{
		"PK": text("RSAGA#" + id), "SK": text("META"), "entityType": text("RenewalSaga"), "personId": text(person), "status": text("opened"),
		"updatedBy": text("renewald 1.4"), "GSI4PK": text(key), "GSI4SK": text(person + "#2026-05-22T06:00:00.000Z"),
	}})
	return err
}
