package migrate

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/hotsplit/hotsplit/shard"
)

// Note is what a draft says about one of its fields.
type Note struct {
	Field string // as the spec file spells it
	Text  string
}

// draftCount is the count that a draft proposes.
const draftCount = 16

// draftRows is how many entries a draft looks at.
const draftRows = 200

// Draft proposes a spec for a table and one of its indexes, from their
// descriptions and a few entries. Its notes say what was seen, and what a person
// must fill in.
func Draft(ctx context.Context, client ReadAPI, table, index string) (Spec, []Note, error) {
	out, err := client.DescribeTable(ctx, &dynamodb.DescribeTableInput{TableName: &table})
	if err != nil {
		return Spec{}, nil, fmt.Errorf("describe table %s: %w", table, err)
	}
	g, err := indexOf(out.Table, index)
	if err != nil {
		return Spec{}, nil, err
	}
	s := Spec{Name: strings.ToLower(index), Table: table, Index: *g.IndexName, Separator: shard.DefaultSeparator}
	for _, k := range out.Table.KeySchema {
		s.Key = append(s.Key, *k.AttributeName)
	}
	s.PartitionKey = *g.KeySchema[0].AttributeName
	if len(g.KeySchema) > 1 {
		s.SortKey = *g.KeySchema[1].AttributeName
	}
	d := &drafting{spec: s}
	if err := d.look(ctx, client); err != nil {
		return d.spec, nil, err
	}
	return d.spec, d.notes, nil
}

// indexOf is the index of that name, or the only one there is.
func indexOf(table *types.TableDescription, name string) (*types.GlobalSecondaryIndexDescription, error) {
	var names []string
	for i := range table.GlobalSecondaryIndexes {
		g := &table.GlobalSecondaryIndexes[i]
		if *g.IndexName == name || (name == "" && len(table.GlobalSecondaryIndexes) == 1) {
			return g, nil
		}
		names = append(names, *g.IndexName)
	}
	return nil, fmt.Errorf("%w: index: the table has no index %q, but %q", ErrSpec, name, names)
}

type drafting struct {
	spec  Spec
	notes []Note
}

func (d *drafting) note(field, format string, args ...any) {
	d.notes = append(d.notes, Note{Field: field, Text: fmt.Sprintf(format, args...)})
}

// look reads some entries and guesses the base, the owner and the entity.
func (d *drafting) look(ctx context.Context, client ReadAPI) error {
	out, err := client.Scan(ctx, &dynamodb.ScanInput{
		TableName: &d.spec.Table, IndexName: &d.spec.Index, Limit: new(int32(draftRows)),
	})
	if err != nil {
		return fmt.Errorf("look at index %s: %w", d.spec.Index, err)
	}
	bases := map[string]int{}
	for _, item := range out.Items {
		if key, ok := textOf(item[d.spec.PartitionKey]); ok {
			bases[key]++
		}
	}
	base, n := commonest(bases)
	d.spec.From = shard.Layout{Base: base}
	d.spec.To = shard.Layout{Base: base, Count: draftCount}
	if base == "" {
		d.spec.From.Base, d.spec.To.Base = "FILL-IN", "FILL-IN"
		d.note("from", "no entry was seen; fill in the constant that the rows carry")
	} else {
		d.note("from", "%d of %d entries carry %q", n, len(out.Items), base)
	}
	d.note("to", "see hotsplit plan for the count")
	rows := slices.DeleteFunc(out.Items, func(item Item) bool {
		key, _ := textOf(item[d.spec.PartitionKey])
		return key != base
	})
	if base != "" {
		d.spec.Name = strings.ToLower(strings.Map(plain, base))
	}
	d.guessOwner(rows)
	d.guessEntity(rows)
	return nil
}

func plain(r rune) rune {
	if r == '-' || r == '_' || r >= '0' && r <= '9' || r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' {
		return r
	}
	return '-'
}

// guessOwner looks for the attribute that begins every sort key.
func (d *drafting) guessOwner(rows []Item) {
	votes := map[string]int{}
	for _, item := range rows {
		sort, _ := textOf(item[d.spec.SortKey])
		for name, v := range item {
			if value, ok := textOf(v); ok && value != "" && name != d.spec.SortKey && strings.HasPrefix(sort, value+d.spec.Separator) {
				votes[name]++
			}
		}
	}
	name, n := commonest(votes)
	if d.spec.Owner = name; n < len(rows) || n == 0 {
		d.note("owner", "fill in the attribute whose rows are read together; %d of %d sort keys begin with one", n, len(rows))
	} else {
		d.note("owner", "all %d sort keys begin with it", n)
	}
	if d.spec.Owner == "" {
		d.spec.Owner = "FILL-IN"
	}
}

// guessEntity looks for an attribute that says of every row what it is.
func (d *drafting) guessEntity(rows []Item) {
	if len(rows) == 0 {
		return
	}
	for _, name := range slices.Sorted(maps.Keys(rows[0])) {
		lower := strings.ToLower(name)
		value, ok := textOf(rows[0][name])
		if !ok || !(strings.Contains(lower, "type") || strings.Contains(lower, "entity") || lower == "kind") {
			continue
		}
		same := !slices.ContainsFunc(rows, func(item Item) bool {
			other, ok := textOf(item[name])
			return !ok || other != value
		})
		if same {
			d.spec.Entity = Entity{Attribute: name, Value: value}
			d.note("entity", "all %d rows carry it", len(rows))
			return
		}
	}
	d.note("entity", "optional: the attribute that tells these rows from others in the table")
}

func commonest(votes map[string]int) (string, int) {
	best, most := "", 0
	for _, name := range slices.Sorted(maps.Keys(votes)) {
		if votes[name] > most {
			best, most = name, votes[name]
		}
	}
	return best, most
}
