package emulator

import (
	"slices"
	"strings"
	"time"
)

// heatSeconds is how far back live heat reaches.
const heatSeconds = 300

// otherKeys stands for the keys of a second beyond Options.HeatKeys.
const otherKeys = "…other keys"

// KeyHeat is what one key of a table or index consumed in one second.
type KeyHeat struct {
	Key         string
	Partition   int
	Read, Write float64
	Throttled   int
}

// heatRing holds the heat of the latest seconds of a table or index.
type heatRing struct {
	keysMax int
	seconds []heatSecond // by second modulo heatSeconds
}

type heatSecond struct {
	second int64
	keys   map[string]*KeyHeat
}

// at is the heat of key in the second of now, to be added to.
func (r *heatRing) at(key string, partition int, now time.Time) *KeyHeat {
	if r.seconds == nil {
		r.seconds = make([]heatSecond, heatSeconds)
	}
	second := now.Unix()
	s := &r.seconds[second%heatSeconds]
	if s.second != second {
		s.second = second
		s.keys = nil
	}
	if h := s.keys[key]; h != nil {
		return h
	}
	if len(s.keys) >= r.keysMax {
		key = otherKeys
		if h := s.keys[key]; h != nil {
			return h
		}
	}
	if s.keys == nil {
		s.keys = map[string]*KeyHeat{}
	}
	h := &KeyHeat{Key: strings.Clone(key), Partition: partition}
	s.keys[h.Key] = h
	return h
}

// HeatSecond is one second of heat of a table or index, hottest key first.
type HeatSecond struct {
	Time time.Time
	Keys []KeyHeat
}

// since lists the seconds from a moment on that saw traffic, oldest first.
func (r *heatRing) since(from, now time.Time) []HeatSecond {
	var out []HeatSecond
	first := max(from.Unix(), now.Unix()-heatSeconds+1)
	for second := first; second <= now.Unix() && r.seconds != nil; second++ {
		s := r.seconds[second%heatSeconds]
		if s.second != second || len(s.keys) == 0 {
			continue
		}
		out = append(out, HeatSecond{Time: time.Unix(second, 0), Keys: s.sorted()})
	}
	return out
}

func (s heatSecond) sorted() []KeyHeat {
	keys := make([]KeyHeat, 0, len(s.keys))
	for _, h := range s.keys {
		keys = append(keys, *h)
	}
	slices.SortFunc(keys, func(a, b KeyHeat) int {
		if x, y := a.Read+3*a.Write, b.Read+3*b.Write; x != y {
			if x > y {
				return -1
			}
			return 1
		}
		return strings.Compare(a.Key, b.Key)
	})
	return keys
}

// ResourceHeat is the live heat of a table or of one of its indexes.
type ResourceHeat struct {
	Table, Index string // Index is "" for the table itself
	ARN          string
	Partitions   []PartitionHeat
	Seconds      []HeatSecond
}

// PartitionHeat is what a physical partition served since it was made, and what
// it could serve right now.
type PartitionHeat struct {
	ID                            int
	Ceiling                       Units // units per second
	Available                     Units // units at this moment
	Used                          Units
	ReadThrottled, WriteThrottled int64
}

// Heat is the live heat of all tables and global indexes from a moment on, which
// reaches back five minutes at most.
func (db *DB) Heat(from time.Time) []ResourceHeat {
	now := db.Now()
	var out []ResourceHeat
	for _, name := range db.names(now) {
		if t := db.find(name, now); t != nil {
			out = append(out, t.heat(from, now)...)
		}
	}
	return out
}

func (t *table) heat(from, now time.Time) []ResourceHeat {
	t.mu.RLock()
	defer t.mu.RUnlock()
	t.meter.Lock()
	defer t.meter.Unlock()
	out := []ResourceHeat{t.space.report(t.name, from, now)}
	for _, ix := range t.global {
		out = append(out, ix.space.report(t.name, from, now))
	}
	return out
}
