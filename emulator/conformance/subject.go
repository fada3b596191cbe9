package conformance

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	v4 "github.com/aws/aws-sdk-go-v2/aws/signer/v4"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
)

// Subject is an endpoint under test.
type Subject struct {
	Endpoint string // URL
	Region   string
	HTTP     *http.Client

	// Credentials sign the requests. Nil sends them unsigned.
	Credentials aws.CredentialsProvider

	// Around runs one test; nil just calls it. It is for tests in a bubble of
	// virtual time, which has to hold the subject as well.
	Around func(t *testing.T, test func(t *testing.T, s Subject))
}

// Waits of the suite. A subject in a bubble spends them in virtual time.
const (
	waitMax  = 60 * time.Second
	waitStep = 20 * time.Millisecond
)

// Client is an SDK client of the subject that does not retry.
func (s Subject) Client() *dynamodb.Client {
	credentials := s.Credentials
	if credentials == nil {
		credentials = aws.AnonymousCredentials{}
	}
	return dynamodb.New(dynamodb.Options{
		BaseEndpoint: aws.String(s.Endpoint), Region: s.Region, HTTPClient: s.HTTP,
		Credentials: credentials, RetryMaxAttempts: 1,
	})
}

// answer is what came back on the wire.
type answer struct {
	status int
	body   []byte
}

// post sends body as it is.
func (s Subject) post(ctx context.Context, operation string, body []byte) (answer, error) {
	r, err := http.NewRequestWithContext(ctx, http.MethodPost, s.Endpoint, bytes.NewReader(body))
	if err != nil {
		return answer{}, fmt.Errorf("request %s: %w", operation, err)
	}
	r.Header.Set("Content-Type", "application/x-amz-json-1.0")
	r.Header.Set("X-Amz-Target", "DynamoDB_20120810."+operation)
	if err := s.sign(ctx, r, body); err != nil {
		return answer{}, fmt.Errorf("sign %s: %w", operation, err)
	}
	response, err := s.HTTP.Do(r)
	if err != nil {
		return answer{}, fmt.Errorf("send %s: %w", operation, err)
	}
	defer response.Body.Close()
	got, err := io.ReadAll(response.Body)
	if err != nil {
		return answer{}, fmt.Errorf("answer of %s: %w", operation, err)
	}
	return answer{response.StatusCode, got}, nil
}

func (s Subject) sign(ctx context.Context, r *http.Request, body []byte) error {
	if s.Credentials == nil {
		return nil
	}
	credentials, err := s.Credentials.Retrieve(ctx)
	if err != nil {
		return err
	}
	sum := sha256.Sum256(body)
	return v4.NewSigner().SignHTTP(ctx, credentials, r, hex.EncodeToString(sum[:]), "dynamodb", s.Region, time.Now())
}

// fault is the JSON of an error. The service spells the message either way.
type fault struct {
	Type    string `json:"__type"`
	Message string `json:"message"`
}

// throttled tells a request that was one too many: any client library tries again.
func (a answer) throttled() bool {
	switch a.fault().Type {
	case "ThrottlingException", "ProvisionedThroughputExceededException", "RequestLimitExceeded", "TransactionInProgressException":
		return true
	}
	return false
}

func (a answer) fault() fault {
	var f fault
	_ = json.Unmarshal(a.body, &f) // a body that is no error has no type either
	if at := strings.LastIndexByte(f.Type, '#'); at >= 0 {
		f.Type = f.Type[at+1:]
	}
	return f
}
