package proof

import (
	"context"
	"fmt"
	"sync"
	"time"

	"github.com/hotsplit/hotsplit/emulator"
	"github.com/hotsplit/hotsplit/migrate"
	"github.com/hotsplit/hotsplit/shard"
)

// storm has runners drive the move, at random and one after the other, while
// requests fail, answers are lost and hosts freeze.
func (w *world) storm(ctx context.Context) {
	w.injectFaults()
	storm, stop := context.WithTimeout(ctx, time.Duration(8+w.rng.IntN(25))*time.Second)
	defer stop()
	var g sync.WaitGroup
	g.Go(func() { w.trouble(storm) })
	for round := 0; storm.Err() == nil; round++ {
		w.shift(storm, &g, round)
	}
	g.Wait()
}

// injectFaults draws how often the service fails.
func (w *world) injectFaults() {
	for _, f := range []emulator.Fault{
		{Kind: emulator.FaultDrop, Probability: 0.03},
		{Kind: emulator.FaultError, Probability: 0.02},
		{Kind: emulator.FaultThrottle, Probability: 0.03},
		{Kind: emulator.FaultDelay, Probability: 0.05, Delay: time.Duration(100+w.rng.IntN(4000)) * time.Millisecond},
		{Kind: emulator.FaultDelay, Caller: "member-0", Operation: "Query", Probability: 0.3, Delay: time.Duration(800+w.rng.IntN(4000)) * time.Millisecond},
		{Kind: emulator.FaultDelay, Caller: "member-0", Operation: "PutItem", Probability: 0.4, Delay: time.Duration(2000+w.rng.IntN(20000)) * time.Millisecond},
		{Kind: emulator.FaultDelay, Operation: "TransactWriteItems", Probability: 0.1, Delay: time.Duration(3+w.rng.IntN(15)) * time.Second},
		{Kind: emulator.FaultDelay, Operation: "UpdateItem", Key: w.spec.Prefix, Probability: 0.05, Delay: time.Duration(3+w.rng.IntN(12)) * time.Second},
	} {
		if w.rng.IntN(2) == 0 {
			w.db.Inject(f)
			w.tell("fault %v with probability %g", f.Kind, f.Probability)
		}
	}
}

// calm stops every fault.
func (w *world) calm() {
	for _, f := range w.db.Faults() {
		w.db.Withdraw(f.ID)
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	for _, p := range w.processes {
		p.heal()
	}
}

// trouble freezes, isolates and wakes processes at random.
func (w *world) trouble(ctx context.Context) {
	p := w.process("trouble")
	for sleep(ctx, time.Duration(500+p.draw(5000))*time.Millisecond) == nil {
		w.mu.Lock()
		victim := w.processes[1+p.draw(len(w.processes)-1)]
		w.mu.Unlock()
		d := time.Duration(200+p.draw(8000)) * time.Millisecond
		if p.draw(2) == 0 {
			w.tell("%s freezes for %v", victim.name, d)
			victim.freeze(d)
		} else {
			w.tell("%s is cut off for %v", victim.name, d)
			victim.isolate(d)
		}
	}
}

// shift is one runner's time: it is told where to go, and may be killed or
// replaced while it is under way.
func (w *world) shift(ctx context.Context, g *sync.WaitGroup, round int) {
	p := w.process(fmt.Sprintf("runner-%d", round))
	r, err := migrate.NewRunner(p.client(), w.spec, w.options)
	if err != nil {
		w.tell("runner: %v", err)
		return
	}
	shift, end := context.WithTimeout(ctx, time.Duration(1000+w.rng.IntN(12000))*time.Millisecond)
	back, killed, leave := w.rng.IntN(3) == 0, w.rng.IntN(2) == 0, w.rng.IntN(4) == 0
	work := func() {
		defer end()
		if back {
			w.tell("%s goes back", p.name)
			_, err = r.Rollback(shift)
		} else {
			w.tell("%s goes forward", p.name)
			if err = r.Start(shift); err == nil {
				err = r.AdvanceTo(shift, []shard.Phase{shard.WriteNew, shard.Backfill, shard.Verified, shard.Complete}[w.pickPhase(p)])
			}
		}
		w.tell("%s ends in %s: %v", p.name, r.Record().Phase, err)
	}
	if killed {
		at := shift
		g.Go(func() {
			if sleep(at, time.Duration(100+p.draw(6000))*time.Millisecond) == nil {
				w.tell("%s is killed", p.name)
				p.kill()
				end()
			}
		})
	}
	if leave { // two runners at once
		g.Go(work)
		_ = sleep(ctx, time.Duration(w.rng.IntN(3000))*time.Millisecond)
		return
	}
	work()
	_ = sleep(ctx, time.Duration(w.rng.IntN(1000))*time.Millisecond)
}

func (w *world) pickPhase(p *process) int { return p.draw(4) }
