// Package hotsplit is the map of the module; it holds no code.
//
//	shard       how an owner's rows are spelled on an index, and the phases of a move
//	fanout      reading a sharded index: one owner, many, all, one page
//	capacity    read and write units, and what a partition can serve
//	heat        who uses how much of which key
//	migrate     the move: record, members, backfill, verification, guard, rollback
//	sim         designs compared on a virtual clock
//	emulator    a DynamoDB that throttles and lags like production
//	renewal     the application in whose production the fault was found
//	cmd         the operator's tool (hotsplit) and the application server (renewald)
//	devstack    its own module: emulator, Temporal server and renewald in one process
//
// Which package may import which is a table in deps_test.go. Product code meets
// the emulator on the wire alone, so each test tests the protocol too and runs
// against AWS by changing an endpoint.
package hotsplit
