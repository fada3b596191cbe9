// Package shard knows how an owner's rows are spelled on an index: which of N
// partition keys they carry, how keys are written and read back, and which
// layouts are in use in each phase of a move from one spelling to another.
//
// # The shard function
//
// There is one shard function, [Function] ("sha256-64-mod", version 1): the
// first 8 bytes of the SHA-256 of the owner's exact bytes, read as a big-endian
// unsigned integer, modulo the layout's count. It is one line in any language:
//
//	BigInt("0x" + createHash("sha256").update(owner, "utf8").digest("hex").slice(0, 16)) % BigInt(count)
//
// Owners are never normalised: two spellings of one name are two owners.
// Another function would be another name, never a repair of this one, because
// the rows that are stored depend on it.
//
// # Layouts and phases
//
// A [Layout] spells a logical partition on an index. Count 0 is the unsharded
// layout: one key, the base itself. A move always goes from one layout to
// another, so sharding, growing and going back are the same thing.
//
// The phases of a move and where each may go:
//
//	planned   -> dual-read
//	dual-read -> write-new, planned
//	write-new -> backfill, reverting
//	backfill  -> verified, reverting
//	verified  -> complete, backfill, reverting
//	complete  -> verified
//	reverting -> dual-read
//
// [RoutingFor] says for each phase which layouts are read and which one new
// rows are stamped with.
package shard
