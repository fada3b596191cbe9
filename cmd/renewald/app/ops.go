package app

import (
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/hotsplit/hotsplit/renewal/web"
	"github.com/hotsplit/hotsplit/shard"
)

// phaseMax bounds how long /ops waits for the move's record.
const phaseMax = 2 * time.Second

func (a *App) ops(ctx context.Context) web.Ops {
	now := time.Now()
	o := web.Ops{Window: window, Routing: describe(a.routing()), Phase: a.phase(ctx)}
	o.Keys, o.Throttles = a.meter.use(now)
	o.Sweeps, o.Findings, o.Metrics = a.sweeps.shown()
	o.Board = web.BoardUse{Rows: int(a.board.rows.Load()), Hits: a.board.hits.Load(), Loads: a.board.loads.Load()}
	if at := a.board.loadedAt(); !at.IsZero() {
		o.Board.Age = now.Sub(at).Truncate(time.Second)
	}
	if err := a.board.trouble(); err != nil {
		o.Board.Error = err.Error()
	}
	return o
}

func (a *App) routing() shard.Routing {
	if a.watcher != nil {
		return a.watcher.Routing()
	}
	return shard.Static(a.options.Layout())
}

func describe(r shard.Routing) string {
	var reads []string
	for _, l := range r.Read {
		reads = append(reads, spread(l))
	}
	return fmt.Sprintf("reads %s; stamps %s", strings.Join(reads, " and "), spread(r.Write))
}

func spread(l shard.Layout) string {
	if l.Count == 0 {
		return fmt.Sprintf("the one key %s", l.Base)
	}
	return fmt.Sprintf("%s over %d keys", l.Base, l.Count)
}

func (a *App) phase(ctx context.Context) string {
	if a.ledger == nil {
		return ""
	}
	ctx, cancel := context.WithTimeout(ctx, phaseMax)
	defer cancel()
	status, err := a.ledger.Status(ctx)
	if err != nil {
		return "unknown: " + a.options.Move + " has no record yet, or it is out of reach"
	}
	return status.String()
}
