package heat

import (
	"strings"
	"sync"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
)

// Schema names a table's key attributes and those of its indexes.
type Schema struct {
	Table   string
	Base    Keys
	Indexes map[string]Keys
}

// Keys names two key attributes. SortKey is "" where there is none.
type Keys struct{ PartitionKey, SortKey string }

// SchemaOf reads the key attributes out of a DescribeTable answer.
func SchemaOf(t *types.TableDescription) Schema {
	s := Schema{Table: deref(t.TableName), Base: keysOf(t.KeySchema), Indexes: map[string]Keys{}}
	for _, i := range t.GlobalSecondaryIndexes {
		s.Indexes[deref(i.IndexName)] = keysOf(i.KeySchema)
	}
	for _, i := range t.LocalSecondaryIndexes {
		s.Indexes[deref(i.IndexName)] = keysOf(i.KeySchema)
	}
	return s
}

func keysOf(elements []types.KeySchemaElement) Keys {
	var k Keys
	for _, e := range elements {
		if e.KeyType == types.KeyTypeHash {
			k.PartitionKey = deref(e.AttributeName)
		} else {
			k.SortKey = deref(e.AttributeName)
		}
	}
	return k
}

func deref(s *string) string {
	if s == nil {
		return ""
	}
	return *s
}

// schemas is what is known of each table's keys: told, or seen in requests.
type schemas struct {
	told map[string]Schema
	mu   sync.RWMutex
	seen map[string]Keys
}

func newSchemas(told []Schema) *schemas {
	s := &schemas{told: map[string]Schema{}, seen: map[string]Keys{}}
	for _, t := range told {
		s.told[t.Table] = t
	}
	return s
}

// index is the keys of one index, when they were told.
func (s *schemas) index(table, index string) Keys { return s.told[table].Indexes[index] }

// base is the keys of a table: as told, or guessed from the names of a request's
// key, where the one that sorts first (PK before SK, id before version) is taken
// for the partition key.
func (s *schemas) base(table string, key map[string]types.AttributeValue) Keys {
	if t, ok := s.told[table]; ok {
		return t.Base
	}
	s.mu.RLock()
	k, ok := s.seen[table]
	s.mu.RUnlock()
	if ok || len(key) == 0 || len(key) > 2 {
		return k
	}
	for name := range key {
		switch {
		case k.PartitionKey == "":
			k.PartitionKey = name
		case name < k.PartitionKey:
			k.PartitionKey, k.SortKey = name, k.PartitionKey
		default:
			k.SortKey = name
		}
	}
	s.mu.Lock()
	s.seen[table] = k
	s.mu.Unlock()
	return k
}

func (k Keys) of(item map[string]types.AttributeValue) (partition, sort string) {
	return text(item[k.PartitionKey]), text(item[k.SortKey])
}

// text is a key attribute's value as text.
func text(v types.AttributeValue) string {
	switch v := v.(type) {
	case *types.AttributeValueMemberS:
		return v.Value
	case *types.AttributeValueMemberN:
		return v.Value
	case *types.AttributeValueMemberB:
		return string(v.Value)
	}
	return ""
}

// condition is what a key condition asks for.
type condition struct {
	partition, sort string
	item            bool // sort names one item
}

// parseCondition reads "a = :x AND begins_with(b, :y)" in any of its spellings.
// Which side is the partition key's is told by name, or is the first equality.
func parseCondition(expression string, names map[string]string, values map[string]types.AttributeValue, partitionKey string) condition {
	var c condition
	first := true
	for expression != "" {
		var term string
		term, expression = nextTerm(expression)
		name, operator, value := readTerm(term)
		if named, ok := names[name]; ok {
			name = named
		}
		switch {
		case operator == "=" && (name == partitionKey || partitionKey == "" && first):
			c.partition = text(values[value])
			first = false
		case operator == "=" || operator == "begins_with" || operator == "BETWEEN" || operator == ">" || operator == ">=":
			c.sort, c.item = text(values[value]), operator == "="
		}
	}
	return c
}

// nextTerm cuts at the AND that joins both conditions; that of BETWEEN follows a
// placeholder and is part of the second.
func nextTerm(expression string) (term, rest string) {
	for at := 0; ; {
		i := strings.Index(expression[at:], " AND ")
		if i < 0 {
			i = strings.Index(expression[at:], " and ")
		}
		if i < 0 {
			return expression, ""
		}
		at += i
		if before := expression[:at]; !containsFold(before, " between ") {
			return before, expression[at+len(" AND "):]
		}
		at += len(" AND ")
	}
}

func containsFold(s, part string) bool {
	for i := 0; i+len(part) <= len(s); i++ {
		if strings.EqualFold(s[i:i+len(part)], part) {
			return true
		}
	}
	return false
}

func readTerm(term string) (name, operator, value string) {
	term = strings.Trim(term, " ()\t\n")
	if inside, found := strings.CutPrefix(term, "begins_with"); found {
		name, value, _ = strings.Cut(strings.Trim(inside, " ()"), ",")
		return strings.TrimSpace(name), "begins_with", strings.TrimSpace(value)
	}
	if at := strings.IndexAny(term, "<>="); at > 0 {
		end := at + 1
		if end < len(term) && term[end] == '=' {
			end++
		}
		return strings.TrimSpace(term[:at]), term[at:end], strings.TrimSpace(term[end:])
	}
	fields := strings.Fields(term)
	if len(fields) >= 3 && strings.EqualFold(fields[1], "between") {
		return fields[0], "BETWEEN", fields[2]
	}
	return "", "", ""
}
