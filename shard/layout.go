package shard

import (
	"errors"
	"fmt"
	"strconv"
	"strings"
	"unicode/utf8"
)

// Limits of the service for key values, in bytes, and ours for the count.
// Source: DynamoDB developer guide, service quotas.
const (
	PartitionKeyBytesMax = 2048
	SortKeyBytesMax      = 1024
	CountMax             = 10_000
)

// DefaultSeparator stands between the parts of a key where a layout names none.
const DefaultSeparator = "#"

// ErrLayout is wrapped by every error about a layout that cannot be used.
// Do not retry; correct the layout.
var ErrLayout = errors.New("shard: bad layout")

// ErrKey is wrapped by every error about a partition key that does not belong
// to a layout. Do not retry; the row is on another layout, or is foreign.
var ErrKey = errors.New("shard: key is not of this layout")

// Layout says how the rows of one entity are spelled on an index. Base is the
// partition key's text and Count the number of shard keys: {Base: "RenewalSaga",
// Count: 16} spells RenewalSaga#0 to RenewalSaga#15. Count 0 is the unsharded
// layout, spelled RenewalSaga.
type Layout struct {
	Index        string `json:"index" yaml:"index"`                             // the index's name
	PartitionKey string `json:"partitionKey" yaml:"partitionKey"`               // attribute that holds the key, e.g. GSI4PK
	SortKey      string `json:"sortKey" yaml:"sortKey"`                         // attribute that orders the rows, e.g. GSI4SK
	Base         string `json:"base" yaml:"base"`                               // text before the shard number
	Count        int    `json:"count" yaml:"count"`                             // shard keys; 0 is unsharded
	Separator    string `json:"separator,omitempty" yaml:"separator,omitempty"` // "" means DefaultSeparator
}

func (l Layout) separator() string {
	if l.Separator == "" {
		return DefaultSeparator
	}
	return l.Separator
}

// Validate reports everything that is wrong with l, joined. Each error wraps
// ErrLayout and names the field.
func (l Layout) Validate() error {
	var faults []error
	fault := func(field, format string, args ...any) {
		faults = append(faults, fmt.Errorf("%w: %s %s", ErrLayout, field, fmt.Sprintf(format, args...)))
	}
	for _, f := range []struct{ name, value string }{
		{"index", l.Index}, {"partitionKey", l.PartitionKey}, {"base", l.Base},
	} {
		if f.value == "" {
			fault(f.name, "is empty")
		}
		if !utf8.ValidString(f.value) {
			fault(f.name, "is not UTF-8")
		}
	}
	if l.Count < 0 || l.Count > CountMax {
		fault("count", "is %d, want 0 to %d", l.Count, CountMax)
	}
	if l.PartitionKey != "" && l.PartitionKey == l.SortKey {
		fault("sortKey", "is the partition key %q too", l.SortKey)
	}
	if longest := len(l.Base) + len(l.separator()) + len(strconv.Itoa(CountMax)); longest > PartitionKeyBytesMax {
		fault("base", "is %d bytes long; with a shard number the key would pass %d", len(l.Base), PartitionKeyBytesMax)
	}
	if strings.ContainsAny(l.separator(), "0123456789") {
		fault("separator", "%q contains a digit", l.Separator)
	}
	return errors.Join(faults...)
}

// Shard is the number of the shard that holds owner, 0 <= Shard < max(Count, 1).
func (l Layout) Shard(owner string) int { return Reduce(Hash(owner), l.Count) }

// Key is the partition key that owner's rows carry. It depends on the layout
// and the owner alone, so writers and readers agree without talking.
func (l Layout) Key(owner string) string {
	if l.Count == 0 {
		return l.Base
	}
	return l.shardKey(l.Shard(owner))
}

func (l Layout) shardKey(shard int) string {
	return l.Base + l.separator() + strconv.Itoa(shard)
}

// Keys lists every partition key of the layout, in the order of the shards.
func (l Layout) Keys() []string {
	if l.Count == 0 {
		return []string{l.Base}
	}
	keys := make([]string, l.Count)
	for i := range keys {
		keys[i] = l.shardKey(i)
	}
	return keys
}

// Parse is the shard that key names. The last separator decides, so a base may
// contain one; the number is decimal without leading zeros and below Count.
// The error wraps ErrKey.
func (l Layout) Parse(key string) (int, error) {
	if l.Count == 0 {
		if key != l.Base {
			return 0, fmt.Errorf("%w: %q, want %q", ErrKey, key, l.Base)
		}
		return 0, nil
	}
	at := strings.LastIndex(key, l.separator())
	if at < 0 || key[:at] != l.Base {
		return 0, fmt.Errorf("%w: %q, want %q and a shard number", ErrKey, key, l.Base+l.separator())
	}
	shard, ok := parseShard(key[at+len(l.separator()):])
	if !ok {
		return 0, fmt.Errorf("%w: %q, the shard is not a decimal number without leading zeros", ErrKey, key)
	}
	if shard >= l.Count {
		return 0, fmt.Errorf("%w: %q, the shard is not below %d", ErrKey, key, l.Count)
	}
	return shard, nil
}

// parseShard takes ASCII digits alone: strconv.Atoi would take signs too.
func parseShard(s string) (int, bool) {
	if s == "" || len(s) > 9 || (s[0] == '0' && s != "0") {
		return 0, false
	}
	n := 0
	for _, c := range []byte(s) {
		if c < '0' || c > '9' {
			return 0, false
		}
		n = n*10 + int(c-'0')
	}
	return n, true
}

// InPlace says that l and m share their index and its key attributes, so a move
// between them re-stamps rows rather than filling another index.
func (l Layout) InPlace(m Layout) bool {
	return l.Index == m.Index && l.PartitionKey == m.PartitionKey && l.SortKey == m.SortKey
}

// String is for people: "RenewalSaga ×16 on gsi4".
func (l Layout) String() string {
	if l.Count == 0 {
		return fmt.Sprintf("%s on %s", l.Base, l.Index)
	}
	return fmt.Sprintf("%s ×%d on %s", l.Base, l.Count, l.Index)
}
