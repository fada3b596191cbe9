// Package e2e holds the tests of the renewals application as its users meet it:
// in a browser, over HTTP, and while the table under it throttles or moves.
//
// Screenshots go to $HOTSPLIT_ARTIFACTS, or artifacts/renewald in the checkout.
package e2e
