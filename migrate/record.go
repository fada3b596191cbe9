package migrate

import (
	"errors"
	"fmt"
	"time"

	"github.com/aws/aws-sdk-go-v2/feature/dynamodb/attributevalue"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/hotsplit/hotsplit/shard"
)

// Format is the version of the record and its items that this release writes.
const Format = 1

// ErrNoRecord says that no move was started under this prefix. Do not retry;
// start one, or correct the prefix.
var ErrNoRecord = errors.New("migrate: no record")

// ErrFormat says that a newer release wrote the record. Do not retry; upgrade.
var ErrFormat = errors.New("migrate: record is of another format")

// Lease says who moves rows. Whoever takes it over raises Token; the holder
// raises Beat, which others watch on their own clocks.
type Lease struct {
	Holder string `json:"holder"` // "" where nobody holds it
	Token  int64  `json:"token"`
	Beat   int64  `json:"beat"`
}

// Control is what an operator may change while a move runs.
type Control struct {
	Budget    float64 `json:"budget"`              // write units/s that the move may spend on the old key
	Rate      float64 `json:"rate,omitempty"`      // rows/s at most; 0 leaves it to the budget
	Paused    bool    `json:"paused,omitempty"`    // no further batch is published or moved
	PausedWhy string  `json:"pausedWhy,omitempty"` // as the operator said
}

// Progress is what the runner last reported.
type Progress struct {
	Moved       int64            `json:"moved"`
	AlreadyDone int64            `json:"alreadyDone,omitempty"` // found moved: lost answers, repeated batches
	Gone        int64            `json:"gone,omitempty"`        // deleted between look and move
	Changed     int64            `json:"changed,omitempty"`     // owner or key changed in between; looked at again
	Failed      int64            `json:"failed,omitempty"`      // refused by the service for good
	Unshardable map[string]int64 `json:"unshardable,omitempty"` // by class of owner
	Stragglers  int64            `json:"stragglers,omitempty"`  // stamped with the old key after the backfill
	Total       int64            `json:"total,omitempty"`       // estimate
	Throttles   int64            `json:"throttles,omitempty"`   // met by the runner
	Rate        float64          `json:"rate,omitempty"`        // rows/s now allowed
	Why         string           `json:"why,omitempty"`         // of that rate
	OldUnits    float64          `json:"oldUnits,omitempty"`    // write units/s that members report on the keys that are left
	NewUnits    float64          `json:"newUnits,omitempty"`    // and on the others
	Waiting     string           `json:"waiting,omitempty"`     // for whom or what, "" when it does not
}

// Pass is the last verification that the record knows of.
type Pass struct {
	Generation int64  `json:"generation"`
	Moved      int64  `json:"moved"` // rows moved when it was done; more since make it stale
	Owners     int64  `json:"owners"`
	Rows       int64  `json:"rows"`
	Defects    int64  `json:"defects"`
	Sample     int    `json:"sample,omitempty"`
	At         string `json:"at"` // for people: the verifier's clock
}

// MovingMark says which moving set counts. Members fetch the set when it changes.
type MovingMark struct {
	Version int64 `json:"version"`
	Rows    int   `json:"rows"`
	Items   int   `json:"items"` // MOVING items that hold the set; 0 means 1
}

// Record is the one durable truth about a move.
type Record struct {
	Format     int          `json:"format"`
	Name       string       `json:"name"`
	Function   string       `json:"function"`
	Phase      shard.Phase  `json:"phase"`
	Generation int64        `json:"generation"` // raised by each change that members must see
	Confirmed  int64        `json:"confirmed"`  // the generation that every member was seen to have
	From       shard.Layout `json:"from"`
	To         shard.Layout `json:"to"`
	Owner      string       `json:"owner"`
	Entity     Entity       `json:"entity"`
	Key        []string     `json:"key"`
	Open       bool         `json:"open"` // a move is under way: the short bounds count
	Archived   bool         `json:"archived,omitempty"`
	Lease      Lease        `json:"lease"`
	Moving     MovingMark   `json:"moving"`
	Bounds     Bounds       `json:"bounds"`
	Control    Control      `json:"control"`
	Progress   Progress     `json:"progress"`
	Pass       *Pass        `json:"pass,omitempty"`
	Excluded   []string     `json:"excluded,omitempty"`  // classes of unshardable owners that the operator leaves behind
	StartedAt  string       `json:"startedAt,omitempty"` // for people and for metrics: the starter's clock
	ChangedAt  string       `json:"changedAt,omitempty"` // for people
}

// Routing is what the record's phase means to readers and writers.
func (r Record) Routing() shard.Routing {
	return shard.RoutingFor(r.Phase, r.From, r.To, r.Generation)
}

// Confirms says whether every member was seen to have the record's generation.
func (r Record) Confirms() bool { return r.Confirmed >= r.Generation }

// poll is how often a member looks at the record.
func (r Record) poll() time.Duration {
	if r.Open {
		return r.Bounds.Poll
	}
	return r.Bounds.PollIdle
}

// stale is how long a member may go by one look at the record.
func (r Record) stale() time.Duration {
	if r.Open {
		return r.Bounds.Stale
	}
	return r.Bounds.StaleIdle
}

// way is the direction in which rows move in the record's phase.
func (r Record) way() way {
	if r.Phase == shard.Reverting {
		return way{from: r.To, to: r.From}
	}
	return way{from: r.From, to: r.To}
}

// spec is the spec that the record was started with, for a process that was
// told no more than where the record is.
func (r Record) spec(s Spec) Spec {
	s.Owner, s.Entity, s.From, s.To = r.Owner, r.Entity, r.From, r.To
	return s
}

// way is a direction: rows that carry a key of from get the key that to spells.
type way struct{ from, to shard.Layout }

// body is the one attribute, next to the table's key and its time to live, that
// the move's items carry. Nested, none of its fields can be an index key.
const body = "hotsplit"

var (
	byJSON = func(o *attributevalue.EncoderOptions) { o.TagKey = "json" }
	asJSON = func(o *attributevalue.DecoderOptions) { o.TagKey = "json" }
)

// encode turns v, a struct with json tags, into the body of an item.
func encode(v any) (types.AttributeValue, error) {
	return attributevalue.MarshalWithOptions(v, byJSON)
}

func decode(item map[string]types.AttributeValue, v any) error {
	b, ok := item[body]
	if !ok {
		return fmt.Errorf("%w: no attribute %q", ErrFormat, body)
	}
	return attributevalue.UnmarshalWithOptions(b, v, asJSON)
}

func decodeRecord(item map[string]types.AttributeValue) (Record, error) {
	var r Record
	if len(item) == 0 {
		return r, ErrNoRecord
	}
	if err := decode(item, &r); err != nil {
		return r, err
	}
	if r.Format != Format {
		return r, fmt.Errorf("%w: %d, this release knows %d", ErrFormat, r.Format, Format)
	}
	return r, nil
}
