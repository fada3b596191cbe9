package shard

import "slices"

// Phase is a step of a move from a layout A to a layout B.
type Phase string

// The phases, in the order of the way forward; Reverting is the way back.
const (
	Planned   Phase = "planned"   // readers ask A, new rows go to A
	DualRead  Phase = "dual-read" // readers ask A and B, new rows go to A
	WriteNew  Phase = "write-new" // readers ask A and B, new rows go to B
	Backfill  Phase = "backfill"  // rows move from A to B
	Verified  Phase = "verified"  // the guard moves stragglers from A to B
	Complete  Phase = "complete"  // readers ask B, new rows go to B
	Reverting Phase = "reverting" // rows move from B to A, new rows go to A
)

// legal lists every change of phase that a move may make; what is absent is
// refused.
var legal = map[Phase][]Phase{
	Planned:   {DualRead},
	DualRead:  {WriteNew, Planned},
	WriteNew:  {Backfill, Reverting},
	Backfill:  {Verified, Reverting},
	Verified:  {Complete, Backfill, Reverting},
	Complete:  {Verified},
	Reverting: {DualRead},
}

// Phases lists every phase, the way forward first.
func Phases() []Phase {
	return []Phase{Planned, DualRead, WriteNew, Backfill, Verified, Complete, Reverting}
}

// Known says whether this release knows p. A record of a newer release may
// name a phase that it does not.
func (p Phase) Known() bool { _, ok := legal[p]; return ok }

// Next lists where a move in phase p may go.
func (p Phase) Next() []Phase { return slices.Clone(legal[p]) }

// MayMove says whether a move in phase p may go to q.
func (p Phase) MayMove(q Phase) bool { return slices.Contains(legal[p], q) }
