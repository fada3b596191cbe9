package emulator_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/hotsplit/hotsplit/emulator"
	"github.com/hotsplit/hotsplit/emulator/attr"
	"pgregory.net/rapid"
)

func lean() emulator.Options { return emulator.Options{Unlimited: true, LagMax: -1} }

// KF-05: no two pairs of keys share an internal key, whatever they are made of.
func TestKeysNeverCollide(t *testing.T) {
	text := rapid.StringOfN(rapid.SampledFrom([]rune{'#', '%', '|', '/', '\\', '\n', 0, 1, 'A', 'a', 255}), 1, 4, -1)
	rapid.Check(t, func(r *rapid.T) {
		db := rig(t, lean())
		want := map[string]bool{}
		for range rapid.IntRange(1, 40).Draw(r, "pairs") {
			pk, sk := text.Draw(r, "PK"), text.Draw(r, "SK")
			want[fmt.Sprintf("%q %q", pk, sk)] = true
			put(t, db, attr.New(map[string]attr.Value{
				"PK": attr.String(pk), "SK": attr.String(sk), "GSI4PK": attr.String(sk), "GSI4SK": attr.String(pk),
			}))
		}
		for _, index := range []*string{nil, new("GSI4")} {
			got := map[string]bool{}
			for _, item := range walkScan(t, db, &emulator.ScanInput{TableName: new("rig"), IndexName: index, Limit: new(3)}) {
				got[fmt.Sprintf("%q %q", item.Get("PK").Text(), item.Get("SK").Text())] = true
			}
			if diff := cmp.Diff(want, got); diff != "" {
				r.Fatal(diff)
			}
		}
	})
}

func walkScan(t testing.TB, db *emulator.DB, in *emulator.ScanInput) []attr.Item {
	t.Helper()
	var items []attr.Item
	for pages := 0; ; pages++ {
		out, err := db.Scan(t.Context(), in)
		if err != nil {
			t.Fatal(err)
		}
		items = append(items, out.Items...)
		if out.LastEvaluatedKey.IsNil() {
			return items
		}
		if pages > 10_000 {
			t.Fatal("a scan without end")
		}
		in.ExclusiveStartKey = out.LastEvaluatedKey
	}
}

// A query returns what a filter over everything would, in order, for every
// condition, direction, page cut and index.
func TestQueryAgainstModel(t *testing.T) {
	db := rig(t, lean())
	var all []attr.Item
	for i := range 60 {
		item := row(i, fmt.Sprintf("k%d", i%3)).
			With("PK", attr.String(fmt.Sprintf("p%d", i%2))).
			With("SK", attr.String(fmt.Sprintf("s%02d", i))).
			With("GSI4SK", attr.String(fmt.Sprintf("s%02d", i%7))) // ties
		all = append(all, item)
		put(t, db, item)
	}
	rapid.Check(t, func(r *rapid.T) {
		q := drawQuery(r)
		want, got := q.model(all), q.walk(t, db)
		if diff := cmp.Diff(want, got); diff != "" {
			r.Fatalf("%+v: %s", q, diff)
		}
	})
}

type modelQuery struct {
	index      bool
	hash       string
	op         string
	low, high  string
	descending bool
	limit      int
}

func drawQuery(r *rapid.T) modelQuery {
	sort := rapid.Custom(func(r *rapid.T) string { return fmt.Sprintf("s%02d", rapid.IntRange(0, 60).Draw(r, "n")) })
	q := modelQuery{
		index: rapid.Bool().Draw(r, "index"),
		hash:  "p" + rapid.SampledFrom([]string{"0", "1", "2"}).Draw(r, "hash"),
		op:    rapid.SampledFrom([]string{"", "=", "<", "<=", ">", ">=", "BETWEEN", "begins_with"}).Draw(r, "op"),
		low:   sort.Draw(r, "low"), high: sort.Draw(r, "high"),
		descending: rapid.Bool().Draw(r, "descending"),
		limit:      rapid.SampledFrom([]int{1, 2, 3, 7, 10, 100}).Draw(r, "limit"),
	}
	if q.index {
		q.hash = "k" + q.hash[1:]
		q.low, q.high = q.low[:1]+"0"+q.low[2:], q.high[:1]+"0"+q.high[2:]
	}
	if q.low > q.high {
		q.low, q.high = q.high, q.low
	}
	if q.op == "begins_with" {
		q.low = q.low[:2]
	}
	return q
}

func (q modelQuery) names() (hash, sort string) {
	if q.index {
		return "GSI4PK", "GSI4SK"
	}
	return "PK", "SK"
}

// model lists the sort keys that match, in order.
func (q modelQuery) model(all []attr.Item) []string {
	hash, sort := q.names()
	keys := []string{}
	for _, item := range all {
		if item.Get(hash).Text() == q.hash && q.matches(item.Get(sort).Text()) {
			keys = append(keys, item.Get(sort).Text())
		}
	}
	slices.Sort(keys)
	if q.descending {
		slices.Reverse(keys)
	}
	return keys
}

func (q modelQuery) matches(s string) bool {
	switch q.op {
	case "=":
		return s == q.low
	case "<":
		return s < q.low
	case "<=":
		return s <= q.low
	case ">":
		return s > q.low
	case ">=":
		return s >= q.low
	case "BETWEEN":
		return q.low <= s && s <= q.high
	case "begins_with":
		return strings.HasPrefix(s, q.low)
	}
	return true
}

func (q modelQuery) input() *emulator.QueryInput {
	hash, sort := q.names()
	values := map[string]attr.Value{":h": attr.String(q.hash)}
	text := hash + " = :h"
	switch q.op {
	case "":
	case "BETWEEN":
		text += " AND " + sort + " BETWEEN :l AND :u"
		values[":l"], values[":u"] = attr.String(q.low), attr.String(q.high)
	case "begins_with":
		text += " AND begins_with(" + sort + ", :l)"
		values[":l"] = attr.String(q.low)
	default:
		text += " AND " + sort + " " + q.op + " :l"
		values[":l"] = attr.String(q.low)
	}
	in := &emulator.QueryInput{
		TableName: new("rig"), KeyConditionExpression: &text, Limit: &q.limit,
		ScanIndexForward: new(!q.descending), Expressions: emulator.Expressions{Values: values},
	}
	if q.index {
		in.IndexName = new("GSI4")
	}
	return in
}

// walk pages to the end and checks that no base key comes twice.
func (q modelQuery) walk(t testing.TB, db *emulator.DB) []string {
	_, sort := q.names()
	in := q.input()
	keys := []string{}
	seen := map[string]bool{}
	for {
		out, err := db.Query(t.Context(), in)
		if err != nil {
			t.Fatal(err)
		}
		for _, item := range out.Items {
			base := item.Get("PK").Text() + "\x00" + item.Get("SK").Text()
			if seen[base] {
				t.Fatalf("%q twice", base)
			}
			seen[base] = true
			keys = append(keys, item.Get(sort).Text())
		}
		if out.LastEvaluatedKey.IsNil() {
			return keys
		}
		in.ExclusiveStartKey = out.LastEvaluatedKey
	}
}

func TestSegmentsAreDisjointAndComplete(t *testing.T) {
	db := rig(t, lean())
	for i := range 500 {
		put(t, db, row(i, fmt.Sprint("k", i)))
	}
	for _, index := range []*string{nil, new("GSI4")} {
		for _, total := range []int{1, 2, 3, 7, 1000, 1_000_000} {
			seen := map[string]int{}
			for segment := range min(total, 1000) {
				for _, item := range walkScan(t, db, &emulator.ScanInput{
					TableName: new("rig"), IndexName: index, Segment: new(segment), TotalSegments: new(total), Limit: new(7),
				}) {
					seen[item.Get("PK").Text()]++
				}
			}
			for pk, n := range seen {
				if n != 1 {
					t.Fatalf("%s in %d segments of %d", pk, n, total)
				}
			}
			if total <= 1000 && len(seen) != 500 {
				t.Errorf("%d of 500 rows in %d segments", len(seen), total)
			}
		}
	}
}

func TestStartKeyOfAForeignSegment(t *testing.T) {
	db := rig(t, lean())
	for i := range 50 {
		put(t, db, row(i, "k"))
	}
	out, err := db.Scan(t.Context(), &emulator.ScanInput{TableName: new("rig"), Limit: new(1), Segment: new(0), TotalSegments: new(2)})
	must(t, err)
	_, err = db.Scan(t.Context(), &emulator.ScanInput{
		TableName: new("rig"), Segment: new(1), TotalSegments: new(2), ExclusiveStartKey: out.LastEvaluatedKey,
	})
	wantCode(t, err, emulator.CodeValidation)
}

// A page ends at 1 MB of what it read, before filter and projection, and always
// has an item.
func TestPageCuts(t *testing.T) {
	db := rig(t, lean())
	big := attr.String(strings.Repeat("x", 300<<10))
	for i := range 7 {
		put(t, db, row(0, "k").With("SK", attr.String(fmt.Sprint(i))).With("free", big))
	}
	in := &emulator.QueryInput{
		TableName: new("rig"), KeyConditionExpression: new("PK = :k"), FilterExpression: new("#v = :k"),
		Expressions: emulator.Expressions{
			Names:  map[string]string{"#v": "nothing"},
			Values: map[string]attr.Value{":k": attr.String("RSAGA#0")},
		},
		ReturnConsumedCapacity: "TOTAL",
	}
	var scanned []int
	for {
		out, err := db.Query(t.Context(), in)
		must(t, err)
		scanned = append(scanned, out.ScannedCount)
		if out.Count != 0 || out.Items == nil {
			t.Errorf("%d items, %v", out.Count, out.Items)
		}
		if out.LastEvaluatedKey.IsNil() {
			break
		}
		in.ExclusiveStartKey = out.LastEvaluatedKey
	}
	if diff := cmp.Diff([]int{3, 3, 1}, scanned); diff != "" {
		t.Error(diff)
	}
	small := rig(t, emulator.Options{Unlimited: true, LagMax: -1, PageItems: 2})
	for i := range 5 {
		put(t, small, row(i, "k"))
	}
	if out, err := small.Scan(t.Context(), &emulator.ScanInput{TableName: new("rig")}); err != nil || out.Count != 2 || out.LastEvaluatedKey.IsNil() {
		t.Errorf("a page of 2: %+v %v", out, err)
	}
}
