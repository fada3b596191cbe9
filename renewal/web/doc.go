// Package web knows the pages and JSON routes of the renewals application: the
// list, the renewal of a lease, what comes in from outside, and the operator's
// view.
//
// # What a reader sees when DynamoDB is busy
//
// The list is drawn from a board, a snapshot that all browsers share. While it
// cannot be refreshed the last good one is shown, with its age in the page and
// in the Age header. A renewal's page reads the row itself and falls back to the
// board's. Only where no answer exists at all is it 503, with Retry-After.
//
// # Writes
//
// Every write needs a role, names the version that the writer saw, and carries an
// operation id, so pressing twice moves once and a move on something that has
// changed is a conflict that shows what is there now. Requests that another site
// makes a browser send are refused by their Sec-Fetch-Site or Origin.
package web
