package renewal_test

import (
	"errors"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/hotsplit/hotsplit/renewal"
)

// diagram reads the states and their moves out of doc.go.
func diagram(t *testing.T) map[renewal.State][]renewal.State {
	t.Helper()
	text, err := os.ReadFile("doc.go")
	if err != nil {
		t.Fatal(err)
	}
	moves := map[renewal.State][]renewal.State{}
	for line := range strings.Lines(string(text)) {
		from, to, drawn := strings.Cut(strings.TrimSpace(strings.TrimPrefix(line, "//")), " -> ")
		if !drawn {
			continue
		}
		var next []renewal.State
		for word := range strings.SplitSeq(to, ", ") {
			if word != "-" {
				next = append(next, renewal.State(word))
			}
		}
		moves[renewal.State(strings.TrimSpace(from))] = next
	}
	return moves
}

func TestDiagramShowsTheTable(t *testing.T) {
	drawn := diagram(t)
	if len(drawn) != len(renewal.States()) {
		t.Errorf("doc.go shows %d states, want %d", len(drawn), len(renewal.States()))
	}
	for _, state := range renewal.States() {
		if !slices.Equal(drawn[state], state.Next()) {
			t.Errorf("doc.go lets %s go to %v, the table to %v", state, drawn[state], state.Next())
		}
	}
}

func TestEveryPairOfStates(t *testing.T) {
	drawn := diagram(t)
	now := time.Date(2026, 12, 1, 9, 0, 0, 0, time.UTC)
	for _, from := range renewal.States() {
		for _, to := range renewal.States() {
			saga := renewal.Saga{ID: "s", State: from, Version: 7}
			after, applied, err := saga.Apply(renewal.Change{Op: "op1", To: to}, now)
			legal := slices.Contains(drawn[from], to)
			if legal != from.MayMove(to) {
				t.Errorf("%s to %s: MayMove is %v", from, to, from.MayMove(to))
			}
			if legal && (err != nil || !applied || after.State != to || after.Version != 8) {
				t.Errorf("%s to %s: %+v, %v, %v", from, to, after, applied, err)
			}
			var illegal *renewal.MoveError
			if !legal && (!errors.As(err, &illegal) || !errors.Is(err, renewal.ErrIllegalMove) || illegal.From != from || illegal.To != to) {
				t.Errorf("%s to %s: %v, want a MoveError", from, to, err)
			}
		}
	}
}

func TestUnknownState(t *testing.T) {
	s := renewal.State("of a newer release")
	if s.Known() || s.Ended() || len(s.Next()) != 0 || s.Rank() != len(renewal.States()) {
		t.Errorf("unknown state: known %v, ended %v, next %v, rank %d", s.Known(), s.Ended(), s.Next(), s.Rank())
	}
}
