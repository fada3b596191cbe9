// Package fanout knows how to read an index whose rows are spread over several
// partition keys as if they still stood under one: everything of one owner, of
// many owners, of all, page by page, or counted; in one global order; and right
// while the rows are being moved from one layout to another.
//
// # Order
//
// Every stream and every page is ordered by (sort key, base primary key), both
// ascending or both descending. An index keeps rows with equal sort keys in an
// order of its own, so fanout holds rows of one sort key back until it has seen
// all of them in their shard. Memory of a stream is bounded by two pages a shard
// plus the largest group of equal sort keys.
//
// # Routing
//
// A [Reader] asks its [Source] for a [View] before it reads, and asks again
// whether the view still holds once the answer is there. Where it does not, what
// was read and not yet yielded is thrown away and read again, after the last
// yielded position, under the new view. So a row that existed throughout is
// neither missed nor doubled, whatever the move did meanwhile. Copies of a row
// meet at the same position and are merged by base primary key: the strongly
// consistent read of a row in the moving set wins, then the copy in the layout
// that the move goes to.
//
// Under a [Static] routing with two layouts nobody says which rows are moving.
// The layout that is left is then asked before the other one. That narrows the
// gap to the time between an index's delete and its put, and does not close it.
//
// # Failure
//
// A shard that cannot be read is a [*ShardError] naming it. Without
// Query.Partial it ends the call; with it the healthy shards are returned and the
// last element of a stream is a [*PartialError]. Nothing is shorter in silence.
//
// # Filters
//
// A filter is evaluated by the service, also on the rows of the moving set, which
// are then read from the base table. The service refuses key attributes in a
// filter, so a filter may name neither the index's keys nor the base table's.
package fanout
