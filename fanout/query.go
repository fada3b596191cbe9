package fanout

import (
	"fmt"
	"maps"
	"strings"
	"unicode/utf8"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
)

// Query says which rows of the index are wanted and how. The zero Query is
// every row, ascending.
type Query struct {
	Filter     Filter
	SortKey    Range
	Descending bool
	Partial    bool    // on a failed shard return the others and say so; see PartialError and Page.Failed
	Report     *Report // filled with what the call cost, where set
}

// Filter is a filter expression in the service's own language. It may name
// neither the index's key attributes nor the base table's.
type Filter struct {
	Expression string
	Names      map[string]string
	Values     map[string]types.AttributeValue
}

// FilterFrom takes the filter out of a built expression.Expression.
func FilterFrom(built interface {
	Filter() *string
	Names() map[string]string
	Values() map[string]types.AttributeValue
}) Filter {
	f := Filter{Names: built.Names(), Values: built.Values()}
	if text := built.Filter(); text != nil {
		f.Expression = *text
	}
	return f
}

// Range bounds the sort key; both ends belong to it and nil leaves an end open.
type Range struct{ From, To types.AttributeValue }

// Between is the range of the string sort keys from one to the other, both included.
func Between(from, to string) Range {
	return Range{From: &types.AttributeValueMemberS{Value: from}, To: &types.AttributeValueMemberS{Value: to}}
}

// placeholder begins every name and value that fanout adds to an expression.
const placeholder = "hs_"

func (q Query) validate(t Table, s scope) error {
	from, to := scalarOf(q.SortKey.From), scalarOf(q.SortKey.To)
	if (q.SortKey.From != nil && from.kind == kindNone) || (q.SortKey.To != nil && to.kind == kindNone) {
		return fmt.Errorf("%w: a sort key is a string, a number or bytes", ErrQuery)
	}
	if from.kind != kindNone && to.kind != kindNone && from.kind != to.kind {
		return fmt.Errorf("%w: the ends of the sort-key range differ in type", ErrQuery)
	}
	text := func(e scalar) bool { return e.kind == kindNone || e.kind == kindString }
	if _, all := s.(everything); !all && !(text(from) && text(to)) {
		return fmt.Errorf("%w: sort keys begin with the owner, so they are strings", ErrQuery)
	}
	return q.Filter.validate(t)
}

func (f Filter) validate(t Table) error {
	if f.Expression == "" {
		if len(f.Names)+len(f.Values) > 0 {
			return fmt.Errorf("%w: filter names or values without an expression", ErrQuery)
		}
		return nil
	}
	for _, name := range f.attributes() {
		for _, key := range t.Key {
			if name == key {
				return fmt.Errorf("%w: the filter names %q, a key attribute of the base table", ErrQuery, key)
			}
		}
	}
	for name := range f.Names {
		if strings.HasPrefix(name, "#"+placeholder) {
			return fmt.Errorf("%w: filter name %s is reserved", ErrQuery, name)
		}
	}
	for name := range f.Values {
		if strings.HasPrefix(name, ":"+placeholder) {
			return fmt.Errorf("%w: filter value %s is reserved", ErrQuery, name)
		}
	}
	return nil
}

// attributes lists the top-level words of the expression, placeholders resolved.
// Keywords and functions are among them; no harm, as no key is called so.
func (f Filter) attributes() []string {
	words := strings.FieldsFunc(f.Expression, func(r rune) bool {
		return !strings.ContainsRune("#:._", r) && !isWord(r)
	})
	for i, word := range words {
		word, _, _ = strings.Cut(word, ".")
		if name, ok := f.Names[word]; ok {
			word = name
		}
		words[i] = word
	}
	return words
}

func isWord(r rune) bool {
	return r >= '0' && r <= '9' || r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= utf8.RuneSelf
}

// bounds is a range of sort keys, both ends included; none leaves an end open.
// A prefix, where set, is what every key in it begins with.
type bounds struct {
	from, to scalar
	prefix   string
	whole    bool // every key that begins with the prefix is in it
}

func (q Query) bounds() bounds {
	return bounds{from: scalarOf(q.SortKey.From), to: scalarOf(q.SortKey.To)}
}

// within narrows b to the keys that begin with prefix.
func (b bounds) within(prefix string) bounds {
	n := bounds{from: scalar{kindString, prefix}, prefix: prefix, whole: true}
	if b.from.kind != kindNone && b.from.compare(n.from) > 0 {
		n.setFrom(b.from)
	}
	if end := prefixEnd(prefix); b.to.kind != kindNone && (end == "" || b.to.text < end) {
		n.setTo(b.to)
	}
	return n
}

// setFrom raises the lower end. A prefix bounds the other end too, which has to be
// said once a condition no longer names the prefix.
func (b *bounds) setFrom(s scalar) {
	b.closePrefix()
	b.from = s
}

func (b *bounds) setTo(s scalar) {
	b.closePrefix()
	b.to = s
}

func (b *bounds) closePrefix() {
	if end := prefixEnd(b.prefix); b.whole && end != "" {
		b.to = scalar{kindString, end}
	}
	b.whole = false
}

// startingAt narrows b to the keys from s on, in the direction of o.
func (b bounds) startingAt(s scalar, o order) bounds {
	switch {
	case o.descending && (b.to.kind == kindNone || s.compare(b.to) < 0):
		b.setTo(s)
	case !o.descending && (b.from.kind == kindNone || s.compare(b.from) > 0):
		b.setFrom(s)
	}
	return b
}

func (b bounds) empty() bool {
	return b.from.kind != kindNone && b.to.kind != kindNone && b.from.compare(b.to) > 0
}

func (b bounds) contains(s scalar) bool {
	return s.kind != kindNone && strings.HasPrefix(s.text, b.prefix) &&
		(b.from.kind == kindNone || b.from.compare(s) <= 0) &&
		(b.to.kind == kindNone || s.compare(b.to) <= 0)
}

// prefixEnd is the smallest string above every string that begins with prefix.
// The service takes UTF-8 alone, so the last rune that has a successor is raised.
func prefixEnd(prefix string) string {
	if n := len(prefix) - 1; n >= 0 && prefix[n] < utf8.RuneSelf-1 {
		return prefix[:n] + string(rune(prefix[n]+1))
	}
	runes := []rune(prefix)
	for i := len(runes) - 1; i >= 0; i-- {
		switch r := runes[i]; {
		case r == 0xD7FF:
			runes[i] = 0xE000 // surrogates are not UTF-8
		case r == utf8.MaxRune:
			continue
		default:
			runes[i]++
		}
		return string(runes[:i+1])
	}
	return ""
}

// condition is the key condition for one partition key within b, its attributes
// spelled as pk and sk.
func (b bounds) condition(pk, sk string, values map[string]types.AttributeValue) string {
	const from, to = ":" + placeholder + "from", ":" + placeholder + "to"
	pk += " = :" + placeholder + "pk"
	if b.whole {
		values[from] = b.from.value()
		return pk + " AND begins_with(" + sk + ", " + from + ")"
	}
	if b.from.kind != kindNone {
		values[from] = b.from.value()
	}
	if b.to.kind != kindNone {
		values[to] = b.to.value()
	}
	switch {
	case b.from.kind != kindNone && b.to.kind != kindNone:
		return pk + " AND " + sk + " BETWEEN " + from + " AND " + to
	case b.from.kind != kindNone:
		return pk + " AND " + sk + " >= " + from
	case b.to.kind != kindNone:
		return pk + " AND " + sk + " <= " + to
	}
	return pk
}

// unbounded says that a condition within b does not name the sort key.
func (b bounds) unbounded() bool { return b.from.kind == kindNone && b.to.kind == kindNone }

// names gathers the placeholders of an expression, on top of a filter's.
type names struct {
	filter map[string]string
	all    map[string]string
}

// spell is how an expression names an attribute: as it is where that is allowed,
// and else by a placeholder. Reserved words have no digits, so a word with one is
// not reserved; most index keys are such words, and a request without
// placeholders is smaller and sooner parsed.
func (n *names) spell(short, attribute string) string {
	if isPlain(attribute) {
		return attribute
	}
	if n.all == nil {
		n.all = make(map[string]string, len(n.filter)+4)
		maps.Copy(n.all, n.filter)
	}
	short = "#" + placeholder + short
	n.all[short] = attribute
	return short
}

// placeholders is what the request carries; nil where there are no placeholders.
func (n *names) placeholders() map[string]string {
	if n.all != nil {
		return n.all
	}
	return n.filter
}

func isPlain(attribute string) bool {
	digit := false
	for i, c := range []byte(attribute) {
		switch {
		case c >= '0' && c <= '9' && i > 0:
			digit = true
		case c >= 'a' && c <= 'z', c >= 'A' && c <= 'Z':
		default:
			return false
		}
	}
	return digit
}
