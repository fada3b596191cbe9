// Package capacity knows what DynamoDB capacity is: how many units an operation
// costs, what a physical partition, a table and an index can serve, where keys
// are placed, when partitions split, and why a request is refused.
//
// Everything is computed: time is a value that the caller passes in and that must
// not run backwards, chance comes from a seed, and nothing locks. A caller that
// shares a Set or a Gate between goroutines guards it.
//
// A request passes two kinds of gates. A [Gate] is the table's or the index's own
// rate: provisioned throughput with five minutes of burst, or the on-demand
// ceiling of twice the previous peak, an optional maximum, and the quota. A
// [Partition] is one of the physical partitions behind it, which serves 1,000
// write and 3,000 read units a second in any billing mode. [Admit] asks all gates
// that a request touches and charges all of them or none.
package capacity
