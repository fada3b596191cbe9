package migrate

import (
	"encoding/json"
	"time"

	"github.com/aws/aws-sdk-go-v2/feature/dynamodb/attributevalue"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
)

// Bounds are the times that everybody who takes part goes by. They stand in the
// record; the zero value means the defaults.
type Bounds struct {
	Poll      time.Duration // between looks at the record while a move is open; 0 means 1 s
	PollIdle  time.Duration // otherwise; 0 means 10 s
	Stale     time.Duration // age up to which a look counts while a move is open; 0 means 3 s
	StaleIdle time.Duration // otherwise; 0 means 30 s
	Settle    time.Duration // how long the index must have shown a batch settled; 0 means 1 s
	Lease     time.Duration // silence after which a runner is taken over; 0 means 10 s
	Member    time.Duration // silence after which a member is not waited for; 0 means 15 s
	Prior     time.Duration // the longest bound that a member may still go by after a change
}

func (b Bounds) withDefaults() Bounds {
	for _, f := range []struct {
		field *time.Duration
		value time.Duration
	}{
		{&b.Poll, time.Second}, {&b.PollIdle, 10 * time.Second},
		{&b.Stale, 3 * time.Second}, {&b.StaleIdle, 30 * time.Second},
		{&b.Settle, time.Second}, {&b.Lease, 10 * time.Second}, {&b.Member, 15 * time.Second},
	} {
		if *f.field <= 0 {
			*f.field = f.value
		}
	}
	return b
}

// beat is how often a member reports even when nothing changed.
func (b Bounds) beat() time.Duration { return b.Member / 3 }

// boundsWire spells Bounds in milliseconds, for other languages.
type boundsWire struct {
	Poll      int64 `json:"pollMillis"`
	PollIdle  int64 `json:"pollIdleMillis"`
	Stale     int64 `json:"staleMillis"`
	StaleIdle int64 `json:"staleIdleMillis"`
	Settle    int64 `json:"settleMillis"`
	Lease     int64 `json:"leaseMillis"`
	Member    int64 `json:"memberMillis"`
	Prior     int64 `json:"priorStaleMillis"`
}

func (b Bounds) wire() boundsWire {
	return boundsWire{
		Poll: b.Poll.Milliseconds(), PollIdle: b.PollIdle.Milliseconds(),
		Stale: b.Stale.Milliseconds(), StaleIdle: b.StaleIdle.Milliseconds(),
		Settle: b.Settle.Milliseconds(), Lease: b.Lease.Milliseconds(),
		Member: b.Member.Milliseconds(), Prior: b.Prior.Milliseconds(),
	}
}

func (w boundsWire) bounds() Bounds {
	ms := func(n int64) time.Duration { return time.Duration(n) * time.Millisecond }
	return Bounds{
		Poll: ms(w.Poll), PollIdle: ms(w.PollIdle), Stale: ms(w.Stale), StaleIdle: ms(w.StaleIdle),
		Settle: ms(w.Settle), Lease: ms(w.Lease), Member: ms(w.Member), Prior: ms(w.Prior),
	}
}

// MarshalJSON spells the bounds in milliseconds.
func (b Bounds) MarshalJSON() ([]byte, error) { return json.Marshal(b.wire()) }

// UnmarshalJSON reads what MarshalJSON wrote.
func (b *Bounds) UnmarshalJSON(data []byte) error {
	var w boundsWire
	if err := json.Unmarshal(data, &w); err != nil {
		return err
	}
	*b = w.bounds()
	return nil
}

// MarshalDynamoDBAttributeValue spells the bounds as the record holds them.
func (b Bounds) MarshalDynamoDBAttributeValue() (types.AttributeValue, error) {
	return encode(b.wire())
}

// UnmarshalDynamoDBAttributeValue reads the bounds of a record. What a record
// leaves out has its default.
func (b *Bounds) UnmarshalDynamoDBAttributeValue(v types.AttributeValue) error {
	var w boundsWire
	if err := attributevalue.UnmarshalWithOptions(v, &w, asJSON); err != nil {
		return err
	}
	*b = w.bounds().withDefaults()
	return nil
}
