// Package emulator knows how DynamoDB stores, indexes, limits and answers: tables
// and indexes on physical partitions with ceilings, index entries that arrive late,
// transactions, and the errors that production gives.
//
// A DB holds everything in memory and promises no durability. It starts no
// goroutine: index lag, token buckets, table status and TTL are computed from
// time.Now when somebody looks, so a DB works inside a testing/synctest bubble
// and leaks nothing.
package emulator
