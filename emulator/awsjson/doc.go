// Package awsjson knows DynamoDB's wire: JSON 1.0 requests named by X-Amz-Target,
// answers and errors as the service spells them, over HTTP and in process.
//
// [Transport] answers in process, as an http.RoundTripper without sockets or
// goroutines, so that an SDK client works inside a testing/synctest bubble.
// [Handler] serves the same over HTTP, and beside it a page that shows the tables'
// heat, Prometheus metrics, and admin routes for faults, held indexes and the
// operation log.
//
// Only form is checked here: that a request is JSON and its members have the
// right JSON types. What values may be is the emulator's business.
package awsjson
