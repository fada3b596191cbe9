package expr_test

import (
	"fmt"
	"strings"
	"sync"
	"testing"

	"pgregory.net/rapid"

	"github.com/hotsplit/hotsplit/emulator/attr"
	"github.com/hotsplit/hotsplit/emulator/expr"
)

// boolean is a condition with what it must come to.
type boolean struct {
	text  string
	holds bool
	level int // how strongly its outermost operator binds: 0 OR, 1 AND, 2 NOT, 3 comparison
}

// booleans draws conditions over a: true is "t = :one" with t = 1 in the item.
func booleans(depth int) *rapid.Generator[boolean] {
	return rapid.Custom(func(t *rapid.T) boolean {
		if depth == 0 || rapid.IntRange(0, 3).Draw(t, "leaf") == 0 {
			if rapid.Bool().Draw(t, "value") {
				return boolean{"one = :one", true, 3}
			}
			return boolean{"one <> :one", false, 3}
		}
		a := booleans(depth-1).Draw(t, "left")
		if rapid.IntRange(0, 2).Draw(t, "not") == 0 {
			return boolean{"NOT " + a.atLeast(2), !a.holds, 2}
		}
		b := booleans(depth-1).Draw(t, "right")
		if rapid.Bool().Draw(t, "and") {
			return boolean{a.atLeast(1) + " AND " + b.atLeast(2), a.holds && b.holds, 1}
		}
		return boolean{a.atLeast(0) + " or " + b.atLeast(1), a.holds || b.holds, 0}
	})
}

func (b boolean) atLeast(level int) string {
	if b.level < level {
		return "(" + b.text + ")"
	}
	return b.text
}

func TestPrecedence(t *testing.T) {
	row := attr.New(map[string]attr.Value{"one": attr.Int(1)})
	rapid.Check(t, func(r *rapid.T) {
		b := booleans(5).Draw(r, "condition")
		c, err := request{values: `{":one":{"N":"1"}}`}.binder(t).Condition(b.text)
		if err != nil {
			r.Fatalf("%s: %v", b.text, err)
		}
		if c.Match(row) != b.holds {
			r.Fatalf("%s: want %v", b.text, b.holds)
		}
	})
}

// An update of many paths does what updates of one path each would do, whatever
// their order, as long as no path leads into another.
func TestUpdatesOfApartPathsCommute(t *testing.T) {
	names := []string{"a", "b", "c"}
	rapid.Check(t, func(r *rapid.T) {
		row := attr.New(map[string]attr.Value{"a": attr.Map(attr.Empty()), "b": attr.Map(attr.Empty()), "c": attr.Map(attr.Empty())})
		n := rapid.IntRange(1, 6).Draw(r, "changes")
		seen := map[string]bool{}
		var paths []string
		for len(paths) < n {
			path := rapid.SampledFrom(names).Draw(r, "top") + "." + rapid.SampledFrom(names).Draw(r, "sub")
			if !seen[path] {
				seen[path] = true
				paths = append(paths, path)
			}
		}
		var sets []string
		values := map[string]attr.Value{}
		want := row
		for i, path := range paths {
			key := fmt.Sprintf(":v%d", i)
			values[key] = attr.Int(int64(i))
			sets = append(sets, path+" = "+key)
			want = apply(r, "SET "+path+" = "+key, map[string]attr.Value{key: values[key]}, want)
		}
		if got := apply(r, "SET "+strings.Join(sets, ", "), values, row); !got.Equal(want) {
			r.Fatalf("%v: got %s, want %s", sets, got, want)
		}
	})
}

func apply(t interface{ Fatalf(string, ...any) }, text string, values map[string]attr.Value, row attr.Item) attr.Item {
	u, err := new(expr.Cache).Binder(nil, values).Update(text)
	if err != nil {
		t.Fatalf("%s: %v", text, err)
	}
	changed, err := u.Apply(row)
	if err != nil {
		t.Fatalf("%s on %s: %v", text, row, err)
	}
	return changed
}

// A Cache hands one tree to all requests; none of them may see the names and
// values of another.
func TestCacheKeepsRequestsApart(t *testing.T) {
	var cache expr.Cache
	var wait sync.WaitGroup
	for i := range 8 {
		wait.Go(func() {
			name := fmt.Sprintf("name%d", i)
			for n := range 300 {
				b := cache.Binder(map[string]string{"#n": name}, map[string]attr.Value{":v": attr.Int(int64(n))})
				c, err := b.Condition("#n = :v")
				if err != nil || b.Done() != nil {
					t.Errorf("bind: %v", err)
					return
				}
				if !c.Match(attr.New(map[string]attr.Value{name: attr.Int(int64(n))})) {
					t.Errorf("%s of request %d is not %d", name, i, n)
					return
				}
			}
		})
	}
	wait.Wait()
	for i := range 3000 {
		if _, err := cache.Binder(nil, nil).Condition(fmt.Sprintf("attribute_exists(a%d)", i)); err != nil {
			t.Fatal(err)
		}
	}
}

// fuzz binds text as every kind of expression and uses what comes out of it.
func fuzz(t *testing.T, text string) {
	row := item(t, row)
	binder := func() *expr.Binder {
		return request{names: map[string]string{"#d": "a.b", "#m": "m"}, values: allValues}.binder(t)
	}
	if c, err := binder().Condition(text); err == nil {
		c.Match(row)
		c.Match(attr.Item{})
		_, _ = c.Names(), c.NestedNames()
	}
	if k, err := binder().KeyCondition(text); err == nil {
		if r, err := k.For("s", "n"); err == nil {
			r.Contains(attr.Int(5))
			r.Contains(attr.String("he"))
		}
	}
	if p, err := binder().Projection(text); err == nil {
		if p.Apply(row).Size() > row.Size() {
			t.Fatalf("%s projects more than there is", text)
		}
	}
	if u, err := binder().Update(text); err == nil {
		if changed, err := u.Apply(row); err == nil {
			before, after := u.Changed(row, changed)
			if before.Size() > row.Size() || after.Size() > changed.Size() {
				t.Fatalf("%s changed more than there is", text)
			}
			if again, _, err := attr.DecodeItem(attr.AppendJSON(nil, changed), 0); err != nil || !again.Equal(changed) {
				t.Fatalf("%s made %s: %v", text, changed, err)
			}
		}
		_, _ = u.Create(attr.Empty())
	}
}

func FuzzParse(f *testing.F) {
	for _, seed := range []string{
		"s = :s AND (n < :six OR NOT attribute_exists(m.c.d))", "n BETWEEN :one AND :six", "#d IN (:x, :s)", "size(l[2][0]) >= :n",
		"SET m.a = m.a + :one, l[7] = if_not_exists(x, :n) REMOVE l[0] ADD n :one DELETE ss :ss", "SET l = list_append(l, :l)",
		"m.c, l[2], l[0]", "begins_with(s, :h)", "((a))", "SET a = (b - :n)", "é # : [ <>",
	} {
		f.Add(seed)
	}
	f.Fuzz(fuzz)
}

func BenchmarkCondition(b *testing.B) {
	var cache expr.Cache
	row := item(b, row)
	values := map[string]attr.Value{":s": attr.String("hello"), ":n": attr.Int(5)}
	names := map[string]string{"#s": "s"}
	b.ReportAllocs()
	for b.Loop() {
		bind := cache.Binder(names, values)
		c, err := bind.Condition("#s = :s AND n = :n")
		if err != nil || bind.Done() != nil || !c.Match(row) {
			b.Fatal(err)
		}
	}
}

func BenchmarkKeyCondition(b *testing.B) {
	var cache expr.Cache
	values := map[string]attr.Value{":pk": attr.String("RenewalSaga#5"), ":sk": attr.String("person#")}
	b.ReportAllocs()
	for b.Loop() {
		bind := cache.Binder(nil, values)
		k, err := bind.KeyCondition("GSI4PK = :pk AND begins_with(GSI4SK, :sk)")
		if err != nil || bind.Done() != nil {
			b.Fatal(err)
		}
		if _, err := k.For("GSI4PK", "GSI4SK"); err != nil {
			b.Fatal(err)
		}
	}
}
