package emulator

import (
	"context"
	"math/rand/v2"
	"net/http"
	"sync"
	"sync/atomic"
	"time"

	"github.com/hotsplit/hotsplit/capacity"
)

// FaultKind is what a scripted fault does to a request.
type FaultKind string

// What faults do.
const (
	// FaultThrottle refuses the request as a hot partition would: of Fault.Index if
	// that is set, else of the table.
	FaultThrottle FaultKind = "throttle"
	// FaultError answers 500 and changes nothing.
	FaultError FaultKind = "error"
	// FaultDrop lets the request happen and loses the answer.
	FaultDrop FaultKind = "drop"
	// FaultDelay holds the request up for Fault.Delay before it happens.
	FaultDelay FaultKind = "delay"
	// FaultUnprocessed leaves Fault.Share of the items of a batch unprocessed.
	FaultUnprocessed FaultKind = "unprocessed"
)

// Fault is one rule of the fault script. Empty selectors match everything; a
// request must match all that are set.
type Fault struct {
	Name string    `json:"name,omitempty"` // shown in the operation log; "" means the kind
	Kind FaultKind `json:"kind"`

	Operation string `json:"operation,omitempty"`
	Table     string `json:"table,omitempty"`
	// Index is the index that is read. For FaultThrottle it is also the one that
	// refuses writes.
	Index string `json:"index,omitempty"`
	// Key is a partition key: of the item, or of the index that is queried or written.
	Key    string `json:"key,omitempty"`
	Caller string `json:"caller,omitempty"`

	// Probability that a matching request is struck; 0 means always.
	Probability float64 `json:"probability,omitempty"`
	// Every strikes each so-manieth match only; 0 means each.
	Every int `json:"every,omitempty"`
	// Skip lets so many matches pass first.
	Skip int `json:"skip,omitempty"`
	// Count ends the fault after so many strikes; 0 means never.
	Count int `json:"count,omitempty"`

	Delay time.Duration `json:"delay,omitempty"` // FaultDelay
	Share float64       `json:"share,omitempty"` // FaultUnprocessed, 0 to 1
}

// ScriptedFault is a fault with what it did so far.
type ScriptedFault struct {
	ID      int `json:"id"`
	Matched int `json:"matched"`
	Struck  int `json:"struck"`
	Fault
}

// faultScript decides which requests are struck. One stream of draws serves all
// faults, so the same requests in the same order are struck the same.
type faultScript struct {
	active atomic.Bool // some fault is scripted; spares the lock otherwise
	mu     sync.Mutex
	rng    *rand.Rand
	faults []*ScriptedFault
	ids    int
}

// Inject adds a fault to the script and returns its ID. Faults strike in the
// order in which they were added; several may strike one request.
func (db *DB) Inject(f Fault) int {
	s := &db.faults
	s.mu.Lock()
	defer s.mu.Unlock()
	s.ids++
	f.Name = orDefault(f.Name, string(f.Kind))
	s.faults = append(s.faults, &ScriptedFault{ID: s.ids, Fault: f})
	s.active.Store(true)
	return s.ids
}

// Withdraw takes a fault out of the script and reports whether it was there.
func (db *DB) Withdraw(id int) bool {
	s := &db.faults
	s.mu.Lock()
	defer s.mu.Unlock()
	for i, f := range s.faults {
		if f.ID == id {
			s.faults = append(s.faults[:i:i], s.faults[i+1:]...)
			s.active.Store(len(s.faults) > 0)
			return true
		}
	}
	return false
}

// Faults are the scripted faults and what they did so far.
func (db *DB) Faults() []ScriptedFault {
	s := &db.faults
	s.mu.Lock()
	defer s.mu.Unlock()
	out := make([]ScriptedFault, len(s.faults))
	for i, f := range s.faults {
		out[i] = *f
	}
	return out
}

// target is what a request is about, as selectors see it.
type target struct {
	table, index string
	keys         []string
}

// strikes draws the faults that strike a request.
func (s *faultScript) strikes(operation, caller string, to target) []Fault {
	s.mu.Lock()
	defer s.mu.Unlock()
	var struck []Fault
	for _, f := range s.faults {
		if f.matches(operation, caller, to) && f.strike(s.rng) {
			struck = append(struck, f.Fault)
		}
	}
	return struck
}

func (f *ScriptedFault) matches(operation, caller string, to target) bool {
	return (f.Operation == "" || f.Operation == operation) &&
		(f.Caller == "" || f.Caller == caller) &&
		(f.Table == "" || f.Table == to.table) &&
		(f.Index == "" || f.Index == to.index || f.Kind == FaultThrottle && !readOperations[operation]) &&
		(f.Key == "" || contains(to.keys, f.Key))
}

func contains(keys []string, key string) bool {
	for _, k := range keys {
		if k == key {
			return true
		}
	}
	return false
}

func (f *ScriptedFault) strike(rng *rand.Rand) bool {
	f.Matched++
	switch {
	case f.Matched <= f.Skip,
		f.Count > 0 && f.Struck >= f.Count,
		f.Every > 1 && (f.Matched-f.Skip)%f.Every != 0,
		f.Probability > 0 && rng.Float64() >= f.Probability:
		return false
	}
	f.Struck++
	return true
}

// struck is what faults still have to do to a request.
type struck struct {
	drop        bool
	unprocessed float64 // share of a batch
}

// suffer lets the scripted faults act on a request before it touches data. Keys
// are asked for only when there are faults.
func (c *call) suffer(t *table, index string, keys func() []string) error {
	if !c.db.faults.active.Load() {
		return nil
	}
	to := target{table: t.name, index: index, keys: keys()}
	for _, f := range c.db.faults.strikes(c.entry.Operation, c.entry.Caller, to) {
		c.entry.Fault = f.Name
		if err := c.apply(f, t); err != nil {
			return err
		}
	}
	return nil
}

func (c *call) apply(f Fault, t *table) error {
	switch f.Kind {
	case FaultThrottle:
		return c.scriptedThrottle(f, t)
	case FaultError:
		return &Error{Code: CodeInternal, Message: "Internal server error", Status: http.StatusInternalServerError}
	case FaultDrop:
		c.drop = true
	case FaultDelay:
		err := pause(c.ctx, f.Delay)
		c.now = c.db.Now()
		return err
	case FaultUnprocessed:
		c.unprocessed = f.Share
	}
	return nil
}

func (c *call) scriptedThrottle(f Fault, t *table) error {
	k := &cost{space: t.space, direction: capacity.Write}
	if readOperations[c.entry.Operation] {
		k.direction = capacity.Read
	}
	t.mu.RLock()
	defer t.mu.RUnlock()
	if ix := t.index(f.Index, c.now); ix != nil {
		k.space = ix.space
	}
	return c.refusal(k, capacity.KeyRangeThroughput)
}

var readOperations = map[string]bool{
	"GetItem": true, "BatchGetItem": true, "TransactGetItems": true, "Query": true, "Scan": true,
}

func pause(ctx context.Context, d time.Duration) error {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}
