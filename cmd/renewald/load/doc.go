// Package load knows the traffic that the ADR counted: browsers that poll the
// list and open renewals, messages that come in, sweeps, and moves; and what it
// saw of the answers.
package load
