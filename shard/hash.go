package shard

import (
	"crypto/sha256"
	"encoding/binary"
)

// Function names the shard function, as durable records spell it.
const Function = "sha256-64-mod"

// Hash is the first 8 bytes of the SHA-256 of owner's bytes, big-endian and
// unsigned. The top bit is set for half of all owners, so it must never pass
// through a signed type before the reduction.
func Hash(owner string) uint64 {
	sum := sha256.Sum256([]byte(owner))
	return binary.BigEndian.Uint64(sum[:8])
}

// Reduce maps a hash to a shard in [0, count). Counts 0 and 1 give 0.
func Reduce(hash uint64, count int) int {
	if count <= 1 {
		return 0
	}
	return int(hash % uint64(count))
}
