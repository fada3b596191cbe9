// Package e2e holds the end-to-end tests of renewals against a real Temporal
// server and an emulated DynamoDB; it has no code of its own.
package e2e
