package migrate

import (
	"errors"
	"fmt"
	"strings"
	"unicode/utf8"

	"github.com/hotsplit/hotsplit/shard"
)

// ErrSpec is wrapped by every error about a spec. Do not retry; correct the
// fields that the error names.
var ErrSpec = errors.New("migrate: bad spec")

// DefaultPrefix stands before a move's name in the keys of its items.
const DefaultPrefix = "HOTSPLIT#"

// prefixBytesMax leaves room for the longest item name after the prefix.
const prefixBytesMax = 512

// Entity tells the rows of the move from others in the table, where the table
// holds several kinds. The zero value takes every row whose key is one of the
// two layouts'.
type Entity struct {
	Attribute string `json:"attribute,omitempty" yaml:"attribute,omitempty"`
	Value     string `json:"value,omitempty" yaml:"value,omitempty"`
}

// Spec says what a move is about. Index, PartitionKey, SortKey and Separator are
// inherited by From and To where those leave them out.
type Spec struct {
	Name   string   `json:"name" yaml:"name"`
	Table  string   `json:"table" yaml:"table"`
	Key    []string `json:"key" yaml:"key"`     // the base table's key attributes, partition key first
	Owner  string   `json:"owner" yaml:"owner"` // the attribute that decides the shard
	Entity Entity   `json:"entity,omitzero" yaml:"entity,omitempty"`

	Index        string `json:"index,omitempty" yaml:"index,omitempty"`
	PartitionKey string `json:"partitionKey,omitempty" yaml:"partitionKey,omitempty"`
	SortKey      string `json:"sortKey,omitempty" yaml:"sortKey,omitempty"`
	Separator    string `json:"separator,omitempty" yaml:"separator,omitempty"`

	From shard.Layout `json:"from" yaml:"from"`
	To   shard.Layout `json:"to" yaml:"to"`

	Prefix string `json:"prefix,omitempty" yaml:"prefix,omitempty"` // of the move's own items; "" means HOTSPLIT#<name>
	TTL    string `json:"ttl,omitempty" yaml:"ttl,omitempty"`       // the table's time-to-live attribute; "" means ttl
}

// FieldError is one field of a spec that cannot be used.
type FieldError struct {
	Field string // as the spec file spells it, e.g. "from.base"
	Why   string
}

func (e FieldError) Error() string { return e.Field + ": " + e.Why }

// SpecError lists every field of a spec that cannot be used. It wraps ErrSpec.
type SpecError struct{ Fields []FieldError }

func (e *SpecError) Error() string {
	words := make([]string, len(e.Fields))
	for i, f := range e.Fields {
		words[i] = f.Error()
	}
	return ErrSpec.Error() + ": " + strings.Join(words, "; ")
}

func (e *SpecError) Unwrap() error { return ErrSpec }

func (e *SpecError) add(field, format string, args ...any) {
	e.Fields = append(e.Fields, FieldError{Field: field, Why: fmt.Sprintf(format, args...)})
}

// Resolve fills in what the spec leaves out and checks the whole. The error is a
// *SpecError that names every field at fault.
func (s Spec) Resolve() (Spec, error) {
	s.From, s.To = s.inherit(s.From), s.inherit(s.To)
	if s.Prefix == "" {
		s.Prefix = DefaultPrefix + s.Name
	}
	if s.TTL == "" {
		s.TTL = "ttl"
	}
	faults := &SpecError{}
	s.checkNames(faults)
	s.checkLayout(faults, "from", s.From)
	s.checkLayout(faults, "to", s.To)
	s.checkMove(faults)
	if len(faults.Fields) > 0 {
		return s, faults
	}
	return s, nil
}

func (s Spec) inherit(l shard.Layout) shard.Layout {
	for _, f := range []struct {
		field *string
		from  string
	}{
		{&l.Index, s.Index}, {&l.PartitionKey, s.PartitionKey}, {&l.SortKey, s.SortKey}, {&l.Separator, s.Separator},
	} {
		if *f.field == "" {
			*f.field = f.from
		}
	}
	return l
}

func (s Spec) checkNames(faults *SpecError) {
	for _, f := range []struct{ field, value string }{{"name", s.Name}, {"table", s.Table}, {"owner", s.Owner}} {
		if f.value == "" {
			faults.add(f.field, "is missing")
		} else if !utf8.ValidString(f.value) {
			faults.add(f.field, "is not UTF-8")
		}
	}
	if len(s.Key) < 1 || len(s.Key) > 2 {
		faults.add("key", "names %d attributes, want the base table's partition key and, if it has one, its sort key", len(s.Key))
	}
	for i, attribute := range s.Key {
		if attribute == "" {
			faults.add(fmt.Sprintf("key[%d]", i), "is empty")
		}
	}
	if len(s.Key) == 2 && s.Key[0] == s.Key[1] {
		faults.add("key[1]", "is the partition key %q too", s.Key[1])
	}
	if (s.Entity.Attribute == "") != (s.Entity.Value == "") {
		faults.add("entity", "needs both attribute and value, or neither")
	}
	if len(s.Prefix) > prefixBytesMax {
		faults.add("prefix", "is %d bytes long, want at most %d", len(s.Prefix), prefixBytesMax)
	}
}

func (s Spec) checkLayout(faults *SpecError, field string, l shard.Layout) {
	missing := false
	for _, f := range []struct{ field, value string }{
		{"index", l.Index}, {"partitionKey", l.PartitionKey}, {"sortKey", l.SortKey}, {"base", l.Base},
	} {
		if f.value == "" {
			missing = true
			faults.add(field+"."+f.field, "is missing")
		}
	}
	if missing {
		return
	}
	if err := l.Validate(); err != nil {
		faults.add(field, "%v", err)
	}
	for _, attribute := range s.Key {
		if attribute == l.PartitionKey {
			faults.add(field+".partitionKey", "%q is a key of the base table, which cannot be changed", attribute)
		}
	}
	if s.Owner != "" && s.Owner == l.PartitionKey {
		faults.add(field+".partitionKey", "is the owner attribute %q too", s.Owner)
	}
}

func (s Spec) checkMove(faults *SpecError) {
	if s.From.Index == "" || s.To.Index == "" {
		return
	}
	if !s.From.InPlace(s.To) {
		faults.add("to", "is on other keys than from (%s and %s); a side-by-side move is not built yet", s.To, s.From)
		return
	}
	if spelled(s.From) == spelled(s.To) {
		faults.add("to", "spells the same keys as from: %s", s.To)
	}
}

func spelled(l shard.Layout) string {
	if l.Separator == "" {
		l.Separator = shard.DefaultSeparator
	}
	return fmt.Sprintf("%q %q %d", l.Base, l.Separator, l.Count)
}
