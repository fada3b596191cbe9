package proof

import (
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/hotsplit/hotsplit/shard"
)

// statesMax bounds the model: beyond it nothing would be proved, and the test
// says so.
const statesMax = 6_000_000

func TestNoInterleavingLosesARow(t *testing.T) {
	states, reached, found := newModel("").Explore(statesMax)
	if found != nil {
		t.Fatalf("after %d states: %v", states, found)
	}
	if states == statesMax {
		t.Fatalf("the model has more than %d states: not all were visited", states)
	}
	for _, p := range shard.Phases() {
		if !reached[p] {
			t.Errorf("phase %s was never reached", p)
		}
	}
	t.Logf("%d states, none loses a row", states)
}

// A rule whose absence loses nothing would be no rule, or the model would be blind.
func TestEachRuleIsNeeded(t *testing.T) {
	for _, rule := range Rules() {
		t.Run(string(rule), func(t *testing.T) {
			states, _, found := newModel(rule).Explore(statesMax)
			if found == nil {
				t.Fatalf("without the rule %q no row was lost in %d states", rule, states)
			}
			t.Logf("%d states; %v", states, found)
		})
	}
}

// The page that explains the proof shows the code's own phase table.
func TestProofPageShowsThePhaseTable(t *testing.T) {
	page, err := os.ReadFile("../../docs/proof.md")
	if err != nil {
		t.Fatal(err)
	}
	for _, p := range shard.Phases() {
		next := []string{}
		for _, q := range p.Next() {
			next = append(next, string(q))
		}
		if row := fmt.Sprintf("    %-9s -> %s\n", p, strings.Join(next, ", ")); !strings.Contains(string(page), row) {
			t.Errorf("docs/proof.md lacks the row %q", row)
		}
	}
}
