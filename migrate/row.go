package migrate

import (
	"context"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/hotsplit/hotsplit/fanout"
	"github.com/hotsplit/hotsplit/shard"
)

// row is a row of the moved entity: no more of it than the move is about.
type row struct {
	key   Item // base primary key
	owner string
	at    string // index key that it carries
	to    string // index key that it shall carry
	sort  types.AttributeValue
	page  *page // that it was read with
}

func (r *row) moving() fanout.MovingRow { return fanout.MovingRow{Key: r.key, Owner: r.owner} }

// sieve tells the rows of the move from all others.
type sieve struct {
	spec  Spec
	shelf shelf
	way   way
}

// ofEntity says whether a base row is of the moved entity, by its attribute
// where the spec names one and by its index key otherwise.
func (s sieve) ofEntity(item Item) bool {
	if s.spec.Entity.Attribute != "" {
		value, _ := textOf(item[s.spec.Entity.Attribute])
		return value == s.spec.Entity.Value
	}
	key, ok := textOf(item[s.way.from.PartitionKey])
	return ok && s.spells(key)
}

// spells says whether key belongs to one of the two layouts.
func (s sieve) spells(key string) bool {
	_, a := s.way.from.Parse(key)
	_, b := s.way.to.Parse(key)
	return a == nil || b == nil
}

// read turns an item into a row. A nil row is none of the move's; an error class
// is a row whose owner cannot be keyed.
func (s sieve) read(item Item) (*row, shard.OwnerClass) {
	if s.shelf.holds(item) || !s.ofEntity(item) {
		return nil, ""
	}
	at, ok := textOf(item[s.way.from.PartitionKey])
	if !ok || !s.spells(at) {
		return nil, ""
	}
	r := &row{key: only(s.spec.Key, item), at: at, sort: item[s.way.from.SortKey]}
	owner, class := ownerOf(item[s.spec.Owner], s.way.to)
	if class != "" {
		return r, class
	}
	r.owner, r.to = owner, s.way.to.Key(owner)
	return r, ""
}

// others says that a row is known to be of another entity.
func (s sieve) others(item Item) bool {
	return s.spec.Entity.Attribute != "" && !s.ofEntity(item)
}

// foreign says that a row of the entity carries an index key that neither layout
// spells: no reader finds it.
func (s sieve) foreign(item Item) bool {
	key, ok := textOf(item[s.way.from.PartitionKey])
	return ok && s.spec.Entity.Attribute != "" && !s.shelf.holds(item) && s.ofEntity(item) && !s.spells(key)
}

// home says that a row whose owner cannot be keyed stands where every row goes:
// an unsharded layout has one key, whoever the owner is.
func (s sieve) home(r *row) bool { return s.way.to.Count == 0 && r.at == s.way.to.Base }

// The classes of unshardable owners beyond those of package shard.
const (
	OwnerMissing shard.OwnerClass = "missing"
	OwnerNotText shard.OwnerClass = "not a string"
)

// ownerOf is a row's owner, or why it cannot be keyed.
func ownerOf(v types.AttributeValue, l shard.Layout) (string, shard.OwnerClass) {
	if v == nil {
		return "", OwnerMissing
	}
	owner, ok := textOf(v)
	if !ok {
		return "", OwnerNotText
	}
	return owner, classOf(l.CheckOwner(owner))
}

// wants lists the attributes that a row is read from.
func (s sieve) wants() []string {
	return append([]string{s.spec.Owner, s.spec.Entity.Attribute, s.way.from.PartitionKey, s.way.from.SortKey}, s.spec.Key...)
}

// complete replaces index entries that do not tell their owner by their base
// rows, read strongly. Entries whose row is gone are dropped. With asShown a row
// keeps the key under which the index shows it, which may be one it has left.
func (s sieve) complete(ctx context.Context, client ReadAPI, c *catalog, entries []Item, asShown bool) ([]Item, error) {
	if c.knowsOwner(s.spec) || len(entries) == 0 {
		return entries, nil
	}
	keys := make([]Item, len(entries))
	for i, e := range entries {
		keys[i] = only(s.spec.Key, e)
	}
	found, err := batchGet(ctx, client, s.spec.Table, s.spec.Key, keys, s.wants())
	if err != nil {
		return nil, err
	}
	rows := make([]Item, 0, len(found))
	for i, key := range keys {
		item, ok := found[keyText(s.spec.Key, key)]
		if !ok {
			continue
		}
		if asShown {
			item[s.way.from.PartitionKey] = entries[i][s.way.from.PartitionKey]
		}
		rows = append(rows, item)
	}
	return rows, nil
}
