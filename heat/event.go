package heat

import (
	"strings"
	"time"

	"github.com/hotsplit/hotsplit/capacity"
)

// Event is what one request did to one table or to one index of it. A write that
// also writes an index gives two events; only the first has Primary set.
type Event struct {
	Time      time.Time
	Operation string // "Query", "UpdateItem", …
	Table     string
	Index     string // "" is the table itself
	Key       string // partition key value; "" is unknown
	Sort      string // sort key value, or the prefix that was asked for
	Item      bool   // Sort names one item, not a range
	Owner     string // id whose rows are read together; "" is unknown
	Caller    string
	Read      float64 // units consumed
	Write     float64
	Primary   bool // counts as a request of the caller
	Throttled int  // attempts that were refused
	Reason    string
	Failed    bool // the caller saw the refusal, its retries exhausted
	Latency   time.Duration

	order string // Sort before it was hashed
}

// Resource is a table, or an index of a table.
type Resource struct {
	Table string `json:"table"`
	Index string `json:"index,omitempty"`
}

func (r Resource) String() string {
	if r.Index == "" {
		return r.Table
	}
	return r.Table + "/" + r.Index
}

// load is e's use in partition-seconds: reads and writes are limited apart, and
// what counts is how near either is to its ceiling.
func load(read, write float64) float64 {
	return max(read/capacity.PartitionCeiling.Read, write/capacity.PartitionCeiling.Write)
}

// OwnerOf is the owner in a sort key or sort key prefix spelled
// "{owner}#{openedAt}": the text before the first separator, "" without one.
func OwnerOf(sort, separator string) string {
	owner, _, found := strings.Cut(sort, separator)
	if !found {
		return ""
	}
	return owner
}

// resourceOf reads the resource out of a throttling reason's ARN, or out of a
// plain "table/index".
func resourceOf(arn string) (Resource, bool) {
	if _, rest, found := strings.Cut(arn, ":table/"); found {
		arn = rest
	} else if strings.HasPrefix(arn, "arn:") || arn == "" {
		return Resource{}, false
	}
	table, rest, _ := strings.Cut(arn, "/")
	return Resource{Table: table, Index: strings.TrimPrefix(rest, "index/")}, true
}
