// Package app knows how the renewals application is put together: which client
// serves whom, where the list comes from, when the sweeps run, and what stops
// first.
package app
