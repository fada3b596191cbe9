package shard_test

import (
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/hotsplit/hotsplit/shard"
)

// A process may lag one phase behind, never two. So across every legal change
// of phase, what the one stamps the other must read.
func TestNeighboursInPhaseReadWhatTheOtherStamps(t *testing.T) {
	a, b := sagas(0), sagas(16)
	for _, from := range shard.Phases() {
		for _, to := range from.Next() {
			f, n := shard.RoutingFor(from, a, b, 1), shard.RoutingFor(to, a, b, 2)
			if !slices.Contains(n.Read, f.Write) {
				t.Errorf("%s -> %s: a late writer stamps %v, new readers ask %v", from, to, f.Write, n.Read)
			}
			if !slices.Contains(f.Read, n.Write) {
				t.Errorf("%s -> %s: a new writer stamps %v, late readers ask %v", from, to, n.Write, f.Read)
			}
		}
	}
}

func TestRoutingPerPhase(t *testing.T) {
	a, b := sagas(0), sagas(16)
	for phase, want := range map[shard.Phase]struct {
		read   []shard.Layout
		write  shard.Layout
		moving bool
	}{
		shard.Planned:   {[]shard.Layout{a}, a, false},
		shard.DualRead:  {[]shard.Layout{a, b}, a, false},
		shard.WriteNew:  {[]shard.Layout{a, b}, b, false},
		shard.Backfill:  {[]shard.Layout{a, b}, b, true},
		shard.Verified:  {[]shard.Layout{a, b}, b, true},
		shard.Complete:  {[]shard.Layout{b}, b, false},
		shard.Reverting: {[]shard.Layout{b, a}, a, true},
		"tomorrow":      {[]shard.Layout{a, b}, a, true},
	} {
		got := shard.RoutingFor(phase, a, b, 7)
		if !slices.Equal(got.Read, want.read) || got.Write != want.write || got.Moving != want.moving || got.Generation != 7 {
			t.Errorf("%s: %+v", phase, got)
		}
		if got.Key("person-2") != want.write.Key("person-2") {
			t.Errorf("%s stamps %q", phase, got.Key("person-2"))
		}
	}
}

func TestMayMoveOverAllPairs(t *testing.T) {
	legal := map[string]bool{}
	for _, pair := range strings.Fields("planned>dual-read dual-read>write-new dual-read>planned write-new>backfill write-new>reverting " +
		"backfill>verified backfill>reverting verified>complete verified>backfill verified>reverting complete>verified reverting>dual-read") {
		legal[pair] = true
	}
	for _, p := range append(shard.Phases(), "tomorrow") {
		for _, q := range append(shard.Phases(), "tomorrow") {
			if pair := fmt.Sprintf("%s>%s", p, q); p.MayMove(q) != legal[pair] {
				t.Errorf("%s: MayMove is %v", pair, p.MayMove(q))
			}
		}
	}
}

func TestPackageCommentShowsThePhaseTable(t *testing.T) {
	doc, err := os.ReadFile("doc.go")
	if err != nil {
		t.Fatal(err)
	}
	for _, p := range shard.Phases() {
		next := []string{}
		for _, q := range p.Next() {
			next = append(next, string(q))
		}
		if row := fmt.Sprintf("//\t%-9s -> %s\n", p, strings.Join(next, ", ")); !strings.Contains(string(doc), row) {
			t.Errorf("doc.go lacks the row %q", row)
		}
	}
}

func TestRoutingEqual(t *testing.T) {
	a, b := sagas(0), sagas(16)
	seen := []shard.Routing{shard.Static(a), shard.Static(b), shard.StaticDual(a, b, a), shard.StaticDual(a, b, b)}
	for _, p := range shard.Phases() {
		seen = append(seen, shard.RoutingFor(p, a, b, int64(len(seen))))
	}
	for i, r := range seen {
		for j, s := range seen {
			if r.Equal(s) != (i == j) {
				t.Errorf("Equal(%+v, %+v) = %v", r, s, r.Equal(s))
			}
		}
	}
}
