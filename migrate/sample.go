package migrate

import (
	"container/heap"
	"context"
	"encoding/binary"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"golang.org/x/sync/errgroup"

	"github.com/hotsplit/hotsplit/shard"
)

// draw is where an owner stands in the seed's order. The owners that stand first
// are the sample: any two scans choose the same ones.
func draw(seed uint64, owner string) uint64 {
	return shard.Hash(string(binary.BigEndian.AppendUint64(nil, seed)) + owner)
}

// sampled is one owner with its base rows, as digests by base key.
type sampled struct {
	owner string
	rank  uint64
	rows  map[string]sampledRow
}

type sampledRow struct {
	content uint64
	key     Item
}

// sampleHeap keeps the owner that stands last on top.
type sampleHeap []*sampled

func (h sampleHeap) Len() int           { return len(h) }
func (h sampleHeap) Less(i, j int) bool { return h[i].rank > h[j].rank }
func (h sampleHeap) Swap(i, j int)      { h[i], h[j] = h[j], h[i] }

// Push adds an owner.
func (h *sampleHeap) Push(x any) { *h = append(*h, x.(*sampled)) }

// Pop removes the last.
func (h *sampleHeap) Pop() any {
	last := (*h)[len(*h)-1]
	*h = (*h)[:len(*h)-1]
	return last
}

// lottery draws n owners while their rows pass by.
type lottery struct {
	n       int
	seed    uint64
	heap    sampleHeap
	byOwner map[string]*sampled
}

// entry is the sampled owner to note a row for, nil where owner is not drawn.
func (l *lottery) entry(owner string) *sampled {
	if s := l.byOwner[owner]; s != nil {
		return s
	}
	rank := draw(l.seed, owner)
	if len(l.heap) >= l.n {
		if rank >= l.heap[0].rank {
			return nil
		}
		delete(l.byOwner, heap.Pop(&l.heap).(*sampled).owner)
	}
	s := &sampled{owner: owner, rank: rank, rows: map[string]sampledRow{}}
	l.byOwner[owner] = s
	heap.Push(&l.heap, s)
	return s
}

// sample scans the base table once, keeps the rows of the drawn owners, and reads
// those owners from the index as a reader does.
func (v *verification) sample(ctx context.Context) error {
	l := &lottery{n: v.opts.Sample, seed: v.opts.Seed, byOwner: map[string]*sampled{}}
	err := v.scan(ctx, func(item Item) {
		r, class := v.sieve.read(item)
		if r == nil || (r.sort == nil && v.record.From.SortKey != "") {
			return
		}
		if class != "" {
			v.unshardable(r, item, string(class))
			return
		}
		if s := l.entry(r.owner); s != nil {
			s.rows[keyText(v.spec.Key, r.key)] = sampledRow{content: v.digest.content(item), key: r.key}
		}
	})
	if err != nil {
		return err
	}
	g, gctx := errgroup.WithContext(ctx)
	g.SetLimit(walkInFlight)
	for _, s := range l.byOwner {
		g.Go(func() error { return v.compareOwner(gctx, s) })
	}
	if err := g.Wait(); err != nil {
		return err
	}
	return v.recheck(ctx)
}

// compareOwner reads one owner under the routing and suspects what differs.
func (v *verification) compareOwner(ctx context.Context, s *sampled) error {
	v.mu.Lock()
	v.owners[v.digest.text(s.owner)] = false
	v.report.Rows.Checked += int64(len(s.rows))
	v.mu.Unlock()
	shown := map[string]int{}
	for _, key := range keysFor(v.routing.Read, s.owner) {
		err := v.queryKey(ctx, key, v.prefix(s.owner), func(item Item) {
			id := keyText(v.spec.Key, item)
			v.mu.Lock()
			defer v.mu.Unlock()
			row, expected := s.rows[id]
			owner, told := textOf(item[v.spec.Owner])
			if !expected && told && owner != s.owner {
				return
			}
			shown[id]++
			if !expected || shown[id] > 1 || row.content != v.digest.content(item) {
				v.suspects = append(v.suspects, &suspect{key: only(v.spec.Key, item), owner: s.owner, keys: []string{key}, sort: item[v.record.From.SortKey]})
			}
		})
		if err != nil {
			return err
		}
	}
	v.mu.Lock()
	defer v.mu.Unlock()
	for id, row := range s.rows {
		if shown[id] == 0 {
			v.suspects = append(v.suspects, &suspect{key: row.key, owner: s.owner})
		}
	}
	return nil
}

// prefix narrows a query to the sort keys that begin with the owner, as readers
// do where the sort key is text.
func (v *verification) prefix(owner string) func(*dynamodb.QueryInput) {
	l := v.record.From
	if l.SortKey == "" || v.catalog.sortType != "S" {
		return nil
	}
	return func(in *dynamodb.QueryInput) {
		in.KeyConditionExpression = new("#key = :key AND begins_with(#sort, :owner)")
		in.ExpressionAttributeNames["#sort"] = l.SortKey
		in.ExpressionAttributeValues[":owner"] = str(l.OwnerPrefix(owner))
	}
}

func keysFor(layouts []shard.Layout, owner string) []string {
	var keys []string
	for _, l := range layouts {
		if key := l.Key(owner); len(keys) == 0 || keys[0] != key {
			keys = append(keys, key)
		}
	}
	return keys
}
