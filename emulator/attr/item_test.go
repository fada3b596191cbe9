package attr_test

import (
	"maps"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/hotsplit/hotsplit/emulator/attr"
)

func TestItemSize(t *testing.T) {
	for src, want := range map[string]int{
		`{"shirt-color":{"S":"R"},"shirt-size":{"S":"M"}}`: 23,
		`{}`:                          0,
		`{"a":{"S":"é"}}`:             3,
		`{"a":{"B":"AAEC"}}`:          4,
		`{"a":{"BOOL":true}}`:         2,
		`{"a":{"NULL":true}}`:         2,
		`{"a":{"L":[]}}`:              4,
		`{"a":{"L":[{"S":"aa"}]}}`:    7,
		`{"a":{"M":{"k":{"S":"v"}}}}`: 7,
		`{"a":{"SS":["aa","b"]},"n":{"NS":["12","-42"]}}`: 10,
		`{"a":{"L":[{"M":{"a":{"S":"b"}}}]}}`:             11,
	} {
		i := decodeItem(t, src)
		if i.Size() != want {
			t.Errorf("%s: size %d, want %d", src, i.Size(), want)
		}
		var b attr.Builder
		for name, v := range i.All() {
			b.Set(name, v)
		}
		if built := b.Item(); built.Size() != want || !built.Equal(i) {
			t.Errorf("%s: built %s of size %d", src, built, built.Size())
		}
	}
}

func TestItemChanges(t *testing.T) {
	i := decodeItem(t, `{"b":{"S":"1"},"d":{"S":"2"}}`)
	for _, test := range []struct {
		got  attr.Item
		want string
	}{
		{i.With("a", attr.Int(7)), `{"a":{"N":"7"},"b":{"S":"1"},"d":{"S":"2"}}`},
		{i.With("d", attr.Null), `{"b":{"S":"1"},"d":{"NULL":true}}`},
		{i.With("d", attr.Value{}), `{"b":{"S":"1"}}`},
		{i.Without("b"), `{"d":{"S":"2"}}`},
		{i.Without("x"), `{"b":{"S":"1"},"d":{"S":"2"}}`},
		{i.Pick([]string{"d", "x"}), `{"d":{"S":"2"}}`},
		{i.Pick([]string{"d", "b", "x"}), `{"b":{"S":"1"},"d":{"S":"2"}}`},
		{attr.Item{}.With("a", attr.Bool(true)), `{"a":{"BOOL":true}}`},
		{attr.New(map[string]attr.Value{"m": attr.Map(attr.Item{}), "b": attr.Binary("\x00")}), `{"b":{"B":"AA=="},"m":{"M":{}}}`},
	} {
		if test.got.String() != test.want {
			t.Errorf("got %s, want %s", test.got, test.want)
		}
	}
	if !(attr.Item{}).IsNil() || attr.Empty().IsNil() || attr.Empty().Equal(attr.Item{}) {
		t.Error("no item and an empty item are not the same")
	}
	if i.Get("c").Kind() != attr.KindNone || i.Has("e") || !i.Has("d") || i.Len() != 2 {
		t.Errorf("looking into %s", i)
	}
}

func TestEqual(t *testing.T) {
	for _, test := range []struct {
		a, b string
		want bool
	}{
		{`{"SS":["a","b"]}`, `{"SS":["b","a"]}`, true},
		{`{"NS":["1","2"]}`, `{"NS":["2.0","1"]}`, true},
		{`{"SS":["a","b"]}`, `{"SS":["a","c"]}`, false},
		{`{"SS":["1"]}`, `{"NS":["1"]}`, false},
		{`{"L":[{"SS":["a","b"]}]}`, `{"L":[{"SS":["b","a"]}]}`, true},
		{`{"M":{"x":{"SS":["a","b"]}}}`, `{"M":{"x":{"SS":["b","a"]}}}`, true},
		{`{"M":{"x":{"S":"a"}}}`, `{"M":{"y":{"S":"a"}}}`, false},
		{`{"L":[{"S":"a"}]}`, `{"L":[]}`, false},
		{`{"S":"1"}`, `{"N":"1"}`, false},
		{`{"N":"1.50"}`, `{"N":"15e-1"}`, true},
	} {
		a, _, _ := attr.DecodeValue([]byte(test.a), 0)
		b, _, _ := attr.DecodeValue([]byte(test.b), 0)
		if attr.Equal(a, b) != test.want || attr.Equal(b, a) != test.want {
			t.Errorf("%s equals %s: want %v", test.a, test.b, test.want)
		}
	}
}

func TestCompareRefusesOtherKinds(t *testing.T) {
	for _, pair := range [][2]attr.Value{
		{attr.String("1"), attr.Int(1)}, {attr.Bool(true), attr.Bool(false)}, {attr.Null, attr.Null},
		{attr.List(nil), attr.List(nil)}, {attr.Value{}, attr.Value{}},
	} {
		if _, ok := attr.Compare(pair[0], pair[1]); ok {
			t.Errorf("%s and %s are ordered", pair[0], pair[1])
		}
	}
	if order, ok := attr.Compare(attr.Binary("\x7f"), attr.Binary("\x80")); !ok || order >= 0 {
		t.Error("bytes are ordered as if signed")
	}
}

// names draws attribute names, which are never empty.
var names = rapid.StringN(1, -1, -1)

// values draws any value, nesting to a few levels.
func values(depth int) *rapid.Generator[attr.Value] {
	return rapid.Custom(func(t *rapid.T) attr.Value {
		text := rapid.String()
		options := []func() attr.Value{
			func() attr.Value { return attr.String(text.Draw(t, "s")) },
			func() attr.Value { return attr.Binary(string(rapid.SliceOf(rapid.Byte()).Draw(t, "b"))) },
			func() attr.Value { return attr.Int(rapid.Int64().Draw(t, "n")) },
			func() attr.Value { return attr.Bool(rapid.Bool().Draw(t, "bool")) },
			func() attr.Value { return attr.Null },
			func() attr.Value { return set(rapid.SliceOfNDistinct(text, 1, 9, rapid.ID).Draw(t, "ss")) },
		}
		if depth > 0 {
			options = append(options,
				func() attr.Value { return attr.List(rapid.SliceOfN(values(depth-1), 0, 4).Draw(t, "l")) },
				func() attr.Value { return attr.Map(attr.New(rapid.MapOfN(names, values(depth-1), 0, 4).Draw(t, "m"))) })
		}
		return rapid.SampledFrom(options).Draw(t, "kind")()
	})
}

func set(texts []string) attr.Value {
	elements := make([]attr.Value, len(texts))
	for i, s := range texts {
		elements[i] = attr.String(s)
	}
	return attr.Set(attr.KindSS, elements)
}

func TestItemProperties(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		fields := rapid.MapOfN(names, values(3), 0, 8).Draw(t, "fields")
		i := attr.New(fields)
		wire := attr.AppendJSON(nil, i)
		decoded, next, err := attr.DecodeItem(append(slices.Clone(wire), " ]"...), 0)
		if err != nil || next != len(wire) || decoded.Err() != nil {
			t.Fatalf("%s: %v at %d, %v", wire, err, next, decoded.Err())
		}
		if !decoded.Equal(i) || decoded.Size() != i.Size() || decoded.String() != string(wire) {
			t.Fatalf("%s came back as %s", wire, decoded)
		}
		size := 0
		for name, v := range fields {
			if !attr.Equal(i.Get(name), v) {
				t.Fatalf("%q of %s is %s", name, i, i.Get(name))
			}
			size += len(name) + v.Size()
			if without := i.Without(name); without.Has(name) || !without.With(name, v).Equal(i) {
				t.Fatalf("%s without %q is %s", i, name, without)
			}
		}
		if size != i.Size() || !slices.IsSorted(slices.Collect(keys(i))) {
			t.Fatalf("%s has size %d, want %d", i, i.Size(), size)
		}
	})
}

func keys(i attr.Item) func(func(string) bool) {
	return func(yield func(string) bool) {
		for name := range i.All() {
			if !yield(name) {
				return
			}
		}
	}
}

// One allocation an item, and little more than what the service counts.
func TestItemIsCompact(t *testing.T) {
	src := benchmarkItem()
	allocations := testing.AllocsPerRun(100, func() {
		if _, _, err := attr.DecodeItem(src, 0); err != nil {
			t.Fatal(err)
		}
	})
	if !underRace && allocations > 1.5 {
		t.Errorf("decoding an item takes %v allocations", allocations)
	}
	names := slices.Sorted(maps.Keys(map[string]bool{"PK": true, "SK": true}))
	i := decodeItem(t, string(src))
	if i.Pick(names).Len() != 2 || i.Size() < 250 || !strings.Contains(i.String(), "RenewalSaga#5") {
		t.Errorf("item of size %d: %s", i.Size(), i)
	}
}
