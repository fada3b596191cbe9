package migrate

import (
	"context"
	"errors"

	"github.com/hotsplit/hotsplit/shard"
)

// back is the way back to planned, by the phase in which it begins.
var back = map[shard.Phase]shard.Phase{
	shard.Complete:  shard.Verified,
	shard.Verified:  shard.Reverting,
	shard.Backfill:  shard.Reverting,
	shard.WriteNew:  shard.Reverting,
	shard.Reverting: shard.DualRead,
	shard.DualRead:  shard.Planned,
}

// Rollback brings the move back to planned, from whatever phase it is in: rows
// that were created, updated or given another owner since go back too. It can be
// broken off and repeated. When ctx ends, what is in hand is finished and the
// lease given up.
func (r *Runner) Rollback(ctx context.Context) (Summary, error) {
	err := r.rollbackTo(ctx, shard.Planned)
	return r.summary(), errors.Join(err, r.Release(ctx))
}

// RollbackTo goes back until the move is in phase to and every member has it.
func (r *Runner) RollbackTo(ctx context.Context, to shard.Phase) error {
	return r.rollbackTo(ctx, to)
}

func (r *Runner) rollbackTo(ctx context.Context, to shard.Phase) error {
	if err := r.acquire(ctx); err != nil {
		return err
	}
	for r.record.Phase != to {
		if r.record.Archived {
			return r.refuse(ctx, &GateError{
				Gate: "archived", From: r.record.Phase, To: to, Why: "the move is archived; the way back ended there",
				Do: "start a move in the other direction",
			})
		}
		if err := r.ready(ctx); err != nil {
			return err
		}
		next, ok := back[r.record.Phase]
		if !ok {
			return r.refuse(ctx, &GateError{
				Gate: "phase", From: r.record.Phase, To: to, Why: "there is no way back from here",
			})
		}
		if err := r.enterPhase(ctx, next); err != nil {
			return err
		}
	}
	return r.agree(ctx)
}
