package migrate

import (
	"context"
	"math"
	"strings"
)

// count adds what became of a chunk to the progress.
func (r *Runner) count(result moveResult) {
	n := func(o outcome) int64 { return int64(result.outcomes[o]) }
	p := &r.progress
	p.Moved += n(outcomeMoved)
	p.AlreadyDone += n(outcomeAlready)
	p.Gone += n(outcomeGone)
	p.Changed += n(outcomeChanged)
	p.Failed += n(outcomeFailed)
}

// tune sets the pace by what the operator wants and what members spend.
func (r *Runner) tune(live []Member, w way) {
	r.pace.live = 0
	for _, key := range w.hot() {
		r.pace.live = max(r.pace.live, liveUnits(live, func(k string) bool { return k == key }).Write)
	}
	r.pace.set(r.record.Control)
	old := liveUnits(live, func(k string) bool { _, err := w.from.Parse(k); return err == nil })
	all := liveUnits(live, func(string) bool { return true })
	r.progress.OldUnits, r.progress.NewUnits = old.Write, all.Write-old.Write
	r.progress.Rate, r.progress.Why = math.Round(r.pace.rate*10)/10, r.pace.why
}

// hot lists the keys on which a moved row costs a write and where few keys carry
// many rows: the narrower of the two layouts.
func (w way) hot() []string {
	if w.to.Count < w.from.Count {
		return w.to.Keys()
	}
	return w.from.Keys()
}

// waitsFor notes and tells whom the runner waits for.
func (r *Runner) waitsFor(ctx context.Context, behind []string) {
	waiting := "members " + strings.Join(behind, ", ")
	if waiting != r.progress.Waiting {
		r.progress.Waiting = waiting
		r.tell(ctx, Event{Kind: EventWaiting, Text: "for " + waiting})
	}
}
