package conformance_test

import (
	"context"
	"net/http"
	"net/http/httptest"
	"os"
	"testing"
	"testing/synctest"

	"github.com/aws/aws-sdk-go-v2/aws"

	"github.com/hotsplit/hotsplit/emulator"
	"github.com/hotsplit/hotsplit/emulator/awsjson"
	"github.com/hotsplit/hotsplit/emulator/conformance"
)

// endpointVariable names an endpoint to ask instead of the emulator in process.
// Requests to it are signed with the usual variables of the AWS environment.
const endpointVariable = "HOTSPLIT_CONFORMANCE_ENDPOINT"

// In process, each test has an emulator of its own in a bubble: what the
// emulator does late happens in virtual time.
func TestConformance(t *testing.T) {
	if endpoint := os.Getenv(endpointVariable); endpoint != "" {
		conformance.Run(t, remote(endpoint))
		return
	}
	conformance.Run(t, conformance.Subject{Around: func(t *testing.T, test func(*testing.T, conformance.Subject)) {
		synctest.Test(t, func(t *testing.T) {
			db := emulator.New(emulator.Options{})
			test(t, conformance.Subject{
				Endpoint: "http://emulator.test/", Region: "us-east-1", HTTP: &http.Client{Transport: awsjson.Transport(db)},
			})
		})
	}})
}

// Over HTTP the requests are signed and real time passes. Nothing is throttled, for
// the suite is no load test.
func TestConformanceHTTP(t *testing.T) {
	server := httptest.NewServer(awsjson.Handler(emulator.New(emulator.Options{Unlimited: true})))
	defer server.Close()
	conformance.Run(t, remote(server.URL))
}

func remote(endpoint string) conformance.Subject {
	region := os.Getenv("AWS_REGION")
	if region == "" {
		region = "us-east-1"
	}
	id, secret := os.Getenv("AWS_ACCESS_KEY_ID"), os.Getenv("AWS_SECRET_ACCESS_KEY")
	if id == "" {
		id, secret = "conformance", "conformance"
	}
	credentials := aws.CredentialsProviderFunc(func(context.Context) (aws.Credentials, error) {
		return aws.Credentials{AccessKeyID: id, SecretAccessKey: secret, SessionToken: os.Getenv("AWS_SESSION_TOKEN")}, nil
	})
	return conformance.Subject{Endpoint: endpoint, Region: region, HTTP: http.DefaultClient, Credentials: credentials}
}
