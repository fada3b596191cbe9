package migrate

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"time"
)

// Fence says how a move that was held up is kept from landing after somebody
// else took over.
type Fence string

// The fences.
const (
	// FenceTransaction moves rows in transactions that check the record: none can
	// land after a take-over. It costs twice the base table's write units.
	FenceTransaction Fence = "transaction"
	// FenceClock moves rows by single updates, each sent only while the lease was
	// confirmed less than half its time ago on this host's clock. A process that
	// freezes between that look and the request can still land one move late; the
	// guard heals it. For endpoints without transactions.
	FenceClock Fence = "clock"
)

// Source says where the runner finds the rows that have to move.
type Source string

// The sources. Both end with a scan of the base table.
const (
	SourceDrain Source = "drain" // the old keys on the index; what has moved is not read again
	SourceScan  Source = "scan"  // the base table
)

// Options tunes a Runner. The zero value is what we use in production, but for
// Alone, which only an operator can know.
type Options struct {
	Holder    string        // shown to others; a unique suffix is added
	Fence     Fence         // "" means FenceTransaction
	Source    Source        // "" means SourceDrain
	Segments  int           // of a base scan; 0 means one per 100,000 rows, at most 16
	Bounds    Bounds        // for a record that Start creates; then the record rules
	Budget    float64       // write units/s on the old key, for a record that Start creates; 0 means 100
	Rate      float64       // rows/s at most, for a record that Start creates; 0 leaves it to the budget
	BatchRows int           // rows published at once; 0 fits the pace, at most 1,500
	ChunkRows int           // rows of one transaction; 0 means 25, at most 99
	Watch     time.Duration // how long no straggler may appear before complete; 0 means 30 s
	Alone     bool          // the operator says: no process outside the member list reads or writes
	Sample    int           // owners to verify before complete; 0 means all

	// Confirm asks the operator what only a person knows. nil refuses, unless
	// Alone answers it.
	Confirm func(context.Context, Question) error
	// Observe is told what happens, in the goroutine that calls the runner.
	Observe func(Event)
}

const (
	budgetDefault = 100 // write units/s: a tenth of what one partition takes
	batchRowsMax  = 1500
	batchRowsMin  = 25
	chunkDefault  = 25
	chunkMax      = 99 // the service takes 100 actions, one checks the record
	watchDefault  = 30 * time.Second
)

func (o Options) withDefaults() Options {
	o.Fence = cmp.Or(o.Fence, FenceTransaction)
	o.Source = cmp.Or(o.Source, SourceDrain)
	o.Bounds = o.Bounds.withDefaults()
	o.Budget = cmp.Or(o.Budget, budgetDefault)
	o.ChunkRows = cmp.Or(o.ChunkRows, chunkDefault)
	o.Watch = cmp.Or(o.Watch, watchDefault)
	return o
}

func (o Options) validate() error {
	var faults []error
	fault := func(format string, args ...any) {
		faults = append(faults, fmt.Errorf("%w: %s", ErrSpec, fmt.Sprintf(format, args...)))
	}
	if o.Fence != FenceTransaction && o.Fence != FenceClock {
		fault("fence: is %q, want %q or %q", o.Fence, FenceTransaction, FenceClock)
	}
	if o.Source != SourceDrain && o.Source != SourceScan {
		fault("source: is %q, want %q or %q", o.Source, SourceDrain, SourceScan)
	}
	if o.ChunkRows < 1 || o.ChunkRows > chunkMax {
		fault("chunk: is %d rows, want 1 to %d", o.ChunkRows, chunkMax)
	}
	if o.BatchRows < 0 || o.BatchRows > batchRowsMax {
		fault("batch: is %d rows, want 1 to %d, or 0", o.BatchRows, batchRowsMax)
	}
	if o.Budget < 0 || o.Rate < 0 {
		fault("pace: budget %g and rate %g must not be negative", o.Budget, o.Rate)
	}
	if o.Segments < 0 || o.Segments > segmentsMax {
		fault("segments: is %d, want 1 to %d, or 0", o.Segments, segmentsMax)
	}
	return errors.Join(faults...)
}
