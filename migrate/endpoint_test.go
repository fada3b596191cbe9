package migrate_test

import (
	"net/http"
	"os"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/credentials"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"

	"github.com/hotsplit/hotsplit/migrate"
)

// TestMoveOnAnotherEndpoint runs on any DynamoDB-compatible endpoint that
// HOTSPLIT_ENDPOINT names, in real time and with the clock fence, because not all
// have transactions. It makes and keeps a table called rig.
func TestMoveOnAnotherEndpoint(t *testing.T) {
	endpoint := os.Getenv("HOTSPLIT_ENDPOINT")
	if endpoint == "" {
		t.Skip("HOTSPLIT_ENDPOINT names no endpoint")
	}
	client := dynamodb.New(dynamodb.Options{
		Region: "us-east-1", Credentials: credentials.NewStaticCredentialsProvider("x", "x", ""),
		BaseEndpoint: aws.String(endpoint), HTTPClient: http.DefaultClient,
	})
	r := &rig{t: t, remote: client, spec: rigSpec(0, 12)}
	r.create()
	r.load(60)
	options := quick
	options.Fence = migrate.FenceClock
	options.Bounds = migrate.Bounds{Poll: 100 * time.Millisecond, Stale: 300 * time.Millisecond, Settle: 200 * time.Millisecond}
	summary, err := r.runner("runner", options).Move(t.Context())
	must(t, err)
	r.wantOn(r.spec.To)
	if summary.Progress.Moved != 60 || summary.Report.Err() != nil {
		t.Errorf("%+v, %v", summary.Progress, summary.Report)
	}
	_, err = r.runner("back", options).Rollback(t.Context())
	must(t, err)
	r.wantOn(r.spec.From)
}
