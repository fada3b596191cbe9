package main

import (
	"bufio"
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"iter"
	"net/http"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/hotsplit/hotsplit/capacity"
	"github.com/hotsplit/hotsplit/heat"
	"github.com/hotsplit/hotsplit/sim"
)

// fromTraces reads trace files. Several are merged by time, as processes that ran
// side by side wrote them.
func (d *diagnose) fromTraces(ctx context.Context, stdin io.Reader, paths []string) (diagnosis, error) {
	events, closeAll, err := openTraces(stdin, paths)
	if err != nil {
		return diagnosis{}, badInput(err)
	}
	defer closeAll()
	found, err := d.observe(ctx, "trace "+strings.Join(paths, ", "), events)
	if err != nil && ctx.Err() == nil {
		return found, badInput(err)
	}
	return found, err
}

// openTraces opens trace files as one stream. - is stdin.
func openTraces(stdin io.Reader, paths []string) (events iter.Seq2[heat.Event, error], closeAll func(), err error) {
	var files []*os.File
	closeAll = func() {
		for _, f := range files {
			f.Close()
		}
	}
	var traces []iter.Seq2[heat.Event, error]
	for _, path := range paths {
		in := stdin
		if path != "-" {
			file, err := os.Open(path)
			if err != nil {
				closeAll()
				return nil, nil, fmt.Errorf("trace: %w", err)
			}
			files = append(files, file)
			in = file
		}
		traces = append(traces, named(path, heat.ReadTrace(in)))
	}
	return merged(traces), closeAll, nil
}

// named puts the file's name before a trace's error.
func named(path string, events iter.Seq2[heat.Event, error]) iter.Seq2[heat.Event, error] {
	return func(yield func(heat.Event, error) bool) {
		for e, err := range events {
			if err != nil {
				err = fmt.Errorf("trace %s: %w", path, err)
			}
			if !yield(e, err) {
				return
			}
		}
	}
}

// merged gives the events of all traces by time, taking each trace's own order.
func merged(traces []iter.Seq2[heat.Event, error]) iter.Seq2[heat.Event, error] {
	if len(traces) == 1 {
		return traces[0]
	}
	type head struct {
		event heat.Event
		err   error
		next  func() (heat.Event, error, bool)
	}
	return func(yield func(heat.Event, error) bool) {
		var heads []*head
		for _, t := range traces {
			next, stop := iter.Pull2(t)
			defer stop()
			if e, err, more := next(); more {
				heads = append(heads, &head{e, err, next})
			}
		}
		for len(heads) > 0 {
			h := slices.MinFunc(heads, func(a, b *head) int { return a.event.Time.Compare(b.event.Time) })
			if !yield(h.event, h.err) || h.err != nil {
				return
			}
			var more bool
			if h.event, h.err, more = h.next(); !more {
				heads = slices.DeleteFunc(heads, func(o *head) bool { return o == h })
			}
		}
	}
}

// logLine is the emulator's log entry, as GET /admin/log gives it.
type logLine struct {
	Time      time.Time
	Caller    string
	Operation string
	Table     string
	Index     string
	Outcome   string
	Reasons   []struct{ Reason, Resource string }
	Units     []struct {
		Table, Index, Key, Sort string
		Read, Write             float64
		Refused                 bool
	}
}

const logLineBytesMax = 4 << 20

// fromLog reads the emulator's operation log. It shows attempts, not calls:
// what a client's retries hid, it does not know.
func (d *diagnose) fromLog(ctx context.Context) (diagnosis, error) {
	if d.endpoint == "" {
		return diagnosis{}, badInput(fmt.Errorf("--log needs --endpoint, the emulator's address"))
	}
	if err := d.check(); err != nil {
		return diagnosis{}, err
	}
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, strings.TrimRight(d.endpoint, "/")+"/admin/log?since=0", nil)
	if err != nil {
		return diagnosis{}, badInput(err)
	}
	answer, err := http.DefaultClient.Do(request)
	if err != nil {
		return diagnosis{}, fmt.Errorf("emulator's log: %w", err)
	}
	defer answer.Body.Close()
	if answer.StatusCode != http.StatusOK {
		return diagnosis{}, fmt.Errorf("emulator's log at %s: %s; only 'hotsplit emulate' has one", d.endpoint, answer.Status)
	}
	return d.observe(ctx, "emulator log of "+d.endpoint, logEvents(answer.Body))
}

func logEvents(body io.Reader) iter.Seq2[heat.Event, error] {
	return func(yield func(heat.Event, error) bool) {
		lines := bufio.NewScanner(body)
		lines.Buffer(nil, logLineBytesMax)
		for lines.Scan() {
			var l logLine
			if err := json.Unmarshal(lines.Bytes(), &l); err != nil {
				yield(heat.Event{}, fmt.Errorf("emulator's log: %w", err))
				return
			}
			for _, e := range l.events() {
				if !yield(e, nil) {
					return
				}
			}
		}
		if err := lines.Err(); err != nil {
			yield(heat.Event{}, fmt.Errorf("emulator's log: %w", err))
		}
	}
}

// events splits a log line into what it did to each table and index. A refused
// attempt counts at the gate that refused, and nowhere else.
func (l logLine) events() []heat.Event {
	var out []heat.Event
	for i, u := range l.Units {
		e := heat.Event{
			Time: l.Time, Operation: l.Operation, Table: u.Table, Index: u.Index, Key: u.Key, Sort: u.Sort,
			Item: u.Index == "" && u.Sort != "", Caller: l.Caller, Primary: i == 0,
		}
		switch {
		case u.Refused:
			e.Throttled, e.Reason = 1, l.reason(u.Index)
		case l.Outcome == "ok":
			e.Read, e.Write = u.Read, u.Write
		default:
			e.Read, e.Write = 0, 0
		}
		out = append(out, e)
	}
	return out
}

func (l logLine) reason(index string) string {
	for _, r := range l.Reasons {
		if strings.Contains(r.Resource, "/index/") == (index != "") {
			return r.Reason
		}
	}
	if len(l.Reasons) > 0 {
		return l.Reasons[0].Reason
	}
	return ""
}

// ownerCounts adds up what each owner of each key took, exactly: plan needs all
// of them, not the heaviest.
type ownerCounts map[shapeKey]map[string]float64

type shapeKey struct {
	heat.Resource
	key string
}

const ownersMax = 1_000_000 // of a key; what comes after is not told apart

func (c ownerCounts) count(e heat.Event, separator string) {
	owner := e.Owner
	if owner == "" {
		owner = heat.OwnerOf(e.Sort, separator)
	}
	if owner == "" || e.Key == "" || e.Index == "" {
		return
	}
	key := shapeKey{heat.Resource{Table: e.Table, Index: e.Index}, e.Key}
	owners := c[key]
	if owners == nil {
		owners = map[string]float64{}
		c[key] = owners
	}
	if _, known := owners[owner]; known || len(owners) < ownersMax {
		owners[owner] += e.Read/capacity.PartitionCeiling.Read + e.Write/capacity.PartitionCeiling.Write
	}
}

func (c ownerCounts) shapes() []shape {
	var out []shape
	for key, owners := range c {
		s := shape{Resource: key.Resource, Key: key.key, Of: "units"}
		for owner, units := range owners {
			s.Owners = append(s.Owners, sim.OwnerLoad{Owner: owner, Load: units})
		}
		sortOwners(s.Owners)
		out = append(out, s)
	}
	slices.SortFunc(out, func(a, b shape) int {
		return cmp.Or(cmp.Compare(a.Resource.String(), b.Resource.String()), cmp.Compare(a.Key, b.Key))
	})
	return out
}

func sortOwners(owners []sim.OwnerLoad) {
	slices.SortFunc(owners, func(a, b sim.OwnerLoad) int {
		return cmp.Or(cmp.Compare(b.Load, a.Load), cmp.Compare(a.Owner, b.Owner))
	})
}
