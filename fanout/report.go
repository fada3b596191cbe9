package fanout

import (
	"maps"
	"sync"

	"github.com/aws/aws-sdk-go-v2/aws/retry"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
	"github.com/aws/smithy-go/middleware"
)

// Shard is one partition key of one index.
type Shard struct{ Index, Key string }

// Cost is what reading something took.
type Cost struct {
	Requests int     // sent, the SDK's own retries included
	Pages    int     // answered
	Rows     int     // returned by the service, before copies were merged
	Units    float64 // read capacity units consumed
}

func (c Cost) plus(d Cost) Cost {
	return Cost{c.Requests + d.Requests, c.Pages + d.Pages, c.Rows + d.Rows, c.Units + d.Units}
}

// Report gathers what the calls that share it cost. The zero Report is ready to
// use. With a report the service is asked to return the consumed capacity.
type Report struct {
	mu     sync.Mutex
	shards map[Shard]Cost
	base   Cost
	redone int
}

// Shards is the cost of each partition key that was asked.
func (r *Report) Shards() map[Shard]Cost {
	r.mu.Lock()
	defer r.mu.Unlock()
	return maps.Clone(r.shards)
}

// Base is the cost of reading moving rows from the base table.
func (r *Report) Base() Cost {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.base
}

// Redone is how often an answer was thrown away because the routing changed.
func (r *Report) Redone() int {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.redone
}

// Total is the cost of everything.
func (r *Report) Total() Cost {
	r.mu.Lock()
	defer r.mu.Unlock()
	total := r.base
	for _, c := range r.shards {
		total = total.plus(c)
	}
	return total
}

// add counts the cost of one request; the zero Shard is the base table.
func (r *Report) add(s Shard, c Cost) {
	if r == nil {
		return
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if s == (Shard{}) {
		r.base = r.base.plus(c)
		return
	}
	if r.shards == nil {
		r.shards = make(map[Shard]Cost)
	}
	r.shards[s] = r.shards[s].plus(c)
}

func (r *Report) redo() {
	if r == nil {
		return
	}
	r.mu.Lock()
	r.redone++
	r.mu.Unlock()
}

func (r *Report) wants() types.ReturnConsumedCapacity {
	if r == nil {
		return ""
	}
	return types.ReturnConsumedCapacityTotal
}

// attempts is how many requests the SDK sent for one answer.
func attempts(answer middleware.Metadata) int {
	if results, ok := retry.GetAttemptResults(answer); ok {
		return max(1, len(results.Results))
	}
	return 1
}

func units(capacity ...types.ConsumedCapacity) float64 {
	total := 0.0
	for _, c := range capacity {
		if c.CapacityUnits != nil {
			total += *c.CapacityUnits
		}
	}
	return total
}
