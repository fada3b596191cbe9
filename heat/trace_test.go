package heat_test

import (
	"bytes"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/hotsplit/hotsplit/heat"
)

func TestTraceRoundTrip(t *testing.T) {
	want := []heat.Event{
		{Time: began, Operation: "Query", Table: table, Index: index, Key: "RenewalSaga", Sort: "p#", Owner: "p", Caller: "list", Read: 0.5, Primary: true, Latency: 1500 * time.Microsecond},
		{Time: began.Add(time.Second), Operation: "UpdateItem", Table: table, Index: index, Throttled: 2, Reason: writeRange, Failed: true},
		{Time: began.Add(time.Minute), Operation: "PutItem", Table: table, Key: "<\"é\n", Sort: "META", Item: true, Write: 3, Primary: true},
	}
	var text bytes.Buffer
	w := heat.NewTraceWriter(&text, false)
	for _, e := range want {
		w.Write(e)
	}
	if err := w.Flush(); err != nil {
		t.Fatal(err)
	}
	got, err := readAll(text.String())
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(want, got, cmpopts.IgnoreUnexported(heat.Event{})); diff != "" {
		t.Error(diff)
	}
}

func readAll(text string) ([]heat.Event, error) {
	var events []heat.Event
	for e, err := range heat.ReadTrace(strings.NewReader(text)) {
		if err != nil {
			return events, err
		}
		events = append(events, e)
	}
	return events, nil
}

func TestTraceRefusals(t *testing.T) {
	const header = `{"format":"hotsplit-trace","version":1}` + "\n"
	const line = `{"t":"2026-06-01T09:00:00Z","op":"Query","table":"t"}` + "\n"
	for _, c := range []struct {
		name, text, says string
		events           int
	}{
		{"no header", line, "line 1", 0},
		{"another version", `{"format":"hotsplit-trace","version":2}`, "version 2", 0},
		{"no JSON", header + line + "oops\n", "line 3", 1},
		{"no time", header + `{"op":"Query","table":"t"}` + "\n", `"t" is missing`, 0},
		{"negative", header + `{"t":"2026-06-01T09:00:00Z","table":"t","r":-1}` + "\n", "not negative", 0},
		{"line too long", header + strings.Repeat("x", 1<<17) + "\n", "line 2", 0},
	} {
		t.Run(c.name, func(t *testing.T) {
			events, err := readAll(c.text)
			if !errors.Is(err, heat.ErrTrace) || !strings.Contains(err.Error(), c.says) {
				t.Errorf("error %v, want ErrTrace with %q", err, c.says)
			}
			if len(events) != c.events {
				t.Errorf("%d events before the error, want %d", len(events), c.events)
			}
		})
	}
	t.Run("cut off at the end", func(t *testing.T) {
		events, err := readAll(header + line + line[:20])
		if err != nil || len(events) != 1 {
			t.Errorf("%d events, error %v; want 1 and none", len(events), err)
		}
	})
}
