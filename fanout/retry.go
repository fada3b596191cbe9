package fanout

import (
	"context"
	"errors"
	"math/rand/v2"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/aws/ratelimit"
	"github.com/aws/aws-sdk-go-v2/aws/retry"
)

// The SDK retries each request before we see its error. These are the attempts
// on top of that, which get past a client whose retry quota ran dry while the
// service is healthy.
const (
	attemptsMax    = 3
	retryPauseBase = 50 * time.Millisecond
	retryPauseMax  = time.Second
)

// retried repeats an attempt that failed with err, until it succeeds, fails for
// good, or was made often enough. Pauses are drawn from their whole range, so that
// shards that were throttled together do not come back together.
func retried(ctx context.Context, tries int, err error, attempt func() error) error {
	for n := 1; n < tries && err != nil && retryable(err) && ctx.Err() == nil; n++ {
		if pause(ctx, n) != nil {
			return err
		}
		err = attempt()
	}
	return err
}

func pause(ctx context.Context, attempt int) error {
	longest := min(retryPauseBase<<attempt, retryPauseMax)
	timer := time.NewTimer(rand.N(longest))
	defer timer.Stop()
	select {
	case <-timer.C:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

var errUnprocessed = errors.New("keys left unprocessed")

func retryable(err error) bool {
	if errors.Is(err, context.Canceled) || errors.Is(err, context.DeadlineExceeded) {
		return false
	}
	if errors.Is(err, errUnprocessed) {
		return true
	}
	if _, ok := errors.AsType[ratelimit.QuotaExceededError](err); ok {
		return true
	}
	return retry.IsErrorRetryables(retry.DefaultRetryables).IsErrorRetryable(err) == aws.TrueTernary
}
