// Package temporalsaga knows how a renewal lives on Temporal: one workflow for
// each lease and term, whose activities write the saga that everybody reads.
//
// The saga row is the durable truth about where a renewal stands; the workflow
// adds time to it. It waits for replies, reminds, lets offers expire and asks
// the activities for the next move. Its body is a loop over the saga's state,
// so a run that starts late, continues as new or is started again after a loss
// reads the row and goes on from there:
//
//	opened -> preparing -> prepared -> offered <-> negotiating -> accepted -> signed -> completed
//	             |  ^                    |              |            |
//	             v  | (decision, sweep)  +--------------+------------+--> declined, expired,
//	       prepare failed                                                 cancelled, notice received
//
// and from each state on the right, after a while, archived.
//
// Everything is done at least once and counts once:
//
//   - the workflow's id is its lease and term, and the saga's id follows from both;
//   - a write carries an operation id in its condition: derived from the saga's
//     version for the workflow's own moves, the request's id for what others ask for;
//   - letters and the lease's next term are keyed by saga and step.
//
// So an activity whose answer was lost finds its own write and goes on.
// Heartbeats are hints that save work, and nothing depends on them.
//
// Throttled and unavailable stores are retried inside the activity's policy
// without a bound; they never fail a renewal. Bad input fails at once, with an
// error type that is not retried. Which moves are legal, how many shards there
// are and all else that may change between releases is asked in activities;
// the workflow reads its input and its history alone.
package temporalsaga
