package heat

import (
	"cmp"
	"slices"
)

// topK keeps the heaviest keys of a stream in bounded memory, with the
// space-saving algorithm: when it is full, a new key takes the place of the
// lightest one and inherits its weight as error. So a key's true weight lies in
// [weight-err, weight], every key heavier than total/size is present, and no err
// exceeds total/size.
type topK[K comparable, V any] struct {
	size  int
	total float64
	byKey map[K]*counter[K, V]
	heap  []*counter[K, V] // lightest first
	free  []*counter[K, V]
}

type counter[K comparable, V any] struct {
	key    K
	weight float64
	err    float64
	at     int // in the heap
	value  V   // since the key entered
}

func newTopK[K comparable, V any](size int) *topK[K, V] {
	return &topK[K, V]{size: size, byKey: make(map[K]*counter[K, V], size)}
}

// add counts weight for key and returns the key's counter.
func (t *topK[K, V]) add(key K, weight float64) *counter[K, V] {
	t.total += weight
	c := t.byKey[key]
	switch {
	case c != nil:
		c.weight += weight
	case len(t.heap) < t.size:
		c = t.fresh()
		*c = counter[K, V]{key: key, weight: weight, at: len(t.heap)}
		t.heap = append(t.heap, c)
		t.byKey[key] = c
		t.up(c.at)
	default:
		c = t.heap[0]
		delete(t.byKey, c.key)
		*c = counter[K, V]{key: key, weight: c.weight + weight, err: c.weight}
		t.byKey[key] = c
	}
	t.down(c.at)
	return c
}

func (t *topK[K, V]) fresh() *counter[K, V] {
	if n := len(t.free); n > 0 {
		c := t.free[n-1]
		t.free = t.free[:n-1]
		return c
	}
	return new(counter[K, V])
}

// heaviest lists up to n counters, heaviest first. The smaller error breaks
// ties, so that a key that merely inherited its weight comes later.
func (t *topK[K, V]) heaviest(n int) []*counter[K, V] {
	all := slices.Clone(t.heap)
	slices.SortFunc(all, func(a, b *counter[K, V]) int {
		return cmp.Or(cmp.Compare(b.weight, a.weight), cmp.Compare(a.err, b.err))
	})
	return all[:min(n, len(all))]
}

// reset empties t and keeps its memory.
func (t *topK[K, V]) reset() {
	t.total = 0
	clear(t.byKey)
	t.free = append(t.free, t.heap...)
	t.heap = t.heap[:0]
}

func (t *topK[K, V]) up(i int) {
	for i > 0 {
		parent := (i - 1) / 2
		if t.heap[parent].weight <= t.heap[i].weight {
			return
		}
		t.swap(i, parent)
		i = parent
	}
}

func (t *topK[K, V]) down(i int) {
	for {
		least := i
		for _, child := range [2]int{2*i + 1, 2*i + 2} {
			if child < len(t.heap) && t.heap[child].weight < t.heap[least].weight {
				least = child
			}
		}
		if least == i {
			return
		}
		t.swap(i, least)
		i = least
	}
}

func (t *topK[K, V]) swap(i, j int) {
	t.heap[i], t.heap[j] = t.heap[j], t.heap[i]
	t.heap[i].at, t.heap[j].at = i, j
}
