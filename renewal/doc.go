// Package renewal knows a lease renewal: its states, the moves between them, and
// what the sweeps and the incoming messages make of it.
//
// # States
//
// A line is a state and every state it may go to; "-" means that the renewal has
// ended there. A renewal that has ended can be archived, which takes it off the
// list and is not a state.
//
//	opened          -> preparing, cancelled, notice-received
//	preparing       -> prepared, prepare-failed, cancelled, notice-received
//	prepare-failed  -> preparing, cancelled, notice-received, expired
//	prepared        -> offered, preparing, cancelled, notice-received, expired
//	offered         -> negotiating, accepted, declined, expired, cancelled, notice-received
//	negotiating     -> prepared, offered, accepted, declined, expired, cancelled, notice-received
//	accepted        -> signed, negotiating, declined, expired, cancelled, notice-received
//	signed          -> completed, cancelled
//	notice-received -> -
//	declined        -> -
//	expired         -> -
//	cancelled       -> -
//	completed       -> -
//
// # Changes
//
// A [Change] carries an operation id. [Saga.Apply] recognises a change that was
// made before, so an attempt whose answer was lost is repeated without harm: by
// a client, a workflow or a message queue. The timeline holds the last 40 changes
// and with them the ids that are recognised. An id that comes again with another
// content is a conflict.
//
// # Time
//
// Nothing here reads a clock: every decision takes the time as a value.
package renewal
