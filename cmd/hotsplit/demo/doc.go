// Package demo knows how to show a move on the embedded DynamoDB: it loads rows
// on one hot key, runs the application's traffic, moves the rows under that
// traffic, and measures before, during and after.
//
// It is a measurement. The traffic goes through the real SDK client, its retries
// and the product's own readers and writers; every answer is compared with a
// model of what must be visible; figures are counted where requests leave the
// client and where units leave a partition. Options.NaiveDualRead leaves out the
// moving set, and then the checker must find missed rows.
package demo
