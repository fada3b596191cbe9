package demo

import (
	"testing"
	"testing/synctest"
	"time"

	"github.com/hotsplit/hotsplit/fanout"
)

func rowOf(id string) item { return item{"PK": text(id), "SK": text("META")} }

// The checker is the judge of the demonstration, so each thing that it must find
// is planted once.
func TestModelFindsWhatIsWrong(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m := newModel([]string{"PK", "SK"}, 100*time.Millisecond)
		m.load(rowOf("a"), "ann", false)
		m.load(rowOf("b"), "bob", true)
		fresh := m.creating(rowOf("c"), "ann")
		ask := func(owners []string, openOnly bool, rows ...string) Reads {
			m.tally = Reads{}
			var answer []fanout.Item
			for _, id := range rows {
				answer = append(answer, rowOf(id))
			}
			m.check(question{owners: owners, openOnly: openOnly, started: time.Now()}, answer)
			return m.reads()
		}
		expect := func(what string, got, want Reads) {
			t.Helper()
			want.Checked = 1
			if got != want {
				t.Errorf("%s: %+v, want %+v", what, got, want)
			}
		}
		expect("all there", ask(nil, false, "a", "b"), Reads{})
		expect("one missing", ask(nil, false, "a"), Reads{Missed: 1})
		expect("one twice", ask(nil, false, "a", "b", "b"), Reads{Doubled: 1})
		expect("archived, not asked for", ask(nil, true, "a"), Reads{})
		expect("another owner's", ask([]string{"ann"}, false, "a", "b"), Reads{Foreign: 1})
		expect("unheard of", ask(nil, false, "a", "b", "x"), Reads{Foreign: 1})
		expect("not acknowledged, there", ask(nil, false, "a", "b", "c"), Reads{})
		m.acknowledged(fresh)
		expect("acknowledged, within the lag", ask([]string{"ann"}, false, "a"), Reads{})
		time.Sleep(100 * time.Millisecond)
		expect("acknowledged, after the lag", ask([]string{"ann"}, false, "a"), Reads{Missed: 1})
		m.deleting(fresh)
		expect("being deleted", ask([]string{"ann"}, false, "a"), Reads{})
	})
}

func TestModelCounts(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m := newModel([]string{"PK", "SK"}, 0)
		m.load(rowOf("a"), "ann", false)
		m.load(rowOf("b"), "bob", false)
		m.creating(rowOf("c"), "ann")
		for count, want := range map[int]Reads{1: {Missed: 1}, 2: {}, 3: {}, 4: {Doubled: 1}} {
			m.tally = Reads{}
			m.checkCount(question{started: time.Now()}, count)
			if want.Checked = 1; m.reads() != want {
				t.Errorf("count %d: %+v, want %+v", count, m.reads(), want)
			}
		}
	})
}

func TestKF05KeysAreNotJoined(t *testing.T) {
	m := newModel([]string{"PK", "SK"}, 0)
	a := m.keyOf(item{"PK": text("A#"), "SK": text("B")})
	b := m.keyOf(item{"PK": text("A"), "SK": text("#B")})
	n := m.keyOf(item{"PK": number(1), "SK": text("B")})
	s := m.keyOf(item{"PK": text("1"), "SK": text("B")})
	if a == b || n == s {
		t.Errorf("%v and %v, %v and %v are two rows each", a, b, n, s)
	}
}
