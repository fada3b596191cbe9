package migrate

import (
	"context"
	"fmt"
	"sync"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
	"golang.org/x/sync/errgroup"

	"github.com/hotsplit/hotsplit/shard"
)

// suspect is a row that was not seen as it should be. One look proves nothing:
// an index follows its table, and both change while they are read.
type suspect struct {
	key    Item
	owner  string
	keys   []string             // index keys under which it was seen
	sort   types.AttributeValue // as an index entry had it
	base   Item                 // as last read; nil where there is none
	was    uint64               // digest of the base row at the look before
	moved  bool                 // the base row changed between the last two looks
	seen   map[string]uint64    // digest by index key, as last seen
	pinned bool                 // a snapshot showed it, so it is of the entity
	kind   Kind                 // what is wrong, "" for nothing
}

// recheckMany looks again once enough suspects wait.
func (v *verification) recheckMany(ctx context.Context) error {
	v.mu.Lock()
	many := len(v.suspects) >= suspectsAtOnce
	v.mu.Unlock()
	if !many {
		return nil
	}
	return v.recheck(ctx)
}

// recheck looks at the waiting suspects until each is right, keeps changing, or
// has stood still and wrong for all rounds.
func (v *verification) recheck(ctx context.Context) error {
	v.mu.Lock()
	left := v.suspects
	v.suspects = nil
	v.report.Rows.Rechecks += int64(len(left))
	v.mu.Unlock()
	for round := 0; len(left) > 0; round++ {
		if err := v.rest(ctx, v.opts.Settle<<min(round, 4)); err != nil {
			return err
		}
		wrong, err := v.examine(ctx, left)
		if err != nil {
			return err
		}
		if round+1 >= v.opts.Rounds {
			v.judge(wrong)
			return nil
		}
		left = wrong
	}
	return nil
}

// rest waits in spans short enough for whoever must be shown that we live.
func (v *verification) rest(ctx context.Context, d time.Duration) error {
	for end := time.Now().Add(d); ; {
		if err := v.opts.alive(ctx); err != nil {
			return err
		}
		left := time.Until(end)
		if left <= 0 {
			return nil
		}
		if err := sleep(ctx, min(left, time.Second)); err != nil {
			return err
		}
	}
}

// examine reads base rows and index entries of suspects and returns those that
// are still wrong.
func (v *verification) examine(ctx context.Context, suspects []*suspect) ([]*suspect, error) {
	keys := make([]Item, len(suspects))
	for i, s := range suspects {
		keys[i] = s.key
	}
	rows, err := batchGet(ctx, v.client, v.spec.Table, v.spec.Key, keys, v.projected())
	if err != nil {
		return nil, err
	}
	for _, s := range suspects {
		v.lookAtBase(s, rows[keyText(v.spec.Key, s.key)])
	}
	g, gctx := errgroup.WithContext(ctx)
	g.SetLimit(walkInFlight)
	for _, s := range suspects {
		g.Go(func() error { return v.lookAtIndex(gctx, s) })
	}
	if err := g.Wait(); err != nil {
		return nil, err
	}
	var wrong []*suspect
	for _, s := range suspects {
		if s.kind = v.diagnose(s); s.kind != "" {
			wrong = append(wrong, s)
		}
	}
	return wrong, nil
}

func (v *verification) lookAtBase(s *suspect, item Item) {
	s.base = item
	now := uint64(0)
	if item != nil {
		v.mu.Lock()
		now = v.digest.content(item)
		v.mu.Unlock()
		if owner, ok := textOf(item[v.spec.Owner]); ok {
			s.owner = owner
		}
		s.sort = item[v.record.From.SortKey]
	}
	s.moved = s.was != 0 && s.was != now
	s.was = now
}

// lookAtIndex sees under which keys the index shows the row.
func (v *verification) lookAtIndex(ctx context.Context, s *suspect) error {
	places := map[string]bool{}
	for _, key := range s.keys {
		places[key] = true
	}
	if s.owner != "" {
		places[v.record.From.Key(s.owner)], places[v.record.To.Key(s.owner)] = true, true
	}
	if key, ok := textOf(s.base[v.record.From.PartitionKey]); ok && key != "" {
		places[key] = true
	}
	seen := map[string]uint64{}
	var mu sync.Mutex
	id := keyText(v.spec.Key, s.key)
	for key := range places {
		err := v.queryKey(ctx, key, s.narrow(v.record.From), func(item Item) {
			if keyText(v.spec.Key, item) != id {
				return
			}
			v.mu.Lock()
			content := v.digest.content(item)
			v.mu.Unlock()
			mu.Lock()
			seen[key] = content
			mu.Unlock()
		})
		if err != nil {
			return fmt.Errorf("look again at a row: %w", err)
		}
	}
	s.seen = seen
	return nil
}

// narrow asks for the row's sort key alone, where it is known.
func (s *suspect) narrow(l shard.Layout) func(*dynamodb.QueryInput) {
	if s.sort == nil || l.SortKey == "" {
		return nil
	}
	return func(in *dynamodb.QueryInput) {
		in.KeyConditionExpression = new("#key = :key AND #sort = :sort")
		in.ExpressionAttributeNames["#sort"] = l.SortKey
		in.ExpressionAttributeValues[":sort"] = s.sort
	}
}

// diagnose says what is wrong with a row as it was last looked at.
func (v *verification) diagnose(s *suspect) Kind {
	if s.base == nil {
		if len(s.seen) > 0 {
			return KindOrphan
		}
		return ""
	}
	r, class := v.sieve.read(s.base)
	if r == nil || (r.sort == nil && v.record.From.SortKey != "") {
		if v.sieve.others(s.base) {
			return ""
		}
		key, _ := textOf(s.base[v.record.From.PartitionKey])
		if v.sieve.foreign(s.base) || (s.pinned && r == nil && key != "") {
			return KindWrongShard
		}
		if len(s.seen) > 0 {
			return KindExtra
		}
		return ""
	}
	content, there := s.seen[r.at]
	switch {
	case class != "" && !v.onlyUnsharded():
		return KindUnshardable
	case len(s.seen) > 1:
		return KindDoubled
	case !there && len(s.seen) == 1:
		return KindExtra
	case !there:
		return KindMissing
	case class == "" && !v.allowed(r.at, r.owner):
		return v.misplaced(r)
	case content != s.was:
		return KindStaleCopy
	}
	return ""
}

func (v *verification) misplaced(r *row) Kind {
	if r.at == v.record.From.Key(r.owner) {
		return KindOldKey
	}
	return KindWrongShard
}

// judge reports the suspects that stayed wrong through every look.
func (v *verification) judge(suspects []*suspect) {
	v.mu.Lock()
	defer v.mu.Unlock()
	for _, s := range suspects {
		f := Finding{Verdict: VerdictDefect, Kind: s.kind, Key: s.key, Owner: s.owner, row: s.base}
		f.IndexKey, _ = textOf(s.base[v.record.From.PartitionKey])
		f.Want = v.routing.Write.Key(s.owner)
		f.Detail = fmt.Sprintf("index shows it under %d keys", len(s.seen))
		if s.moved {
			f.Verdict = VerdictInFlight
		}
		if f.Kind == KindUnshardable && v.report.excluded[f.Detail] {
			continue
		}
		v.found(f)
	}
}
