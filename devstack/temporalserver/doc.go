// Package temporalserver knows how to run a real Temporal server inside this
// process: frontend, history, matching and its own worker on loopback, with
// SQLite in memory or in a file.
//
// It is for development and end-to-end tests. In memory it forgets everything
// at Stop; with a file a second Start on the same file and port goes on where
// the first one stopped.
package temporalserver
