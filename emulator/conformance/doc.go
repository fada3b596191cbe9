// Package conformance knows what DynamoDB promises its clients, and asks any
// endpoint for it: answers, faults word by word and in their order, paging,
// indexes, batches, transactions, capacity and limits.
//
// Most promises are scripts: requests as they stand on the wire, each with the
// answer that is due. A client library would refuse many of them before they
// were sent, and a program in another language may send them all the same. What
// a client library does with the answers is asked through the AWS SDK.
//
// The suite knows nothing of our emulator and runs against it, against the
// service, and against any other implementation alike.
package conformance
