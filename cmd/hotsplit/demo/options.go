package demo

import (
	"fmt"

	"github.com/hotsplit/hotsplit/migrate"
	"github.com/hotsplit/hotsplit/shard"
)

// Defaults of a demonstration: the ADR's production.
const (
	DefaultRows    = 239
	DefaultPersons = 120
	DefaultShards  = 16
	DefaultSeconds = 8
)

// Options says what to show. The zero value is the ADR's case.
type Options struct {
	Rows    int   // rows to make; 0 means DefaultRows
	Persons int   // owners of the rows; 0 means as many per row as the ADR has
	Shards  int   // 0 means DefaultShards
	Seed    int64 // of every draw
	Seconds int   // of traffic before the move, and after it; 0 means DefaultSeconds

	Input []item        // the user's own rows in place of made ones
	Spec  *migrate.Spec // what they are; required with Input

	NaiveDualRead bool // leave the moving set out, and delay the index more: rows must be missed

	Observe func(Progress) // what a person watching is told; nil: nobody watches
}

func (o Options) withDefaults() Options {
	if o.Rows == 0 {
		o.Rows = DefaultRows
	}
	if o.Persons == 0 {
		o.Persons = max(1, o.Rows*DefaultPersons/DefaultRows)
	}
	o.Persons = min(o.Persons, o.Rows)
	if o.Shards == 0 {
		o.Shards = DefaultShards
	}
	if o.Seconds == 0 {
		o.Seconds = DefaultSeconds
	}
	if o.Observe == nil {
		o.Observe = func(Progress) {}
	}
	return o
}

// usual says that nothing was asked for that could keep the one key cool or the
// shards hot.
func (o Options) usual() bool {
	return o.Input == nil && o.Rows == DefaultRows && o.Persons == DefaultPersons && o.Shards == DefaultShards
}

// spec is the user's, or the ADR's.
func (o Options) spec() (migrate.Spec, error) {
	if o.Spec != nil {
		return o.Spec.Resolve()
	}
	return migrate.Spec{
		Name: "renewal-saga", Table: "propflow", Key: []string{"PK", "SK"}, Owner: "personId",
		Entity: migrate.Entity{Attribute: "entityType", Value: "RenewalSaga"},
		Index:  "renewal-saga-person-index", PartitionKey: "GSI4PK", SortKey: "GSI4SK",
		From: shard.Layout{Base: "RenewalSaga"}, To: shard.Layout{Base: "RenewalSaga", Count: o.Shards},
	}.Resolve()
}

// check finds rows of the user that the move could not take.
func (o Options) check(spec migrate.Spec) error {
	if o.Input == nil {
		return nil
	}
	for i, row := range o.Input {
		for _, name := range spec.Key {
			if row[name] == nil {
				return fmt.Errorf("%w: row %d has no attribute %q, which the spec names as a key of the table", ErrInput, i+1, name)
			}
		}
	}
	return nil
}

// Progress is a moment of a demonstration, for people who watch.
type Progress struct {
	Stage     string // "load", "before", "during", "after", "verify"
	Detail    string // phase of the move, or what is waited for
	Done, All int    // rows moved, or loaded; All is 0 where nothing is counted
	Seconds   int    // of the stage so far, where it has a length
	Of        int
	Rate      float64 // requests a second, of late
	Throttled int64   // in this stage
	Hottest   string  // index key
	Units     float64 // its read units in the latest whole second
}
