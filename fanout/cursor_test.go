package fanout

import (
	"encoding/base64"
	"errors"
	"net/url"
	"reflect"
	"testing"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
	"pgregory.net/rapid"

	"github.com/hotsplit/hotsplit/shard"
)

var anyScalar = rapid.Custom(func(t *rapid.T) scalar {
	k := rapid.SampledFrom([]kind{kindString, kindNumber, kindBinary}).Draw(t, "kind")
	switch k {
	case kindNumber:
		return scalar{k, rapid.StringMatching(`-?[1-9][0-9]{0,37}`).Draw(t, "number")}
	case kindBinary:
		return scalar{k, string(rapid.SliceOf(rapid.Byte()).Draw(t, "bytes"))}
	}
	return scalar{k, rapid.OneOf(rapid.StringMatching(`[A#|%\\\n\x00]*`), rapid.String()).Draw(t, "text")}
})

var anyPosition = rapid.Custom(func(t *rapid.T) position {
	return position{
		sort: anyScalar.Draw(t, "sort"),
		base: [2]scalar{anyScalar.Draw(t, "pk"), anyScalar.Draw(t, "sk")},
		edge: rapid.Bool().Draw(t, "edge"),
	}
})

var anyMark = rapid.Custom(func(t *rapid.T) mark {
	m := mark{
		generation: rapid.Int64().Draw(t, "generation"),
		partial:    rapid.Bool().Draw(t, "partial"),
	}
	copy(m.query[:], rapid.SliceOfN(rapid.Byte(), 8, 8).Draw(t, "query"))
	copy(m.layout[:], rapid.SliceOfN(rapid.Byte(), 8, 8).Draw(t, "layout"))
	if rapid.Bool().Draw(t, "started") {
		m.at = new(anyPosition.Draw(t, "at"))
	}
	for range rapid.IntRange(0, 20).Draw(t, "states") {
		s := state{stage: stage(rapid.IntRange(0, int(stageEnd)-1).Draw(t, "stage"))}
		if s.stage.positioned() {
			s.at = anyPosition.Draw(t, "own")
		}
		m.states = append(m.states, s)
	}
	return m
})

func TestKF05CursorsKeepEveryKeyExactly(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		m := anyMark.Draw(t, "mark")
		text := m.encode()
		if url.QueryEscape(text) != text {
			t.Fatalf("%q is not safe in a URL", text)
		}
		got, err := decodeMark(text)
		if err != nil || !reflect.DeepEqual(got, m) {
			t.Fatalf("%+v came back as %+v, %v", m, got, err)
		}
	})
}

func TestDamagedCursorsAreRefused(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		text := anyMark.Draw(t, "mark").encode()
		b, _ := base64.RawURLEncoding.DecodeString(text)
		switch rapid.IntRange(0, 2).Draw(t, "damage") {
		case 0:
			b[rapid.IntRange(0, len(b)-1).Draw(t, "at")] ^= 1 << rapid.IntRange(0, 7).Draw(t, "bit")
			text = base64.RawURLEncoding.EncodeToString(b)
		case 1:
			text = text[:rapid.IntRange(1, len(text)-1).Draw(t, "length")]
		case 2:
			text = rapid.String().Filter(func(s string) bool { return s != text }).Draw(t, "text")
		}
		if _, err := decodeMark(text); !errors.Is(err, ErrCursor) {
			t.Fatalf("%q: %v", text, err)
		}
	})
}

func FuzzCursor(f *testing.F) {
	f.Add([]byte{cursorVersion})
	f.Fuzz(func(t *testing.T, body []byte) {
		s := scan{rest: body}
		_ = s.mark() // must neither panic nor allocate without bound
	})
}

func TestCursorsAreBoundToTheQuery(t *testing.T) {
	table := Table{Name: "t", Key: []string{"PK", "SK"}}
	values := func(v string) Item { return Item{":v": &types.AttributeValueMemberS{Value: v}} }
	queries := map[string]func() (Query, Table, scope){
		"plain":       func() (Query, Table, scope) { return Query{}, table, everything{} },
		"descending":  func() (Query, Table, scope) { return Query{Descending: true}, table, everything{} },
		"range":       func() (Query, Table, scope) { return Query{SortKey: Between("a", "b")}, table, everything{} },
		"other range": func() (Query, Table, scope) { return Query{SortKey: Between("a", "c")}, table, everything{} },
		"number range": func() (Query, Table, scope) {
			return Query{SortKey: Range{From: &types.AttributeValueMemberN{Value: "1"}}}, table, everything{}
		},
		"text range": func() (Query, Table, scope) {
			return Query{SortKey: Range{From: &types.AttributeValueMemberS{Value: "1"}}}, table, everything{}
		},
		"filter": func() (Query, Table, scope) {
			return Query{Filter: Filter{Expression: "a = :v", Values: values("1")}}, table, everything{}
		},
		"other value": func() (Query, Table, scope) {
			return Query{Filter: Filter{Expression: "a = :v", Values: values("2")}}, table, everything{}
		},
		"other filter": func() (Query, Table, scope) {
			return Query{Filter: Filter{Expression: "b = :v", Values: values("1")}}, table, everything{}
		},
		"owner":       func() (Query, Table, scope) { return Query{}, table, oneOwner("p1") },
		"other owner": func() (Query, Table, scope) { return Query{}, table, oneOwner("p2") },
		"other table": func() (Query, Table, scope) { return Query{}, Table{Name: "u", Key: table.Key}, everything{} },
	}
	seen := make(map[[8]byte]string)
	for name, query := range queries {
		q, table, s := query()
		print, err := q.fingerprint(table, s)
		if err != nil {
			t.Fatal(err)
		}
		if other, taken := seen[print]; taken {
			t.Errorf("%s and %s share a fingerprint", name, other)
		}
		seen[print] = name
		if again, _ := q.fingerprint(table, s); again != print {
			t.Errorf("%s has two fingerprints", name)
		}
	}
}

func TestCursorsOfOtherEntitiesAndMoves(t *testing.T) {
	a := shard.Layout{Index: "g", PartitionKey: "p", SortKey: "s", Base: "A", Count: 4}
	b := a
	b.Base = "B"
	view := func(l shard.Layout, generation int64) View {
		r := shard.Static(l)
		r.Generation = generation
		return View{Routing: r}
	}
	minted := func(v View, partial bool) mark {
		return mark{base: v.baseMark(), layout: v.layoutMark(), generation: v.Routing.Generation, partial: partial}
	}
	wide := a
	wide.Count = 8
	cases := map[string]struct {
		m    mark
		v    View
		want error
	}{
		"same":                      {minted(view(a, 1), false), view(a, 1), nil},
		"other entity":              {minted(view(a, 1), false), view(b, 1), ErrCursor},
		"renamed by a move":         {minted(view(a, 1), false), view(b, 2), ErrCursorExpired},
		"moved":                     {minted(view(a, 1), false), view(wide, 2), nil},
		"partial":                   {minted(view(a, 1), true), view(a, 1), nil},
		"partial, new generation":   {minted(view(a, 1), true), view(a, 2), ErrCursorExpired},
		"partial, deployed anew":    {minted(view(a, 0), true), view(wide, 0), ErrCursorExpired},
		"partial, minted in a move": {minted(View{Routing: shard.StaticDual(a, wide, wide)}, true), view(wide, 0), ErrCursorExpired},
	}
	for name, c := range cases {
		if err := c.v.admit(c.m); !errors.Is(err, c.want) {
			t.Errorf("%s: %v, want %v", name, err, c.want)
		}
	}
}
