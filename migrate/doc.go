// Package migrate knows how live rows get from one layout to another without a
// read that misses one: the phases of a move, the durable record that everybody
// goes by, the lease of the one process that moves rows, and what must be true
// before each step.
//
// # Who does what
//
// A [Watcher] is a member: it lives in each process that reads or writes the
// rows, polls the record, and says by which routing to read and which key to
// stamp. It is a fanout.Source.
//
// A [Runner] holds the lease. It changes phases, waits until every member has
// seen each change, publishes rows in the moving set, moves them, waits until
// the index shows them, and clears the set. It runs in the caller's goroutine
// and starts none that outlives a call.
//
// A [Ledger] is the record and its items: what status, pause and set need. It
// takes no lease.
//
// [Verify] compares the index with a strongly consistent scan of the base table,
// [Guard] keeps the old key from coming back.
//
// # The rules
//
// Only creation stamps a key; only the runner and the guard move one. A move is
// one conditional update of one attribute: the row exists, is still its owner's,
// and still carries the key that was seen. A failed condition is a row that is
// counted and looked at again.
//
// A changed index key is a delete and a put on two index partitions, applied
// later and not together, so a moving row can be in neither place. Readers
// therefore read the moving set's rows from the base table. The runner publishes
// a batch, waits until no reader can still go by an older view, moves the batch,
// waits until the index has shown it settled for a margin, and then clears it.
//
// A member's view of the record is good for the staleness bound. The bound is
// looked at again when an answer is there: a read that took longer is done
// again, and a write that did is repaired before it is acknowledged. So a phase
// counts once every live member reported it and the bound has passed, however
// long a process was frozen.
//
// No two hosts' wall clocks are ever compared. Whoever waits for somebody else
// watches a counter against its own monotonic clock.
//
// The layout of the record and its items is a public format, described in
// docs/record-format.md.
package migrate
