package heat

import (
	"testing"

	"pgregory.net/rapid"
)

// TestTopKBounds checks what space-saving promises, on any stream.
func TestTopKBounds(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		size := rapid.IntRange(1, 8).Draw(t, "size")
		stream := rapid.SliceOf(rapid.IntRange(0, 20)).Draw(t, "stream")
		top, truth, total := newTopK[int, int](size), map[int]float64{}, 0.0
		for _, key := range stream {
			weight := float64(1 + key%3)
			top.add(key, weight)
			truth[key] += weight
			total += weight
		}
		for _, c := range top.heap {
			if truth[c.key] > c.weight || truth[c.key] < c.weight-c.err {
				t.Fatalf("key %d: true %v outside [%v, %v]", c.key, truth[c.key], c.weight-c.err, c.weight)
			}
			if c.err > total/float64(size) {
				t.Fatalf("key %d: error %v above %v", c.key, c.err, total/float64(size))
			}
			if top.heap[c.at] != c {
				t.Fatalf("key %d is not where it says", c.key)
			}
		}
		for key, weight := range truth {
			if weight > total/float64(size) && top.byKey[key] == nil {
				t.Fatalf("key %d of weight %v is missing of total %v", key, weight, total)
			}
		}
	})
}
