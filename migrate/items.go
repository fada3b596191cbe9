package migrate

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/hotsplit/hotsplit/fanout"
)

// Item is a row, or the primary key of one, as the SDK delivers it.
type Item = fanout.Item

// The names of the move's items, after the prefix.
const (
	recordItem     = "RECORD"
	movingItem     = "MOVING"
	checkpointItem = "CHECKPOINT#"
	memberItem     = "MEMBER#"
	eventItem      = "EVENT#"
	directoryItem  = "DIRECTORY"
)

// shelf is where the items of one move stand. In a table with a sort key they
// share a partition; in a table without one a DIRECTORY item lists their names,
// because nothing else could enumerate them.
type shelf struct {
	table  string
	key    []string
	prefix string
	ttl    string
}

func (s Spec) shelf() shelf {
	return shelf{table: s.Table, key: s.Key, prefix: s.Prefix, ttl: s.TTL}
}

func (s shelf) at(name string) Item {
	if len(s.key) == 2 {
		return Item{s.key[0]: str(s.prefix), s.key[1]: str(name)}
	}
	return Item{s.key[0]: str(s.prefix + "#" + name)}
}

// holds says whether a row of the table is one of the move's own items.
func (s shelf) holds(row Item) bool {
	text, ok := row[s.key[0]].(*types.AttributeValueMemberS)
	if !ok {
		return false
	}
	if len(s.key) == 2 {
		return text.Value == s.prefix
	}
	return strings.HasPrefix(text.Value, s.prefix+"#")
}

// get reads one item strongly; nil says that there is none.
func (s shelf) get(ctx context.Context, client ReadAPI, name string) (Item, error) {
	out, err := client.GetItem(ctx, &dynamodb.GetItemInput{
		TableName: &s.table, Key: s.at(name), ConsistentRead: new(true),
	})
	if err != nil {
		return nil, fmt.Errorf("read %s of %s: %w", name, s.prefix, err)
	}
	return out.Item, nil
}

// list reads every item whose name begins with kind, strongly, in the order of
// their names.
func (s shelf) list(ctx context.Context, client ReadAPI, kind string) ([]Item, error) {
	if len(s.key) == 1 {
		return s.listed(ctx, client, kind)
	}
	var items []Item
	in := &dynamodb.QueryInput{
		TableName: &s.table, ConsistentRead: new(true),
		KeyConditionExpression:    new("#p = :p AND begins_with(#s, :s)"),
		ExpressionAttributeNames:  map[string]string{"#p": s.key[0], "#s": s.key[1]},
		ExpressionAttributeValues: Item{":p": str(s.prefix), ":s": str(kind)},
	}
	for {
		out, err := client.Query(ctx, in)
		if err != nil {
			return nil, fmt.Errorf("list %s of %s: %w", kind, s.prefix, err)
		}
		items = append(items, out.Items...)
		if len(out.LastEvaluatedKey) == 0 {
			return items, nil
		}
		in.ExclusiveStartKey = out.LastEvaluatedKey
	}
}

func (s shelf) listed(ctx context.Context, client ReadAPI, kind string) ([]Item, error) {
	directory, err := s.get(ctx, client, directoryItem)
	if err != nil {
		return nil, err
	}
	names, _ := directory[directoryField(kind)].(*types.AttributeValueMemberSS)
	if names == nil {
		return nil, nil
	}
	keys := make([]Item, 0, len(names.Value))
	for _, name := range slices.Sorted(slices.Values(names.Value)) {
		keys = append(keys, s.at(name))
	}
	found, err := batchGet(ctx, client, s.table, s.key, keys, nil)
	if err != nil {
		return nil, fmt.Errorf("list %s of %s: %w", kind, s.prefix, err)
	}
	items := make([]Item, 0, len(found))
	for _, key := range keys {
		if item, ok := found[keyText(s.key, key)]; ok {
			items = append(items, item)
		}
	}
	return items, nil
}

// directoryField is outside the body's names: a set can be added to only at the
// top of an item that may not exist yet.
func directoryField(kind string) string { return body + strings.TrimSuffix(kind, "#") }

// put writes a whole item that nobody else writes. The name is entered in the
// directory first, so that no item is out of reach.
func (s shelf) put(ctx context.Context, client WriteAPI, name string, v any, expires int64) error {
	b, err := encode(v)
	if err != nil {
		return fmt.Errorf("write %s of %s: %w", name, s.prefix, err)
	}
	if err := s.enter(ctx, client, "ADD", name); err != nil {
		return err
	}
	e := newEdit().top(body, b)
	if expires > 0 {
		e.top(s.ttl, num(expires))
	}
	_, err = sendEdit(ctx, client, s, name, e)
	return err
}

func (s shelf) remove(ctx context.Context, client WriteAPI, name string) error {
	if _, err := client.DeleteItem(ctx, &dynamodb.DeleteItemInput{TableName: &s.table, Key: s.at(name)}); err != nil {
		return fmt.Errorf("delete %s of %s: %w", name, s.prefix, err)
	}
	return s.enter(ctx, client, "DELETE", name)
}

func (s shelf) enter(ctx context.Context, client WriteAPI, verb, name string) error {
	kind, _, found := strings.Cut(name, "#")
	if len(s.key) == 2 || !found {
		return nil
	}
	_, err := client.UpdateItem(ctx, &dynamodb.UpdateItemInput{
		TableName: &s.table, Key: s.at(directoryItem),
		UpdateExpression:          new(verb + " #k :n"),
		ExpressionAttributeNames:  map[string]string{"#k": directoryField(kind)},
		ExpressionAttributeValues: Item{":n": &types.AttributeValueMemberSS{Value: []string{name}}},
	})
	if err != nil {
		return fmt.Errorf("enter %s of %s: %w", name, s.prefix, err)
	}
	return nil
}

// batchKeysMax is how many keys the service takes in one BatchGetItem.
const batchKeysMax = 100

// batchRoundsMax bounds how often the keys that the service left are asked for.
const batchRoundsMax = 20

// batchGet reads rows strongly, by the text of their key, whose attributes base
// names. projected names the attributes wanted; nil takes all.
func batchGet(ctx context.Context, client ReadAPI, table string, base []string, keys []Item, projected []string) (map[string]Item, error) {
	found := make(map[string]Item, len(keys))
	for chunk := range slices.Chunk(keys, batchKeysMax) {
		want := types.KeysAndAttributes{Keys: chunk, ConsistentRead: new(true)}
		if projected != nil {
			want.ProjectionExpression, want.ExpressionAttributeNames = projection(projected)
		}
		for round := 0; len(want.Keys) > 0; round++ {
			if round == batchRoundsMax {
				return nil, errUnprocessed
			}
			if err := pauseAfter(ctx, round); err != nil {
				return nil, err
			}
			out, err := client.BatchGetItem(ctx, &dynamodb.BatchGetItemInput{
				RequestItems: map[string]types.KeysAndAttributes{table: want},
			})
			if err != nil {
				return nil, fmt.Errorf("batch get %d rows of %s: %w", len(want.Keys), table, err)
			}
			for _, item := range out.Responses[table] {
				found[keyText(base, item)] = item
			}
			want.Keys = out.UnprocessedKeys[table].Keys
		}
	}
	return found, nil
}

// errUnprocessed says that the service kept leaving keys of a batch. Retry later.
var errUnprocessed = errors.New("migrate: the table is too busy to answer a batch")
