package emulator_test

import (
	"context"
	"fmt"
	"net/http"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/hotsplit/hotsplit/emulator"
	"github.com/hotsplit/hotsplit/emulator/awsjson"
)

// A test gets a DynamoDB of its own in three lines: no port, no container, no
// goroutine to stop. Inside a testing/synctest bubble its time is virtual.
func Example() {
	db := emulator.New(emulator.Options{})
	wire := &http.Client{Transport: awsjson.Transport(db)}
	client := dynamodb.New(dynamodb.Options{Region: "us-east-1", Credentials: aws.AnonymousCredentials{}, HTTPClient: wire})

	out, err := client.ListTables(context.Background(), &dynamodb.ListTablesInput{})
	fmt.Println(out.TableNames, err)
	// Output: [] <nil>
}

// A test can script what goes wrong, and see who was hit.
func ExampleDB_Inject() {
	db := emulator.New(emulator.Options{})
	db.Inject(emulator.Fault{Kind: emulator.FaultThrottle, Operation: "Query", Index: "GSI4", Every: 10})
	db.Inject(emulator.Fault{Kind: emulator.FaultDrop, Operation: "PutItem", Caller: "backfill", Count: 1})
	for _, f := range db.Faults() {
		fmt.Println(f.ID, f.Kind, f.Struck)
	}
	// Output:
	// 1 throttle 0
	// 2 drop 0
}
