package proof

import (
	"bytes"
	"context"
	"errors"
	"io"
	"math/rand/v2"
	"net/http"
	"sync"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws/retry"
	"github.com/aws/aws-sdk-go-v2/credentials"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
)

// errKilled is what a killed process's requests meet: nothing leaves it any more.
var errKilled = errors.New("proof: process was killed")

// process is one host's share of the network: it can be frozen, cut off from the
// service, and killed. It is the transport of one SDK client.
type process struct {
	name string
	next http.RoundTripper
	// flights are the requests that were sent and not answered yet.
	flights *sync.WaitGroup

	mu     sync.Mutex
	frozen time.Time // until when nothing goes out or comes in
	cut    time.Time // until when every request fails
	killed bool
	rng    *rand.Rand
}

// client is the SDK's, with its retries. Their jitter comes from the seed.
func (p *process) client() *dynamodb.Client {
	backoff := retry.BackoffDelayerFunc(func(attempt int, _ error) (time.Duration, error) {
		return time.Duration(p.draw(50<<min(attempt, 6))+1) * time.Millisecond, nil
	})
	return dynamodb.New(dynamodb.Options{
		Region:      "us-east-1",
		Credentials: credentials.NewStaticCredentialsProvider(p.name, "proof", ""),
		HTTPClient:  &http.Client{Transport: p},
		Retryer: retry.NewStandard(func(o *retry.StandardOptions) {
			o.MaxAttempts, o.Backoff = 4, backoff
		}),
		DisableValidateResponseChecksum: true,
	})
}

func (p *process) draw(n int) int {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.rng.IntN(n)
}

func (p *process) freeze(d time.Duration) { p.mu.Lock(); p.frozen = time.Now().Add(d); p.mu.Unlock() }
func (p *process) isolate(d time.Duration) {
	p.mu.Lock()
	p.cut = time.Now().Add(d)
	p.mu.Unlock()
}
func (p *process) kill() { p.mu.Lock(); p.killed = true; p.mu.Unlock() }

// heal ends what was done to the process, but for its death.
func (p *process) heal() {
	p.mu.Lock()
	p.frozen, p.cut = time.Time{}, time.Time{}
	p.mu.Unlock()
}

// pass waits while the process is frozen and says whether it is alive and
// connected.
func (p *process) pass(ctx context.Context) error {
	for {
		p.mu.Lock()
		killed, cut, wait := p.killed, time.Until(p.cut) > 0, time.Until(p.frozen)
		p.mu.Unlock()
		switch {
		case killed:
			return errKilled
		case wait <= 0 && cut:
			return io.ErrUnexpectedEOF
		case wait <= 0:
			return nil
		}
		if err := sleep(ctx, wait); err != nil {
			return err
		}
	}
}

// RoundTrip sends a request. A process may freeze before it is sent and before
// its answer is seen, which is where a real one loses most time. What was sent
// arrives, even where nobody waits for its answer any more.
func (p *process) RoundTrip(r *http.Request) (*http.Response, error) {
	if err := p.pass(r.Context()); err != nil {
		return nil, err
	}
	body, err := io.ReadAll(r.Body)
	if err != nil {
		return nil, err
	}
	sent := r.Clone(context.WithoutCancel(r.Context()))
	sent.Body = io.NopCloser(bytes.NewReader(body))
	answers := make(chan answer, 1)
	p.flights.Go(func() {
		response, err := p.next.RoundTrip(sent)
		answers <- answer{response, err}
	})
	select {
	case <-r.Context().Done():
		return nil, r.Context().Err()
	case a := <-answers:
		if a.err != nil {
			return nil, a.err
		}
		if err := p.pass(r.Context()); err != nil {
			a.response.Body.Close()
			return nil, err
		}
		return a.response, nil
	}
}

type answer struct {
	response *http.Response
	err      error
}

func sleep(ctx context.Context, d time.Duration) error {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-t.C:
		return nil
	}
}
