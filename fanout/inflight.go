package fanout

import (
	"context"

	"golang.org/x/sync/semaphore"
)

// InFlight bounds the requests that are on the way at one time. Readers that
// share one share its bound.
type InFlight struct{ slots *semaphore.Weighted }

// requestsInFlightMax is the bound of the process where Options names no other.
const requestsInFlightMax = 128

// process is the bound that all readers of the process share by default.
var process = NewInFlight(requestsInFlightMax)

// NewInFlight is a bound of n requests, at least one.
func NewInFlight(n int) *InFlight {
	return &InFlight{semaphore.NewWeighted(int64(max(n, 1)))}
}

// acquire waits for a slot. Nothing is held while a retry waits.
func (f *InFlight) acquire(ctx context.Context) error {
	if f.slots.Acquire(ctx, 1) != nil {
		return context.Cause(ctx)
	}
	return nil
}

func (f *InFlight) release() { f.slots.Release(1) }
