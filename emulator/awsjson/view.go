package awsjson

import (
	"slices"
	"time"

	"github.com/hotsplit/hotsplit/emulator"
)

// viewSeconds is how many seconds the page shows.
const viewSeconds = 60

// Bounds of what the page is told at once.
const (
	viewKeysMax      = 12
	viewThrottlesMax = 50
)

// view is what the page shows, seconds oldest first and the last one complete.
type view struct {
	Second    int64          `json:"second"` // of the last column
	Sequence  uint64         `json:"sequence"`
	Requests  int            `json:"requests"` // since the last view
	Resources []resourceView `json:"resources"`
	Throttles []throttleView `json:"throttles"` // newest first
	Faults    int            `json:"faults"`
}

type resourceView struct {
	Table      string          `json:"table"`
	Index      string          `json:"index"`
	Partitions []partitionView `json:"partitions"`
	Keys       []keyView       `json:"keys"`
}

type partitionView struct {
	ID        int              `json:"id"`
	Ceiling   units            `json:"ceiling"`
	Read      [viewSeconds]int `json:"read"` // rounded up, so that little is not nothing
	Write     [viewSeconds]int `json:"write"`
	Throttled int64            `json:"throttled"`
}

type units struct {
	Read  float64 `json:"read"`
	Write float64 `json:"write"`
}

type keyView struct {
	Key       string           `json:"key"`
	Partition int              `json:"partition"`
	Read      float64          `json:"read"` // in the last second
	Write     float64          `json:"write"`
	Share     [viewSeconds]int `json:"share"` // of the partition's ceiling, in percent
	Throttled [viewSeconds]int `json:"throttled"`

	sum float64
}

type throttleView struct {
	Time      int64  `json:"time"` // milliseconds since the epoch
	Caller    string `json:"caller"`
	Operation string `json:"operation"`
	Table     string `json:"table"`
	Index     string `json:"index"` // that refused; "" means the table
	Partition int    `json:"partition"`
	Key       string `json:"key"`
	Reason    string `json:"reason"`
}

func viewOf(db *emulator.DB, since uint64, now time.Time) view {
	last := now.Unix() - 1
	v := view{Second: last, Sequence: since, Resources: []resourceView{}, Throttles: []throttleView{}, Faults: len(db.Faults())}
	for _, r := range db.Heat(time.Unix(last-viewSeconds+1, 0)) {
		v.Resources = append(v.Resources, viewOfResource(r, last))
	}
	entries := db.LogSince(since)
	for i := range entries {
		v.Sequence = entries[i].Sequence
	}
	v.Requests = len(entries)
	for _, e := range slices.Backward(entries) {
		if len(v.Throttles) == viewThrottlesMax {
			break
		}
		if t, ok := throttleOf(e); ok {
			v.Throttles = append(v.Throttles, t)
		}
	}
	return v
}

func viewOfResource(r emulator.ResourceHeat, last int64) resourceView {
	v := resourceView{Table: r.Table, Index: r.Index, Partitions: []partitionView{}, Keys: []keyView{}}
	at := map[int]int{}
	for _, p := range r.Partitions {
		at[p.ID] = len(v.Partitions)
		v.Partitions = append(v.Partitions, partitionView{ID: p.ID, Ceiling: units(p.Ceiling), Throttled: p.ReadThrottled + p.WriteThrottled})
	}
	keys := map[string]*keyView{}
	for _, s := range r.Seconds {
		column := viewSeconds - 1 - int(last-s.Time.Unix())
		if column < 0 || column >= viewSeconds {
			continue
		}
		for _, k := range s.Keys {
			i, known := at[k.Partition]
			if !known {
				continue
			}
			v.Partitions[i].add(k, column)
			seen(keys, k).add(k, column, v.Partitions[i].Ceiling)
		}
	}
	v.Keys = hottest(keys)
	return v
}

func (p *partitionView) add(k emulator.KeyHeat, column int) {
	p.Read[column] += int(k.Read + 0.99)
	p.Write[column] += int(k.Write + 0.99)
}

func seen(keys map[string]*keyView, k emulator.KeyHeat) *keyView {
	v := keys[k.Key]
	if v == nil {
		v = &keyView{Key: k.Key}
		keys[k.Key] = v
	}
	v.Partition = k.Partition
	return v
}

func (v *keyView) add(k emulator.KeyHeat, column int, ceiling units) {
	share := max(k.Read/ceiling.Read, k.Write/ceiling.Write)
	v.sum += share + float64(k.Throttled)
	v.Share[column] += int(share*100 + 0.99)
	v.Throttled[column] += k.Throttled
	if column == viewSeconds-1 {
		v.Read, v.Write = k.Read, k.Write
	}
}

func hottest(keys map[string]*keyView) []keyView {
	list := make([]keyView, 0, len(keys))
	for _, k := range keys {
		list = append(list, *k)
	}
	slices.SortFunc(list, func(a, b keyView) int {
		switch {
		case a.sum > b.sum:
			return -1
		case a.sum < b.sum:
			return 1
		case a.Key < b.Key:
			return -1
		default:
			return 1
		}
	})
	return list[:min(len(list), viewKeysMax)]
}

// throttleOf finds the gate that refused a request, or a part of a batch.
func throttleOf(e emulator.LogEntry) (throttleView, bool) {
	t := throttleView{Time: e.Time.UnixMilli(), Caller: e.Caller, Operation: e.Operation, Table: e.Table, Partition: -1}
	if len(e.Reasons) > 0 {
		t.Reason = e.Reasons[0].Reason
	}
	for _, u := range e.Units {
		if u.Refused {
			t.Table, t.Index, t.Partition, t.Key = u.Table, u.Index, u.Partition, u.Key
			return t, true
		}
	}
	return t, len(e.Reasons) > 0
}
