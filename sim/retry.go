package sim

import (
	"math"
	"math/rand/v2"
	"time"
)

// Retry models of the AWS SDK for Go v2.
const (
	RetrySDK    = "sdk-2.1"    // dynamodb v1.74 with core v1.48 and newer
	RetryLegacy = "sdk-legacy" // the default until 2026-11-10
)

const (
	retryQuota       = 500.0 // tokens of a client
	retryCost        = 5.0   // of a retry after a throttle
	retryRefundFirst = 1.0   // for a clean first attempt
	backoffMax       = 20 * time.Second
)

// retrier is one client's retry policy and its quota.
type retrier struct {
	attempts int
	base     time.Duration // upper end of the first back-off
	quota    float64
}

func newRetrier(r Retry) *retrier {
	t := &retrier{attempts: 4, base: time.Second, quota: retryQuota}
	if r.Model == RetryLegacy {
		t.attempts, t.base = 3, 2*time.Second
	}
	if r.Attempts > 0 {
		t.attempts = r.Attempts
	}
	return t
}

// backoff is the pause before the next attempt after a throttle, when there is
// another: made counts the attempts so far.
func (t *retrier) backoff(made int, chance *rand.Rand) (time.Duration, bool) {
	if made >= t.attempts || t.quota < retryCost {
		return 0, false
	}
	t.quota -= retryCost
	upper := min(float64(t.base)*math.Pow(2, float64(made-1)), float64(backoffMax))
	return time.Duration(chance.Float64() * upper), true
}

// succeededFirst refunds for n requests whose first attempt succeeded.
func (t *retrier) succeededFirst(n int) {
	t.quota = min(retryQuota, t.quota+retryRefundFirst*float64(n))
}

// succeeded refunds what the last retry cost, or a little for a first attempt.
func (t *retrier) succeeded(attempts int) {
	refund := retryRefundFirst
	if attempts > 1 {
		refund = retryCost
	}
	t.quota = min(retryQuota, t.quota+refund)
}
